//! Tables of functions that a client calls, each as far as it is used.
//!
//! Functions that are not called have their place as [`Unused`].

use super::{Info, Opaque};
use std::ffi::{c_char, c_int, c_void};

/// Pointer to a function that is never called.
pub type Unused = *const c_void;

/// `fi_addr_t`: the handle of an address in an address vector.
pub type FabricAddress = u64;

/// `struct fid`: what all objects begin with.
#[repr(C)]
pub struct Fid {
    pub class: usize,
    pub context: *mut c_void,
    pub ops: *const FidOps,
}

/// `struct fi_ops`.
#[repr(C)]
pub struct FidOps {
    pub size: usize,
    pub close: unsafe extern "C" fn(*mut Fid) -> c_int,
    pub bind: unsafe extern "C" fn(*mut Fid, *mut Fid, u64) -> c_int,
    pub control: unsafe extern "C" fn(*mut Fid, c_int, *mut c_void) -> c_int,
    pub ops_open: Unused,
    pub tostr: Unused,
    pub ops_set: Unused,
}

/// `struct fid_fabric`.
#[repr(C)]
pub struct Fabric {
    pub fid: Fid,
    pub ops: *const FabricOps,
    pub api_version: u32,
}

/// `struct fi_ops_fabric`.
#[repr(C)]
pub struct FabricOps {
    pub size: usize,
    pub domain:
        unsafe extern "C" fn(*mut Fabric, *mut Info, *mut *mut Domain, *mut c_void) -> c_int,
    pub passive_ep: Unused,
    pub eq_open: Unused,
    pub wait_open: Unused,
    pub trywait: Option<unsafe extern "C" fn(*mut Fabric, *mut *mut Fid, c_int) -> c_int>,
    pub domain2: Unused,
}

/// `struct fid_domain`.
#[repr(C)]
pub struct Domain {
    pub fid: Fid,
    pub ops: *const DomainOps,
    pub mr: *const RegionOps,
}

/// `struct fi_ops_domain`.
#[repr(C)]
pub struct DomainOps {
    pub size: usize,
    pub av_open:
        unsafe extern "C" fn(*mut Domain, *mut VectorAttr, *mut *mut Vector, *mut c_void) -> c_int,
    pub cq_open:
        unsafe extern "C" fn(*mut Domain, *mut QueueAttr, *mut *mut Queue, *mut c_void) -> c_int,
    pub endpoint:
        unsafe extern "C" fn(*mut Domain, *mut Info, *mut *mut Endpoint, *mut c_void) -> c_int,
    pub scalable_ep: Unused,
    pub cntr_open: Unused,
    pub poll_open: Unused,
    pub stx_ctx: Unused,
    pub srx_ctx: Unused,
    pub query_atomic: Unused,
    pub query_collective: Unused,
    pub endpoint2: Unused,
}

/// `struct fi_ops_mr`.
#[repr(C)]
pub struct RegionOps {
    pub size: usize,
    #[allow(clippy::type_complexity)] // It is libfabric's.
    pub reg: unsafe extern "C" fn(
        *mut Fid,
        *const c_void,
        usize,
        u64,
        u64,
        u64,
        u64,
        *mut *mut MemoryRegion,
        *mut c_void,
    ) -> c_int,
    pub regv: Unused,
    pub regattr: Unused,
}

/// `struct fid_mr`.
#[repr(C)]
pub struct MemoryRegion {
    pub fid: Fid,
    pub mem_desc: *mut c_void,
    pub key: u64,
}

/// `struct fi_av_attr`.
#[repr(C)]
pub struct VectorAttr {
    pub kind: c_int,
    pub rx_ctx_bits: c_int,
    pub count: usize,
    pub ep_per_node: usize,
    pub name: *const c_char,
    pub map_addr: *mut c_void,
    pub flags: u64,
}

/// `struct fid_av`.
#[repr(C)]
pub struct Vector {
    pub fid: Fid,
    pub ops: *const VectorOps,
}

/// `struct fi_ops_av`.
#[repr(C)]
pub struct VectorOps {
    pub size: usize,
    pub insert: unsafe extern "C" fn(
        *mut Vector,
        *const c_void,
        usize,
        *mut FabricAddress,
        u64,
        *mut c_void,
    ) -> c_int,
    pub insertsvc: Unused,
    pub insertsym: Unused,
    pub remove: Unused,
    pub lookup: Unused,
    pub straddr: Unused,
    pub av_set: Unused,
}

/// `struct fi_cq_attr`.
#[repr(C)]
pub struct QueueAttr {
    pub size: usize,
    pub flags: u64,
    pub format: c_int,
    pub wait_obj: c_int,
    pub signaling_vector: c_int,
    pub wait_cond: c_int,
    pub wait_set: *mut Opaque,
}

