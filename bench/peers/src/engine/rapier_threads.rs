//! Threads for rapier.

use std::sync::{Arc, OnceLock};

use rapier3d::rayon::{ThreadPool, ThreadPoolBuilder};

use super::Reason;

/// A pool of so many threads. The pool of one thread is the calling thread itself, so that small
/// scenes do not pay for waking another; a thread can be in one pool only, hence one for all.
pub fn pool(threads: usize) -> Result<Arc<ThreadPool>, Reason> {
    static ALONE: OnceLock<Result<Arc<ThreadPool>, Reason>> = OnceLock::new();
    let build = |builder: ThreadPoolBuilder| {
        let pool = builder.num_threads(threads).build();
        pool.map(Arc::new).map_err(|error| error.to_string())
    };
    if threads == 1 {
        return ALONE
            .get_or_init(|| build(ThreadPoolBuilder::new().use_current_thread()))
            .clone();
    }
    build(ThreadPoolBuilder::new())
}
