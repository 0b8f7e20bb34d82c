//! Bytes of a connection that the kernel still has. `unsafe`: the kernel is asked by a number.
#![allow(unsafe_code)]

use rustix::ioctl::{Getter, Opcode, ioctl};
use std::os::fd::AsFd;

/// SIOCOUTQ of Linux, which is TIOCOUTQ: bytes that the other end's kernel has not acknowledged.
const SIOCOUTQ: Opcode = 0x5411;

/// Bytes written to a connection that the other end's kernel has not acknowledged, be they sent or
/// not; `None` if the kernel does not say.
pub(crate) fn unsent(socket: impl AsFd) -> Option<u64> {
    // SAFETY: the kernel writes an int for this number, whatever socket it is asked of.
    let asked = unsafe { ioctl(socket, Getter::<SIOCOUTQ, i32>::new()) };
    asked.ok().and_then(|bytes| u64::try_from(bytes).ok())
}
