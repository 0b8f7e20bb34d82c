//! `struct fi_provider`: what libfabric gets when it loads the library.
#![allow(unsafe_code)] // For `no_mangle` only.

use crate::abi::{FI_VERSION, Info, OWN_VERSION};
use crate::entry::call;
use crate::fabric::{self, Fabric};
use crate::info::{NAME, offer};
use crate::object::Given;
use crate::pointer::{Context, Out, Text};
use crate::refusal::Refusal;
use std::ffi::{c_char, c_int, c_void};

/// The provider. libfabric writes into its context.
#[repr(C)]
pub struct Provider {
    version: u32,
    fi_version: u32,
    context: [*mut c_void; 4],
    name: *const c_char,
    getinfo: GetInfo,
    fabric: extern "C" fn(*const c_void, Out<Given<Fabric>>, Context) -> c_int,
    cleanup: extern "C" fn(),
}

type GetInfo = extern "C" fn(u32, Text<'_>, Text<'_>, u64, Option<&Info>, Out<*mut Info>) -> c_int;

// The numbers stand in tests/layouts.c too, where they are compared with libfabric's headers.
const _: () = assert!(std::mem::offset_of!(Provider, cleanup) == 64);

/// The provider, made when libfabric loads the library, which it does once. It is never freed.
// SAFETY: the name is the one that libfabric looks up in the library that it has just loaded; all
// providers have it, and are loaded with names of their own.
#[unsafe(no_mangle)]
pub extern "C" fn fi_prov_ini() -> *mut Provider {
    Box::into_raw(Box::new(Provider {
        version: OWN_VERSION,
        fi_version: FI_VERSION,
        context: [std::ptr::null_mut(); 4],
        name: NAME.as_ptr(),
        getinfo,
        fabric: open_fabric,
        cleanup,
    }))
}

extern "C" fn getinfo(
    _version: u32,
    node: Text<'_>,
    service: Text<'_>,
    _flags: u64,
    hints: Option<&Info>,
    out: Out<*mut Info>,
) -> c_int {
    call(|| {
        // Ranks are found by their addresses, and have no names.
        if node.get().is_some() || service.get().is_some() {
            return Err(Refusal::NO_DATA);
        }
        offer(hints).map(|info| out.set(info))
    })
}

extern "C" fn open_fabric(
    _attributes: *const c_void,
    out: Out<Given<Fabric>>,
    context: Context,
) -> c_int {
    call(|| {
        out.set(fabric::open(context));
        Ok(())
    })
}

extern "C" fn cleanup() {}