/// `FI_CQ_FORMAT_MSG`: entries are [`QueueEntry`].
pub const FORMAT_MSG: c_int = 2;

/// `struct fid_cq`.
#[repr(C)]
pub struct Queue {
    pub fid: Fid,
    pub ops: *const QueueOps,
}

/// `struct fi_ops_cq`.
#[repr(C)]
pub struct QueueOps {
    pub size: usize,
    pub read: unsafe extern "C" fn(*mut Queue, *mut c_void, usize) -> isize,
    pub readfrom: Unused,
    pub readerr: unsafe extern "C" fn(*mut Queue, *mut QueueError, u64) -> isize,
    pub sread: Unused,
    pub sreadfrom: Unused,
    pub signal: Unused,
    pub strerror: Unused,
}

/// `struct fi_cq_msg_entry`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct QueueEntry {
    pub context: *mut c_void,
    pub flags: u64,
    pub len: usize,
}

/// `struct fi_cq_err_entry`, as in the first versions.
#[repr(C)]
pub struct QueueError {
    pub context: *mut c_void,
    pub flags: u64,
    pub len: usize,
    pub buf: *mut c_void,
    pub data: u64,
    pub tag: u64,
    pub olen: usize,
    pub err: c_int,
    pub prov_errno: c_int,
    pub err_data: *mut c_void,
    pub err_data_size: usize,
    /// Room for what later versions have appended.
    pub later: [u64; 8],
}

/// `struct fid_ep`.
#[repr(C)]
pub struct Endpoint {
    pub fid: Fid,
    pub ops: *const EndpointOps,
    pub cm: *const NameOps,
    pub msg: *const MessageOps,
    pub rma: *const Opaque,
    pub tagged: *const TaggedOps,
    pub atomic: *const Opaque,
    pub collective: *const Opaque,
}

/// `struct fi_ops_ep`.
#[repr(C)]
pub struct EndpointOps {
    pub size: usize,
    pub cancel: unsafe extern "C" fn(*mut Fid, *mut c_void) -> isize,
    pub getopt: Unused,
    pub setopt: Unused,
    pub tx_ctx: Unused,
    pub rx_ctx: Unused,
    pub rx_size_left: Unused,
    pub tx_size_left: Unused,
}

/// `struct fi_ops_cm`.
#[repr(C)]
pub struct NameOps {
    pub size: usize,
    pub setname: unsafe extern "C" fn(*mut Fid, *mut c_void, usize) -> c_int,
    pub getname: unsafe extern "C" fn(*mut Fid, *mut c_void, *mut usize) -> c_int,
    pub getpeer: Unused,
    pub connect: Unused,
    pub listen: Unused,
    pub accept: Unused,
    pub reject: Unused,
    pub shutdown: Unused,
    pub join: Unused,
}

/// `struct fi_ops_msg`.
#[repr(C)]
pub struct MessageOps {
    pub size: usize,
    pub recv: unsafe extern "C" fn(
        *mut Endpoint,
        *mut c_void,
        usize,
        *mut c_void,
        FabricAddress,
        *mut c_void,
    ) -> isize,
    pub recvv: Unused,
    pub recvmsg: Unused,
    pub send: unsafe extern "C" fn(
        *mut Endpoint,
        *const c_void,
        usize,
        *mut c_void,
        FabricAddress,
        *mut c_void,
    ) -> isize,
    pub sendv: Unused,
    pub sendmsg: Unused,
    pub inject: unsafe extern "C" fn(*mut Endpoint, *const c_void, usize, FabricAddress) -> isize,
    pub senddata: Unused,
    pub injectdata: Unused,
}

/// `struct fi_ops_tagged`.
#[repr(C)]
pub struct TaggedOps {
    pub size: usize,
    #[allow(clippy::type_complexity)] // It is libfabric's.
    pub recv: unsafe extern "C" fn(
        *mut Endpoint,
        *mut c_void,
        usize,
        *mut c_void,
        FabricAddress,
        u64,
        u64,
        *mut c_void,
    ) -> isize,
    pub recvv: Unused,
    pub recvmsg: Unused,
    pub send: unsafe extern "C" fn(
        *mut Endpoint,
        *const c_void,
        usize,
        *mut c_void,
        FabricAddress,
        u64,
        *mut c_void,
    ) -> isize,
    pub sendv: Unused,
    pub sendmsg: Unused,
    pub inject: Unused,
    pub senddata: Unused,
    pub injectdata: Unused,
}

#[cfg(test)]
mod tests;
