//! The one place of this crate that knows threads.
//!
//! Work is cut into pieces that do not depend on the number of threads and share nothing that
//! is written, so the result has the same bits on any machine.

use std::sync::Mutex;
use std::thread;

/// Calls `work` once for every item, on as many threads as the machine offers.
pub(crate) fn for_each<T: Send>(items: Vec<T>, work: impl Fn(T) + Sync) {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.min(items.len());
    if threads <= 1 {
        items.into_iter().for_each(work);
        return;
    }
    let queue = Mutex::new(items.into_iter());
    let next = || queue.lock().ok().and_then(|mut items| items.next());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(item) = next() {
                    work(item);
                }
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::for_each;

    #[test]
    fn every_item_is_worked_on_once() {
        let mut numbers = vec![0_u32; 1000];
        for_each(numbers.iter_mut().enumerate().collect(), |(index, n)| {
            *n += index as u32;
        });
        let expected: Vec<u32> = (0..1000).collect();
        assert_eq!(numbers, expected);
    }

    #[test]
    fn no_items_are_no_work() {
        for_each(Vec::<u8>::new(), |_| unreachable!());
    }
}
