//! Wait of a program that does not block in a call, but looks for completions again and again.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use weft_endpoint::{Awaited, Packets, Said};

/// Time of looks in vain after which others may know of them: about that after which a thread that
/// blocks sleeps.
const UNTOLD: Duration = Duration::from_millis(5);

/// The looks in vain of a rank, and the notice of them.
#[derive(Default)]
pub(crate) struct Vain {
    /// Time of the first, by the packet layer's clock, in nanoseconds.
    since: AtomicU64,
    is_said: AtomicBool,
    said: Mutex<Option<Said>>,
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
        let what = (!self.is_said.load(Ordering::Relaxed)).then(what);
        let mut said = self.lock();
        if let Some(what) = what
            && said.is_none()
        {
            *said = packets.say_wait(&what);
            self.is_said.store(true, Ordering::Relaxed);
        }
        if let Some(said) = &*said {
            said.looks();
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
        let mut said = self.lock();
        self.is_said.store(false, Ordering::Relaxed);
        *said = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Said>> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
