//! `struct fid_fabric`: where domains come from. There is one fabric, Weft.

use crate::abi::{Info, class};
use crate::domain::Domain;
use crate::events::{EventAttr, EventQueue};
use crate::object::{Class, Fid, FidOps, Given, give, ops};
use crate::pointer::{Context, List, Out};
use crate::refusal::{Missing, Refusal, call, unsupported};
use crate::wait::{WaitAttr, WaitSet};
use crate::watch::Watch;
use std::ffi::c_int;

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
    eq_open: extern "C" fn(&Fabric, Option<&EventAttr>, Out<Given<EventQueue>>, Context) -> c_int,
    wait_open: extern "C" fn(&Fabric, Option<&WaitAttr>, Out<Given<WaitSet>>) -> c_int,
    trywait: extern "C" fn(&Fabric, List<Option<&Fid>>, c_int) -> c_int,
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
    wait_open,
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
    attributes: Option<&EventAttr>,
    out: Out<Given<EventQueue>>,
    context: Context,
) -> c_int {
    call(|| crate::events::open(attributes, context).map(|queue| out.set(queue)))
}

extern "C" fn wait_open(
    _fabric: &Fabric,
    attributes: Option<&WaitAttr>,
    out: Out<Given<WaitSet>>,
) -> c_int {
    call(|| crate::wait::open(attributes).map(|set| out.set(set)))
}

/// Before a program waits for descriptors: `-FI_EAGAIN` if there is something for it already.
extern "C" fn trywait(_fabric: &Fabric, fids: List<Option<&Fid>>, count: c_int) -> c_int {
    call(|| {
        let count = usize::try_from(count).map_err(|_| Refusal::INVALID)?;
        let mut may_wait = true;
        for fid in fids.slice(count)? {
            let watch = fid.and_then(Watch::of).ok_or(Refusal::INVALID)?;
            may_wait &= watch.prepare_to_wait()?;
        }
        if may_wait { Ok(()) } else { Err(Refusal::AGAIN) }
    })
}
