//! The thread pool: threads that work through the stages of a step together.
//!
//! Every thread runs the same function; [`Worker::share`] tells each its part of a stage and
//! [`Worker::wait`] lets nothing go on before all are done. Parts do not meet, and no result
//! depends on how they are cut, so the bits are the same for any number of threads.
//!
//! A step has some ten stages of a tenth of a millisecond to a few; starting a thread takes as long
//! as the shortest. So threads are kept ([`ThreadPool`]): between stages they spin, then offer their core
//! to others, then sleep until there is work again.

#![allow(unsafe_code)]

use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;

use super::shared_slice::{Piece, SharedSlice, join};

/// Turns of the spin loop before a waiting thread offers its core to others.
const SPINS: u32 = 2_000;
/// Bytes that are worth a thread to move.
const WORTH_MOVING: usize = 1 << 18;
/// Offers of its core, less than a microsecond each, before a thread without work falls asleep.
const OFFERS: u32 = 1_000;
/// The same for a thread that waits for others at work. Few: where others have the core, each offer
/// lasts milliseconds.
const SHORTLY: u32 = 20;

/// Where threads meet between stages. Spins first, because stages last microseconds.
#[derive(Debug)]
struct Barrier {
    threads: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
    /// Threads that sleep until all are there, or are about to.
    sleepers: AtomicUsize,
    door: Mutex<()>,
    bell: Condvar,
}

impl Barrier {
    fn new(threads: usize) -> Self {
        Self {
            threads,
            arrived: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            sleepers: AtomicUsize::new(0),
            door: Mutex::new(()),
            bell: Condvar::new(),
        }
    }

