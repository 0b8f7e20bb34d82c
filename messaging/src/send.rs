//! Sending: from an I/O vector into packets, as there is room for them.

mod stalled;

use crate::format::{self, MAX_MESSAGE, PacketKind};
use crate::machine::{Sender, To};
use crate::messages::Messages;
use crate::parts::Parts;
use crate::poll::Poller;
use crate::port::Port;
use crate::short::send_short;
use crate::state::State;
use crate::{Error, Result};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;
use weft_endpoint::biased::Entered;
use weft_endpoint::{Awaited, Group, Loan, Packets, Rank, SendPacket, Step};

/// Time that a sender waits for its receivers before it complains.
const PATIENCE: Duration = Duration::from_millis(20);

/// Bytes from which on a message leaves from the program's memory, where its sender blocks: it
/// waits for the acknowledgement then, which takes as long as some copies.
const LEND_FROM: usize = 256 << 10;

/// Bytes at the end of such a message that are copied all the same: while they are on their way,
/// what was lent before them is acknowledged, and nobody waits for that.
const COPIED_TAIL: usize = 128 << 10;

/// A message on its way out: sent up to some byte.
pub(crate) struct Sending<'a> {
    port: &'a Port,
    headers: &'a [u8],
    sender: Sender,
}

/// No headers of layers above. An array, so that nothing is left of it where messages are sent.
pub(crate) const NO_HEADERS: [u8; 0] = [];

/// Sends a message to one rank. Blocks while there is no room.
#[inline]
pub(crate) fn send(
    port: &Port,
    to: Rank,
    headers: &(impl AsRef<[u8]> + ?Sized),
    parts: &(impl Parts + ?Sized),
) -> Result<()> {
    match send_short(port, to, headers, parts) {
        Ok(()) => Ok(()),
        Err(claimed) => send_in_frames(port, to, headers.as_ref(), parts, claimed),
    }
}

#[inline(never)]
fn send_in_frames(
    port: &Port,
    to: Rank,
    headers: &[u8],
    parts: &(impl Parts + ?Sized),
    claimed: Option<u32>,
) -> Result<()> {
    Sending::to_rank(port, to, headers, parts, claimed)?.finish(parts)
}

/// Sends a message to one rank, waiting without blocking.
pub(crate) async fn send_async(port: &Port, to: Rank, parts: &(impl Parts + ?Sized)) -> Result<()> {
    match send_short(port, to, &NO_HEADERS, parts) {
        Ok(()) => Ok(()),
        Err(claimed) => Sending::to_rank(port, to, &[], parts, claimed)?.finish_async(parts).await,
    }
}

impl<'a> Sending<'a> {
    #[inline]
    pub fn new(
        port: &'a Port,
        to: To,
        headers: &'a [u8],
        parts: &(impl Parts + ?Sized),
    ) -> Result<Self> {
        let total = parts.total() as u64;
        assert!(total <= MAX_MESSAGE, "a message of {total} bytes is too long");
        let max = port.messages.packets.max_payload() - format::SIZE;
        if headers.len() > max.min(usize::from(u8::MAX)) {
            return Err(Error::Headers { size: headers.len(), max: max.min(u8::MAX.into()) });
        }
        let kind = match to {
            To::Rank(rank) if port.asks_first(total) && rank != port.messages.packets.rank() => {
                PacketKind::Request
            }
            _ => PacketKind::First,
        };
        let sender = Sender::new(to, (port.number, port.slot), total, kind);
        let sender = sender.with_headers(headers.len() as u8);
        Ok(Sending { port, headers, sender })
    }

    /// A message to one rank. It may have a number, and room at its receiver for one packet.
    fn to_rank(
        port: &'a Port,
        to: Rank,
        headers: &'a [u8],
        parts: &(impl Parts + ?Sized),
        claimed: Option<u32>,
    ) -> Result<Self> {
        let mut sending = Sending::new(port, To::Rank(to), headers, parts)?;
        sending.sender.set_room(claimed);
        Ok(sending)
    }

    /// Sends all of it. Blocks while there is no room.
    pub fn finish(&mut self, parts: &(impl Parts + ?Sized)) -> Result<()> {
        match parts.whole() {
            Some(bytes) if bytes.len() >= LEND_FROM && self.may_lend() => {
                let messages = &self.port.messages;
                messages.packets.memory().lend(bytes, |lent| {
                    self.finish_from(parts, Some(lent))?;
                    wait_until_back(messages, lent)
                })
            }
            _ => self.finish_from(parts, None),
        }
    }

    /// True if its bytes may leave from where they are: its sender may wait until they have.
    fn may_lend(&self) -> bool {
        let Messages { packets, state, .. } = &*self.port.messages;
        let elsewhere = matches!(self.sender.to(), To::Rank(rank) if rank != packets.rank());
        elsewhere && !state.enter().is_handling()
    }

