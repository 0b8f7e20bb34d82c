//! Numbers and layouts of libfabric, as in its headers of version 1.17. Later versions only append;
//! what they append is not here, and not read.

use crate::pointer::List;
use std::ffi::{c_int, c_void};
pub(crate) use weft_fabric::abi::*;

/// Version of libfabric that the provider is made for: 2.5. A host refuses one made for less than
/// its client asks for.
pub(crate) const FI_VERSION: u32 = 2 << 16 | 5;
/// Versions of the provider itself.
pub(crate) const OWN_VERSION: u32 = 1;

/// `FI_ORDER_…` of what keeps its order: sends after sends; reads and writes after writes, of
/// memory and of atomics; and everything after everything, of atomics.
pub(crate) const ORDER: u64 = {
    let (raw, waw, sas) = (1 << 1, 1 << 4, 1 << 8);
    let (rma_raw, rma_waw) = (1 << 33, 1 << 35);
    raw | waw | sas | rma_raw | rma_waw | 0xf << 36
};
/// `FI_MR_BASIC`: regions are named by addresses and by keys of the provider's.
pub(crate) const MR_BASIC: c_int = 1;
/// The address format: one that libfabric does not know.
pub(crate) const ADDRESS_FORMAT: u32 = 1 << 31 | 0x5745;

/// `struct iovec`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Iovec {
    pub base: *mut c_void,
    pub length: usize,
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
