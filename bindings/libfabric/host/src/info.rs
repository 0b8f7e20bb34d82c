//! `struct fi_info`: copied, piece by piece, and freed.
#![allow(unsafe_code)] // Pointers that C has.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use weft_fabric::abi::Info;

/// Zeros behind each piece that is copied: there providers have what later versions appended.
const BEHIND: usize = 256;

/// A piece with the bytes of another one, or zeros; null if there is no memory.
///
/// # Safety
/// `of` is null or a piece of this type, which has no destructor.
unsafe fn copy<T>(of: *const T) -> *mut T {
    // SAFETY: zeros are a value of all layouts here, numbers and pointers; `of` is a piece of the
    // same type, and does not overlap with new memory.
    unsafe {
        let piece = libc::calloc(1, size_of::<T>() + BEHIND).cast::<T>();
        if !piece.is_null() && !of.is_null() {
            ptr::copy_nonoverlapping(of, piece, 1);
        }
        piece
    }
}

/// A copy of a name, or null.
///
/// # Safety
/// It is null or a text that ends with a zero.
unsafe fn copy_name(name: *const c_char) -> *mut c_char {
    // SAFETY: as the caller vouches.
    if name.is_null() { ptr::null_mut() } else { unsafe { libc::strdup(name) } }
}

/// A copy of so many bytes, or null.
///
/// # Safety
/// `bytes` is null, or `length` bytes can be read there.
unsafe fn copy_bytes(bytes: *const c_void, length: usize) -> *mut c_void {
    if bytes.is_null() || length == 0 {
        return ptr::null_mut();
    }
    // SAFETY: as the caller vouches; new memory of that length.
    unsafe {
        let copy = libc::malloc(length);
        if !copy.is_null() {
            ptr::copy_nonoverlapping(bytes.cast::<u8>(), copy.cast(), length);
        }
        copy
    }
}

/// `fi_dupinfo`: a copy with pieces of its own, or an empty one with all pieces. The description of
/// hardware (`nic`) is left out, as this provider has none. Null if there is no memory.
///
/// # Safety
/// `of` is null or a `struct fi_info` of libfabric 1.17 or later.
pub unsafe fn duplicate(of: *const Info) -> *mut Info {
    // SAFETY: pieces of an info are null or of their types, and what they name is there, as long as
    // the info is.
    unsafe {
        let Some(info) = copy(of).as_mut() else { return ptr::null_mut() };
        info.next = ptr::null_mut();
        info.nic = ptr::null_mut();
        info.src_addr = copy_bytes(info.src_addr, info.src_addrlen);
        info.dest_addr = copy_bytes(info.dest_addr, info.dest_addrlen);
        // An empty one has all of them, and of a copy those that are there.
        let is_empty = of.is_null();
        if is_empty || !info.tx_attr.is_null() {
            info.tx_attr = copy(info.tx_attr);
        }
        if is_empty || !info.rx_attr.is_null() {
            info.rx_attr = copy(info.rx_attr);
        }
        if is_empty || !info.ep_attr.is_null() {
            info.ep_attr = copy(info.ep_attr);
        }
        if let Some(ep) = info.ep_attr.as_mut() {
            ep.auth_key = copy_bytes(ep.auth_key.cast(), ep.auth_key_size).cast();
        }
        if is_empty || !info.domain_attr.is_null() {
            info.domain_attr = copy(info.domain_attr);
        }
        if let Some(domain) = info.domain_attr.as_mut() {
            domain.name = copy_name(domain.name);
            domain.auth_key = copy_bytes(domain.auth_key.cast(), domain.auth_key_size).cast();
        }
        if is_empty || !info.fabric_attr.is_null() {
            info.fabric_attr = copy(info.fabric_attr);
        }
        if let Some(fabric) = info.fabric_attr.as_mut() {
            fabric.name = copy_name(fabric.name);
            fabric.prov_name = copy_name(fabric.prov_name);
        }
        info
    }
}

/// `fi_freeinfo`, of a whole list.
///
/// # Safety
/// It is null, or one of [`duplicate`] or of a provider, whose pieces are `calloc`'s. It is freed
/// once.
pub unsafe fn free(mut info: *mut Info) {
    // SAFETY: as the caller vouches; each piece is its info's alone.
    unsafe {
        while let Some(it) = info.as_mut() {
            let next = it.next;
            if let Some(ep) = it.ep_attr.as_ref() {
                libc::free(ep.auth_key.cast());
            }
            if let Some(domain) = it.domain_attr.as_ref() {
                libc::free(domain.name.cast());
                libc::free(domain.auth_key.cast());
            }
            if let Some(fabric) = it.fabric_attr.as_ref() {
                libc::free(fabric.name.cast());
                libc::free(fabric.prov_name.cast());
            }
            libc::free(it.src_addr);
            libc::free(it.dest_addr);
            libc::free(it.tx_attr.cast());
            libc::free(it.rx_attr.cast());
            libc::free(it.ep_attr.cast());
            libc::free(it.domain_attr.cast());
            libc::free(it.fabric_attr.cast());
            libc::free(info.cast());
            info = next;
        }
    }
}

/// True if the provider that the hints name, if they do, has this name.
///
/// # Safety
/// They are null or a `struct fi_info`.
pub unsafe fn wants(hints: *const Info, name: &CStr) -> bool {
    // SAFETY: as the caller vouches; a name is a text that ends with a zero.
    unsafe {
        let wanted = hints.as_ref().and_then(|hints| hints.fabric_attr.as_ref());
        wanted.is_none_or(|it| it.prov_name.is_null() || CStr::from_ptr(it.prov_name) == name)
    }
}

/// Writes into what a provider offers who offers it, for a client of this version.
///
/// # Safety
/// It is a list of a provider's.
pub unsafe fn sign(mut offered: *mut Info, name: &CStr, own_version: u32, version: u32) {
    // SAFETY: as the caller vouches.
    unsafe {
        while let Some(info) = offered.as_mut() {
            if let Some(fabric) = info.fabric_attr.as_mut() {
                libc::free(fabric.prov_name.cast());
                fabric.prov_name = libc::strdup(name.as_ptr());
                fabric.prov_version = own_version;
                fabric.api_version = version;
            }
            offered = info.next;
        }
    }
}
