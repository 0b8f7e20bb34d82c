//! UCAST's flow control between two NIs (thesis 4.1): `W` credits a pair, handed out at start-up.
//!
//! ```text
//!             spend                 accepted                released
//!   held ────────────▶ in flight ────────────▶ buffered ────────────▶ owed
//!    ▲                                                                  │
//!    └──────────── in a packet's credits field ◀────────────────────────┘
//!                     piggybacked, or explicit at half a window
//! ```
//! A credit is always in exactly one of these places, which is invariant I1. Where windows follow
//! demand (`windows`), credits come from the receiver's pool as `owed`, and go back to it from
//! there or from `held`.

use crate::tally::Tally;
use std::collections::VecDeque;

/// The credits that this NI holds for sending to one peer, and the packets that wait for one.
#[derive(Debug, Clone, Hash)]
pub struct SendCredits<D> {
    held: u16,
    window: u16,
    blocked: VecDeque<D>,
    tally: Spending,
}

/// Counts of what became of the credits for one peer: what [`SendCredits`] holds, told in another
/// way.
#[derive(Debug, Clone, Copy, Default, Hash)]
pub(crate) struct Spending {
    /// Spent on packets, or handed back.
    pub spent: Tally,
    /// Brought by packets of the peer.
    pub returned: Tally,
}

impl<D> SendCredits<D> {
    /// A full window and nothing waiting.
    pub fn new(window: u16) -> Self {
        SendCredits::with(window, window)
    }

    /// `held` credits of the `window` that there may be some time.
    pub fn with(held: u16, window: u16) -> Self {
        SendCredits { held, window, blocked: VecDeque::new(), tally: Spending::default() }
    }

    /// Spends a credit, if there is one.
    ///
    /// Packets that wait have waited for the first credit to come, so none is overtaken (I3).
    #[inline]
    pub fn spend(&mut self) -> bool {
        if self.held == 0 {
            return false;
        }
        debug_assert!(self.blocked.is_empty(), "a packet waits beside an unspent credit");
        self.held -= 1;
        self.tally.spent.add(1);
        true
    }

    /// Queues `packet` until a credit comes.
    pub fn block(&mut self, packet: D) {
        debug_assert_eq!(self.held, 0, "a packet waits beside an unspent credit");
        self.blocked.push_back(packet);
    }

    /// Takes `credits` back from the peer.
    ///
    /// # Errors
    /// [`TooManyCredits`] if the peer returns more than were ever handed out.
    #[inline]
    pub fn accept(&mut self, credits: u16) -> Result<(), TooManyCredits> {
        match self.held.checked_add(credits) {
            Some(held) if held <= self.window => {
                self.held = held;
                self.tally.returned.add(credits);
                Ok(())
            }
            _ => Err(TooManyCredits),
        }
    }

    /// So many packets may leave from now on. For pairs whose packets are numbered: the peer says
    /// so (Pupa 2.2.2).
    pub fn grant(&mut self, credits: u16) {
        assert!(
            credits <= self.window,
            "I2 careful: {credits} packets, and {} places",
            self.window
        );
        self.held = credits;
    }

    /// Undoes [`Self::accept`]: the packet that brought `credits` is refused, and they with it.
    ///
    /// To be called before anything else, or a packet is left waiting beside an unspent credit.
    #[cold]
    pub fn refuse(&mut self, credits: u16) {
        self.held -= credits;
        self.tally.returned.take(credits);
    }

    /// Spends a credit on the packet that has waited longest, if there are both.
    #[inline]
    pub fn unblock(&mut self) -> Option<D> {
        if self.blocked.is_empty() || self.held == 0 {
            return None;
        }
        self.held -= 1;
        self.tally.spent.add(1);
        self.blocked.pop_front()
    }

    /// Takes all packets that wait.
    pub fn take_blocked(&mut self) -> VecDeque<D> {
        std::mem::take(&mut self.blocked)
    }

    /// Takes the first packet that `matches` out of the queue, at no credit: it leaves on a
    /// recovery channel.
    pub fn bypass(&mut self, matches: impl Fn(&D) -> bool) -> Option<D> {
        let place = self.blocked.iter().position(matches)?;
        self.blocked.remove(place)
    }

    /// True if any packet that waits for a credit `matches`.
    pub fn any_blocked(&self, matches: impl Fn(&D) -> bool) -> bool {
        self.blocked.iter().any(matches)
    }

    /// Packets that wait for a credit and `match`.
    pub fn count_blocked(&self, matches: impl Fn(&D) -> bool) -> usize {
        self.blocked.iter().filter(|packet| matches(packet)).count()
    }

    /// True if no credit of the `first` was ever spent, or all are back.
    pub fn is_fresh(&self, first: u16) -> bool {
        self.held == first && self.blocked.is_empty()
    }

    /// Gives up to `most` of the credits held away: the peer has another use for them. An NI whose
    /// packets wait holds none.
    pub fn hand_back(&mut self, most: u16) -> u16 {
        let credits = self.held.min(most);
        self.held -= credits;
        self.tally.spent.add(credits);
        credits
    }

