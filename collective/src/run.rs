//! One operation under way at one member: steps of a schedule, and what is on its way.

mod rounds;
mod surroundings;

use crate::format::{Header, TransferKind};
use crate::inbox::{ArrivedPacket, Inbox};
use crate::members::Members;
use crate::schedule::{
    Area, Extent, OperationCall, Receivers, ScheduleStep, Tuning, Varied, schedule,
};
use crate::signature::Signature;
use crate::{DISAGREES, EAGER_BYTES, TeamId};
use bytemuck::Pod;
use std::collections::VecDeque;
use std::sync::Arc;
use weft_endpoint::Rank;

pub use surroundings::{OperationMemory, TransferBody, Transport};

/// State of an operation, as its driver sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// It waits for others, or for room.
    Waiting,
    /// Its driver has to [combine](RunningOperation::combine).
    Combine,
    /// Over at this member.
    Done,
}

/// Combines each element of `before` with its equal in `after`, in its place; they lie anywhere.
pub fn combine_elements<T: Pod>(
    before: &[u8],
    after: &mut [u8],
    mut combine: impl FnMut(T, T) -> T,
) {
    let width = size_of::<T>().max(1);
    for (before, after) in before.chunks_exact(width).zip(after.chunks_exact_mut(width)) {
        let next = bytemuck::pod_read_unaligned(after);
        let value = combine(bytemuck::pod_read_unaligned(before), next);
        after.copy_from_slice(bytemuck::bytes_of(&value));
    }
}

/// Reason for which an operation cannot go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunFailure<E> {
    /// The network has failed.
    Transport(E),
    /// A member sent what none sends.
    Violation {
        /// The member that sent it.
        from: Rank,
        /// Description of what it sent.
        what: &'static str,
    },
}

/// A transfer to a member, or to all others.
#[derive(Clone, Copy, Debug)]
struct SendTransfer {
    to: Receivers,
    step: u8,
    span: Extent,
    /// Bytes of the rounds before.
    before: usize,
    /// Bytes of the signature in its packets.
    announced: u64,
    /// Bytes that have left.
    sent: usize,
}

/// A transfer from a member that was begun to be received.
#[derive(Clone, Copy, Debug)]
struct ReceiveTransfer {
    from: usize,
    step: u8,
    span: Extent,
    /// Bytes that have come.
    received: usize,
}

/// State of an operation at one member.
#[derive(Debug)]
pub struct RunningOperation<K> {
    header: Header,
    members: Arc<Members>,
    steps: VecDeque<ScheduleStep>,
    outgoing: VecDeque<SendTransfer>,
    /// At most one of each member.
    incoming: Vec<ReceiveTransfer>,
    /// Members to be told that this one is ready.
    to_tell: VecDeque<(usize, u8)>,
    /// Members that are ready.
    ready: Vec<(usize, u8)>,
    blocks: Vec<Vec<u8>>,
    inbox: Inbox<K>,
    /// Packets that have left.
    sent: u64,
    /// A violation that was found while nobody could be told.
    broken: Option<(usize, &'static str)>,
    /// Rounds of parts of varied lengths.
    varied: Option<Box<Varied>>,
}

/// A run, and the memory that it works on.
#[derive(Debug)]
pub struct Job<M, K> {
    /// The run.
    pub run: RunningOperation<K>,
    /// Its memory.
    pub memory: M,
}

const MORE: &str = "more of a collective operation than there is";

impl<K: AsRef<[u8]>> RunningOperation<K> {
    /// The operation with this number of a team; `inbox` is what has come of it.
    pub fn new(
        (team, number): (TeamId, u32),
        call: &OperationCall,
        members: &Arc<Members>,
        tuning: &Tuning,
        mut inbox: Inbox<K>,
    ) -> Self {
        let header = Header {
            kind: TransferKind::Piece,
            team,
            number,
            step: 0,
            signature: call.signature(),
        };
        RunningOperation {
            header,
            steps: schedule(call, (members.me(), members.size()), tuning),
            members: Arc::clone(members),
            outgoing: VecDeque::new(),
            incoming: Vec::new(),
            to_tell: VecDeque::new(),
            ready: inbox.drain_ready().collect(),
            blocks: Vec::new(),
            inbox,
            sent: 0,
            broken: None,
            varied: None,
        }
    }

