//! `struct fi_info`: what the provider offers, and whether that is what a client's hints ask for.
//!
//! The host frees what is given to it by `free`, piece by piece, and copies it by its own version's
//! layouts, which are longer than the first ones: each piece is made by `calloc`, with zeros behind
//! it.
#![allow(unsafe_code)]

use crate::abi::{
    ADDRESS_FORMAT, AV_MAP, AV_TABLE, DomainAttr, EP_RDM, EpAttr, FabricAttr, Info, MR_BASIC,
    ORDER, PROGRESS_MANUAL, RM_ENABLED, RxAttr, THREAD_SAFE, TxAttr, flag,
};
use crate::memory::PIECES_MAX;
use crate::refusal::{Refusal, Result};
use std::ffi::{CStr, c_char, c_int};

/// The name of the provider, of its fabric and of its domain.
pub(crate) const NAME: &CStr = c"weft";

/// Capabilities that a client has to ask for to get them.
const PRIMARY: u64 = MESSAGES | SENDS | flag::DIRECTED_RECV | REMOTE | ACCESSES;
const MESSAGES: u64 = flag::MSG | flag::TAGGED;
const SENDS: u64 = flag::SEND | flag::RECV;
const REMOTE: u64 = flag::RMA | flag::ATOMIC;
const ACCESSES: u64 = flag::READ | flag::WRITE | flag::REMOTE_READ | flag::REMOTE_WRITE;
/// Capabilities that it gets in any case.
const SECONDARY: u64 =
    flag::MULTI_RECV | flag::SOURCE | flag::RMA_EVENT | flag::LOCAL_COMM | flag::REMOTE_COMM;
/// Flags that operations may have.
const OPERATION_FLAGS: u64 = flag::COMPLETION
    | flag::INJECT
    | flag::MULTI_RECV
    | 1 << 26 // FI_INJECT_COMPLETE
    | 1 << 27 // FI_TRANSMIT_COMPLETE
    | flag::DELIVERY_COMPLETE
    | flag::MATCH_COMPLETE;
/// Operations that may be under way at once; a hint for clients, no limit.
const OPERATIONS: usize = 1024;
/// Bytes that go back to the program when the call returns, if it wants that.
pub(crate) const INJECT_BYTES: usize = 256;
/// Bytes of a message at most.
const MESSAGE_BYTES: usize = isize::MAX as usize;
/// Zeros behind each piece, for what later versions have appended.
const BEHIND: usize = 256;

/// Pieces of an `fi_info`, in their places.
trait Pieces {
    fn tx(&self) -> Option<&TxAttr>;
    fn rx(&self) -> Option<&RxAttr>;
    fn ep(&self) -> Option<&EpAttr>;
    fn fabric(&self) -> Option<&FabricAttr>;
}

impl Pieces for Info {
    fn tx(&self) -> Option<&TxAttr> {
        // SAFETY: a client's or the host's: null, or there as long as the info is.
        unsafe { self.tx_attr.as_ref() }
    }

    fn rx(&self) -> Option<&RxAttr> {
        // SAFETY: as above.
        unsafe { self.rx_attr.as_ref() }
    }

    fn ep(&self) -> Option<&EpAttr> {
        // SAFETY: as above.
        unsafe { self.ep_attr.as_ref() }
    }

    fn fabric(&self) -> Option<&FabricAttr> {
        // SAFETY: as above.
        unsafe { self.fabric_attr.as_ref() }
    }
}

/// The attributes of the domain, if there are any.
pub(crate) fn domain_of(info: &Info) -> Option<&DomainAttr> {
    // SAFETY: as in `Pieces::tx`.
    unsafe { info.domain_attr.as_ref() }
}

/// Flags of an endpoint's sends and receives that have none of their own.
pub(crate) fn operation_flags(info: &Info) -> (u64, u64) {
    (info.tx().map_or(0, |tx| tx.op_flags), info.rx().map_or(0, |rx| rx.op_flags))
}

