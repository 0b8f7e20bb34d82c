//! A timer that threads see as a descriptor, so that one can set it while another sleeps beside it.

use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use std::io;
use std::ops::RangeInclusive;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// Longest time that setting a timer takes where nobody minds.
const CHEAP: Duration = Duration::from_micros(3);
/// Time of a timer that mostly comes before the tick.
const SOON: Duration = Duration::from_micros(50);
/// Sets by which it is measured.
const SETS: usize = 5;

/// A timer that runs out once each time that it is set. Its descriptor is readable from then until
/// [`Self::take`].
///
/// A core's hardware has one timer, which the kernel sets to whatever comes first: often its own
/// tick, each 1 to 10 ms on a core at work. A timer that comes before that has the hardware's set
/// anew, which on many virtual machines leaves the machine, and takes 8 us instead of 0.6.
pub struct KernelTimer {
    descriptor: OwnedFd,
    /// True if it takes long to set it to a time that comes before the kernel's tick.
    is_dear: bool,
}

impl KernelTimer {
    /// A timer that is not set.
    ///
    /// # Errors
    /// What the system says when it is asked for a descriptor.
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let descriptor = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        let mut timer = KernelTimer { descriptor, is_dear: false };
        timer.is_dear = timer.setting_takes() > CHEAP;
        timer.unset();
        Ok(timer)
    }

    /// Time that it takes to set it, in the median.
    fn setting_takes(&self) -> Duration {
        let mut took: [Duration; SETS] = std::array::from_fn(|_| {
            let start = Instant::now();
            self.set(SOON);
            start.elapsed()
        });
        took.sort_unstable();
        took[SETS / 2]
    }

    /// Has it run out within a range of times from now on: after the shortest, or after the longest
    /// where a short one is dear to set. Returns which.
    pub fn set_within(&self, after: RangeInclusive<Duration>) -> Duration {
        let (shortest, longest) = after.into_inner();
        let after = if self.is_dear { longest } else { shortest };
        self.set(after);
        after
    }

    /// Has it run out after this time, and not when it was to before.
    pub fn set(&self, after: Duration) {
        // A time of zero is none.
        let after = after.max(Duration::from_nanos(1));
        self.set_value(Timespec {
            tv_sec: i64::try_from(after.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(after.subsec_nanos()),
        });
    }

    fn unset(&self) {
        self.set_value(NEVER);
    }

    fn set_value(&self, value: Timespec) {
        let spec = Itimerspec { it_interval: NEVER, it_value: value };
        let set = timerfd_settime(&self.descriptor, TimerfdTimerFlags::empty(), &spec);
        debug_assert!(set.is_ok(), "the descriptor is a timer's, and the time one: {set:?}");
    }

    /// True if it has run out since it was set; a second call returns false.
    pub fn take(&self) -> bool {
        !matches!(rustix::io::read(&self.descriptor, &mut [0; 8]), Err(Errno::AGAIN))
    }
}

impl AsFd for KernelTimer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

const NEVER: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

#[cfg(test)]
mod tests;
