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
//! Nothing is ever taken that is spent, so no packet loses its buffer (I2). Credits that were asked
//! for are taken in no other way until the answer is there, or the two together could leave less
//! than the floor. And a smaller window has a smaller half: what is owed may be due at once, or the
//! sender would wait for credits, and the receiver for packets.

use crate::actions::{Actions, PacketBody};
use crate::flows::Flows;
use crate::planted::Bug;
use crate::pool::Pool;
use crate::settings::Settings;
use crate::violation::Violation;
use weft_wire::{Header, Rank, Tag, TreeId};

/// Windows of all senders: the pool of receive buffers, if they follow demand.
#[derive(Debug, Clone, Hash)]
pub(crate) struct Windows {
    pool: Option<Box<Pool>>,
}

impl Windows {
    /// Those of these settings.
    pub fn new(settings: &Settings) -> Self {
        let new = |adaptive| Box::new(Pool::new(&adaptive, settings.window_packets));
        Windows { pool: settings.adaptive.map(new) }
    }

    /// True if windows follow demand.
    #[inline(always)]
    pub fn are_adaptive(&self) -> bool {
        self.pool.is_some()
    }

    /// The pool, if windows follow demand.
    pub fn pool(&self) -> Option<&Pool> {
        self.pool.as_deref()
    }

    /// A buffer that a packet of `to` filled is free: its credit goes back, some time.
    #[inline(always)]
    pub fn return_credit<B: Copy>(
        &mut self,
        to: Rank,
        flows: &mut Flows<B>,
        out: &mut impl Actions<B>,
    ) {
        if flows.base.strikes(Bug::LoseCredit) {
            return;
        }
        if self.pool.is_some() {
            self.return_or_keep(to, flows, out);
        } else if let Some(credits) = flows.peers[to].incoming.release() {
            send_credits(to, credits, flows, out);
        }
    }

    /// Packets of `sender` wait behind the one that just came.
    #[cold]
    pub fn grant_credits<B: Copy>(
        &mut self,
        sender: Rank,
        flows: &mut Flows<B>,
        out: &mut impl Actions<B>,
    ) {
        let Some(pool) = &mut self.pool else { return };
        let credits = pool.request(sender);
        if credits > 0 {
            give(sender, credits, flows, out);
        } else if let Some(victim) = pool.next_victim(sender) {
            self.take_back(victim, flows, out);
        }
    }

    /// A [`Tag::Recall`] or a [`Tag::Return`].
    ///
    /// # Errors
    /// [`Violation`] if its sender has no such credits, or was not asked for any.
    pub fn share_out<B: Copy>(
        &mut self,
        header: &Header,
        flows: &mut Flows<B>,
        out: &mut impl Actions<B>,
    ) -> Result<(), Violation> {
        let Header { source, credits, .. } = *header;
        if header.tag == Tag::Recall {
            let held = flows.peers[source].outgoing.hand_back(credits);
            send_control(Tag::Return, source, held, flows, out);
            return Ok(());
        }
        let incoming = &mut flows.peers[source].incoming;
        // It does not hold credits of packets that fill a buffer, or credits that are owed: others
        // would get buffers that are in use (I2).
        let theirs = incoming.window() - incoming.buffered() - incoming.owed();
        let returned = |pool: &mut Box<Pool>| pool.returned(source, credits);
        if credits > theirs || !self.pool.as_mut().is_some_and(returned) {
            return Err(Violation::Return(source, credits));
        }
        flows.base.counters.credits_taken_back += u64::from(credits);
        flows.peers[source].incoming.narrow(credits);
        if !flows.base.strikes(Bug::KeepDueCredits) {
            return_what_is_due(source, flows, out);
        }
        self.serve_hungry(flows, out);
        Ok(())
    }

    /// Takes credits from `victim`: those that are here, or else those that it holds, once it
    /// answers.
    fn take_back<B: Copy>(
        &mut self,
        victim: Rank,
        flows: &mut Flows<B>,
        out: &mut impl Actions<B>,
    ) {
        let Some(pool) = &mut self.pool else { return };
        let incoming = &mut flows.peers[victim].incoming;
        let credits = pool.take(victim, incoming.owed());
        flows.base.counters.credits_taken_back += u64::from(credits);
        incoming.withhold(credits);
        if credits == 0
            && let Some(asked) = pool.recall(victim)
        {
            flows.base.counters.recalls += 1;
            send_control(Tag::Recall, victim, asked, flows, out);
        }
        return_what_is_due(victim, flows, out);
        self.serve_hungry(flows, out);
    }

    #[inline(never)]
    fn return_or_keep<B: Copy>(
        &mut self,
        to: Rank,
        flows: &mut Flows<B>,
        out: &mut impl Actions<B>,
    ) {
        flows.peers[to].incoming.vacate();
        let twice = self.is_recalled(to) && flows.base.strikes(Bug::TakeTwice);
        let kept = self.pool.as_mut().is_some_and(|pool| pool.keeps(to) || twice);
        if kept {
            flows.base.counters.credits_taken_back += 1;
            flows.peers[to].incoming.withhold(1);
        }
        return_what_is_due(to, flows, out);
        if kept {
            self.serve_hungry(flows, out);
        }
    }

    fn is_recalled(&self, sender: Rank) -> bool {
        self.pool.as_ref().is_some_and(|pool| pool.is_recalled(sender))
    }

    fn serve_hungry<B: Copy>(&mut self, flows: &mut Flows<B>, out: &mut impl Actions<B>) {
        while let Some((sender, credits)) = self.pool.as_mut().and_then(|pool| pool.serve()) {
            give(sender, credits, flows, out);
        }
    }
}

/// Credits in a packet of their own: nothing was there to take them along.
#[inline(never)]
pub(crate) fn send_credits<B: Copy>(
    to: Rank,
    credits: u16,
    flows: &mut Flows<B>,
    out: &mut impl Actions<B>,
) {
    flows.base.counters.explicit_credits += 1;
    send_control(Tag::Credit, to, credits, flows, out);
}

fn send_control<B: Copy>(
    tag: Tag,
    to: Rank,
    credits: u16,
    flows: &Flows<B>,
    out: &mut impl Actions<B>,
) {
    let local = flows.base.local;
    let mut header = Header::new(tag, local, TreeId::unicast(local), 0);
    header.credits = credits;
    out.transmit(to, &header, &PacketBody::Empty);
}

fn return_what_is_due<B: Copy>(to: Rank, flows: &mut Flows<B>, out: &mut impl Actions<B>) {
    if let Some(credits) = flows.peers[to].incoming.due() {
        send_credits(to, credits, flows, out);
    }
}

/// Opens the window of `sender`, and tells it so.
fn give<B: Copy>(sender: Rank, credits: u16, flows: &mut Flows<B>, out: &mut impl Actions<B>) {
    flows.base.counters.credits_granted += u64::from(credits);
    let incoming = &mut flows.peers[sender].incoming;
    incoming.widen(credits);
    let owed = incoming.collect();
    send_credits(sender, owed, flows, out);
}
