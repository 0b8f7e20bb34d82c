//! Numbers and layouts of libfabric, as in its headers of version 1.17. Later versions only append;
//! what they append is not here, and not read.

use crate::pointer::List;
use std::ffi::{c_char, c_int, c_void};

/// Version of libfabric that the provider is made for: 2.5. A host refuses one made for less than
/// its client asks for.
pub(crate) const FI_VERSION: u32 = 2 << 16 | 5;
/// Versions of the provider itself.
pub(crate) const OWN_VERSION: u32 = 1;

/// Flags, capabilities and modes.
pub(crate) mod flag {
    pub const MSG: u64 = 1 << 1;
    pub const RMA: u64 = 1 << 2;
    pub const TAGGED: u64 = 1 << 3;
    pub const ATOMIC: u64 = 1 << 4;
    pub const READ: u64 = 1 << 8;
    pub const WRITE: u64 = 1 << 9;
    pub const RECV: u64 = 1 << 10;
    pub const SEND: u64 = 1 << 11;
    pub const REMOTE_READ: u64 = 1 << 12;
    pub const REMOTE_WRITE: u64 = 1 << 13;
    pub const MULTI_RECV: u64 = 1 << 16;
    pub const REMOTE_CQ_DATA: u64 = 1 << 17;
    pub const PEEK: u64 = 1 << 19;
    pub const COMPLETION: u64 = 1 << 24;
    pub const INJECT: u64 = 1 << 25;
    pub const DELIVERY_COMPLETE: u64 = 1 << 28;
    pub const MATCH_COMPLETE: u64 = 1 << 31;
    pub const LOCAL_COMM: u64 = 1 << 51;
    pub const REMOTE_COMM: u64 = 1 << 52;
    pub const RMA_EVENT: u64 = 1 << 56;
    pub const SOURCE: u64 = 1 << 57;
    pub const DIRECTED_RECV: u64 = 1 << 59;
    /// Of a receive.
    pub const CLAIM: u64 = 1 << 59;
    /// Of a receive.
    pub const DISCARD: u64 = 1 << 58;
    /// Of a question about atomics.
    pub const FETCH_ATOMIC: u64 = 1 << 58;
    /// Of a question about atomics.
    pub const COMPARE_ATOMIC: u64 = 1 << 59;
    /// Of a binding.
    pub const SELECTIVE_COMPLETION: u64 = 1 << 59;
}

/// `FI_ORDER_…` of what keeps its order: sends after sends; reads and writes after writes, of
/// memory and of atomics; and everything after everything, of atomics.
pub(crate) const ORDER: u64 = {
    let (raw, waw, sas) = (1 << 1, 1 << 4, 1 << 8);
    let (rma_raw, rma_waw) = (1 << 33, 1 << 35);
    raw | waw | sas | rma_raw | rma_waw | 0xf << 36
};
/// `FI_MR_BASIC`: regions are named by addresses and by keys of the provider's.
pub(crate) const MR_BASIC: c_int = 1;
/// `FI_ADDR_UNSPEC`.
pub(crate) const ANYBODY: u64 = u64::MAX;
/// The address format: one that libfabric does not know.
pub(crate) const ADDRESS_FORMAT: u32 = 1 << 31 | 0x5745;

/// `enum fi_ep_type`.
pub(crate) const EP_RDM: c_int = 3;
/// `enum fi_av_type`.
pub(crate) const AV_MAP: c_int = 1;
/// `enum fi_av_type`.
pub(crate) const AV_TABLE: c_int = 2;
/// `enum fi_threading`.
pub(crate) const THREAD_SAFE: c_int = 1;
/// `enum fi_progress`.
pub(crate) const PROGRESS_MANUAL: c_int = 2;
/// `enum fi_resource_mgmt`.
pub(crate) const RM_ENABLED: c_int = 2;
/// `enum fi_wait_obj`.
pub(crate) const WAIT_NONE: c_int = 0;
/// `enum fi_wait_obj`: the provider chooses.
pub(crate) const WAIT_UNSPEC: c_int = 1;
/// `enum fi_wait_obj`: that of a wait set.
pub(crate) const WAIT_SET: c_int = 2;
/// `enum fi_wait_obj`: a descriptor.
pub(crate) const WAIT_FD: c_int = 3;
/// `enum fi_wait_obj`.
pub(crate) const WAIT_YIELD: c_int = 5;
/// `fi_control`: the descriptor to wait for.
pub(crate) const GETWAIT: c_int = 5;
/// `fi_control`.
pub(crate) const ENABLE: c_int = 6;
/// `fi_control`: what there is to wait for.
pub(crate) const GETWAITOBJ: c_int = 16;

/// `FI_CLASS_…`.
pub(crate) mod class {
    pub const FABRIC: usize = 1;
    pub const DOMAIN: usize = 2;
    pub const EP: usize = 3;
    pub const AV: usize = 11;
    pub const MR: usize = 12;
    pub const EQ: usize = 13;
    pub const CQ: usize = 14;
    pub const CNTR: usize = 15;
    pub const WAIT: usize = 16;
    pub const POLL: usize = 17;
}

/// `struct iovec`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Iovec {
    pub base: *mut c_void,
    pub length: usize,
}

