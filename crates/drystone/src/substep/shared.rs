//! Arrays that several threads write in places that do not meet.
//!
//! The colouring ([`super::color`]) sees to it that the patches of one colour share no body that
//! moves. Threads that work on different patches of a colour, or on different ranges of bodies,
//! therefore write different elements; bodies that impulses do not move are read by many and
//! written by none. Safe Rust can't express "disjoint by colour", so this file does, and nothing
//! else in the engine holds a raw pointer.

#![allow(unsafe_code)]

use std::marker::PhantomData;

/// A slice that may be written from several threads, in different places.
pub(crate) struct Shared<'a, T> {
    start: *mut T,
    len: usize,
    lives: PhantomData<&'a mut [T]>,
}

// SAFETY: the users of `Shared` write disjoint elements between two barriers (see the module).
unsafe impl<T: Send> Send for Shared<'_, T> {}
unsafe impl<T: Send> Sync for Shared<'_, T> {}

impl<'a, T: Copy> Shared<'a, T> {
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

    /// Reads an element. No thread may be writing it.
    #[inline(always)]
    pub(crate) fn read(&self, index: usize) -> T {
        assert!(index < self.len);
        // SAFETY: in range; nobody writes it now (see the module).
        unsafe { *self.start.add(index) }
    }

    /// Writes an element. No other thread may be using it.
    #[inline(always)]
    pub(crate) fn write(&self, index: usize, value: T) {
        assert!(index < self.len);
        // SAFETY: in range; nobody else uses it now (see the module).
        unsafe { *self.start.add(index) = value }
    }
}