    fn finish_from(
        &mut self,
        parts: &(impl Parts + ?Sized),
        lent: Option<&Loan<'_>>,
    ) -> Result<()> {
        loop {
            if !self.claim(None)? {
                self.wait_for_room()?;
            }
            let packet = self.frame()?;
            if self.fill(packet, parts, lent)?
                || self.sender.is_asking() && !self.wait_for_grant()?
            {
                return Ok(());
            }
        }
    }

    /// Sends all of it, waiting without blocking.
    pub async fn finish_async(&mut self, parts: &(impl Parts + ?Sized)) -> Result<()> {
        loop {
            if !poll_fn(|context| Poll::Ready(self.claim(Some(context.waker())))).await? {
                self.wait_for_room_async().await?;
            }
            // Frames come back within a round trip, without anybody's handler.
            let packet = self.frame()?;
            if self.fill(packet, parts, None)?
                || self.sender.is_asking() && !self.wait_for_grant_async().await?
            {
                return Ok(());
            }
        }
    }

    /// A frame, which may have to come back first.
    #[inline(always)]
    fn frame(&self) -> Result<SendPacket<'a>> {
        let (messages, to) = (&self.port.messages, self.sender.to());
        match messages.try_packet(to)? {
            Some(packet) => Ok(packet),
            None => wait_for_frame(messages, to),
        }
    }

    /// Takes room for one packet, if it is not taken yet and there is any; else leaves `waker` for
    /// it. A handler that is to block finds room always.
    #[inline]
    fn claim(&mut self, waker: Option<&Waker>) -> Result<bool> {
        if self.sender.has_room() {
            return Ok(true);
        }
        let (messages, slot) = (&self.port.messages, self.port.slot);
        let mut state = messages.state.enter();
        let mut members = Vec::new();
        if let To::Group(group) = self.sender.to()
            && !state.machine.has_slack(slot, group)
        {
            // The network is not entered from inside here.
            drop(state);
            members = other_members(&messages.packets, group);
            state = messages.state.enter();
        }
        let waits = !self.sender.is_to_ask() || waker.is_some() || !state.is_handling();
        match self.sender.claim(&mut state.machine, &members, waits) {
            true => Ok(true),
            false => self.claim_slowly(state, waker),
        }
    }

    #[cold]
    fn claim_slowly(
        &mut self,
        mut state: Entered<'_, State>,
        waker: Option<&Waker>,
    ) -> Result<bool> {
        let may_overdraw = waker.is_none() && state.is_handling();
        self.check(&mut state)?;
        match may_overdraw {
            true => self.sender.overdraw(&mut state.machine),
            false => state.machine.wait_at(self.port.slot, waker),
        }
        Ok(may_overdraw)
    }

    /// Checks that there is no reason to stop waiting.
    fn check(&self, state: &mut State) -> Result<()> {
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        if let To::Rank(rank) = self.sender.to() {
            self.port.messages.packets.losses().check_lives(rank)?;
        }
        let refused = state.machine.take_refusal(self.port.slot, self.sender.to());
        match refused {
            Some(rank) => Err(Error::NoPort { rank, port: self.port.name.to_string() }),
            None => Ok(()),
        }
    }

    /// The answer of the receiver, if it has come; else registers `waker` for it.
    fn answer(&mut self, waker: Option<&Waker>) -> Result<Option<bool>> {
        let state = &mut *self.port.messages.state.enter();
        if let Some(is_wanted) = self.sender.take_answer(&mut state.machine, waker) {
            return Ok(Some(is_wanted));
        }
        self.check(state)?;
        state.machine.wait_at(self.port.slot, waker);
        Ok(None)
    }

    /// Waits until the receiver has answered. True if it wants what it was asked for; if not,
    /// nothing of it leaves.
    #[cold]
    fn wait_for_grant(&mut self) -> Result<bool> {
        self.wait(Self::answer)
    }

    async fn wait_for_grant_async(&mut self) -> Result<bool> {
        self.wait_async(Self::answer).await
    }

    fn claimed(&mut self, waker: Option<&Waker>) -> Result<Option<()>> {
        Ok(self.claim(waker)?.then_some(()))
    }

    #[cold]
    fn wait_for_room(&mut self) -> Result<()> {
        self.port.messages.state.enter().machine.counters.stalls += 1;
        self.wait(Self::claimed)
    }

    async fn wait_for_room_async(&mut self) -> Result<()> {
        self.port.messages.state.enter().machine.counters.stalls += 1;
        self.wait_async(Self::claimed).await
    }

    /// Fills a packet and launches it. True if it was the last.
    #[inline]
    fn fill(
        &mut self,
        mut packet: SendPacket<'_>,
        parts: &(impl Parts + ?Sized),
        lent: Option<&Loan<'_>>,
    ) -> Result<bool> {
        let to = self.sender.to();
        if let To::Group(_) = to {
            packet.limit_to_multicast_payload();
        }
        if self.sender.is_to_ask() {
            self.ask(packet)?;
            return Ok(false);
        }
        let left = self.sender.left() as usize;
        let header = self.sender.head(packet.room());
        packet.put(&header.emit())?;
        if header.aligned {
            packet.put(header.padding())?;
        }
        if header.kind != PacketKind::Next {
            packet.put(self.headers)?;
        }
        let filled = left.min(packet.room());
        let start = self.sender.sent() as usize;
        let lend_to = (start + left).saturating_sub(COPIED_TAIL);
        let lent = lent.filter(|_| start < lend_to);
        match (lent, parts.whole()) {
            (Some(lent), _) => drop(packet.put_lent(lent, start..start + filled)?),
            (None, Some(bytes)) => drop(packet.put(&bytes[start..start + filled])?),
            (None, None) => gather(&mut packet, start, parts)?,
        }
        let is_last = filled == left;
        if lent.is_some()
            && start + filled >= lend_to
            && let To::Rank(rank) = to
        {
            packet.ask(rank);
        }
        let filled = filled as u64;
        if !is_last || header.kind == PacketKind::Next {
            self.port.messages.packets.hold(!is_last);
        }
        match to {
            To::Rank(rank) => packet.unicast(rank)?,
            To::Group(group) => packet.multicast(group)?,
        }
        self.sender.launched(filled);
        Ok(is_last)
    }

    /// Launches the request for this message.
    #[cold]
    fn ask(&mut self, mut packet: SendPacket<'_>) -> Result<()> {
        let To::Rank(rank) = self.sender.to() else { unreachable!("single receivers are asked") };
        let (state, sender) = (&self.port.messages.state, &mut self.sender);
        let header = sender.ask(&mut state.enter().machine);
        packet.put(&header.emit())?.put(self.headers)?;
        let launched = packet.unicast(rank);
        // A thread that sees it counted knows that messages of other threads come after it.
        sender.asked(&mut state.enter().machine, launched.is_ok());
        Ok(launched?)
    }

    /// It has begun, and ends before all of it was sent: its receivers must not wait for the rest.
    #[cold]
    fn give_up(&mut self) {
        let messages = &self.port.messages;
        let mut state = messages.state.enter();
        let cancel = self.sender.give_up(&mut state.machine);
        let cancel = cancel.filter(|_| state.failure.is_none());
        drop(state);
        cancel.into_iter().for_each(|cancel| messages.tell(self.sender.to(), cancel));
    }
}

