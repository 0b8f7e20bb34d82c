//! A timer that threads see as a descriptor, so that one can set it while another sleeps beside it.

use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// A timer that runs out once each time that it is set. Its descriptor is readable from then until
/// [`Self::take`].
pub struct Timer(OwnedFd);

impl Timer {
    /// A timer that is not set.
    ///
    /// # Errors
    /// What the system says when it is asked for a descriptor.
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        Ok(Timer(timerfd_create(TimerfdClockId::Monotonic, flags)?))
    }

    /// Has it run out after this time, and not when it was to before.
    pub fn set(&self, after: Duration) {
        let never = Timespec { tv_sec: 0, tv_nsec: 0 };
        // A time of zero is none.
        let after = after.max(Duration::from_nanos(1));
        let value = Timespec {
            tv_sec: i64::try_from(after.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(after.subsec_nanos()),
        };
        let spec = Itimerspec { it_interval: never, it_value: value };
        let set = timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &spec);
        debug_assert!(set.is_ok(), "the descriptor is a timer's, and the time one: {set:?}");
    }

    /// True if it has run out since it was set, for the first who asks.
    pub fn take(&self) -> bool {
        !matches!(rustix::io::read(&self.0, &mut [0; 8]), Err(Errno::AGAIN))
    }
}

impl AsFd for Timer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests;
