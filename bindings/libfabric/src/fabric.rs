//! `struct fid_fabric`: where domains come from. There is one fabric, Weft.

use crate::abi::{Info, class};
use crate::domain::Domain;
use crate::events::EventQueue;
use crate::object::{Class, Fid, FidOps, Given, give, ops};
use crate::pointer::{Context, Out};
use crate::refusal::{Missing, call, unsupported};
use std::ffi::{c_int, c_void};

/// The object.
#[repr(C)]
pub(crate) struct Fabric {
    pub(crate) fid: Fid,
    ops: &'static FabricOps,
    /// The host writes the version that its client asked for here.
    api_version: u32,
}

#[repr(C)]
struct FabricOps {
    size: usize,
    domain: extern "C" fn(&Fabric, Option<&Info>, Out<Given<Domain>>, Context) -> c_int,
    passive_ep: Missing,
    eq_open: extern "C" fn(&Fabric, *const c_void, Out<Given<EventQueue>>, Context) -> c_int,
    wait_open: Missing,
    trywait: extern "C" fn(&Fabric, *const c_void, c_int) -> c_int,
    domain2: extern "C" fn(&Fabric, Option<&Info>, Out<Given<Domain>>, u64, Context) -> c_int,
}

// The numbers stand in tests/layouts.c too, where they are compared with libfabric's headers.
const _: () = assert!(
    std::mem::offset_of!(Fabric, api_version) == 32
        && std::mem::offset_of!(FabricOps, domain2) == 48
);

static OPS: FabricOps = FabricOps {
    size: size_of::<FabricOps>(),
    domain,
    passive_ep: unsupported,
    eq_open,
    wait_open: unsupported,
    trywait,
    domain2,
};

static FID_OPS: FidOps = ops::<Fabric>();

impl Class for Fabric {
    const CLASS: usize = class::FABRIC;
    const OPS: &'static FidOps = &FID_OPS;
}

/// `fi_fabric`.
pub(crate) fn open(context: Context) -> Given<Fabric> {
    give(Fabric { fid: Fid::of::<Fabric>(context), ops: &OPS, api_version: 0 })
}

extern "C" fn domain(
    _fabric: &Fabric,
    info: Option<&Info>,
    out: Out<Given<Domain>>,
    context: Context,
) -> c_int {
    call(|| crate::domain::open(info, context).map(|domain| out.set(domain)))
}

extern "C" fn domain2(
    fabric: &Fabric,
    info: Option<&Info>,
    out: Out<Given<Domain>>,
    flags: u64,
    context: Context,
) -> c_int {
    if flags != 0 { unsupported() as c_int } else { domain(fabric, info, out, context) }
}

extern "C" fn eq_open(
    _fabric: &Fabric,
    _attributes: *const c_void,
    out: Out<Given<EventQueue>>,
    context: Context,
) -> c_int {
    call(|| {
        out.set(crate::events::open(context));
        Ok(())
    })
}

/// Nothing here has a descriptor to wait for, so there is nothing to prepare.
extern "C" fn trywait(_fabric: &Fabric, _fids: *const c_void, _count: c_int) -> c_int {
    0
}
