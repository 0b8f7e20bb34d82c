//! Exit status of a process that is no child of this one.
//!
//! Until its parent has taken notice `/proc` shows it. After that only an `ioctl` on its pidfd does
//! (`PIDFD_GET_INFO`, Linux 6.15), which makes this a module with `unsafe` code; with an older
//! kernel it may remain unknown.

use std::os::fd::{AsFd, OwnedFd};

use rustix::ioctl::{Opcode, Updater, ioctl, opcode};
use weft_link::bell::Cause;

/// `struct pidfd_info` in its first version: what is asked for and given, then 13 numbers, of which
/// the last is the status.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Info {
    mask: u64,
    cgroup: u64,
    numbers: [u32; 11],
    status: i32,
}

const _: () = assert!(size_of::<Info>() == 64);

const GET_INFO: Opcode = opcode::read_write::<Info>(0xff, 11);
/// In the mask: the status.
const EXIT: u64 = 1 << 3;

/// Cause of the end of the process of this descriptor, which has ended; `number` is its number.
pub(super) fn cause_of(pidfd: &OwnedFd, number: u32) -> Cause {
    let stat = || std::fs::read_to_string(format!("/proc/{number}/stat")).ok();
    // In this order: it is in `/proc` until the parent takes notice, and before it goes from there
    // the descriptor has it.
    let status = stat().and_then(|stat| status_in(&stat)).or_else(|| status_of(pidfd));
    status.map_or(Cause::Ended, cause_in)
}

fn status_of(pidfd: &OwnedFd) -> Option<i32> {
    let mut info = Info { mask: EXIT, ..Info::default() };
    // SAFETY: this operation of pidfds, whose number contains the size of `Info`, reads and writes
    // that many bytes of it; any bytes are a good `Info`. Other descriptors and older kernels
    // refuse it.
    unsafe { ioctl(pidfd.as_fd(), Updater::<GET_INFO, Info>::new(&mut info)) }.ok()?;
    (info.mask & EXIT != 0).then_some(info.status)
}

/// The status in a line of `/proc/PID/stat` of a process that has ended.
fn status_in(stat: &str) -> Option<i32> {
    let (_, after_name) = stat.rsplit_once(") ")?;
    let mut fields = after_name.split_ascii_whitespace();
    (fields.next()? == "Z").then(|| fields.last()?.parse().ok())?
}

/// Cause in a status that is encoded as `wait` has it.
fn cause_in(status: i32) -> Cause {
    match status & 0x7f {
        0 => Cause::Exited((status >> 8) as u8),
        signal => Cause::Killed(signal as u8),
    }
}

#[cfg(test)]
mod tests;
