//! `struct fid_mr`: registered memory. Messages need none, so registering does nothing but keep the key for clients
//! that register all the same; there is no remote access yet (`docs/internals/libfabric.md`).

use crate::abi::{Iovec, class};
use crate::object::{Class, Fid, FidOps, Given, give, ops};
use crate::pointer::{Context, Out};
use crate::refusal::{Missing, call, unsupported};
use std::ffi::{c_int, c_void};

/// The object.
#[repr(C)]
pub(crate) struct Region {
    pub(crate) fid: Fid,
    description: *mut c_void,
    key: u64,
}

/// `struct fi_ops_mr`, of domains.
#[repr(C)]
pub(crate) struct RegionOps {
    size: usize,
    reg: extern "C" fn(
        &Fid,
        *const c_void,
        usize,
        u64,
        u64,
        u64,
        u64,
        Out<Given<Region>>,
        Context,
    ) -> c_int,
    regv: extern "C" fn(
        &Fid,
        *const Iovec,
        usize,
        u64,
        u64,
        u64,
        u64,
        Out<Given<Region>>,
        Context,
    ) -> c_int,
    regattr: Missing,
}

pub(crate) static OPS: RegionOps =
    RegionOps { size: size_of::<RegionOps>(), reg, regv, regattr: unsupported };

// The numbers stand in tests/layouts.c too, where they are compared with libfabric's headers.
const _: () = assert!(
    std::mem::offset_of!(Region, key) == 32 && std::mem::offset_of!(RegionOps, regattr) == 24
);

static FID_OPS: FidOps = ops::<Region>();

impl Class for Region {
    const CLASS: usize = class::MR;
    const OPS: &'static FidOps = &FID_OPS;

    fn bind(&self, _other: &Fid, _flags: u64) -> crate::refusal::Result {
        Ok(())
    }
}

fn register(key: u64, out: &Out<Given<Region>>, context: Context) -> c_int {
    call(|| {
        let fid = Fid::of::<Region>(context);
        out.set(give(Region { fid, description: std::ptr::null_mut(), key }));
        Ok(())
    })
}

#[allow(clippy::too_many_arguments)] // So many has libfabric.
extern "C" fn reg(
    _domain: &Fid,
    _start: *const c_void,
    _length: usize,
    _access: u64,
    _offset: u64,
    key: u64,
    _flags: u64,
    out: Out<Given<Region>>,
    context: Context,
) -> c_int {
    register(key, &out, context)
}

#[allow(clippy::too_many_arguments)] // So many has libfabric.
extern "C" fn regv(
    _domain: &Fid,
    _pieces: *const Iovec,
    _count: usize,
    _access: u64,
    _offset: u64,
    key: u64,
    _flags: u64,
    out: Out<Given<Region>>,
    context: Context,
) -> c_int {
    register(key, &out, context)
}
