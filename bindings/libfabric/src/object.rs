//! Objects that C holds: they begin with a `struct fid`.
#![allow(unsafe_code)]

use crate::entry::{Missing, call, unsupported};
use crate::pointer::{Context, Out};
use crate::refusal::{Refusal, Result};
use std::any::TypeId;
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// `struct fid`: what all objects begin with.
#[repr(C)]
pub(crate) struct Fid {
    class: usize,
    context: Context,
    ops: *const FidOps,
}

/// `struct fi_ops`. The functions get the object as its `struct fid`, which is at the same place.
#[repr(C)]
pub(crate) struct FidOps {
    size: usize,
    close: *const c_void,
    bind: *const c_void,
    control: *const c_void,
    ops_open: Missing,
    tostr: Missing,
    ops_set: Missing,
}

// The numbers stand in tests/layouts.c too, where they are compared with libfabric's headers.
const _: () =
    assert!(std::mem::offset_of!(Fid, ops) == 16 && std::mem::offset_of!(FidOps, ops_set) == 48);

// SAFETY: the pointers are to functions, which all threads may call.
unsafe impl Sync for FidOps {}

/// A type of objects, and what its functions do.
pub(crate) trait Class: Sized + 'static {
    /// `FI_CLASS_…`.
    const CLASS: usize;

    /// `fi_close`: what to do before it is dropped. If this fails, it stays.
    fn close(&self) -> Result {
        Ok(())
    }

    /// `fi_*_bind`.
    fn bind(&self, _other: &Fid, _flags: u64) -> Result {
        Err(Refusal::UNSUPPORTED)
    }

    /// `fi_control`.
    fn control(&self, _command: c_int, _argument: Argument) -> Result {
        Err(Refusal::UNSUPPORTED)
    }
}

/// An object that C gets.
///
/// # Safety
/// It is `repr(C)`, and begins with a [`Fid`].
pub(crate) unsafe trait Object: Class {
    /// Its table.
    const OPS: &'static FidOps = &ops::<Self>();
}

/// A type of objects that C gets, by its fields behind the `struct fid`.
macro_rules! object {
    (
        $(#[$doc:meta])*
        struct $name:ident { $( $(#[$comment:meta])* $field:ident: $type:ty, )* }
    ) => {
        $(#[$doc])*
        #[repr(C)]
        pub(crate) struct $name {
            fid: $crate::object::Fid,
            $( $(#[$comment])* $field: $type, )*
        }

        // SAFETY: it is `repr(C)`, as is said above, and begins with a `Fid`.
        #[allow(unsafe_code)]
        unsafe impl $crate::object::Object for $name {}
    };
}

pub(crate) use object;

/// `void *arg` of `fi_control`.
#[repr(transparent)]
pub(crate) struct Argument(Out<c_void>);

impl Argument {
    /// Destination for the result of this command.
    pub fn out<T>(&self) -> Out<T> {
        self.0.cast()
    }
}

impl Fid {
    /// The beginning of an object of this type.
    pub fn of<T: Object>(context: Context) -> Self {
        Fid { class: T::CLASS, context, ops: T::OPS }
    }

    /// The program's name for it.
    pub fn context(&self) -> Context {
        self.context
    }

    /// The object that begins here, if C has one of this type from [`give`], and has not closed it.
    /// It stays as long as this call of C's, which must not close it meanwhile.
    pub fn object<T: Object>(&self) -> Option<&T> {
        let object = live().get(&std::ptr::from_ref(self).addr())?.pointer::<T>()?;
        // SAFETY: it is a box of this type that was not closed, and C holds no part of it that it
        // writes.
        Some(unsafe { &*object })
    }
}

/// Objects that C has, by their addresses.
static LIVE: Mutex<BTreeMap<usize, Live>> = Mutex::new(BTreeMap::new());

/// An object that C has, as its box was made.
struct Live {
    object: *const c_void,
    kind: TypeId,
}

// SAFETY: it is an address as far as the table goes; who makes a reference of it says why that may
// be.
unsafe impl Send for Live {}

impl Live {
    /// The object, if it is of this type.
    fn pointer<T: Object>(&self) -> Option<*const T> {
        (self.kind == TypeId::of::<T>()).then(|| self.object.cast())
    }
}

fn live() -> MutexGuard<'static, BTreeMap<usize, Live>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The table of an object.
const fn ops<T: Object>() -> FidOps {
    FidOps {
        size: size_of::<FidOps>(),
        close: close::<T> as *const c_void,
        bind: bind::<T> as *const c_void,
        control: control::<T> as *const c_void,
        ops_open: unsupported,
        tostr: unsupported,
        ops_set: unsupported,
    }
}

/// An object that C has, or is about to have.
#[repr(transparent)]
pub(crate) struct Given<T>(*mut T, PhantomData<T>);

/// Gives an object to C, which gives it back by `fi_close`.
pub(crate) fn give<T: Object>(object: T) -> Given<T> {
    let object = Box::into_raw(Box::new(object));
    live().insert(object.addr(), Live { object: object.cast(), kind: TypeId::of::<T>() });
    Given(object, PhantomData)
}

extern "C" fn close<T: Object>(object: Given<T>) -> c_int {
    call(|| {
        let is_live =
            live().get(&object.0.addr()).is_some_and(|live| live.pointer::<T>().is_some());
        if !is_live {
            return Err(Refusal::INVALID);
        }
        // SAFETY: it is a box of this type that was not closed.
        unsafe { &*object.0 }.close()?;
        live().remove(&object.0.addr());
        // SAFETY: as above; nobody finds it any more, and C does not use it any more.
        drop(unsafe { Box::from_raw(object.0) });
        Ok(())
    })
}

extern "C" fn bind<T: Object>(object: &T, other: &Fid, flags: u64) -> c_int {
    call(|| object.bind(other, flags))
}

extern "C" fn control<T: Object>(object: &T, command: c_int, argument: Argument) -> c_int {
    call(|| object.control(command, argument))
}

#[cfg(test)]
mod tests;
