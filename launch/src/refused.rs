//! Descriptors of processes, for which the system is asked by a call that filters may refuse.

use std::io;
use std::os::fd::OwnedFd;

use rustix::process::{Pid, PidfdFlags};
use weft_link_shm::name_refusal;

/// Opens a descriptor that becomes readable when a process ends.
///
/// # Errors
/// Those of the system; of one that refuses the call for any process, with its name.
pub(crate) fn pidfd_open(process: Pid) -> io::Result<OwnedFd> {
    let opened = rustix::process::pidfd_open(process, PidfdFlags::empty());
    opened.map_err(|error| name_refusal("pidfd_open", error))
}

#[cfg(test)]
mod tests;
