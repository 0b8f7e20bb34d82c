//! Descriptors that can be read while an object has something for its reader (`FI_WAIT_FD`), for
//! programs that wait with `poll` for several things at once. Who is about to wait there does not
//! poll any more, so what arrives then is taken by the upcall thread.

use crate::abi::{WAIT_FD, WAIT_NONE, WAIT_UNSPEC, WAIT_YIELD};
use crate::refusal::{Refusal, Result};
use rustix::event::{EventfdFlags, eventfd};
use std::ffi::c_int;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A descriptor, and whether it can be read. All that ring one share it.
#[derive(Debug)]
pub(crate) struct Descriptor {
    file: OwnedFd,
    is_rung: Mutex<bool>,
}

impl Descriptor {
    /// One that cannot be read, if `wait` is an object that is waited for by one.
    pub fn wanted(wait: c_int) -> Result<Option<Arc<Self>>> {
        match wait {
            WAIT_NONE | WAIT_UNSPEC | WAIT_YIELD => Ok(None),
            WAIT_FD => {
                let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
                let file = eventfd(0, flags).map_err(|_| Refusal::TOO_MANY)?;
                Ok(Some(Arc::new(Descriptor { file, is_rung: Mutex::new(false) })))
            }
            _ => Err(Refusal::UNSUPPORTED),
        }
    }

    /// Its number, for the program.
    pub fn number(&self) -> c_int {
        self.file.as_raw_fd()
    }

    /// Lets it be read until [`Self::quiet`].
    pub fn ring(&self) {
        let mut is_rung = self.is_rung();
        if !*is_rung {
            // It holds 0, and so has room for 1.
            *is_rung = rustix::io::write(&self.file, &1u64.to_ne_bytes()).is_ok();
        }
    }

    /// Lets it be read no more until the next [`Self::ring`].
    pub fn quiet(&self) {
        let mut is_rung = self.is_rung();
        // The program may have read it itself; then there is nothing to read.
        let _ = rustix::io::read(&self.file, &mut [0; 8]);
        *is_rung = false;
    }

    fn is_rung(&self) -> MutexGuard<'_, bool> {
        self.is_rung.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
