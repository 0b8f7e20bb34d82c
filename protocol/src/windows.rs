//! Credits on their way back, and windows that follow demand (careful-protocols 7 leaves them
//! open).
//!
//! ```text
//!                 asks: packets wait here, and none can go
//!   sender  ────────────────────────────────────────────────▶  receiver ◀──▶ pool
//!           ◀────────────────────────────────────────────────
//!                 credits: those of freed buffers, and more
//!           ◀──── recall ─────────────────── (for another sender)
//!           ───── return: what is held ────▶
//! ```
//! Every ordered pair has a floor of credits, and gets to more out of the receiver's pool (`pool`):
//! the sender marks packets behind which others must wait, and the receiver answers with as many
//! credits as the pair has. Once the pool is empty, credits go from those who need them to those
//! who need them more. A right once granted is hard to revoke; but a credit that the receiver has
//! at hand is no right yet, and one that its holder does not use is missed by nobody. So there are
//! three ways back, each of which leaves the pair its floor:
//!
//! - credits that the receiver owes the sender it keeps;
//! - credits that the sender holds it hands back when asked, all at once, because a sender that
//!   holds credits has nothing that waits for one; it always answers, if only to say that it holds
//!   none;
//! - a sender that uses more than its share while another has less loses the rest as its packets
//!   leave their buffers.
//!
//! Nothing is ever taken that is spent, so no packet loses its buffer (I2). What was asked for is
//! taken in no other way until the answer is there, or the two together could leave less than the
//! floor. And a smaller window has a smaller half: what is owed may be due at once, or the sender
//! would wait for credits, and the receiver for packets.

use crate::peers::Peer;
use crate::planted::Bug;
use crate::pool::Pool;
use crate::{Actions, Body, Ni, Violation};
use weft_wire::{Header, Rank, Tag, TreeId};

impl<B: Copy> Ni<B> {
    /// A buffer that a packet of `to` filled is free: its credit goes back, some time.
    #[inline(always)]
    pub(crate) fn return_credit(&mut self, to: Rank, out: &mut impl Actions<B>) {
        if self.strikes(Bug::LoseCredit) {
            return;
        }
        if self.pool.is_some() {
            self.return_or_keep(to, out);
        } else if let Some(credits) = self.peers[to].incoming.release() {
            self.send_credits(to, credits, out);
        }
    }

    /// Credits in a packet of their own: nothing was there to take them along.
    #[inline(never)]
    pub(crate) fn send_credits(&mut self, to: Rank, credits: u16, out: &mut impl Actions<B>) {
        self.counters.explicit_credits += 1;
        self.send_control(Tag::Credit, to, credits, out);
    }

    fn send_control(&mut self, tag: Tag, to: Rank, credits: u16, out: &mut impl Actions<B>) {
        let mut header = Header::new(tag, self.local, TreeId::unicast(self.local), 0);
        header.credits = credits;
        out.transmit(to, &header, &Body::Empty);
    }

    /// The receive buffers that `peer` may fill, or has filled: its window now.
    pub fn promised(&self, peer: Rank) -> u16 {
        let known = self.peers.get(peer).map(|peer| peer.incoming.window());
        known.unwrap_or(self.peers.first_credits())
    }

    /// Buffers of the pool that no sender has, and how many senders have the others; `None` where
    /// windows do not change.
    pub fn pool(&self) -> Option<(u32, usize)> {
        self.pool.as_ref().map(|pool| (pool.free(), pool.sharers()))
    }

    /// Packets of `sender` wait behind the one that just came.
    #[cold]
    pub(crate) fn grant_credits(&mut self, sender: Rank, out: &mut impl Actions<B>) {
        let Some(pool) = &mut self.pool else { return };
        let credits = pool.request(sender);
        if credits > 0 {
            self.give(sender, credits, out);
        } else if let Some(victim) = pool.next_victim(sender) {
            self.take_back(victim, out);
        }
    }

    /// A [`Tag::Recall`] or a [`Tag::Return`].
    pub(crate) fn share_out(
        &mut self,
        header: &Header,
        out: &mut impl Actions<B>,
    ) -> Result<(), Violation> {
        let Header { source, credits, .. } = *header;
        if header.tag == Tag::Recall {
            let held = self.peers[source].outgoing.hand_back(credits);
            self.send_control(Tag::Return, source, held, out);
            return Ok(());
        }
        let incoming = &mut self.peers[source].incoming;
        // What fills a buffer, or is owed, it does not hold: others would get buffers that are in
        // use (I2).
        let theirs = incoming.window() - incoming.buffered() - incoming.owed();
        let returned = |pool: &mut Box<Pool>| pool.returned(source, credits);
        if credits > theirs || !self.pool.as_mut().is_some_and(returned) {
            return Err(Violation::Return(source, credits));
        }
        self.counters.credits_taken_back += u64::from(credits);
        self.peers[source].incoming.narrow(credits);
        if !self.strikes(Bug::KeepDueCredits) {
            self.return_what_is_due(source, out);
        }
        self.serve_hungry(out);
        Ok(())
    }

    /// Takes credits from `victim`: those that are here, or else those that it holds, once it
    /// answers.
    fn take_back(&mut self, victim: Rank, out: &mut impl Actions<B>) {
        let Some(pool) = &mut self.pool else { return };
        let incoming = &mut self.peers[victim].incoming;
        let credits = pool.take(victim, incoming.owed());
        self.counters.credits_taken_back += u64::from(credits);
        incoming.withhold(credits);
        if credits == 0
            && let Some(asked) = pool.recall(victim)
        {
            self.counters.recalls += 1;
            self.send_control(Tag::Recall, victim, asked, out);
        }
        self.return_what_is_due(victim, out);
        self.serve_hungry(out);
    }

    #[inline(never)]
    fn return_or_keep(&mut self, to: Rank, out: &mut impl Actions<B>) {
        self.peers[to].incoming.vacate();
        let twice = self.is_recalled(to) && self.strikes(Bug::TakeTwice);
        let kept = self.pool.as_mut().is_some_and(|pool| pool.keeps(to) || twice);
        if kept {
            self.counters.credits_taken_back += 1;
            self.peers[to].incoming.withhold(1);
        }
        self.return_what_is_due(to, out);
        if kept {
            self.serve_hungry(out);
        }
    }

    fn is_recalled(&self, sender: Rank) -> bool {
        self.pool.as_ref().is_some_and(|pool| pool.is_recalled(sender))
    }

    fn return_what_is_due(&mut self, to: Rank, out: &mut impl Actions<B>) {
        let Peer { incoming, .. } = &mut self.peers[to];
        if let Some(credits) = incoming.due() {
            self.send_credits(to, credits, out);
        }
    }

    fn serve_hungry(&mut self, out: &mut impl Actions<B>) {
        while let Some((sender, credits)) = self.pool.as_mut().and_then(|pool| pool.serve()) {
            self.give(sender, credits, out);
        }
    }

    /// Opens the window of `sender`, and tells it so.
    fn give(&mut self, sender: Rank, credits: u16, out: &mut impl Actions<B>) {
        self.counters.credits_granted += u64::from(credits);
        let incoming = &mut self.peers[sender].incoming;
        incoming.widen(credits);
        let owed = incoming.collect();
        self.send_credits(sender, owed, out);
    }
}