    fn wait(&self) {
        if self.threads == 1 {
            return;
        }
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            // In one order with `sleepers`: a thread that does not see the new round is seen here.
            self.round.fetch_add(1, Ordering::SeqCst);
            if self.sleepers.load(Ordering::SeqCst) > 0 {
                // Nobody is between the last look and sleep then.
                drop(lock(&self.door));
                self.bell.notify_all();
            }
            return;
        }
        if !is_soon(|| self.round.load(Ordering::Acquire) != round, SHORTLY) {
            self.sleep(round);
        }
    }

    /// Sleeps until a round is over.
    fn sleep(&self, round: usize) {
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        let mut door = lock(&self.door);
        while self.round.load(Ordering::SeqCst) == round {
            let woken = self.bell.wait(door);
            door = woken.unwrap_or_else(PoisonError::into_inner);
        }
        drop(door);
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for something that comes within microseconds if all threads have a core. Gives whether it
/// came. Who waits longer should sleep: where cores are fewer than threads, the one that is
/// waited for gets this one's only then.
fn is_soon(has_come: impl Fn() -> bool, offers: u32) -> bool {
    for turn in 0..SPINS + offers {
        if has_come() {
            return true;
        }
        if turn < SPINS {
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }
    has_come()
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
    let mut crew = ThreadPool::default();
    if threads > 1 {
        crew = ThreadPool::take();
        crew.grow(threads - 1);
    }
    // Fewer where the system gives no more.
    let barrier = Barrier::new(threads.clamp(1, crew.helpers.len() + 1));
    let run = |index: usize| {
        work(&Worker {
            index,
            barrier: &barrier,
        });
    };
    crew.run(barrier.threads - 1, &run);
    if threads > 1 {
        crew.give_back();
    }
}

/// Lets threads take up the parts 0 to `parts`, each the next when it is done with one: for parts
/// that take very different times.
pub(crate) fn deal(threads: usize, parts: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    run(threads.min(parts), |_| {
        loop {
            let part = next.fetch_add(1, Ordering::Relaxed);
            if part >= parts {
                return;
            }
            work(part);
        }
    });
}

/// Does two different things, side by side if there are threads for it.
pub(crate) fn both<A: Send, B: Send>(
    threads: usize,
    first: impl Fn() -> A + Sync,
    second: impl Fn() -> B + Sync,
) -> (A, B) {
    if threads <= 1 {
        return (first(), second());
    }
    let (one, other) = (Mutex::new(None), Mutex::new(None));
    deal(2, 2, |part| match part {
        0 => *one.lock().unwrap_or_else(PoisonError::into_inner) = Some(first()),
        _ => *other.lock().unwrap_or_else(PoisonError::into_inner) = Some(second()),
    });
    let one = one.into_inner().unwrap_or_else(PoisonError::into_inner);
    let other = other.into_inner().unwrap_or_else(PoisonError::into_inner);
    // Both have been dealt; a thread that failed has failed everybody.
    (one.unwrap_or_else(&first), other.unwrap_or_else(&second))
}

/// What `work` makes of each of so many pieces, piece after piece: threads take pieces as they get
/// done, and the answer does not depend on their number.
pub(crate) fn gather<T: Send>(
    threads: usize,
    pieces: usize,
    work: impl Fn(usize, &mut Vec<T>) + Sync,
) -> Vec<T> {
    gather_in(&mut Kept::default(), threads, pieces, work)
}

/// Lists of no use but for their memory: where they are large, new memory costs as much as what is
/// written to it.
#[derive(Debug)]
pub(crate) struct Kept<T> {
    /// A list for all.
    pub(crate) whole: Vec<T>,
    /// A list for each thread.
    lists: Vec<Vec<T>>,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self {
            whole: Vec::new(),
            lists: Vec::new(),
        }
    }
}

/// The same as [`gather`] in memory that was kept.
pub(crate) fn gather_in<T: Send>(
    kept: &mut Kept<T>,
    threads: usize,
    pieces: usize,
    work: impl Fn(usize, &mut Vec<T>) + Sync,
) -> Vec<T> {
    let mut all = std::mem::take(&mut kept.whole);
    all.clear();
    if threads.min(pieces) <= 1 {
        (0..pieces).for_each(|piece| work(piece, &mut all));
        return all;
    }
    let workers = threads.min(pieces);
    kept.lists.resize_with(workers, Vec::new);
    let mut lists = std::mem::take(&mut kept.lists);
    let mut parts = vec![Piece::default(); pieces];
    let (shared, all_parts) = (SharedSlice::new(&mut lists), SharedSlice::new(&mut parts));
    let next = AtomicUsize::new(0);
    run(workers, |worker| {
        shared.change(worker.index(), |list| {
            loop {
                let piece = next.fetch_add(1, Ordering::Relaxed);
                if piece >= pieces {
                    return;
                }
                let start = list.len();
                work(piece, list);
                all_parts.change(piece, |part| {
                    *part = Piece {
                        list: worker.index(),
                        range: start..list.len(),
                    };
                });
            }
        });
    });
    let bytes = lists.iter().map(Vec::len).sum::<usize>() * size_of::<T>();
    join(&mut lists, &parts, &mut all, |work| {
        run(workers.min(1 + bytes / WORTH_MOVING), |worker| {
            work(worker.share(pieces));
        });
    });
    kept.lists = lists;
    all
}

/// Makes a list of `count` things by their numbers in the memory of another that is of no use any
/// more. `blank` is any such thing.
pub(crate) fn refill<T: Copy + Send + Sync>(
    list: &mut Vec<T>,
    (count, blank): (usize, T),
    threads: usize,
    make: impl Fn(usize) -> T + Sync,
) {
    if list.capacity() < count {
        list.clear();
        list.reserve(count + count / 4);
    }
    list.resize(count, blank);
    let all = SharedSlice::new(list);
    run_over(count, threads, |part| {
        part.for_each(|k| all.write(k, make(k)))
    });
}

/// Things of which so many are worth a thread, where there is little to do for each.
const WORTH: usize = 1024;

/// Lets threads do the parts of 0 to `count`, where there is little to do for each.
pub(crate) fn run_over(count: usize, threads: usize, work: impl Fn(Range<usize>) + Sync) {
    run(threads.min(count / WORTH + 1), |worker| {
        work(worker.share(count));
    });
}

/// What `work` makes of the parts of 0 to `count`, where there is little to do for each.
pub(crate) fn gather_from<T: Send>(
    count: usize,
    threads: usize,
    work: impl Fn(Range<usize>, &mut Vec<T>) + Sync,
) -> Vec<T> {
    let parts = threads.clamp(1, count / WORTH + 1);
    gather(parts, parts, |part, list| {
        work(count * part / parts..count * (part + 1) / parts, list);
    })
}

/// Crews that are not at work. Worlds that step at the same time have one each.
static WAITING: Mutex<Vec<ThreadPool>> = Mutex::new(Vec::new());

/// Threads that are kept for the next stage.
#[derive(Default)]
struct ThreadPool {
    helpers: Vec<Helper>,
    /// The process that they live in: a fork has none of its parent's threads.
    process: u32,
}

/// A thread, and where it finds its work.
struct Helper {
    desk: Arc<Desk>,
    thread: Thread,
}

#[derive(Default)]
struct Desk {
    is_full: AtomicBool,
    task: Mutex<Option<Task>>,
}

/// Work for one helper. Its references are good until the helper is counted off in `open`.
struct Task {
    work: &'static (dyn Fn(usize) + Sync),
    index: usize,
    open: &'static Open,
    /// Who waits for it to be done.
    caller: Thread,
}

/// Tasks that are not done.
#[derive(Default)]
struct Open {
    count: AtomicUsize,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl ThreadPool {
    /// A thread pool that is not at work, or a new one.
    fn take() -> Self {
        let process = std::process::id();
        let waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let own = waiting.filter(|crew| crew.process == process);
        own.unwrap_or_else(|| Self {
            helpers: Vec::new(),
            process,
        })
    }

    fn give_back(self) {
        WAITING
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(self);
    }

    /// Hires helpers up to a number, if the system lets it.
    fn grow(&mut self, helpers: usize) {
        while self.helpers.len() < helpers {
            let desk = Arc::new(Desk::default());
            let own = Arc::clone(&desk);
            let builder = std::thread::Builder::new().name("drystone".to_owned());
            let Ok(handle) = builder.spawn(move || own.serve()) else {
                return;
            };
            self.helpers.push(Helper {
                desk,
                thread: handle.thread().clone(),
            });
        }
    }

    /// Does the work with so many helpers; returns when all are done.
    fn run(&self, helpers: usize, work: &(dyn Fn(usize) + Sync)) {
        let open = Open {
            count: AtomicUsize::new(helpers),
            ..Open::default()
        };
        // SAFETY: only helpers use these, and `Finish` lets nothing leave this function, be it by
        // a panic, before every helper has said that it is done, after which it uses them no more.
        let (lasting_work, lasting_open) = unsafe {
            (
                std::mem::transmute::<&(dyn Fn(usize) + Sync), &'static (dyn Fn(usize) + Sync)>(
                    work,
                ),
                std::mem::transmute::<&Open, &'static Open>(&open),
            )
        };
        let finish = Finish(&open);
        let caller = std::thread::current();
        for (k, helper) in self.helpers[..helpers].iter().enumerate() {
            helper.take_up(Task {
                work: lasting_work,
                index: k + 1,
                open: lasting_open,
                caller: caller.clone(),
            });
        }
        work(0);
        drop(finish);
        let panic = open.panic.into_inner();
        if let Some(payload) = panic.unwrap_or_else(PoisonError::into_inner) {
            resume_unwind(payload);
        }
    }
}

/// Waits, when it goes, for all that is open.
struct Finish<'a>(&'a Open);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        // Whoever is done last wakes this thread.
        while !is_soon(|| self.0.count.load(Ordering::Acquire) == 0, SHORTLY) {
            std::thread::park();
        }
    }
}