    /// The header of its packets.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Packets that have left.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Bytes that have come too early.
    pub fn stored(&self) -> usize {
        self.inbox.stored()
    }

    /// Blocks of members, if lengths are varied.
    pub fn take_blocks(&mut self) -> Vec<Vec<u8>> {
        if self.header.signature.operation.is_varied() {
            self.blocks.resize_with(self.members.size(), Vec::new);
        }
        std::mem::take(&mut self.blocks)
    }

    /// True if something may leave as soon as there is room.
    pub fn has_to_transmit(&self) -> bool {
        !self.to_tell.is_empty() || self.outgoing.iter().any(|it| self.allowed(it).is_some())
    }

    /// Goes on as far as can be.
    ///
    /// # Errors
    /// What the network says, or a violation that was found.
    #[inline]
    pub fn advance<X: Transport>(
        &mut self,
        memory: &mut impl OperationMemory,
        transport: &mut X,
    ) -> Result<Stage, RunFailure<X::Error>> {
        loop {
            match self.steps.front().copied() {
                Some(ScheduleStep::Send(to, step, span, before)) => {
                    let announced = self.header.signature.bytes;
                    self.begin_send(SendTransfer { to, step, span, before, announced, sent: 0 });
                }
                Some(ScheduleStep::Receive(from, step, span, before)) => {
                    self.begin_receive(memory, (from, step), span, before);
                }
                Some(ScheduleStep::Copy(from, to)) => self.copy(memory, from, to),
                Some(ScheduleStep::Combine(..)) => return Ok(Stage::Combine),
                Some(ScheduleStep::Clear(block)) => self.block(block).clear(),
                Some(ScheduleStep::Give(to, step, span, before)) => {
                    let whose = if let Receivers::Member(to) = to { to } else { self.members.me() };
                    let announced = memory.part(whose).len() as u64;
                    self.begin_send(SendTransfer { to, step, span, before, announced, sent: 0 });
                }
                Some(ScheduleStep::Announce(rounds)) => {
                    self.announce(memory, rounds);
                    continue;
                }
                Some(ScheduleStep::Resume) => {
                    self.resume(memory);
                    continue;
                }
                Some(ScheduleStep::Wait) | None => {
                    self.flush(memory, transport).map_err(RunFailure::Transport)?;
                    if let Some((from, what)) = self.violation() {
                        return Err(RunFailure::Violation { from: self.members.rank(from), what });
                    }
                    if !(self.incoming.is_empty()
                        && self.outgoing.is_empty()
                        && self.to_tell.is_empty())
                    {
                        return Ok(Stage::Waiting);
                    }
                    if self.steps.is_empty() {
                        return Ok(Stage::Done);
                    }
                }
            }
            self.steps.pop_front();
        }
    }

    /// Carries out the steps of combining that come next: `combine` makes one block of the first
    /// and the second, in place of the second.
    pub fn combine(
        &mut self,
        memory: &impl OperationMemory,
        mut combine: impl FnMut(&[u8], &mut [u8]),
    ) {
        while let Some(&ScheduleStep::Combine(before, after)) = self.steps.front() {
            let mut into = std::mem::take(&mut self.blocks[after]);
            match before.area {
                Area::Block(block) => combine(&self.blocks[block], &mut into),
                area => {
                    let mut at = 0;
                    memory.read(area, before.at, before.length, &mut |bytes| {
                        combine(bytes, &mut into[at..at + bytes.len()]);
                        at += bytes.len();
                    });
                }
            }
            self.blocks[after] = into;
            self.steps.pop_front();
        }
    }

    /// A packet of a member has come. True if the run may go on.
    ///
    /// # Errors
    /// No member sends that.
    #[inline]
    pub fn arrive(
        &mut self,
        memory: &mut impl OperationMemory,
        from: usize,
        header: &Header,
        packet: impl ArrivedPacket<Kept = K>,
        (limit, keeps): (usize, usize),
    ) -> Result<bool, &'static str> {
        let announced = header.signature.bytes;
        if header.kind == TransferKind::Ready {
            return self.note_ready(from, header.step).map(|()| true);
        }
        let is_its = |it: &ReceiveTransfer| it.from == from && it.step == header.step;
        match self.incoming.iter().position(is_its) {
            Some(index) => {
                let data = packet.bytes().get(crate::format::SIZE..).unwrap_or_default();
                self.place(memory, index, data, announced)?;
                Ok(self.incoming.is_empty() || !self.to_tell.is_empty())
            }
            None => {
                let place = (from, header.step);
                self.inbox.store(place, packet, announced, limit, keeps).map(|()| false)
            }
        }
    }