#[repr(C)]
pub(crate) struct TxAttr {
    pub caps: u64,
    pub mode: u64,
    pub op_flags: u64,
    pub msg_order: u64,
    pub comp_order: u64,
    pub inject_size: usize,
    pub size: usize,
    pub iov_limit: usize,
    pub rma_iov_limit: usize,
    pub tclass: u32,
}

#[repr(C)]
pub(crate) struct RxAttr {
    pub caps: u64,
    pub mode: u64,
    pub op_flags: u64,
    pub msg_order: u64,
    pub comp_order: u64,
    pub total_buffered_recv: usize,
    pub size: usize,
    pub iov_limit: usize,
}

#[repr(C)]
pub(crate) struct EpAttr {
    pub kind: c_int,
    pub protocol: u32,
    pub protocol_version: u32,
    pub max_msg_size: usize,
    pub msg_prefix_size: usize,
    pub max_order_raw_size: usize,
    pub max_order_war_size: usize,
    pub max_order_waw_size: usize,
    pub mem_tag_format: u64,
    pub tx_ctx_cnt: usize,
    pub rx_ctx_cnt: usize,
    pub auth_key_size: usize,
    pub auth_key: *mut u8,
}

#[repr(C)]
pub(crate) struct DomainAttr {
    pub domain: *mut c_void,
    pub name: *mut c_char,
    pub threading: c_int,
    pub control_progress: c_int,
    pub data_progress: c_int,
    pub resource_mgmt: c_int,
    pub av_type: c_int,
    pub mr_mode: c_int,
    pub mr_key_size: usize,
    pub cq_data_size: usize,
    pub cq_cnt: usize,
    pub ep_cnt: usize,
    pub tx_ctx_cnt: usize,
    pub rx_ctx_cnt: usize,
    pub max_ep_tx_ctx: usize,
    pub max_ep_rx_ctx: usize,
    pub max_ep_stx_ctx: usize,
    pub max_ep_srx_ctx: usize,
    pub cntr_cnt: usize,
    pub mr_iov_limit: usize,
    pub caps: u64,
    pub mode: u64,
    pub auth_key: *mut u8,
    pub auth_key_size: usize,
    pub max_err_data: usize,
    pub mr_cnt: usize,
    pub tclass: u32,
}

#[repr(C)]
pub(crate) struct FabricAttr {
    pub fabric: *mut c_void,
    pub name: *mut c_char,
    pub prov_name: *mut c_char,
    pub prov_version: u32,
    pub api_version: u32,
}

#[repr(C)]
pub(crate) struct Info {
    pub next: *mut Info,
    pub caps: u64,
    pub mode: u64,
    pub addr_format: u32,
    pub src_addrlen: usize,
    pub dest_addrlen: usize,
    pub src_addr: *mut c_void,
    pub dest_addr: *mut c_void,
    pub handle: *mut c_void,
    pub tx_attr: *mut TxAttr,
    pub rx_attr: *mut RxAttr,
    pub ep_attr: *mut EpAttr,
    pub domain_attr: *mut DomainAttr,
    pub fabric_attr: *mut FabricAttr,
    pub nic: *mut c_void,
}

/// `struct fi_msg_tagged`.
#[repr(C)]
pub(crate) struct TaggedMessage {
    pub iov: *const Iovec,
    pub desc: *mut *mut c_void,
    pub iov_count: usize,
    pub addr: u64,
    pub tag: u64,
    pub ignore: u64,
    pub context: crate::pointer::Context,
    pub data: u64,
}

/// `struct fi_msg`.
#[repr(C)]
pub(crate) struct PlainMessage {
    pub iov: *const Iovec,
    pub desc: *mut *mut c_void,
    pub iov_count: usize,
    pub addr: u64,
    pub context: crate::pointer::Context,
    pub data: u64,
}

/// `struct fi_rma_iov`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct RemotePiece {
    pub address: u64,
    /// Bytes; of a `struct fi_rma_ioc`, elements.
    pub length: usize,
    pub key: u64,
}

/// `struct fi_msg_rma`.
#[repr(C)]
pub(crate) struct RemoteMessage {
    pub iov: *const Iovec,
    pub desc: *mut *mut c_void,
    pub iov_count: usize,
    pub addr: u64,
    pub remote: List<'static, RemotePiece>,
    pub remote_count: usize,
    pub context: crate::pointer::Context,
    pub data: u64,
}

/// `struct fi_msg_atomic`.
#[repr(C)]
pub(crate) struct AtomicMessage {
    /// `struct fi_ioc`, which has elements where an I/O vector has bytes.
    pub iov: *const Iovec,
    pub desc: *mut *mut c_void,
    pub iov_count: usize,
    pub addr: u64,
    pub remote: List<'static, RemotePiece>,
    pub remote_count: usize,
    pub datatype: c_int,
    pub op: c_int,
    pub context: crate::pointer::Context,
    pub data: u64,
}

/// `struct fi_mr_attr`, as far as it is read.
#[repr(C)]
pub(crate) struct RegionAttr {
    pub iov: *const Iovec,
    pub iov_count: usize,
    pub access: u64,
    pub offset: u64,
    pub requested_key: u64,
    pub context: crate::pointer::Context,
    pub auth_key_size: usize,
    pub auth_key: *mut u8,
    pub iface: c_int,
}

/// `struct fi_atomic_attr`.
#[repr(C)]
pub(crate) struct AtomicAttr {
    pub count: usize,
    pub size: usize,
}

#[cfg(test)]
mod tests;
