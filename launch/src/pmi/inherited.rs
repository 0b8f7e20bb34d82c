//! Taking over, or sharing, a socket that another program left open for this process.
//!
//! A module with `unsafe` code: a descriptor that arrives as a number in the environment cannot be
//! owned without it.

use std::fs;
use std::io;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::{Mutex, PoisonError};

use rustix::io::{FdFlags, fcntl_setfd};

/// Reason why a descriptor could not be taken over.
#[derive(Debug, thiserror::Error)]
pub enum TakeError {
    /// There is no socket of this number.
    #[error("descriptor {0} is no open socket")]
    NotOpen(RawFd),
    /// It was taken before.
    #[error("the descriptor has been taken before")]
    Taken,
    /// The system refused.
    #[error(transparent)]
    System(#[from] io::Error),
}

/// Held while a socket is looked at and taken, so that two threads cannot both take it.
static TAKING: Mutex<()> = Mutex::new(());

/// Owns the socket `number` that was open before this program began, and makes it close-on-exec.
///
/// `is_it` says whether the socket, named as in `/proc/self/fd` (`socket:[INODE]`), is the one that
/// is meant.
///
/// # Errors
/// [`TakeError`] if there is no such socket, or not any more.
pub fn take_socket(number: RawFd, is_it: impl FnOnce(&str) -> bool) -> Result<OwnedFd, TakeError> {
    let _taking = TAKING.lock().unwrap_or_else(PoisonError::into_inner);
    check(number, is_it)?;
    // SAFETY: the descriptor is open, and nobody else owns it. It is an open socket that is not
    // close-on-exec. What this program opened itself is close-on-exec (Rust's library and ours open
    // nothing else), so it was open before the program began, for whoever was told its number; only
    // this function takes such descriptors over. It did not do so before, or the descriptor would
    // be close-on-exec, and it is not doing so in another thread, because this one holds `TAKING`.
    let socket = unsafe { OwnedFd::from_raw_fd(number) };
    fcntl_setfd(&socket, FdFlags::CLOEXEC).map_err(io::Error::from)?;
    Ok(socket)
}

/// A descriptor of its own for the socket `number` that was open before this program began. The
/// socket stays open under its number, because others may speak on it in turn, as MPI libraries do
/// that were started by the same process manager.
///
/// # Errors
/// [`TakeError`] if there is no such socket, or if it was taken or shared before.
pub fn share_socket(number: RawFd) -> Result<OwnedFd, TakeError> {
    let _taking = TAKING.lock().unwrap_or_else(PoisonError::into_inner);
    check(number, |_| true)?;
    // SAFETY: the descriptor is open, and stays so during this function: nobody here owns it, as is
    // said in `take_socket`, and who else speaks on it closes it at the end of the program at the
    // earliest.
    let there = unsafe { BorrowedFd::borrow_raw(number) };
    let own = there.try_clone_to_owned()?;
    // The mark that it was shared.
    fcntl_setfd(there, FdFlags::CLOEXEC).map_err(io::Error::from)?;
    Ok(own)
}

/// Checks that this is the socket that is meant, and that nobody has taken or shared it.
fn check(number: RawFd, is_it: impl FnOnce(&str) -> bool) -> Result<(), TakeError> {
    let link = fs::read_link(format!("/proc/self/fd/{number}")).unwrap_or_default();
    let name = link.to_string_lossy();
    // 0 to 2 are a program's own streams.
    if number <= 2 || !name.starts_with("socket:[") || !is_it(&name) {
        return Err(TakeError::NotOpen(number));
    }
    if is_close_on_exec(number)? {
        return Err(TakeError::Taken);
    }
    Ok(())
}

fn is_close_on_exec(number: RawFd) -> io::Result<bool> {
    let text = fs::read_to_string(format!("/proc/self/fdinfo/{number}"))?;
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    Ok(flags.ok_or(io::ErrorKind::InvalidData)? & rustix::fs::OFlags::CLOEXEC.bits() != 0)
}