impl Helper {
    fn take_up(&self, task: Task) {
        let mut place = self
            .desk
            .task
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *place = Some(task);
        drop(place);
        self.desk.is_full.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

impl Desk {
    /// Works for ever.
    fn serve(&self) {
        loop {
            self.wait();
            let mut place = self.task.lock().unwrap_or_else(PoisonError::into_inner);
            let task = place.take();
            drop(place);
            self.is_full.store(false, Ordering::Release);
            if let Some(task) = task {
                task.run();
            }
        }
    }

    fn wait(&self) {
        while !is_soon(|| self.is_full.load(Ordering::Acquire), OFFERS) {
            std::thread::park();
        }
    }
}

impl Task {
    fn run(self) {
        let Self {
            work,
            index,
            open,
            caller,
        } = self;
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| work(index))) {
            let mut place = open.panic.lock().unwrap_or_else(PoisonError::into_inner);
            *place = Some(payload);
        }
        // Nothing borrowed may be used from here on.
        open.count.fetch_sub(1, Ordering::Release);
        caller.unpark();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_done_once_and_stages_do_not_overlap() {
        for threads in [1, 2, 3, 8] {
            for _ in 0..200 {
                let done: Vec<AtomicUsize> = (0..100).map(|_| AtomicUsize::new(0)).collect();
                run(threads, |worker| {
                    for k in worker.share(done.len()) {
                        done[k].fetch_add(1, Ordering::Relaxed);
                    }
                    worker.wait();
                    for k in worker.share(done.len()) {
                        // Somebody else's, done in the stage before.
                        let other = &done[done.len() - 1 - k];
                        assert_ne!(other.load(Ordering::Relaxed), 0);
                    }
                });
                assert!(done.iter().all(|n| n.load(Ordering::Relaxed) == 1));
            }
        }
    }

    #[test]
    fn parts_that_are_dealt_out_are_done_once() {
        for (threads, parts) in [(1, 5), (2, 0), (3, 1), (4, 1000)] {
            let done: Vec<AtomicUsize> = (0..parts).map(|_| AtomicUsize::new(0)).collect();
            deal(threads, parts, |k| {
                done[k].fetch_add(1, Ordering::Relaxed);
            });
            assert!(done.iter().all(|n| n.load(Ordering::Relaxed) == 1));
        }
    }

    #[test]
    fn a_panic_of_any_thread_reaches_the_caller_and_the_crew_works_on() {
        for culprit in 0..3 {
            let result = catch_unwind(|| {
                run(3, |worker| {
                    assert_ne!(worker.index(), culprit, "as it was asked to");
                });
            });
            assert!(result.is_err());
        }
        let count = AtomicUsize::new(0);
        run(3, |_| {
            count.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(count.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn crews_within_crews_and_side_by_side_do_not_meet() {
        let count = AtomicUsize::new(0);
        run(2, |_| {
            for _ in 0..50 {
                run(3, |worker| {
                    worker.wait();
                    count.fetch_add(1, Ordering::Relaxed);
                });
            }
        });
        assert_eq!(count.load(Ordering::Relaxed), 2 * 50 * 3);
    }
}