    /// Takes in what came while the run was elsewhere.
    pub fn absorb(&mut self, memory: &mut impl OperationMemory, mut later: Inbox<K>) {
        let ready: Vec<_> = later.drain_ready().collect();
        for (from, step) in ready {
            if let Err(what) = self.note_ready(from, step) {
                self.broken = Some((from, what));
            }
        }
        self.inbox.append(later);
        for index in (0..self.incoming.len()).rev() {
            self.place_early(memory, index);
        }
    }

    fn note_ready(&mut self, from: usize, step: u8) -> Result<(), &'static str> {
        if self.ready.contains(&(from, step)) {
            return Err("twice that it is ready");
        }
        self.ready.push((from, step));
        Ok(())
    }

    /// The violation that was found, or that of a member who has sent more than there is.
    fn violation(&self) -> Option<(usize, &'static str)> {
        let is_over = self.steps.is_empty() && self.incoming.is_empty();
        let more = || self.inbox.anybody().filter(|_| is_over).map(|from| (from, MORE));
        self.broken.or_else(more)
    }

    fn begin_send(&mut self, transfer: SendTransfer) {
        let (me, size) = (self.members.me(), self.members.size());
        let all = match transfer.to {
            Receivers::Others if self.members.group().is_none() => 1..size,
            _ => 0..0,
        };
        for distance in all.clone() {
            let to = Receivers::Member((me + distance) % size);
            self.outgoing.push_back(SendTransfer { to, ..transfer });
        }
        if all.is_empty() {
            self.outgoing.push_back(transfer);
        }
    }

    fn begin_receive(
        &mut self,
        memory: &mut impl OperationMemory,
        (from, step): (usize, u8),
        span: Extent,
        before: usize,
    ) {
        let span = self.placed(memory, span);
        if let Area::Block(block) = span.area {
            self.block(block);
        }
        self.incoming.push(ReceiveTransfer { from, step, span, received: 0 });
        if span.length != Extent::ANNOUNCED && before + span.length > EAGER_BYTES {
            self.to_tell.push_back((from, step));
        }
        self.place_early(memory, self.incoming.len() - 1);
    }

    /// A block of the run's own, once there are some.
    #[inline]
    fn block(&mut self, block: usize) -> &mut Vec<u8> {
        if self.blocks.len() <= block {
            self.blocks.resize_with(self.members.size(), Vec::new);
        }
        &mut self.blocks[block]
    }

    /// Places what has come early of a transfer.
    fn place_early(&mut self, memory: &mut impl OperationMemory, index: usize) {
        let ReceiveTransfer { from, step, .. } = self.incoming[index];
        while let Some(piece) = self.inbox.take(from, step) {
            match self.place(memory, index, piece.bytes(), piece.announced) {
                Ok(true) => return,
                Ok(false) => {}
                Err(what) => self.broken = Some((from, what)),
            }
        }
    }

    /// Places the next bytes of a transfer. True if they were the last.
    #[inline]
    fn place(
        &mut self,
        memory: &mut impl OperationMemory,
        index: usize,
        bytes: &[u8],
        announced: u64,
    ) -> Result<bool, &'static str> {
        let it = &mut self.incoming[index];
        if it.span.length == Extent::ANNOUNCED {
            let Some(varied) = &mut self.varied else {
                return Err("a length where none is to be announced");
            };
            let room = memory.room(it.from);
            if room.is_some_and(|room| room.len() as u64 != announced) {
                return Err(DISAGREES);
            }
            it.span.length = varied.learn(it.from, announced as usize)?;
            if it.span.length > EAGER_BYTES {
                self.to_tell.push_back((it.from, it.step));
            }
        }
        let end = it.received + bytes.len();
        if end > it.span.length || (bytes.is_empty() && it.span.length > 0) {
            return Err(MORE);
        }
        let at = it.span.at + it.received;
        match it.span.area {
            Area::Block(block) => {
                let block = &mut self.blocks[block];
                if block.is_empty() {
                    block.reserve_exact(it.span.length.min(EAGER_BYTES));
                }
                block.extend_from_slice(bytes);
            }
            _ => memory.write(at, bytes),
        }
        it.received = end;
        let is_last = end == it.span.length;
        if is_last {
            self.incoming.swap_remove(index);
        }
        Ok(is_last)
    }

    fn copy(&mut self, memory: &mut impl OperationMemory, from: Extent, to: Extent) {
        match (from.area, to.area) {
            (Area::Block(block), _) => {
                memory.write(to.at, &self.blocks[block][from.at..][..from.length])
            }
            (Area::Mine, Area::Block(block)) => {
                let into = &mut self.blocks[block];
                memory.read(from.area, from.at, from.length, &mut |bytes| {
                    into.extend_from_slice(bytes)
                });
            }
            _ => memory.copy(from.at, from.length, to.at),
        }
    }

    /// Sends what may leave, as far as there is room.
    fn flush<X: Transport>(
        &mut self,
        memory: &impl OperationMemory,
        transport: &mut X,
    ) -> Result<(), X::Error> {
        while let Some(&(member, step)) = self.to_tell.front() {
            let head = Header { kind: TransferKind::Ready, step, ..self.header }.emit();
            let span = Extent { area: Area::Mine, at: 0, length: 0 };
            let body = TransferBody { memory, blocks: &self.blocks, span };
            if !transport.send(self.members.rank(member), &head, &body)? {
                return Ok(());
            }
            self.sent += 1;
            self.to_tell.pop_front();
        }
        let mut room = transport.packets_at_once();
        for _ in 0..self.outgoing.len() {
            let Some(mut it) = self.outgoing.pop_front() else { break };
            let signature = Signature { bytes: it.announced, ..self.header.signature };
            let head = Header { step: it.step, signature, ..self.header }.emit();
            let mut ended = false;
            while room > 0 && !ended {
                let Some(allowed) = self.allowed(&it) else { break };
                let most = match it.to {
                    Receivers::Member(_) => transport.payload(),
                    Receivers::Others => transport.multicast_payload(),
                } - head.len();
                let span =
                    Extent { at: it.span.at + it.sent, length: allowed.min(most), ..it.span };
                let body = TransferBody { memory, blocks: &self.blocks, span };
                let sent = match (it.to, self.members.group()) {
                    (Receivers::Member(to), _) => {
                        transport.send(self.members.rank(to), &head, &body)?
                    }
                    (Receivers::Others, Some(group)) => transport.multicast(group, &head, &body)?,
                    (Receivers::Others, None) => true,
                };
                if !sent {
                    self.outgoing.push_front(it);
                    return Ok(());
                }
                self.sent += 1;
                room -= 1;
                it.sent += span.length;
                ended = it.sent == it.span.length;
            }
            match ended {
                true => self.forget_ready(&it),
                false => self.outgoing.push_back(it),
            }
        }
        Ok(())
    }

    /// A transfer has left. Its receivers say again that they are ready for the next round, and
    /// none does before all of this one has come.
    fn forget_ready(&mut self, it: &SendTransfer) {
        self.ready.retain(|&(member, step)| match it.to {
            Receivers::Member(to) => (member, step) != (to, it.step),
            Receivers::Others => step != it.step,
        });
    }

    /// Bytes that may leave now: those that have not left yet, as far as their receivers store them
    /// or are ready. `None` if receivers have to say first that they are ready.
    fn allowed(&self, it: &SendTransfer) -> Option<usize> {
        let left = it.span.length - it.sent;
        if it.before + it.span.length <= EAGER_BYTES {
            return Some(left);
        }
        let is_ready = match it.to {
            Receivers::Member(member) => self.ready.contains(&(member, it.step)),
            Receivers::Others => {
                let ready = self.ready.iter().filter(|&&(_, step)| step == it.step).count();
                ready + 1 == self.members.size()
            }
        };
        match is_ready {
            true => Some(left),
            false => EAGER_BYTES.checked_sub(it.before + it.sent).filter(|&bytes| bytes > 0),
        }
    }
}

impl<M: OperationMemory, K: AsRef<[u8]>> Job<M, K> {
    /// Goes on as far as can be; see [`RunningOperation::advance`].
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn advance<X: Transport>(
        &mut self,
        transport: &mut X,
    ) -> Result<Stage, RunFailure<X::Error>> {
        self.run.advance(&mut self.memory, transport)
    }
}
