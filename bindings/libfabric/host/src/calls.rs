//! The functions of libfabric that are here.
#![allow(unsafe_code)] // Functions that C calls.

use crate::info;
use crate::provider::{FabricObject, provider};
use std::ffi::{c_char, c_int, c_void};
use weft_fabric::abi::{FabricAttr, Info};

/// Version of libfabric whose layouts these are: 1.17.
const VERSION: u32 = 1 << 16 | 17;
/// First number of libfabric's own errors.
const OWN_ERRORS: c_int = 256;

/// `fi_version`.
#[unsafe(no_mangle)]
pub extern "C" fn fi_version() -> u32 {
    VERSION
}

/// `fi_getinfo`: what the provider offers.
///
/// # Safety
/// Pointers are as `fi_getinfo(3)` has them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fi_getinfo(
    version: u32,
    node: *const c_char,
    service: *const c_char,
    flags: u64,
    hints: *const Info,
    offered: *mut *mut Info,
) -> c_int {
    let Some(provider) = provider() else { return -libc::ENODATA };
    if version > VERSION {
        return -libc::ENOSYS;
    }
    // SAFETY: the hints are the caller's, and it waits for one pointer; what the provider gives is
    // a list of its own.
    unsafe {
        if !info::wants(hints, provider.name()) {
            return -libc::ENODATA;
        }
        let outcome = (provider.getinfo)(version, node, service, flags, hints, offered);
        if outcome == 0 {
            info::sign(*offered, provider.name(), provider.version(), version);
        }
        outcome
    }
}

/// `fi_freeinfo`.
///
/// # Safety
/// Pointers are as `fi_freeinfo(3)` has them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fi_freeinfo(info: *mut Info) {
    // SAFETY: what clients have is of `fi_getinfo` or `fi_dupinfo`.
    unsafe { info::free(info) }
}

/// `fi_dupinfo`.
///
/// # Safety
/// Pointers are as `fi_dupinfo(3)` has them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fi_dupinfo(info: *const Info) -> *mut Info {
    // SAFETY: as the caller vouches.
    unsafe { info::duplicate(info) }
}

/// `fi_fabric`: the provider's.
///
/// # Safety
/// Pointers are as `fi_fabric(3)` has them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fi_fabric(
    attributes: *const FabricAttr,
    fabric: *mut *mut FabricObject,
    context: *mut c_void,
) -> c_int {
    let Some(provider) = provider() else { return -libc::ENODEV };
    // SAFETY: the caller's attributes, and room for one pointer; what the provider gives begins as
    // all such do.
    unsafe {
        let outcome = (provider.fabric)(attributes, fabric, context);
        if outcome == 0
            && let (Some(attributes), Some(fabric)) = (attributes.as_ref(), (*fabric).as_mut())
        {
            fabric.api_version = attributes.api_version;
        }
        outcome
    }
}

/// `fi_open`: objects of libfabric's own, of which there are none.
#[unsafe(no_mangle)]
pub extern "C" fn fi_open() -> c_int {
    -libc::ENOSYS
}

/// `fi_strerror`.
#[unsafe(no_mangle)]
pub extern "C" fn fi_strerror(number: c_int) -> *const c_char {
    match number {
        // SAFETY: any number has a text.
        ..OWN_ERRORS => unsafe { libc::strerror(number) },
        256 => c"Unspecified error".as_ptr(),
        257 => c"Provided buffer is too small".as_ptr(),
        258 => c"Operation not permitted in current state".as_ptr(),
        259 => c"Error available".as_ptr(),
        263 => c"Missing or unavailable completion queue".as_ptr(),
        265 => c"Truncation error".as_ptr(),
        266 => c"Required key not available".as_ptr(),
        267 => c"Missing or unavailable address vector".as_ptr(),
        _ => c"Other error of libfabric".as_ptr(),
    }
}
