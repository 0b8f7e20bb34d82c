//! Value behind a pointer that C holds, with a mark of its kind before it.
//!
//! C can mix up its pointers. The mark is looked at first, so that most mistakes (the wrong kind, a
//! handle that was freed, a message that was kept elsewhere) are errors and not crashes. It is a
//! help, no proof: memory that was freed may have become something else.

use crate::status::{Failure, Status};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, Ordering};

/// The mark of a handle that was freed.
const FREED: u32 = 0xdead_4a11;

/// A kind of handle.
pub(crate) trait HandleKind {
    /// Its mark.
    const MARK: u32;
    /// Its name in C.
    const NAME: &'static str;
}

/// A value and the mark of its kind. The mark is first, so that it is found in a handle of any
/// kind.
#[repr(C)]
pub(crate) struct Handle<T: HandleKind> {
    mark: AtomicU32,
    /// True if it is a callback's only until that returns, and lies on Weft's stack.
    lent: bool,
    value: Option<T>,
}

impl<T: HandleKind> Handle<T> {
    /// A handle of `value`.
    pub fn new(value: T) -> Self {
        Handle { mark: AtomicU32::new(T::MARK), lent: false, value: Some(value) }
    }

    /// A handle of `value` for a callback, which cannot free it.
    pub fn lent(value: T) -> Self {
        Handle { mark: AtomicU32::new(T::MARK), lent: true, value: Some(value) }
    }

    /// The value.
    pub fn get(&self) -> Result<&T, Failure> {
        self.check()?;
        self.value.as_ref().ok_or_else(used_up::<T>)
    }

    /// The value, if there is no other handle.
    pub fn get_mut(&mut self) -> Result<&mut T, Failure> {
        self.check()?;
        self.value.as_mut().ok_or_else(used_up::<T>)
    }

    /// Takes the value out; the handle stays, empty.
    pub fn take(&mut self) -> Result<T, Failure> {
        self.check()?;
        self.value.take().ok_or_else(used_up::<T>)
    }

    /// Takes what is left in it, if C may free it.
    fn end(&mut self) -> Result<Option<T>, Failure> {
        self.check()?;
        if self.lent {
            let text = format!("this {} is not the caller's: keep it to free it", T::NAME);
            return Err(Failure::invalid(text));
        }
        Ok(self.value.take())
    }

    /// Checks that this is what C says it is.
    fn check(&self) -> Result<(), Failure> {
        match self.mark.load(Ordering::Relaxed) {
            mark if mark == T::MARK => Ok(()),
            FREED => Err(Failure::invalid(format!("this {} was freed already", T::NAME))),
            _ => Err(Failure::invalid(format!("this is no {}", T::NAME))),
        }
    }
}

fn used_up<T: HandleKind>() -> Failure {
    Failure::invalid(format!("this {} was used up already", T::NAME))
}

impl<T: HandleKind> Drop for Handle<T> {
    fn drop(&mut self) {
        self.mark.store(FREED, Ordering::Relaxed);
    }
}

/// Target of a pointer, unless it is null.
pub(crate) fn given<T>(pointer: Option<T>, what: &str) -> Result<T, Failure> {
    pointer.ok_or_else(|| Failure::new(Status::Invalid, format!("{what} is null")))
}

/// Puts a result where C wants it.
pub(crate) fn put<T>(out: Option<&mut MaybeUninit<T>>, value: T) -> Result<(), Failure> {
    given(out, "the pointer for the result")?.write(value);
    Ok(())
}

/// Frees a handle and returns its value. A pointer to something else is left alone: what it leads
/// to belongs to whoever knows what it is.
pub(crate) fn free<H, T: HandleKind>(
    handle: Option<Box<H>>,
    inner: impl FnOnce(&mut H) -> &mut Handle<T>,
) -> Result<T, Failure> {
    free_even_used(handle, inner)?.ok_or_else(used_up::<T>)
}

/// Frees a handle whose value may be used up.
pub(crate) fn free_even_used<H, T: HandleKind>(
    handle: Option<Box<H>>,
    inner: impl FnOnce(&mut H) -> &mut Handle<T>,
) -> Result<Option<T>, Failure> {
    let mut handle = given(handle, T::NAME)?;
    match inner(&mut handle).end() {
        Ok(value) => Ok(value),
        Err(failure) => {
            std::mem::forget(handle);
            Err(failure)
        }
    }
}

#[cfg(test)]
mod tests;
