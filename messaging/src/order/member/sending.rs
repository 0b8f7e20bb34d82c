//! Broadcasts of this rank: room for them, their numbers, and their way to the others.

use super::*;
use crate::format;
use crate::numbers::Numbered;
use crate::order::envelope::Enveloped;
use crate::parts::Parts;
use crate::run::Runner;

impl Member {
    /// Sends a message to all members; `completer` hears when this one has consumed it.
    pub fn broadcast(
        &self,
        parts: &(impl Parts + ?Sized),
        completer: Option<Completer<u64>>,
    ) -> Result<u64> {
        let Role::Member(own) = self.role else {
            return Survivor(self).broadcast(parts, completer);
        };
        self.make_room(parts.total() as u64)?;
        self.wait_for_unnumbered()?;
        // From here on everybody waits for this message, so nothing may stop it.
        let number = self.engine.packets().fetch_and_add(self.variable, 1).map_err(Error::from);
        let sent = number.and_then(|number| self.send(number, parts).map(|()| number));
        let number = sent.inspect_err(|error| self.fail(error.clone()))?;
        self.accept_own(own, number, self.copy(parts), completer);
        Ok(number)
    }

    /// Does what [`Self::broadcast`] does, without waiting for a number where that takes a packet
    /// there and one back: those of all messages that were begun meanwhile are asked for at once.
    pub fn begin(&self, parts: &(impl Parts + ?Sized), completer: Completer<u64>) -> Result<()> {
        let goes_on = matches!(self.role, Role::Survivor(_));
        if goes_on || self.numbers_are_near() || !self.fits_a_packet(parts.total()) {
            return self.broadcast(parts, Some(completer)).map(drop);
        }
        self.check_member()?;
        self.make_room(parts.total() as u64)?;
        let bytes = self.copy(parts);
        let mut state = self.state.enter();
        state.unnumbered.push_back(Unnumbered { bytes, completer });
        let is_told = std::mem::replace(&mut state.wants, true);
        drop(state);
        if !is_told && let Some(member) = self.this.upgrade() {
            let messages = &self.engine.messages;
            messages.numbers.want(member);
            Runner { messages }.hand_out_numbers();
        }
        Ok(())
    }

    /// Checks that this rank is a member.
    pub(super) fn check_member(&self) -> Result<()> {
        match self.role.place() {
            Some(_) => Ok(()),
            None => Err(Error::Packet(weft_endpoint::Error::NotAMember)),
        }
    }

    /// True if a number costs no packet.
    fn numbers_are_near(&self) -> bool {
        let packets = self.engine.packets();
        self.variable.home == packets.rank() || packets.atomics().shared_words().is_some()
    }

    fn fits_a_packet(&self, length: usize) -> bool {
        Envelope::SIZE + format::SIZE + length <= self.engine.packets().max_payload()
    }

    /// Blocks until what was begun here has its numbers: what comes after it has later ones. Who is
    /// inside of a handler or a task may be what they wait for, and what it sends has no order with
    /// what the program has begun.
    fn wait_for_unnumbered(&self) -> Result<()> {
        let has_none = self.state.enter().unnumbered.is_empty();
        if has_none || self.engine.messages.state.enter().is_handling() {
            return Ok(());
        }
        let home = self.variable.home;
        let what = || {
            let what = format!("numbers that rank {home} gives for order '{}'", self.name);
            Awaited::new(what, Whom::One(home))
        };
        Poller::new(&self.engine.messages).watch_for(&what, || {
            self.check()?;
            Ok(self.state.enter().unnumbered.is_empty())
        })
    }

    /// Sends a message that has a number, for which there is room, to the others.
    fn send(&self, number: u64, parts: &(impl Parts + ?Sized)) -> Result<()> {
        let mut state = self.state.enter();
        state.outstanding.number(number, parts.total() as u64);
        state.owed.tell_all();
        state.statistics.sent += 1;
        let envelope = Envelope { number: Some(number), consumed: state.consumed };
        drop(state);
        self.engine.packets().trace().record_submitted(self.traced_as, number);
        if self.members.len() == 1 {
            return Ok(());
        }
        self.port().multicast(self.group, &Enveloped(envelope.emit(), parts))
    }

    /// This rank's own message has been sent, and comes here, too.
    fn accept_own(
        &self,
        member: usize,
        number: u64,
        bytes: Box<[u8]>,
        completer: Option<Completer<u64>>,
    ) {
        let (rank, length) = (self.engine.packets().rank(), bytes.len());
        let message = OrderedMessage::new(number, rank, length, Content::Own(bytes, 0));
        self.accept(self.state.enter(), Arrived { message, sender: member, completer });
    }

    pub(super) fn make_room(&self, bytes: u64) -> Result<()> {
        self.check_loss()?;
        let mut state = self.state.enter();
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        if state.outstanding.reserve(bytes) {
            return Ok(());
        }
        drop(state);
        if self.made.any_handler_runs_here() {
            return self.overdraw(bytes);
        }
        self.state.enter().statistics.stalled += 1;
        let look = |waker: Option<&Waker>| {
            self.check()?;
            let mut state = self.state.enter();
            let reserved = state.outstanding.reserve(bytes);
            if !reserved {
                state.waiting.extend(waker.cloned());
            }
            Ok(reserved.then_some(()))
        };
        Poller::new(&self.engine.messages).wait_for(&|| self.awaited_room(), look)
    }

    /// Object of the wait for room.
    fn awaited_room(&self) -> Awaited {
        let slowest = self.state.enter().outstanding.slowest();
        let Some(rank) = slowest.map(|member| self.members[member]) else {
            return Awaited::of_unknown(format!("room in order '{}'", self.name));
        };
        let what = format!("rank {rank} to receive broadcasts of order '{}'", self.name);
        Awaited::new(what, Whom::One(rank))
    }

    fn overdraw(&self, bytes: u64) -> Result<()> {
        let mut state = self.state.enter();
        if state.outstanding.messages() >= self.limit {
            return Err(Error::Overdrawn { order: self.name.clone(), limit: self.limit });
        }
        state.outstanding.overdraw(bytes);
        state.statistics.overdrawn += 1;
        Ok(())
    }

    /// A copy of a message for this rank itself.
    pub(super) fn copy(&self, parts: &(impl Parts + ?Sized)) -> Box<[u8]> {
        let length = parts.total();
        let mut copy = Vec::with_capacity(length);
        parts.for_each(&mut |part| copy.extend_from_slice(part));
        self.engine.packets().copied(length);
        self.state.enter().statistics.bytes_copied += length as u64;
        copy.into_boxed_slice()
    }
}

impl Numbered for Member {
    fn wanted(&self) -> (Variable, u64) {
        let mut state = self.state.enter();
        state.wants = false;
        state.asked = state.unnumbered.len();
        (self.variable, state.asked as u64)
    }

    fn number(&self, first: u64) {
        let Some(own) = self.role.place() else { return };
        let asked = std::mem::take(&mut self.state.enter().asked) as u64;
        for number in first..first + asked {
            let next = self.state.enter().unnumbered.pop_front();
            // Nothing is left of an order that has failed.
            let Some(Unnumbered { bytes, completer }) = next else { return };
            match self.send(number, &*bytes) {
                Ok(()) => self.accept_own(own, number, bytes, Some(completer)),
                Err(error) => {
                    self.fail(error.clone());
                    completer.complete(Err(error));
                }
            }
        }
    }
}
