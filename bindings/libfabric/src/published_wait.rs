//! Wait of a program that does not block in a call, but polls for completions again and again, as
//! others learn of it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use weft_endpoint::presence::polls::{PollNotice, Untold};
use weft_endpoint::{Awaited, Packets, WaitNotice};

/// The polls in vain of a rank, and what is published of them.
#[derive(Default)]
pub(crate) struct PublishedWait {
    untold: Untold,
    published: Mutex<Option<Published>>,
}

/// Words that others may read until this is dropped.
struct Published {
    /// `None` where nobody can read them.
    notice: Option<WaitNotice>,
    what: Awaited,
}

impl PublishedWait {
    /// A program pauses after polls in vain, for the first time if they begin. Once it has polled
    /// for long, others may know what it waits for.
    pub fn pauses(&self, begins: bool, packets: &Packets, what: impl FnOnce() -> Awaited) {
        // The object of the wait is asked for without the lock.
        let what = match self.untold.pauses(begins, packets.now()) {
            PollNotice::None => return,
            PollNotice::Looks => None,
            PollNotice::What => Some(what()),
        };
        let mut published = self.lock();
        if let Some(what) = what {
            let is_old = |old: &Published| old.notice.is_some() && old.what == what;
            if !published.as_ref().is_some_and(is_old) {
                // The wait that was published before is taken back first.
                *published = None;
                *published = Some(Published { notice: packets.presence().publish(&what), what });
            }
        }
        if let Some(notice) = published.as_ref().and_then(|published| published.notice.as_ref()) {
            notice.looks();
        }
    }

    /// Something was found.
    #[inline(always)]
    pub fn end(&self) {
        if self.untold.is_told() {
            self.take_back();
        }
    }

    #[cold]
    fn take_back(&self) {
        let mut published = self.lock();
        self.untold.ended();
        *published = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Published>> {
        self.published.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
