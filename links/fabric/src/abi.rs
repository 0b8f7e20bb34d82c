//! Layouts and numbers of libfabric, as in its headers of version 1.17, for who provides it
//! (`bindings/libfabric`) and who uses it (`links/fabric`). Later versions only append; what they
//! append is not here, and not read.
//!
//! Plain `repr(C)` data: nothing here dereferences anything. Uses nothing of the rest of the tree.
//! `bindings/libfabric/tests/layouts.c` compares the numbers with libfabric's headers.

#![forbid(unsafe_code)]
#![allow(missing_docs)] // Fields and flags are named as in libfabric's manual pages, which say what each means.

pub mod client;

use std::ffi::{c_char, c_int, c_void};

/// Flags, capabilities and modes.
pub mod flag {
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

/// `void` that nobody looks at.
pub type Opaque = c_void;

/// `FI_MR_…` of registering memory.
pub mod region {
    use std::ffi::c_int;

    /// Local buffers are registered.
    pub const LOCAL: c_int = 1 << 2;
    /// Remote accesses name addresses.
    pub const VIRT_ADDR: c_int = 1 << 4;
    /// Memory that is registered has pages behind it.
    pub const ALLOCATED: c_int = 1 << 5;
    /// The provider chooses keys.
    pub const PROV_KEY: c_int = 1 << 6;
    /// Regions are bound to an endpoint.
    pub const ENDPOINT: c_int = 1 << 9;
}

/// `FI_CONTEXT…`: the provider uses what the context of an operation points to.
pub mod mode {
    /// `struct fi_context`: four words.
    pub const CONTEXT: u64 = 1 << 59;
    /// `struct fi_context2`: eight words.
    pub const CONTEXT2: u64 = 1 << 52;
}

/// `enum` of address formats, as far as they are told apart.
pub mod address {
    pub const SOCKADDR: u32 = 1;
    pub const SOCKADDR_IN: u32 = 2;
    pub const SOCKADDR_IN6: u32 = 3;
    /// `FI_ADDR_STR`.
    pub const TEXT: u32 = 9;
}

/// `FI_ORDER_SAS`: sends arrive in the order in which they were made.
pub const ORDER_SAS: u64 = 1 << 8;
/// `enum fi_threading`: who shares the objects of a domain locks.
pub const THREAD_DOMAIN: c_int = 3;

/// `FI_ADDR_UNSPEC`.
pub const ANYBODY: u64 = u64::MAX;
/// `enum fi_ep_type`.
pub const EP_RDM: c_int = 3;
/// `enum fi_av_type`.
pub const AV_MAP: c_int = 1;
/// `enum fi_av_type`.
pub const AV_TABLE: c_int = 2;
/// `enum fi_threading`.
pub const THREAD_SAFE: c_int = 1;
/// `enum fi_progress`.
pub const PROGRESS_MANUAL: c_int = 2;
/// `enum fi_resource_mgmt`.
pub const RM_ENABLED: c_int = 2;
/// `enum fi_wait_obj`.
pub const WAIT_NONE: c_int = 0;
/// `enum fi_wait_obj`: the provider chooses.
pub const WAIT_UNSPEC: c_int = 1;
/// `enum fi_wait_obj`: that of a wait set.
pub const WAIT_SET: c_int = 2;
/// `enum fi_wait_obj`: a descriptor.
pub const WAIT_FD: c_int = 3;
/// `enum fi_wait_obj`.
pub const WAIT_YIELD: c_int = 5;
/// `fi_control`: the descriptor to wait for.
pub const GETWAIT: c_int = 5;
/// `fi_control`.
pub const ENABLE: c_int = 6;
/// `fi_control`: what there is to wait for.
pub const GETWAITOBJ: c_int = 16;

/// `FI_CLASS_…`.
pub mod class {
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

#[repr(C)]
pub struct TxAttr {
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
pub struct RxAttr {
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
pub struct EpAttr {
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
pub struct DomainAttr {
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
pub struct FabricAttr {
    pub fabric: *mut c_void,
    pub name: *mut c_char,
    pub prov_name: *mut c_char,
    pub prov_version: u32,
    pub api_version: u32,
}

#[repr(C)]
pub struct Info {
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
