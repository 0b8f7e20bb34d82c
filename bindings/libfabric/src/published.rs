//! Wait of a program that does not block in a call, but polls for completions, as others can read
//! it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use weft_endpoint::{Awaited, Packets, Said};

/// Time of polls in vain after which a wait is published: about that after which a thread that
/// blocks sleeps.
const UNPUBLISHED: Duration = Duration::from_millis(5);

/// Time after which a published wait is looked at again: a program that polls may begin receives
/// between two polls.
const REFRESHED: Duration = Duration::from_millis(200);

/// The polls in vain of a rank, and the wait that is published of them.
#[derive(Default)]
pub(crate) struct PublishedWait {
    /// Time of the first, by the packet layer's clock, in nanoseconds.
    since: AtomicU64,
    is_published: AtomicBool,
    notice: Mutex<Option<Notice>>,
}

/// A wait that others may read until this is dropped.
struct Notice {
    /// `None` where nobody can read them.
    said: Option<Said>,
    what: Awaited,
    /// Time at which they were true, by the packet layer's clock.
    at: Duration,
}

impl PublishedWait {
    /// A program pauses after polls in vain, for the first time if they begin. Once it has polled
    /// for long, what it waits for is published.
    pub fn pauses(&self, begins: bool, packets: &Packets, what: impl FnOnce() -> Awaited) {
        let now = packets.now();
        if begins {
            self.since.store(now.as_nanos() as u64, Ordering::Relaxed);
        }
        let since = Duration::from_nanos(self.since.load(Ordering::Relaxed));
        if now.saturating_sub(since) < UNPUBLISHED {
            return;
        }
        let is_true = |notice: &Notice| now.saturating_sub(notice.at) < REFRESHED;
        // What it waits for is asked without this lock.
        let what = (!self.lock().as_ref().is_some_and(is_true)).then(what);
        let mut notice = self.lock();
        if let Some(what) = what {
            Self::publish(&mut notice, packets, what, now);
            self.is_published.store(true, Ordering::Relaxed);
        }
        if let Some(said) = notice.as_ref().and_then(|notice| notice.said.as_ref()) {
            said.looks();
        }
    }

    /// Publishes what is waited for now, if it is something else than before.
    fn publish(notice: &mut Option<Notice>, packets: &Packets, what: Awaited, at: Duration) {
        match notice {
            Some(notice) if notice.said.is_some() && notice.what == what => notice.at = at,
            _ => {
                // What was published before is withdrawn first.
                *notice = None;
                *notice = Some(Notice { said: packets.say_wait(&what), what, at });
            }
        }
    }

    /// Something was found.
    #[inline(always)]
    pub fn end(&self) {
        if self.is_published.load(Ordering::Relaxed) {
            self.withdraw();
        }
    }

    #[cold]
    fn withdraw(&self) {
        let mut notice = self.lock();
        self.is_published.store(false, Ordering::Relaxed);
        *notice = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Notice>> {
        self.notice.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
