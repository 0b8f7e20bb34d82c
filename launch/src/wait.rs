//! Waiting for one of many descriptors, and for no single one.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{Errno, retry_on_intr};

/// Something to wait for: what it is, and what it has to be ready for.
pub(crate) type Waited<'a, S> = (S, BorrowedFd<'a>, PollFlags);

/// Waits until one of these is ready or the time is over, and returns those that are, in their
/// order.
pub(crate) fn wait_for<S: Copy>(
    sources: &[Waited<'_, S>],
    timeout: Option<Duration>,
) -> io::Result<Vec<S>> {
    let mut polled: Vec<_> =
        sources.iter().map(|(_, fd, flags)| PollFd::from_borrowed_fd(*fd, *flags)).collect();
    let timeout = timeout.map(|duration| Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(duration.subsec_nanos()),
    });
    match poll(&mut polled, timeout.as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let ready = sources.iter().zip(&polled).filter(|(_, polled)| !polled.revents().is_empty());
    Ok(ready.map(|((source, ..), _)| *source).collect())
}

/// True if a descriptor is ready, or gets so before the time is over, whatever signals arrive.
pub(crate) fn is_ready(
    descriptor: impl AsFd,
    flags: PollFlags,
    timeout: Duration,
) -> io::Result<bool> {
    let timeout = Timespec::try_from(timeout).ok();
    let mut polled = [PollFd::new(&descriptor, flags)];
    Ok(retry_on_intr(|| poll(&mut polled, timeout.as_ref()))? > 0)
}

/// Makes reading or writing return at once.
pub(crate) fn make_nonblocking(descriptor: &OwnedFd) -> io::Result<()> {
    let flags = fcntl_getfl(descriptor)?;
    Ok(fcntl_setfl(descriptor, flags | OFlags::NONBLOCK)?)
}
