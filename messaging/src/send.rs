//! Sending: from an I/O vector into packets, as there is room for them.

use crate::engine::{Engine, leave};
use crate::format::{self, Kind, MAX_MESSAGE, PacketHeader};
use crate::parts::Parts;
use crate::port::Port;
use crate::state::State;
use crate::{Error, Result};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;
use weft_packet::{Group, Rank, SendPacket, Step};

/// How long a sender waits for room before it asks whether the port is there at all.
const PATIENCE: Duration = Duration::from_millis(20);
/// Times that it complains before it asks whether there is such a port.
const ASK_FOR_PORT_AFTER: u32 = 50;

/// Where a message goes.
#[derive(Clone, Copy)]
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
        let header = PacketHeader {
            port: port.number,
            message: 0,
            bytes: total,
            header_bytes: headers.len() as u8,
            kind: Kind::First,
            aligned: false,
        };
        Ok(Sending { port, to, headers, header, sent: 0, total, claimed: false })
    }

    /// Sends all of it. Blocks while there is no room.
    #[inline]
    pub fn finish(&mut self, parts: &(impl Parts + ?Sized)) -> Result<()> {
        loop {
            if !self.claim(None)? {
                self.wait_for_room()?;
            }
            let packet = match self.port.engine.packets().try_packet()? {
                Some(packet) => packet,
                None => wait_for_frame(&self.port.engine)?,
            };
            if self.fill(packet, parts)? {
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
            let packet = match self.port.engine.packets().try_packet()? {
                Some(packet) => packet,
                None => wait_for_frame(&self.port.engine)?,
            };
            if self.fill(packet, parts)? {
                return Ok(());
            }
        }
    }

    /// Takes room for one packet, if it is not taken yet and there is any; else leaves `waker` for it. A
    /// handler that is to block finds room always.
    #[inline]
    fn claim(&mut self, waker: Option<&Waker>) -> Result<bool> {
        if self.claimed {
            return Ok(true);
        }
        let (engine, slot) = (&self.port.engine, self.port.slot);
        let mut state = engine.state.enter();
        let window = state.window;
        if self.header.kind == Kind::First && self.header.message == 0 {
            self.header.message = state.next_message_number();
            state.statistics.messages_sent += 1;
        }
        let granted = match self.to {
            To::Rank(rank) if rank == engine.packets().rank() => true,
            To::Rank(rank) => state.ports.at(slot).outgoing.claim(rank, window),
            To::Group(group) => {
                let members = || other_members(engine, group);
                state.ports.at(slot).outgoing.claim_multicast(group, window, members)
            }
        };
        if !granted {
            return self.claim_slowly(state, waker);
        }
        self.claimed = true;
        Ok(true)
    }

    #[cold]
    fn claim_slowly(
        &mut self,
        mut state: weft_node::biased::Entered<'_, State>,
        waker: Option<&Waker>,
    ) -> Result<bool> {
        let may_overdraw = waker.is_none() && state.is_handling();
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        let port = state.ports.at(self.port.slot);
        let refused = match self.to {
            To::Rank(rank) => port.refused.remove(&rank).then_some(rank),
            // All of them: what is left would be taken for an answer to the next one's question.
            To::Group(_) => std::mem::take(&mut port.refused).pop_first(),
        };
        if let Some(rank) = refused {
            return Err(Error::NoPort { rank, port: self.port.name.to_string() });
        }
        if may_overdraw {
            match self.to {
                To::Rank(rank) => port.outgoing.overdraw(rank),
                To::Group(group) => port.outgoing.overdraw_multicast(group),
            }
            state.statistics.overdrafts += 1;
            self.claimed = true;
            return Ok(true);
        }
        leave(&mut port.senders, waker);
        Ok(false)
    }

    #[cold]
    fn wait_for_room(&mut self) -> Result<()> {
        let engine = Arc::clone(&self.port.engine);
        let _stalled = Stalled::begin(&engine);
        for complaints in 1u32.. {
            let deadline = engine.packets().now() + PATIENCE;
            let look = |_: &_, waker: Option<&Waker>| Ok(self.claim(waker)?.then_some(()));
            if engine.wait_until(Some(deadline), look)?.is_some() {
                break;
            }
            self.complain(complaints);
        }
        Ok(())
    }

    async fn wait_for_room_async(&mut self) -> Result<()> {
        let engine = Arc::clone(&self.port.engine);
        let _stalled = Stalled::begin(&engine);
        for complaints in 1u32.. {
            let claimed = poll_fn(|context| match self.claim(Some(context.waker())) {
                Ok(true) => Poll::Ready(Ok(())),
                Err(error) => Poll::Ready(Err(error)),
                Ok(false) => {
                    engine.somebody_waits();
                    Poll::Pending
                }
            });
            if let Ok(claimed) = engine.within(PATIENCE, claimed).await {
                return claimed;
            }
            self.complain(complaints);
        }
        Ok(())
    }

    /// Has waited for long, so many times: perhaps nobody can read there now, or nobody ever will.
    fn complain(&self, complaints: u32) {
        let engine = &self.port.engine;
        let (receivers, flow) = match self.to {
            To::Rank(rank) => (vec![rank], None),
            To::Group(group) => (other_members(engine, group), Some(group)),
        };
        for rank in receivers {
            let sent = engine.state.enter().ports.at(self.port.slot).outgoing.sent(rank, flow);
            let group = flow.map(|group| group.number());
            engine.tell(rank, PacketHeader::stalled(self.header.port, group, sent));
            if complaints.is_multiple_of(ASK_FOR_PORT_AFTER) {
                self.port.probe(rank);
            }
        }
    }

    /// Fills a packet and launches it. Says whether it was the last.
    #[inline]
    fn fill(&mut self, mut packet: SendPacket<'_>, parts: &(impl Parts + ?Sized)) -> Result<bool> {
        if let To::Group(_) = self.to {
            packet.leave_room_for_receivers();
        }
        let left = (self.total - self.sent) as usize;
        self.header.aligned = format::is_aligned(packet.room(), left);
        packet.put(&self.header.emit())?;
        if self.header.aligned {
            packet.put(self.header.padding())?;
        }
        if self.header.kind == Kind::First {
            packet.put(self.headers)?;
        }
        let before = packet.room();
        match parts.whole() {
            Some(bytes) => {
                let rest = &bytes[self.sent as usize..];
                packet.put(&rest[..rest.len().min(before)])?;
            }
            None => gather(&mut packet, self.sent as usize, parts)?,
        }
        self.sent += (before - packet.room()) as u64;
        self.claimed = false;
        let is_last = self.sent == self.total;
        if !is_last || self.header.kind == Kind::Next {
            self.port.engine.packets().hold(!is_last);
        }
        match self.to {
            To::Rank(rank) => packet.unicast(rank)?,
            To::Group(group) => packet.multicast(group)?,
        }
        self.header.kind = Kind::Next;
        self.header.header_bytes = 0;
        self.header.bytes = self.sent;
        Ok(is_last)
    }
}

