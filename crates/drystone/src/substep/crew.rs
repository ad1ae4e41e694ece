//! Threads that work through the stages of a step together.
//!
//! Every thread runs the same function; [`Worker::share`] tells each its part of a stage and
//! [`Worker::wait`] lets nobody go on before all are done. Parts do not meet, and no result
//! depends on how they are cut, so the bits are the same for any number of threads.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Turns of the spin loop before a waiting thread offers its core to others.
const SPINS: u32 = 2_000;

/// Where threads meet between stages. Spins, because stages last microseconds.
#[derive(Debug)]
struct Barrier {
    threads: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
}

impl Barrier {
    fn wait(&self) {
        if self.threads == 1 {
            return;
        }
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.fetch_add(1, Ordering::AcqRel);
            return;
        }
        let mut spins = 0;
        while self.round.load(Ordering::Acquire) == round {
            spins += 1;
            if spins < SPINS {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }
}

/// One of the threads of a step.
#[derive(Debug)]
pub(crate) struct Worker<'a> {
    index: usize,
    barrier: &'a Barrier,
}

impl Worker<'_> {
    /// Which of the threads this is.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// This thread's part of `count` things.
    pub(crate) fn share(&self, count: usize) -> Range<usize> {
        let threads = self.barrier.threads;
        count * self.index / threads..count * (self.index + 1) / threads
    }

    /// Waits for the others.
    pub(crate) fn wait(&self) {
        self.barrier.wait();
    }
}

/// Runs `work` on so many threads, the caller's among them.
pub(crate) fn run(threads: usize, work: impl Fn(&Worker<'_>) + Sync) {
    let barrier = Barrier {
        threads: threads.max(1),
        arrived: AtomicUsize::new(0),
        round: AtomicUsize::new(0),
    };
    if barrier.threads == 1 {
        // A scope allocates.
        return work(&Worker {
            index: 0,
            barrier: &barrier,
        });
    }
    std::thread::scope(|scope| {
        for index in 1..barrier.threads {
            let (barrier, work) = (&barrier, &work);
            scope.spawn(move || work(&Worker { index, barrier }));
        }
        work(&Worker {
            index: 0,
            barrier: &barrier,
        });
    });
}

/// What `work` makes of each of so many pieces, piece after piece: threads take pieces as they get
/// done, and the answer does not depend on their number.
pub(crate) fn gather<T: Send>(
    threads: usize,
    pieces: usize,
    work: impl Fn(usize, &mut Vec<T>) + Sync,
) -> Vec<T> {
    if threads.min(pieces) <= 1 {
        let mut all = Vec::new();
        (0..pieces).for_each(|piece| work(piece, &mut all));
        return all;
    }
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Vec<T>)>> = Mutex::new(Vec::with_capacity(pieces));
    run(threads.min(pieces), |_| {
        loop {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= pieces {
                break;
            }
            let mut own = Vec::new();
            work(piece, &mut own);
            // A thread that panicked takes the others with it when it is joined.
            done.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push((piece, own));
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(piece, _)| *piece);
    done.into_iter().flat_map(|(_, own)| own).collect()
}