/// True if a name is absent or this provider's.
fn is_ours(name: *const c_char) -> bool {
    // SAFETY: null, or text that ends with a zero.
    name.is_null() || unsafe { CStr::from_ptr(name) } == NAME
}

/// True if the offer is one that the hints ask for.
fn fits(hints: &Info) -> bool {
    let basics =
        hints.caps & !(PRIMARY | SECONDARY) == 0 && matches!(hints.addr_format, 0 | ADDRESS_FORMAT);
    let ep = hints.ep().is_none_or(|ep| {
        matches!(ep.kind, 0 | EP_RDM)
            && ep.max_msg_size <= MESSAGE_BYTES
            && ep.tx_ctx_cnt <= 1
            && ep.rx_ctx_cnt <= 1
            && ep.auth_key_size == 0
    });
    let tx = hints.tx().is_none_or(|tx| {
        tx.caps & !(PRIMARY | SECONDARY) == 0
            && tx.op_flags & !OPERATION_FLAGS == 0
            && tx.msg_order & !ORDER == 0
            && tx.comp_order == 0
            && tx.inject_size <= INJECT_BYTES
            && tx.iov_limit <= PIECES_MAX
            && tx.rma_iov_limit <= 1
    });
    let rx = hints.rx().is_none_or(|rx| {
        rx.caps & !(PRIMARY | SECONDARY) == 0
            && rx.op_flags & !OPERATION_FLAGS == 0
            && rx.msg_order & !ORDER == 0
            && rx.comp_order == 0
            && rx.iov_limit <= PIECES_MAX
    });
    let domain = domain_of(hints).is_none_or(|domain| {
        is_ours(domain.name)
            && (0..=AV_TABLE).contains(&domain.av_type)
            && domain.cq_data_size <= size_of::<u64>()
            && domain.caps & !(flag::LOCAL_COMM | flag::REMOTE_COMM) == 0
            && domain.auth_key_size == 0
    });
    let fabric = hints.fabric().is_none_or(|fabric| is_ours(fabric.name));
    basics && ep && tx && rx && domain && fabric
}

/// A piece of zeros, of which C sees the first part as a `T`.
fn zeroed<T>() -> Result<&'static mut T> {
    // SAFETY: `calloc` gives nothing, or so many zeros, aligned for everything; all-zero is a value
    // of the layouts that this is called with, which are numbers and pointers.
    let piece = unsafe { libc::calloc(1, size_of::<T>() + BEHIND).cast::<T>().as_mut() };
    piece.ok_or(Refusal::NO_MEMORY)
}

/// A copy of a name that C may free.
fn name() -> Result<*mut c_char> {
    // SAFETY: the text ends with a zero.
    let copy = unsafe { libc::strdup(NAME.as_ptr()) };
    if copy.is_null() { Err(Refusal::NO_MEMORY) } else { Ok(copy) }
}

/// `fi_getinfo`: the one thing that there is to offer, if it fits.
pub(crate) fn offer(hints: Option<&Info>) -> Result<*mut Info> {
    if hints.is_some_and(|hints| !fits(hints)) {
        return Err(Refusal::NO_DATA);
    }
    let asked = hints.map_or(0, |hints| hints.caps);
    let caps = SECONDARY | if asked == 0 { PRIMARY } else { complete(asked) };
    let info = zeroed::<Info>()?;
    info.caps = caps;
    info.addr_format = ADDRESS_FORMAT;
    info.tx_attr = tx(caps, hints)?;
    info.rx_attr = rx(caps, hints)?;
    info.ep_attr = endpoint()?;
    info.domain_attr = domain(hints)?;
    let fabric = zeroed::<FabricAttr>()?;
    fabric.name = name()?;
    info.fabric_attr = fabric;
    Ok(info)
}

/// Capabilities with all directions, if none is named.
fn complete(caps: u64) -> u64 {
    let all_of = |directions, of| {
        if caps & directions == 0 && caps & of != 0 { directions } else { 0 }
    };
    caps & PRIMARY | all_of(SENDS, MESSAGES) | all_of(ACCESSES, REMOTE)
}

