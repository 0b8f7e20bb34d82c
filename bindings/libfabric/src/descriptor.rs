//! Descriptors that can be read while an object has something for its reader (`FI_WAIT_FD`), for programs that wait with `poll` for
//! several things at once. Who is about to wait there does not poll any more, so what arrives then is taken by the upcall thread.

use crate::abi::{GETWAIT, GETWAITOBJ, WAIT_FD, WAIT_NONE, WAIT_UNSPEC, WAIT_YIELD};
use crate::object::Argument;
use crate::refusal::{Refusal, Result};
use rustix::event::{EventfdFlags, eventfd};
use std::ffi::c_int;
use std::os::fd::{AsRawFd, OwnedFd};

/// A descriptor, and whether it can be read.
#[derive(Debug)]
pub(crate) struct Descriptor {
    file: OwnedFd,
    is_rung: bool,
}

impl Descriptor {
    /// One that cannot be read, if `wait` is an object that is waited for by one.
    pub fn wanted(wait: c_int) -> Result<Option<Self>> {
        match wait {
            WAIT_NONE | WAIT_UNSPEC | WAIT_YIELD => Ok(None),
            WAIT_FD => {
                let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
                let file = eventfd(0, flags).map_err(|_| Refusal::TOO_MANY)?;
                Ok(Some(Descriptor { file, is_rung: false }))
            }
            _ => Err(Refusal::UNSUPPORTED),
        }
    }

    /// Its number, for the program.
    pub fn number(&self) -> c_int {
        self.file.as_raw_fd()
    }

    /// Lets it be read until [`Self::quiet`].
    pub fn ring(&mut self) {
        if !self.is_rung {
            // It holds 0, and so has room for 1.
            self.is_rung = rustix::io::write(&self.file, &1u64.to_ne_bytes()).is_ok();
        }
    }

    /// Lets it be read no more until the next [`Self::ring`].
    pub fn quiet(&mut self) {
        // The program may have read it itself; then there is nothing to read.
        let _ = rustix::io::read(&self.file, &mut [0; 8]);
        self.is_rung = false;
    }
}

/// `fi_control` of an object whose program waits for it in the way `wait`: `FI_GETWAIT` and `FI_GETWAITOBJ`.
pub(crate) fn control(
    command: c_int,
    argument: &Argument,
    wait: c_int,
    descriptor: Option<c_int>,
) -> Result {
    match (command, descriptor) {
        (GETWAIT, Some(number)) => argument.out().set(number),
        (GETWAITOBJ, _) => argument.out().set(wait),
        _ => return Err(Refusal::UNSUPPORTED),
    }
    Ok(())
}
