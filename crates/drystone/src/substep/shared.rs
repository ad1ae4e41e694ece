//! Arrays that several threads write in places that do not meet.
//!
//! Between two barriers ([`super::crew`]) threads work on different ranges of bodies or of records,
//! or on different bodies of one colour, which do not touch each other ([`super::graph`]): they
//! write different elements, and what they read besides is written by none of them then. Safe Rust can't express "disjoint by colour", so this file does, and nothing
//! else in the engine holds a raw pointer.

#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::ops::Range;

/// A slice that may be written from several threads, in different places.
pub(crate) struct Shared<'a, T> {
    start: *mut T,
    len: usize,
    lives: PhantomData<&'a mut [T]>,
}

// SAFETY: the users of `Shared` write disjoint elements between two barriers (see the module).
unsafe impl<T: Send> Send for Shared<'_, T> {}
unsafe impl<T: Send> Sync for Shared<'_, T> {}

impl<'a, T> Shared<'a, T> {
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
        // SAFETY: in range; nobody else uses it now (see the module).
        change(unsafe { &mut *self.start.add(index) });
    }

    /// Changes a range of elements in their place. No other thread may be using these, nor `change`
    /// by other means.
    #[inline(always)]
    pub(crate) fn change_all(&self, range: Range<usize>, change: impl FnOnce(&mut [T])) {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: in range; nobody else uses them now (see the module).
        change(unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) });
    }
}

impl<T: Copy> Shared<'_, T> {
    /// Reads an element. No thread may be writing it.
    #[inline(always)]
    pub(crate) fn read(&self, index: usize) -> T {
        assert!(index < self.len);
        // SAFETY: in range; nobody writes it now (see the module).
        unsafe { *self.start.add(index) }
    }

    /// Copies a range of elements from the same places of another list. No other thread may be
    /// using these.
    pub(crate) fn copy(&self, from: &[T], range: Range<usize>) {
        assert!(range.end <= self.len);
        let from = &from[range.clone()];
        // SAFETY: in range; nobody else uses them now (see the module), and `from` is borrowed,
        // so it is other memory.
        unsafe {
            std::ptr::copy_nonoverlapping(from.as_ptr(), self.start.add(range.start), from.len())
        }
    }

    /// Writes an element. No other thread may be using it.
    #[inline(always)]
    pub(crate) fn write(&self, index: usize, value: T) {
        assert!(index < self.len);
        // SAFETY: in range; nobody else uses it now (see the module).
        unsafe { *self.start.add(index) = value }
    }
}