fn tx(caps: u64, hints: Option<&Info>) -> Result<*mut TxAttr> {
    let tx = zeroed::<TxAttr>()?;
    tx.caps = caps & (MESSAGES | flag::SEND | REMOTE | flag::READ | flag::WRITE);
    tx.op_flags = hints.and_then(Info::tx).map_or(0, |tx| tx.op_flags);
    tx.msg_order = ORDER;
    tx.inject_size = INJECT_BYTES;
    tx.size = OPERATIONS;
    tx.iov_limit = PIECES_MAX;
    tx.rma_iov_limit = 1;
    Ok(tx)
}

fn rx(caps: u64, hints: Option<&Info>) -> Result<*mut RxAttr> {
    let rx = zeroed::<RxAttr>()?;
    const OWN: u64 = flag::MULTI_RECV | flag::SOURCE | flag::DIRECTED_RECV | flag::RMA_EVENT;
    const REMOTE_OWN: u64 = REMOTE | flag::REMOTE_READ | flag::REMOTE_WRITE;
    rx.caps = caps & (MESSAGES | flag::RECV | OWN | REMOTE_OWN);
    rx.op_flags = hints.and_then(Info::rx).map_or(0, |rx| rx.op_flags);
    rx.msg_order = ORDER;
    rx.size = OPERATIONS;
    rx.iov_limit = PIECES_MAX;
    Ok(rx)
}

fn endpoint() -> Result<*mut EpAttr> {
    let ep = zeroed::<EpAttr>()?;
    ep.kind = EP_RDM;
    // A protocol that libfabric does not know: the provider's own.
    ep.protocol = ADDRESS_FORMAT;
    ep.protocol_version = 1;
    ep.max_msg_size = MESSAGE_BYTES;
    ep.max_order_raw_size = MESSAGE_BYTES;
    ep.max_order_war_size = MESSAGE_BYTES;
    ep.max_order_waw_size = MESSAGE_BYTES;
    ep.mem_tag_format = u64::MAX;
    ep.tx_ctx_cnt = 1;
    ep.rx_ctx_cnt = 1;
    Ok(ep)
}

fn domain(hints: Option<&Info>) -> Result<*mut DomainAttr> {
    let asked = hints.and_then(domain_of);
    let or = |given: Option<c_int>, usual| given.filter(|given| *given != 0).unwrap_or(usual);
    let domain = zeroed::<DomainAttr>()?;
    domain.name = name()?;
    domain.threading = or(asked.map(|asked| asked.threading), THREAD_SAFE);
    domain.control_progress = or(asked.map(|asked| asked.control_progress), PROGRESS_MANUAL);
    domain.data_progress = or(asked.map(|asked| asked.data_progress), PROGRESS_MANUAL);
    domain.resource_mgmt = RM_ENABLED;
    domain.av_type = or(asked.map(|asked| asked.av_type), AV_MAP);
    // Offsets and the client's own keys, whatever else it could do; or addresses, for clients that
    // know nothing else.
    let is_basic = asked.is_some_and(|asked| asked.mr_mode == MR_BASIC);
    domain.mr_mode = if is_basic { MR_BASIC } else { 0 };
    domain.mr_key_size = size_of::<u64>();
    domain.cq_data_size = size_of::<u64>();
    domain.cq_cnt = OPERATIONS;
    domain.ep_cnt = 256;
    domain.tx_ctx_cnt = 256;
    domain.rx_ctx_cnt = 256;
    domain.max_ep_tx_ctx = 1;
    domain.max_ep_rx_ctx = 1;
    domain.cntr_cnt = OPERATIONS;
    domain.mr_iov_limit = PIECES_MAX;
    domain.mr_cnt = 1 << 16;
    domain.caps = flag::LOCAL_COMM | flag::REMOTE_COMM;
    Ok(domain)
}
