//! Trial of a libfabric: it is loaded, with the provider, and asked.
//!
//! A module with `unsafe` code: the library is found when the program runs and written in C. It is
//! loaded in a process of its own, with an environment of its own, so that one that fails takes
//! nothing with it. What is declared here by hand is the beginning of two structures, which have
//! been the same in all versions.
#![allow(unsafe_code)]

use std::env;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::ptr;

use anyhow::Result;
use clap::Args;
use libloading::Library;
use serde::{Deserialize, Serialize};

use crate::mpi::{FILE, NAME, PROVIDER, PROVIDER_PATH, Provider};

/// The hidden subcommand that loads a libfabric.
pub const FABRIC: &str = "doctor-fabric";

/// The oldest libfabric: from this version on `fi_info` has the fields of its attributes that the
/// provider reads (fabric(7), ABI 1.3).
pub(super) const OLDEST: (u32, u32) = (1, 9);

/// True if a libfabric of this version is too old for the provider.
pub(super) fn is_too_old(version: (u32, u32)) -> bool {
    version < OLDEST
}

/// The libraries that are to be loaded.
#[derive(Args)]
pub struct Candidate {
    /// A libfabric.
    library: PathBuf,
    /// Weft's provider.
    provider: Option<PathBuf>,
}

/// Findings about a libfabric.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Its version.
    pub version: (u32, u32),
    /// Reason why the provider does not load.
    pub refused: Option<String>,
    /// True if it offers the provider to its clients; not asked of a libfabric that is too old.
    pub listed: Option<bool>,
}

/// The beginning of `struct fi_info`.
#[repr(C)]
struct Info {
    next: *const Info,
    numbers: [u64; 5],
    pieces: [*const c_void; 7],
    fabric: *const FabricAttributes,
}

/// The beginning of `struct fi_fabric_attr`.
#[repr(C)]
struct FabricAttributes {
    fabric: *const c_void,
    name: *const c_char,
    provider: *const c_char,
}

const _: () = assert!(std::mem::offset_of!(Info, fabric) == 104);
const _: () = assert!(std::mem::offset_of!(FabricAttributes, provider) == 16);

type Version = unsafe extern "C" fn() -> u32;
type GetInfo = unsafe extern "C" fn(
    u32,
    *const c_char,
    *const c_char,
    u64,
    *const Info,
    *mut *const Info,
) -> c_int;

/// Has another process load a libfabric with the provider, and returns what it saw.
pub(super) fn ask(library: &Path, provider: Option<&Provider>) -> Result<Seen, String> {
    let own = env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(own);
    command.arg(FABRIC).arg(library).stdin(Stdio::null()).stderr(Stdio::null());
    if let Some(Provider { folder }) = provider {
        command.arg(folder.join(FILE)).env(PROVIDER_PATH, folder).env(PROVIDER, NAME);
    }
    let output = command.output().map_err(|error| error.to_string())?;
    let said: Option<Result<Seen, String>> = serde_json::from_slice(&output.stdout).ok();
    said.unwrap_or_else(|| {
        Err(format!("{}: loading it ended with {}", library.display(), output.status))
    })
}

/// Loads it and says on standard output what was seen: that other process.
///
/// # Errors
/// If it cannot be said.
pub fn look_into(candidate: &Candidate) -> Result<ExitCode> {
    let seen = see(candidate).map_err(|error| error.to_string());
    weft_app_common::write_out(format_args!("{}\n", serde_json::to_string(&seen)?))?;
    Ok(ExitCode::SUCCESS)
}

fn see(Candidate { library, provider }: &Candidate) -> Result<Seen, libloading::Error> {
    // SAFETY: libraries of that name are made to be loaded; their initializers ask nothing of who
    // loads them.
    let fabric = unsafe { Library::new(library) }?;
    // SAFETY: that is how libfabric has declared it since its first version; the library stays
    // loaded meanwhile.
    let version = unsafe { fabric.get::<Version>(b"fi_version\0")?() };
    let version = (version >> 16, version & 0xffff);
    let Some(provider) = provider.as_ref().filter(|_| !is_too_old(version)) else {
        return Ok(Seen { version, refused: None, listed: None });
    };
    let listed = offers_weft(&fabric)?;
    // SAFETY: as above; libfabric would load it in the same way.
    let refused = unsafe { Library::new(provider) }.err().map(|error| error.to_string());
    Ok(Seen { version, refused, listed: Some(listed) })
}

/// True if a client that asks for nothing in particular is offered this provider.
fn offers_weft(fabric: &Library) -> Result<bool, libloading::Error> {
    let ((major, minor), mut first) = (OLDEST, ptr::null());
    // SAFETY: that is how libfabric has declared it since its first version, so far as it is
    // declared here.
    let get_info = unsafe { fabric.get::<GetInfo>(b"fi_getinfo\0") }?;
    // SAFETY: a client may give neither names nor hints; `first` is where a list may be written. It
    // is not freed, because this process ends.
    let status = unsafe {
        get_info(major << 16 | minor, ptr::null(), ptr::null(), 0, ptr::null(), &raw mut first)
    };
    let mut next = first;
    // SAFETY: after success each is null or leads to what libfabric has made, which nobody frees;
    // names are strings or null.
    while let Some(info) = unsafe { next.as_ref() }.filter(|_| status == 0) {
        // SAFETY: the same.
        let name = unsafe { info.fabric.as_ref() }.map_or(ptr::null(), |fabric| fabric.provider);
        // SAFETY: the same.
        if !name.is_null() && unsafe { CStr::from_ptr(name) }.to_bytes() == NAME.as_bytes() {
            return Ok(true);
        }
        next = info.next;
    }
    Ok(false)
}
