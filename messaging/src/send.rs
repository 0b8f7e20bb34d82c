//! Sending: from an I/O vector into packets, as there is room for them.

mod stalled;

use crate::engine::{Engine, register_waker};
use crate::format::{self, Kind, MAX_MESSAGE, PacketHeader};
use crate::parts::Parts;
use crate::port::Port;
use crate::rendezvous::{Answer, i12_granted_first};
use crate::short::send_short;
use crate::state::{PortState, State};
use crate::{Error, Result};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;
use weft_endpoint::{Awaited, Group, Lent, Rank, SendPacket, Step};

/// Time that a sender waits for its receivers before it complains.
const PATIENCE: Duration = Duration::from_millis(20);

/// Bytes from which on a message leaves from the program's memory, where its sender blocks: it
/// waits for the acknowledgement then, which takes as long as some copies.
const LEND_FROM: usize = 256 << 10;

/// Bytes at the end of such a message that are copied all the same: while they are on their way,
/// what was lent before them is acknowledged, and nobody waits for that.
const COPIED_TAIL: usize = 128 << 10;

/// Destination of a message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum To {
    Rank(Rank),
    Group(Group),
}

/// A message on its way out: sent up to some byte.
pub(crate) struct Sending<'a> {
    port: &'a Port,
    to: To,
    headers: &'a [u8],
    header: PacketHeader,
    sent: u64,
    total: u64,
    /// Room at the receivers for one packet was taken.
    claimed: bool,
    /// Its receiver was asked, and has not answered.
    asking: bool,
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
        let max = port.engine.packets().max_payload() - format::SIZE;
        if headers.len() > max.min(usize::from(u8::MAX)) {
            return Err(Error::Headers { size: headers.len(), max: max.min(u8::MAX.into()) });
        }
        let kind = match to {
            To::Rank(rank) if port.asks_first(total) && rank != port.engine.packets().rank() => {
                Kind::Request
            }
            _ => Kind::First,
        };
        let header = PacketHeader {
            port: port.number,
            message: 0,
            bytes: total,
            header_bytes: headers.len() as u8,
            kind,
            aligned: false,
        };
        let (claimed, asking) = (false, false);
        Ok(Sending { port, to, headers, header, sent: 0, total, claimed, asking })
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
        sending.header.message = claimed.unwrap_or(0);
        sending.claimed = claimed.is_some();
        Ok(sending)
    }

    /// Sends all of it. Blocks while there is no room.
    pub fn finish(&mut self, parts: &(impl Parts + ?Sized)) -> Result<()> {
        match parts.whole() {
            Some(bytes) if bytes.len() >= LEND_FROM && self.may_lend() => {
                let engine = Arc::clone(&self.port.engine);
                engine.packets().lend(bytes, |lent| {
                    self.finish_from(parts, Some(lent))?;
                    wait_until_back(&engine, lent)
                })
            }
            _ => self.finish_from(parts, None),
        }
    }

    /// True if its bytes may leave from where they are: its sender may wait until they have.
    fn may_lend(&self) -> bool {
        let engine = &self.port.engine;
        let elsewhere = matches!(self.to, To::Rank(rank) if rank != engine.packets().rank());
        elsewhere && !engine.state.enter().is_handling()
    }

    fn finish_from(
        &mut self,
        parts: &(impl Parts + ?Sized),
        lent: Option<&Lent<'_>>,
    ) -> Result<()> {
        loop {
            if !self.claim(None)? {
                self.wait_for_room()?;
            }
            let packet = match try_packet(&self.port.engine, self.to)? {
                Some(packet) => packet,
                None => wait_for_frame(&self.port.engine, self.to)?,
            };
            if self.fill(packet, parts, lent)? || self.asking && !self.wait_for_grant()? {
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
            let packet = match try_packet(&self.port.engine, self.to)? {
                Some(packet) => packet,
                None => wait_for_frame(&self.port.engine, self.to)?,
            };
            if self.fill(packet, parts, None)?
                || self.asking && !self.wait_for_grant_async().await?
            {
                return Ok(());
            }
        }
    }

    /// Takes room for one packet, if it is not taken yet and there is any; else leaves `waker` for
    /// it. A handler that is to block finds room always.
    #[inline]
    fn claim(&mut self, waker: Option<&Waker>) -> Result<bool> {
        if self.claimed {
            return Ok(true);
        }
        let (engine, slot) = (&self.port.engine, self.port.slot);
        let mut state = engine.state.enter();
        if self.header.kind != Kind::Next && self.header.message == 0 {
            self.header.message = state.next_message_number();
            if self.header.kind == Kind::Request && !self.may_ask(&state, waker) {
                self.header.kind = Kind::First;
            }
        }
        let granted = match self.to {
            To::Rank(rank) => state.claim(slot, rank),
            To::Group(group) => {
                let mut members = Vec::new();
                if !state.ports.at(slot).outgoing.has_slack(group) {
                    // The network is not entered from inside here.
                    drop(state);
                    members = other_members(engine, group);
                    state = engine.state.enter();
                }
                let window = state.window;
                state.ports.at(slot).outgoing.claim_multicast(group, window, &members)
            }
        };
        if !granted {
            return self.claim_slowly(state, waker);
        }
        self.claimed = true;
        Ok(true)
    }

    /// True if the receiver may be asked first. Who handles a message waits for nobody, and no rank
    /// is asked about any number of messages at once.
    fn may_ask(&self, state: &State, waker: Option<&Waker>) -> bool {
        let To::Rank(rank) = self.to else { return false };
        !(waker.is_none() && state.is_handling()) && state.requests.may_ask(rank)
    }

    #[cold]
    fn claim_slowly(
        &mut self,
        mut state: weft_endpoint::biased::Entered<'_, State>,
        waker: Option<&Waker>,
    ) -> Result<bool> {
        let may_overdraw = waker.is_none() && state.is_handling();
        self.check(&mut state)?;
        let port = state.ports.at(self.port.slot);
        if may_overdraw {
            match self.to {
                To::Rank(rank) => port.outgoing.overdraw(rank),
                To::Group(group) => port.outgoing.overdraw_multicast(group),
            }
            state.statistics.overdrafts += 1;
            self.claimed = true;
            return Ok(true);
        }
        register_waker(&mut port.senders, waker);
        Ok(false)
    }

    /// Checks that there is no reason to stop waiting.
    fn check(&self, state: &mut State) -> Result<()> {
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        let PortState { refused, .. } = state.ports.at(self.port.slot);
        let refused = match self.to {
            To::Rank(rank) => refused.remove(&rank).then_some(rank),
            // All of them: what is left would be taken for an answer to the next one's question.
            To::Group(_) => std::mem::take(refused).pop_first(),
        };
        match refused {
            Some(rank) => Err(Error::NoPort { rank, port: self.port.name.to_string() }),
            None => Ok(()),
        }
    }

    /// The answer of the receiver, if it has come; else registers `waker` for it.
    fn answer(&mut self, waker: Option<&Waker>) -> Result<Option<Answer>> {
        let To::Rank(rank) = self.to else { unreachable!("only single receivers are asked") };
        let state = &mut *self.port.engine.state.enter();
        if let Some(answer) = state.requests.take(rank, self.header.message, waker) {
            return Ok(Some(answer));
        }
        self.check(state)?;
        register_waker(&mut state.ports.at(self.port.slot).senders, waker);
        Ok(None)
    }

    /// Waits until the receiver has answered. True if it wants what it was asked for; if not,
    /// that is it.
    #[cold]
    fn wait_for_grant(&mut self) -> Result<bool> {
        let answer = self.wait(Self::answer)?;
        Ok(self.is_granted(answer))
    }

    async fn wait_for_grant_async(&mut self) -> Result<bool> {
        let answer = self.wait_async(Self::answer).await?;
        Ok(self.is_granted(answer))
    }

    fn is_granted(&mut self, answer: Answer) -> bool {
        self.asking = false;
        if answer == Answer::Unwanted {
            self.sent = self.total;
        }
        answer == Answer::Granted
    }

    fn claimed(&mut self, waker: Option<&Waker>) -> Result<Option<()>> {
        Ok(self.claim(waker)?.then_some(()))
    }

    #[cold]
    fn wait_for_room(&mut self) -> Result<()> {
        self.port.engine.state.enter().statistics.stalls += 1;
        self.wait(Self::claimed)
    }

    async fn wait_for_room_async(&mut self) -> Result<()> {
        self.port.engine.state.enter().statistics.stalls += 1;
        self.wait_async(Self::claimed).await
    }

    /// Fills a packet and launches it. True if it was the last.
    #[inline]
    fn fill(
        &mut self,
        mut packet: SendPacket<'_>,
        parts: &(impl Parts + ?Sized),
        lent: Option<&Lent<'_>>,
    ) -> Result<bool> {
        if let To::Group(_) = self.to {
            packet.limit_to_multicast_payload();
        }
        if self.header.kind == Kind::Request {
            self.ask(packet)?;
            return Ok(false);
        }
        i12_granted_first(!self.asking);
        let left = (self.total - self.sent) as usize;
        self.header.aligned = format::is_aligned(packet.room(), left);
        let is_first = self.header.kind == Kind::First;
        if is_first
            && matches!(self.to, To::Rank(_))
            && self.header.bytes_at() + left <= packet.room()
        {
            self.header.kind = Kind::Whole;
        }
        packet.put(&self.header.emit())?;
        if self.header.aligned {
            packet.put(self.header.padding())?;
        }
        if is_first {
            packet.put(self.headers)?;
        }
        let filled = left.min(packet.room());
        let start = self.sent as usize;
        let lend_to = (self.total as usize).saturating_sub(COPIED_TAIL);
        let lent = lent.filter(|_| start < lend_to);
        match (lent, parts.whole()) {
            (Some(lent), _) => drop(packet.put_lent(lent, start..start + filled)?),
            (None, Some(bytes)) => drop(packet.put(&bytes[start..start + filled])?),
            (None, None) => gather(&mut packet, start, parts)?,
        }
        let is_last = filled == left;
        if lent.is_some()
            && start + filled >= lend_to
            && let To::Rank(rank) = self.to
        {
            packet.ask(rank);
        }
        let filled = filled as u64;
        if !is_last || self.header.kind == Kind::Next {
            self.port.engine.packets().hold(!is_last);
        }
        match self.to {
            To::Rank(rank) => packet.unicast(rank)?,
            To::Group(group) => packet.multicast(group)?,
        }
        self.launched(filled);
        Ok(is_last)
    }

    /// Launches the request for this message.
    #[cold]
    fn ask(&mut self, mut packet: SendPacket<'_>) -> Result<()> {
        let To::Rank(rank) = self.to else { unreachable!("only single receivers are asked") };
        packet.put(&self.header.emit())?.put(self.headers)?;
        let (engine, number) = (&self.port.engine, self.header.message);
        engine.state.enter().requests.ask(rank, number);
        if let Err(error) = packet.unicast(rank) {
            engine.state.enter().requests.forget(rank, number);
            return Err(error.into());
        }
        // Who sees the count knows that what another thread sends comes after it.
        engine.state.enter().statistics.requests += 1;
        self.asking = true;
        self.launched(0);
        Ok(())
    }

    /// A packet with so many bytes of the message has left.
    #[inline]
    fn launched(&mut self, bytes: u64) {
        self.sent += bytes;
        self.claimed = false;
        self.header.kind = Kind::Next;
        self.header.header_bytes = 0;
        self.header.bytes = self.sent;
    }

    /// It has begun, and ends before all of it was sent: its receivers must not wait for the rest.
    #[cold]
    fn give_up(&mut self) {
        let (engine, PacketHeader { port, message, .. }) = (&self.port.engine, self.header);
        let mut state = engine.state.enter();
        let known = match self.to {
            To::Rank(rank) if self.asking => state.requests.withdraw(rank, message),
            _ => true,
        };
        let failed = state.failure.is_some();
        drop(state);
        if known && !failed {
            engine.tell(self.to, PacketHeader::of_message(port, Kind::Cancel, message, self.sent));
        }
    }
}

