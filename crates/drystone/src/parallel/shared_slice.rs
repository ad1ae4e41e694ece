//! Slices that several threads write in disjoint places.
//!
//! Between two barriers ([`super::thread_pool`]) threads work on different ranges of bodies or of records,
//! or on different bodies of one colour, which do not touch each other ([`crate::strategy::realtime::contact_graph`]): they
//! write different elements, and what they read besides is written by none of them then. Safe Rust can't express "disjoint by colour", so this file does, and nothing
//! else in the engine holds a raw pointer.

#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::ops::Range;

/// A slice that may be written from several threads, in different places.
pub(crate) struct SharedSlice<'a, T> {
    start: *mut T,
    len: usize,
    lives: PhantomData<&'a mut [T]>,
}

// SAFETY: the users of `SharedSlice` write disjoint elements between two barriers (see the module).
unsafe impl<T: Send> Send for SharedSlice<'_, T> {}
unsafe impl<T: Send> Sync for SharedSlice<'_, T> {}

impl<'a, T> SharedSlice<'a, T> {
    pub(crate) fn new(slice: &'a mut [T]) -> Self {
        Self {
            start: slice.as_mut_ptr(),
            len: slice.len(),
            lives: PhantomData,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Changes an element in its place. No other thread may be using it, nor `change` itself.
    #[inline(always)]
    pub(crate) fn change(&self, index: usize, change: impl FnOnce(&mut T)) {
        assert!(index < self.len);
        // SAFETY: in range; nothing else uses it now (see the module).
        change(unsafe { &mut *self.start.add(index) });
    }

    /// Changes a range of elements in their place. No other thread may be using these, nor `change`
    /// by other means.
    #[inline(always)]
    pub(crate) fn change_all(&self, range: Range<usize>, change: impl FnOnce(&mut [T])) {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: in range; nothing else uses them now (see the module).
        change(unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) });
    }
}

impl<T: Copy> SharedSlice<'_, T> {
    /// Reads an element. No thread may be writing it.
    #[inline(always)]
    pub(crate) fn read(&self, index: usize) -> T {
        assert!(index < self.len);
        // SAFETY: in range; nothing writes it now (see the module).
        unsafe { *self.start.add(index) }
    }

    /// Copies a range of elements from the same places of another list. No other thread may be
    /// using these.
    pub(crate) fn copy(&self, from: &[T], range: Range<usize>) {
        assert!(range.end <= self.len);
        let from = &from[range.clone()];
        // SAFETY: in range; nothing else uses them now (see the module), and `from` is borrowed,
        // so it is other memory.
        unsafe {
            std::ptr::copy_nonoverlapping(from.as_ptr(), self.start.add(range.start), from.len())
        }
    }

    /// Writes an element. No other thread may be using it.
    #[inline(always)]
    pub(crate) fn write(&self, index: usize, value: T) {
        assert!(index < self.len);
        // SAFETY: in range; nothing else uses it now (see the module).
        unsafe { *self.start.add(index) = value }
    }
}

impl<T> SharedSlice<'_, T> {
    /// Moves a range of elements of another list to a place of this one, whose elements are not
    /// dropped. Nobody may use what was moved, nor may another thread use its new place.
    fn take_over(&self, place: usize, from: &Self, range: Range<usize>) {
        assert!(range.start <= range.end && range.end <= from.len);
        assert!(place <= self.len && range.len() <= self.len - place);
        // SAFETY: both in range, in different lists; nothing else uses them now (see the module).
        unsafe {
            let source = from.start.add(range.start);
            std::ptr::copy_nonoverlapping(source, self.start.add(place), range.len());
        }
    }
}

/// Part of a list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Piece {
    /// Which list.
    pub(crate) list: usize,
    pub(crate) range: Range<usize>,
}

/// Moves lists to an empty one, piece after piece. Pieces of one list are in its order, and all of it;
/// `share_out` runs what it is given over ranges of numbers of pieces that do not meet, on several
/// threads.
pub(crate) fn join<T: Send>(
    lists: &mut [Vec<T>],
    pieces: &[Piece],
    all: &mut Vec<T>,
    share_out: impl FnOnce(&(dyn Fn(Range<usize>) + Sync)),
) {
    assert!(all.is_empty());
    let mut next = vec![0; lists.len()];
    let mut places = Vec::with_capacity(pieces.len());
    let mut count = 0;
    for Piece { list, range } in pieces {
        assert!(range.start == next[*list] && range.start <= range.end);
        next[*list] = range.end;
        places.push(count);
        count += range.len();
    }
    assert!(lists.iter().zip(next).all(|(list, end)| list.len() == end));
    // Some more may come, and moving all of them again would cost as much as this.
    if all.capacity() < count {
        all.reserve(count + count / 8);
    }
    // SAFETY: only their memory is used from here on: elements are moved out below, each once, and
    // lists that have none do not drop them.
    lists.iter_mut().for_each(|list| unsafe { list.set_len(0) });
    let from: Vec<SharedSlice<'_, T>> = (lists.iter_mut())
        .map(|list| SharedSlice {
            start: list.as_mut_ptr(),
            len: list.capacity(),
            lives: PhantomData,
        })
        .collect();
    let to = SharedSlice {
        start: all.as_mut_ptr(),
        len: count,
        lives: PhantomData::<&mut [T]>,
    };
    share_out(&|numbers: Range<usize>| {
        for (piece, &place) in pieces[numbers.clone()].iter().zip(&places[numbers]) {
            to.take_over(place, &from[piece.list], piece.range.clone());
        }
    });
    // SAFETY: every piece has been moved.
    unsafe { all.set_len(count) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_joined_in_the_order_of_their_pieces() {
        let words = |from: u32, to: u32| (from..to).map(|k| k.to_string()).collect::<Vec<_>>();
        let mut lists = [words(0, 5), words(5, 7), Vec::new()];
        let piece = |list: usize, range: Range<usize>| Piece { list, range };
        let pieces = [
            piece(0, 0..2),
            piece(1, 0..2),
            piece(2, 0..0),
            piece(0, 2..5),
        ];
        let mut joined = Vec::with_capacity(3);
        join(&mut lists, &pieces, &mut joined, |work| {
            work(0..1);
            work(1..4);
        });
        assert_eq!(joined, ["0", "1", "5", "6", "2", "3", "4"]);
        assert!(lists.iter().all(Vec::is_empty));
    }
}