/// A send that waits for room, while it lives.
struct Stalled<'a>(&'a Engine);

impl<'a> Stalled<'a> {
    fn begin(engine: &'a Engine) -> Self {
        let mut state = engine.state.enter();
        state.statistics.stalls += 1;
        state.stalled += 1;
        Stalled(engine)
    }
}

impl Drop for Stalled<'_> {
    fn drop(&mut self) {
        self.0.state.enter().stalled -= 1;
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
        let part = part.get(skip..).unwrap_or_else(|| {
            skip -= part.len();
            &[]
        });
        if !part.is_empty() && outcome.is_ok() {
            skip = 0;
            outcome = packet.put(&part[..part.len().min(packet.room())]).map(drop);
        }
    });
    Ok(outcome?)
}

/// A frame, once one is free again. Packets that arrive meanwhile are sorted, so that their senders go on,
/// but no handler starts in the middle of a send.
#[cold]
fn wait_for_frame(engine: &Engine) -> Result<SendPacket<'_>> {
    let (mut frame, mut failed) = (None, None);
    engine.packets().wait(&mut || {
        frame = engine.packets().try_packet()?;
        if frame.is_some() {
            return Ok(Step::Done);
        }
        match engine.receive() {
            Ok(true) => Ok(Step::Progress),
            Ok(false) => Ok(Step::Idle),
            Err(error) => {
                failed = Some(error);
                Ok(Step::Done)
            }
        }
    })?;
    engine.have_handlers_run();
    match (frame, failed) {
        (Some(frame), _) => Ok(frame),
        (None, Some(error)) => Err(error),
        (None, None) => unreachable!("the wait ended with a frame or an error"),
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
