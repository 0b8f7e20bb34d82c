//! System calls that every rank needs, and that filters may refuse.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, PidfdFlags, getpid};
use weft_link_shm::name_refusal;

/// Opens a descriptor that becomes readable when a process ends.
///
/// # Errors
/// Those of the system; of one that refuses the call for any process, with its name.
pub(crate) fn pidfd_open(process: Pid) -> io::Result<OwnedFd> {
    let opened = rustix::process::pidfd_open(process, PidfdFlags::empty());
    opened.map_err(|error| name_refusal("pidfd_open", error))
}

/// Answer of the system to the first of the calls that it refuses to this process; `None` if it
/// refuses none.
pub(crate) fn first_refused() -> Option<String> {
    let memory = memfd_create("weft", MemfdFlags::CLOEXEC);
    let memory = memory.map_err(|error| name_refusal("memfd_create", error));
    let mut errors = [memory, pidfd_open(getpid())].into_iter().filter_map(Result::err);
    // Others may be over by the time that the call is needed.
    let refused = errors.find(|error| error.kind() == io::ErrorKind::PermissionDenied);
    refused.map(|error| error.to_string())
}

#[cfg(test)]
mod tests;
