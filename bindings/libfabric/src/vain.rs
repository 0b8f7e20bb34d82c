//! Wait of a program that does not block in a call, but looks for completions again and again.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use weft_endpoint::{Awaited, Packets, Said};

/// Time of looks in vain after which others may know of them: about that after which a thread that
/// blocks sleeps.
const UNTOLD: Duration = Duration::from_millis(5);

/// Time after which what is said is looked at again: a program that looks may begin receives
/// between two looks.
const REFRESHED: Duration = Duration::from_millis(200);

/// The looks in vain of a rank, and the notice of them.
#[derive(Default)]
pub(crate) struct Vain {
    /// Time of the first, by the packet layer's clock, in nanoseconds.
    since: AtomicU64,
    is_said: AtomicBool,
    notice: Mutex<Option<Notice>>,
}

/// Words that others may read until this is dropped.
struct Notice {
    /// `None` where nobody can read them.
    said: Option<Said>,
    what: Awaited,
    /// Time at which they were true, by the packet layer's clock.
    at: Duration,
}

impl Vain {
    /// A program pauses after looks in vain, for the first time if they begin. Once it has looked
    /// for long, others may know what it waits for.
    pub fn pauses(&self, begins: bool, packets: &Packets, what: impl FnOnce() -> Awaited) {
        let now = packets.now();
        if begins {
            self.since.store(now.as_nanos() as u64, Ordering::Relaxed);
        }
        let since = Duration::from_nanos(self.since.load(Ordering::Relaxed));
        if now.saturating_sub(since) < UNTOLD {
            return;
        }
        let is_true = |notice: &Notice| now.saturating_sub(notice.at) < REFRESHED;
        // What it waits for is asked without this lock.
        let what = (!self.lock().as_ref().is_some_and(is_true)).then(what);
        let mut notice = self.lock();
        if let Some(what) = what {
            Self::say(&mut notice, packets, what, now);
            self.is_said.store(true, Ordering::Relaxed);
        }
        if let Some(said) = notice.as_ref().and_then(|notice| notice.said.as_ref()) {
            said.looks();
        }
    }

    /// Says what is waited for now, if it is something else than before.
    fn say(notice: &mut Option<Notice>, packets: &Packets, what: Awaited, at: Duration) {
        match notice {
            Some(notice) if notice.said.is_some() && notice.what == what => notice.at = at,
            _ => {
                // What was said before is taken back first.
                *notice = None;
                *notice = Some(Notice { said: packets.say_wait(&what), what, at });
            }
        }
    }

    /// Something was found.
    #[inline(always)]
    pub fn end(&self) {
        if self.is_said.load(Ordering::Relaxed) {
            self.unsay();
        }
    }

    #[cold]
    fn unsay(&self) {
        let mut notice = self.lock();
        self.is_said.store(false, Ordering::Relaxed);
        *notice = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Notice>> {
        self.notice.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