    /// True if packets wait and none of them has a credit.
    pub fn is_short(&self) -> bool {
        self.held == 0 && !self.blocked.is_empty()
    }

    /// Credits held now.
    pub fn held(&self) -> u16 {
        self.held
    }

    /// Credits there are.
    pub fn window(&self) -> u16 {
        self.window
    }

    /// Packets that wait for a credit.
    pub fn blocked(&self) -> usize {
        self.blocked.len()
    }

    /// Counts for checks.
    pub(crate) fn tally(&self) -> Spending {
        self.tally
    }
}

/// A peer returned more credits than it was ever sent packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManyCredits;

/// The receive buffers that this NI has set aside for one peer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReceiveCredits {
    buffered: u16,
    owed: u16,
    window: u16,
    refresh: u16,
    tally: Filling,
}

/// Counts of what became of the buffers for one peer: what [`ReceiveCredits`] says, told in another
/// way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct Filling {
    /// Packets that filled a buffer.
    pub filled: Tally,
    /// Packets that have left a buffer, counted where the buffer is freed.
    pub freed: Tally,
}

impl ReceiveCredits {
    /// All buffers free; credits go back explicitly once half a window of them is owed.
    pub fn new(window: u16) -> Self {
        let (refresh, tally) = (window.div_ceil(2), Filling::default());
        ReceiveCredits { buffered: 0, owed: 0, window, refresh, tally }
    }

    /// True if a buffer is free: else the peer has no credit for a data packet.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.buffered + self.owed < self.window
    }

    /// A data packet fills a buffer.
    ///
    /// # Errors
    /// [`WindowExceeded`] if the peer had no credit for it.
    #[inline]
    pub fn fill(&mut self) -> Result<(), WindowExceeded> {
        if !self.has_room() {
            return Err(WindowExceeded);
        }
        self.take_room();
        Ok(())
    }

    /// A data packet fills a buffer that [was free](Self::has_room).
    #[inline(always)]
    pub fn take_room(&mut self) {
        self.buffered += 1;
        self.tally.filled.add(1);
    }

    /// Counts a buffer that is free again, before [any](Self::release) [of](Self::vacate)
    /// [those](Self::vacate_until_due) says whose credit that is.
    #[inline(always)]
    pub(crate) fn count_freed(&mut self) {
        self.tally.freed.add(1);
    }

    /// A data packet has filled a buffer that [was free](Self::has_room), and the buffer is free
    /// again. True if enough credits are owed by now to pay for a packet of their own:
    /// [`Self::due`].
    #[inline(always)]
    pub fn pass(&mut self) -> bool {
        self.owed += 1;
        self.owed >= self.refresh
    }

    /// A buffer is free again. Returns the credits to send at once in a packet of their own, if
    /// enough are owed by now to pay for one.
    #[inline]
    pub fn release(&mut self) -> Option<u16> {
        self.vacate();
        (self.owed >= self.refresh).then(|| self.collect())
    }

    /// A buffer is free again. True if enough credits are owed by now to pay for a packet of their
    /// own: [`Self::due`].
    #[inline(always)]
    pub fn vacate_until_due(&mut self) -> bool {
        self.vacate();
        self.owed >= self.refresh
    }

    /// A buffer is free again, and a packet that takes the credits along follows.
    #[inline]
    pub fn vacate(&mut self) {
        assert!(self.buffered > 0, "I4 one owner: a buffer was released twice");
        self.buffered -= 1;
        self.owed += 1;
    }

    /// Takes all credits owed, to piggyback them on a packet that goes there anyway.
    #[inline]
    pub fn collect(&mut self) -> u16 {
        std::mem::take(&mut self.owed)
    }

    /// The window grows: the credits for its new buffers are owed.
    pub fn widen(&mut self, credits: u16) {
        self.owed += credits;
        self.resize(self.window + credits);
    }

    /// The window shrinks by credits that the peer has handed back.
    pub fn narrow(&mut self, credits: u16) {
        self.resize(self.window - credits);
    }

    /// The window shrinks by up to `most` of the credits owed, which are not given back. Returns
    /// their number.
    pub fn withhold(&mut self, most: u16) -> u16 {
        let credits = self.owed.min(most);
        self.owed -= credits;
        self.narrow(credits);
        credits
    }

    /// The credits to send at once, if enough are owed by now: fewer are enough in a smaller
    /// window.
    pub fn due(&mut self) -> Option<u16> {
        (self.owed > 0 && self.owed >= self.refresh).then(|| self.collect())
    }

    fn resize(&mut self, window: u16) {
        self.window = window;
        self.refresh = window.div_ceil(2);
    }

    /// All buffers.
    pub fn window(&self) -> u16 {
        self.window
    }

    /// Buffers that hold packets.
    pub fn buffered(&self) -> u16 {
        self.buffered
    }

    /// Credits to be returned.
    pub fn owed(&self) -> u16 {
        self.owed
    }

    /// Counts for checks.
    pub(crate) fn tally(&self) -> Filling {
        self.tally
    }
}

/// A peer sent a data packet without a credit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowExceeded;

#[cfg(test)]
mod tests;