impl Drop for Sending<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.header.kind == Kind::Next && self.sent < self.total {
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
fn wait_until_back(engine: &Arc<Engine>, lent: &Lent<'_>) -> Result<()> {
    let until = engine.packets().now() + PATIENCE;
    let what = "its receivers to take a long message";
    wait_for(engine, what, || Ok((lent.is_back() || engine.packets().now() >= until).then_some(())))
}

/// A frame for a packet to these receivers, if one is free.
#[inline(always)]
pub(crate) fn try_packet(engine: &Engine, to: To) -> Result<Option<SendPacket<'_>>> {
    let packets = engine.packets();
    Ok(match to {
        To::Rank(rank) => packets.try_packet_to(rank)?,
        To::Group(_) => packets.try_packet()?,
    })
}

/// A frame, once one is free again.
#[cold]
fn wait_for_frame(engine: &Arc<Engine>, to: To) -> Result<SendPacket<'_>> {
    let what = "a frame to send from: all are on their way, to ranks that take none";
    wait_for(engine, what, || try_packet(engine, to))
}

/// The find of `look`, once there is one. Packets that arrive meanwhile are sorted, so that their
/// senders go on, but no handler starts in the middle of a send.
fn wait_for<T>(
    engine: &Arc<Engine>,
    what: &str,
    mut look: impl FnMut() -> Result<Option<T>>,
) -> Result<T> {
    let (mut found, mut failed) = (None, None);
    engine.packets().wait_for(&|| Awaited::of_unknown(what), None, &mut || {
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
        Ok(engine.receive().map_or_else(
            |error| {
                failed = Some(error);
                Step::Done
            },
            Step::of,
        ))
    })?;
    engine.have_handlers_run();
    match (found, failed) {
        (Some(found), _) => Ok(found),
        (None, Some(error)) => Err(error),
        (None, None) => unreachable!("the wait ended with what was looked for or an error"),
    }
}

fn other_members(engine: &Engine, group: Group) -> Vec<Rank> {
    let packets = engine.packets();
    let mut members = match group {
        Group::ALL => (0..packets.size() as u16).map(Rank).collect(),
        group => packets.members(group).unwrap_or_default(),
    };
    members.retain(|member| *member != packets.rank());
    members
}
