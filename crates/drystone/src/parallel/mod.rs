//! The thread pool, and slices that its threads share.

pub(crate) mod shared_slice;
pub(crate) mod thread_pool;
