//! Progress of a rank: packets of all its systems, and what these owe.

use crate::duties::bit;
use crate::handle::Handle;
use crate::{Awaited, Polled, Protocol, Result, Step};

impl Handle {
    /// Makes the upcall for one packet: see [`crate::Packets::poll`].
    #[inline(always)]
    pub fn poll(&self) -> Result<bool> {
        // Most polls end here, with no register saved.
        if self.node.is_idle() && self.duties.owing() == 0 {
            Ok(false)
        } else {
            self.poll_systems()
        }
    }

    #[inline(never)]
    fn poll_systems(&self) -> Result<bool> {
        let paid = self.pay_if_owed();
        match self.node.poll() {
            Some(Polled::Nothing) => Ok(paid),
            Some(Polled::Packet) => Ok(true),
            other => self.polled(other),
        }
    }

    #[cold]
    fn polled(&self, polled: Option<Polled>) -> Result<bool> {
        match polled {
            None => Err(self.node.trouble()),
            Some(Polled::OnlyOthersWait) => self.help_others(0),
            _ => self.help_others(0).map(|_| true),
        }
    }

    /// Takes the packets that have arrived for any system: see [`crate::Packets::progress`].
    pub fn progress(&self) -> Result<bool> {
        let paid = self.pay_if_owed();
        let polled = self.node.poll();
        // The layers may have other work, too, for which they had this rank interrupted; and each
        // has to be told that this rank cannot go on.
        let helped = self.duties.help(u32::MAX)?;
        match polled {
            None => Err(self.node.trouble()),
            polled => {
                Ok(paid | helped | matches!(polled, Some(Polled::Packet | Polled::OthersWait)))
            }
        }
    }

    /// Makes [progress](Self::progress) until `done` returns true; others get to know `what` this
    /// rank waits for.
    pub fn progress_until(
        &self,
        what: &dyn Fn() -> Awaited,
        mut done: impl FnMut() -> Result<bool>,
    ) -> Result<()> {
        if done()? {
            return Ok(());
        }
        self.node.wait_for(what, None, &mut || {
            let any = self.progress()?;
            Ok(match (done()?, any) {
                (true, _) => Step::Done,
                (false, true) => Step::Progress,
                (false, false) => Step::Idle,
            })
        })
    }

    /// Has all systems do what they owe. True if anything came of it.
    #[inline]
    pub fn pay_if_owed(&self) -> bool {
        self.duties.owing() != 0 && self.pay_all(0)
    }

    /// Does what [`Self::pay_if_owed`] does, but for this system, whose layer takes its packets now
    /// and does what it owes itself then.
    #[inline]
    pub fn pay_if_others_owe(&self) {
        if self.duties.owing() != 0 {
            self.pay_all(bit(self.system));
        }
    }

    #[cold]
    fn pay_all(&self, own: u32) -> bool {
        let owing = self.duties.owing();
        let puts = bit(Protocol::PUTS);
        if owing & puts != 0 {
            self.pay();
        }
        self.duties.pay(owing & !puts & !own)
    }

    /// Has the systems whose packets wait take them, all but `own`, a bit each. One system's work
    /// may leave packets waiting for others.
    #[inline]
    pub fn help_others(&self, own: u32) -> Result<bool> {
        match self.node.waiting_protocols() {
            0 => Ok(false),
            waiting => self.duties.help(waiting & !own),
        }
    }
}