impl Drop for Sending<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.sender.is_unfinished() {
            self.give_up();
        }
    }
}

/// Fills `packet` with what comes after the first `skip` bytes of all parts.
fn gather(
    packet: &mut SendPacket<'_>,
    mut skip: usize,
    parts: &(impl Parts + ?Sized),
) -> Result<()> {
    let mut outcome = Ok(());
    parts.for_each(&mut |part| {
        let Some(part) = part.get(skip..) else {
            skip -= part.len();
            return;
        };
        skip = 0;
        if !part.is_empty() && outcome.is_ok() {
            outcome = packet.put(&part[..part.len().min(packet.room())]).map(drop);
        }
    });
    Ok(outcome?)
}

/// Waits until no packet needs lent memory, which takes a round trip; for a while: those that do
/// then get a copy.
fn wait_until_back(messages: &Arc<Messages>, lent: &Loan<'_>) -> Result<()> {
    let packets = &messages.packets;
    let until = packets.now() + PATIENCE;
    let what = "its receivers to take a long message";
    wait_for(messages, what, || Ok((lent.is_back() || packets.now() >= until).then_some(())))
}

/// A frame, once one is free again.
#[cold]
fn wait_for_frame(messages: &Arc<Messages>, to: To) -> Result<SendPacket<'_>> {
    let what = "a frame to send from: all are on their way, to ranks that take none";
    wait_for(messages, what, || messages.try_packet(to))
}

/// The find of `look`, once there is one. Packets that arrive meanwhile are sorted, so that their
/// senders go on, but no handler starts in the middle of a send.
fn wait_for<T>(
    messages: &Arc<Messages>,
    what: &str,
    mut look: impl FnMut() -> Result<Option<T>>,
) -> Result<T> {
    let (mut found, mut failed) = (None, None);
    messages.packets.presence().wait_for(&|| Awaited::of_unknown(what), None, &mut || {
        match look() {
            Ok(None) => {}
            Ok(some) => {
                found = some;
                return Ok(Step::Done);
            }
            Err(error) => {
                failed = Some(error);
                return Ok(Step::Done);
            }
        }
        Ok(Poller::new(messages).receive().map_or_else(
            |error| {
                failed = Some(error);
                Step::Done
            },
            Step::of,
        ))
    })?;
    messages.have_handlers_run();
    match (found, failed) {
        (Some(found), _) => Ok(found),
        (None, Some(error)) => Err(error),
        (None, None) => unreachable!("the wait ended with what was looked for or an error"),
    }
}

fn other_members(packets: &Packets, group: Group) -> Vec<Rank> {
    let mut members = match group {
        Group::ALL => (0..packets.size() as u16).map(Rank).collect::<Vec<_>>(),
        group => packets.members(group).unwrap_or_default(),
    };
    let lost = packets.losses().all();
    let is_lost = |member: &Rank| lost.iter().any(|loss| loss.rank == *member);
    members.retain(|member| *member != packets.rank() && !is_lost(member));
    members
}
