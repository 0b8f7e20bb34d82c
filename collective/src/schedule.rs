//! The algorithms: what one member sends, receives and combines, step by step.
//!
//! | operation | algorithm |
//! |---|---|
//! | barrier | up to [`exchange_members`](Tuning::exchange_members): each tells all others. Else up a tree, and one multicast down |
//! | broadcast | one multicast; if it is [synchronous](Tuning::synchronous_broadcasts), after a reduce of no bytes to its root |
//! | reduce | up a tree; long: each member combines its share of all (pairwise exchange), and the root gathers the shares |
//! | all-reduce | up to `exchange_members`: each tells all others, and combines. Else up a tree, multicast down; long: pairwise exchange of shares, each combines its own and multicasts it |
//! | reduce-scatter | pairwise exchange of shares, each combines its own |
//! | gather, scatter | straight to or from the root |
//! | all-gather | each member multicasts |
//! | all-to-all | pairwise exchange, beginning with the next member |
//! | these four, of varied lengths | the same; first rounds announce lengths ([`varied`]) |
//! | scan, exclusive scan | recursive doubling; long: a chain in pieces ([`scan`]) |
//! | split | as an all-gather |
//!
//! The tree is flat for up to [`flat_members`](Tuning::flat_members), else binomial. Long is more
//! than [`shared_out_bytes`](Tuning::shared_out_bytes), among three members or more. A multicast is
//! one packet where the team has a group, else a packet for each other member.
//!
//! **Order.** Contributions are combined from the last member to the first, in the same tree
//! whatever the root, so that results are the same bits at all members and in every run. In the
//! binomial tree the part of child `c` is the members from `c` to just before the next child. So a
//! member that combines its children in order combines members in theirs.
//!
//! **Rounds.** Exchanges of more than [`round_bytes`](Tuning::round_bytes) take several rounds,
//! with a wait for as many bytes after each: for transports that block while they send.
//!
//! **Overwriting.** Result may be the same memory as Mine. So nothing is written to Result before
//! the steps in which the same bytes of Mine are sent have ended: a wait waits for what leaves,
//! too.

mod scan;
mod varied;

pub use varied::Rounds;
pub(crate) use varied::Varied;

use crate::signature::{Operation, Signature};
use std::collections::VecDeque;
use std::ops::Range;

/// Step numbers of transfers: towards the root, away from it, and between any two.
const UP: u8 = 0;
const DOWN: u8 = 1;
const ACROSS: u8 = 2;

/// An operation, as its member calls it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OperationCall {
    /// Kind.
    pub operation: Operation,
    /// Its root; 0 where there is none.
    pub root: usize,
    /// Elements that each member brings or gets. Of a broadcast, a reduction, a scan and a
    /// reduce-scatter: all. Of a
    /// gather, an all-gather and a scatter: those of one member. Of an all-to-all: those of one
    /// member for all. Of varied lengths: 0, as memory has the
    /// [parts](crate::OperationMemory::part).
    pub count: usize,
    /// Bytes of each element.
    pub size: usize,
}

/// A barrier.
pub const BARRIER: OperationCall =
    OperationCall { operation: Operation::Barrier, root: 0, count: 0, size: 0 };

/// The barrier in which members leave: one of elements, of which there are none, so that it agrees
/// with no barrier of the program.
pub const LEAVING: OperationCall = OperationCall { size: 1, ..BARRIER };

impl OperationCall {
    /// The signature that all members have to agree about. The size of elements stands in the place
    /// of the root where there is none.
    #[inline]
    pub fn signature(&self) -> Signature {
        let root = if self.operation.has_root() { self.root } else { self.size };
        Signature { operation: self.operation, root: root as u16, bytes: self.bytes() as u64 }
    }

    /// Bytes that each member brings or gets.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.count * self.size
    }

    /// Bytes of the share of a member of `members`, which divide the elements as evenly as they can
    /// be.
    pub fn share(&self, member: usize, members: usize) -> Range<usize> {
        let start =
            |member| (self.count as u128 * member as u128 / members as u128) as usize * self.size;
        start(member)..start(member + 1)
    }
}

/// Limits between algorithms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tuning {
    /// Members up to whom each tells all others at once, instead of one who tells all.
    pub exchange_members: usize,
    /// Members up to whom the tree is flat.
    pub flat_members: usize,
    /// Reductions of more bytes share the combining out among all members.
    pub shared_out_bytes: usize,
    /// Bytes and packets that a member of an exchange sends before it waits for as many.
    pub round_bytes: usize,
    /// Packets of those.
    pub round_packets: usize,
    /// True if a broadcast leaves its root only when all have begun it: nobody ends it before.
    pub synchronous_broadcasts: bool,
}

impl Tuning {
    /// True if nobody can end such an operation before all have begun it.
    pub(crate) fn synchronizes(&self, operation: Operation) -> bool {
        operation.synchronizes()
            || (self.synchronous_broadcasts && operation == Operation::Broadcast)
    }
}

/// Memory that a step reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Area {
    /// The member's contribution.
    Mine,
    /// The member's result.
    Result,
    /// A block of the run's own: what a member has brought.
    Block(usize),
}

/// Some bytes of an area.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// Area that the bytes are in.
    pub area: Area,
    /// Offset of the first byte.
    pub at: usize,
    /// Number of bytes; [`ANNOUNCED`](Extent::ANNOUNCED) if the sender says it.
    pub length: usize,
}

impl Extent {
    /// The length of a transfer that only its sender knows.
    pub const ANNOUNCED: usize = usize::MAX;

    fn new(area: Area, range: Range<usize>) -> Self {
        Extent { area, at: range.start, length: range.len() }
    }
}

/// Receiver of a transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Receivers {
    /// One member.
    Member(usize),
    /// All but the sender.
    Others,
}

/// One step of a schedule. Sends and receives begin in order, and go on at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScheduleStep {
    /// Sends a transfer, or a round of one of which so many bytes were in the rounds before.
    Send(Receivers, u8, Extent, usize),
    /// Receives the next transfer of a member, or a round of one.
    Receive(usize, u8, Extent, usize),
    /// Waits until all that was begun has left and come.
    Wait,
    /// Combines a contribution with a later one, in place of that block.
    Combine(Extent, usize),
    /// Copies to Result or to a block.
    Copy(Extent, Extent),
    /// Empties a block.
    Clear(usize),
    /// Begins the rounds of parts of varied lengths: the first announce these.
    Announce(Rounds),
    /// Goes on with the next of those rounds.
    Resume,
    /// Sends a round of a part, and announces how long that is.
    Give(Receivers, u8, Extent, usize),
}

/// Steps of one member.
struct Plan<'a> {
    call: &'a OperationCall,
    me: usize,
    size: usize,
    tuning: &'a Tuning,
    steps: VecDeque<ScheduleStep>,
}

/// The steps of member `me` of `size` in an operation.
pub fn schedule(
    call: &OperationCall,
    (me, size): (usize, usize),
    tuning: &Tuning,
) -> VecDeque<ScheduleStep> {
    let mut plan = Plan { call, me, size, tuning, steps: VecDeque::with_capacity(8) };
    let (root, bytes) = (call.root, call.bytes());
    match call.operation {
        Operation::Barrier if size <= tuning.exchange_members => {
            plan.exchange(ACROSS, 0..0, |_| Extent::new(Area::Result, 0..0));
        }
        Operation::Barrier => {
            plan.combine_up(0, 0);
            plan.down(0, 0);
        }
        Operation::Broadcast => plan.broadcast(root, bytes),
        Operation::Reduce => plan.reduce(root, bytes),
        Operation::AllReduce => plan.all_reduce(bytes),
        Operation::Gather => plan.gather(root, bytes),
        Operation::Scatter => plan.scatter(root, bytes),
        Operation::AllGather | Operation::Split => {
            plan.copy(Extent::new(Area::Mine, 0..bytes), bytes * me);
            plan.spread(0..bytes, |from| bytes * from..bytes * (from + 1));
        }
        Operation::AllToAll => {
            let part = bytes / size;
            let of = |member: usize| part * member..part * (member + 1);
            plan.copy(Extent::new(Area::Mine, of(me)), of(me).start);
            plan.swap(of, |from| Extent::new(Area::Result, of(from)));
        }
        Operation::GatherVaried
        | Operation::ScatterVaried
        | Operation::AllGatherVaried
        | Operation::AllToAllVaried => {
            plan.steps.push_back(ScheduleStep::Announce(Rounds::new(call, size, tuning)));
        }
        Operation::Scan => plan.scan(bytes, false),
        Operation::ExclusiveScan => plan.scan(bytes, true),
        Operation::ReduceScatter => {
            let share = plan.combined_share();
            plan.copy(share, 0);
        }
    }
    plan.steps
}

impl Plan<'_> {
    fn send(&mut self, to: usize, step: u8, from: Extent) {
        self.steps.push_back(ScheduleStep::Send(Receivers::Member(to), step, from, 0));
    }

    fn send_to_all(&mut self, step: u8, from: Extent) {
        self.send_round(Receivers::Others, step, from, 0);
    }

    fn send_round(&mut self, to: Receivers, step: u8, from: Extent, before: usize) {
        if self.size > 1 {
            self.steps.push_back(ScheduleStep::Send(to, step, from, before));
        }
    }

    fn receive(&mut self, from: usize, step: u8, into: Extent) {
        self.steps.push_back(ScheduleStep::Receive(from, step, into, 0));
    }

    fn wait(&mut self) {
        self.steps.push_back(ScheduleStep::Wait);
    }

    fn copy(&mut self, from: Extent, at: usize) {
        let into = Extent { area: Area::Result, at, length: from.length };
        self.steps.push_back(ScheduleStep::Copy(from, into));
    }

    /// Members beginning with the next one, so that not all send to the same one at once.
    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let (me, size) = (self.me, self.size);
        (1..size).map(move |distance| (me + distance) % size)
    }

    fn is_flat(&self) -> bool {
        self.size <= self.tuning.flat_members
    }

    fn is_shared_out(&self, bytes: usize) -> bool {
        bytes > self.tuning.shared_out_bytes && self.size > 2
    }

    /// Receives the contributions below this member, combines them with its own, and sends them up
    /// unless it is the top. Returns where the result is.
    fn combine_up(&mut self, top: usize, bytes: usize) -> Extent {
        let (me, size) = (self.me, self.size);
        let is_flat = self.is_flat();
        let of_top = (0..size).filter(|&member| is_flat && me == top && member != me);
        let of_tree = children(me, size).filter(|_| !is_flat);
        let below = || of_top.clone().chain(of_tree.clone());
        for child in below() {
            self.receive(child, UP, Extent::new(Area::Block(child), 0..bytes));
        }
        if !self.steps.is_empty() {
            self.wait();
        }
        let all = self.combine(below(), Extent::new(Area::Mine, 0..bytes));
        if me != top {
            let parent = if is_flat { top } else { parent(me) };
            self.send(parent, UP, all);
        }
        all
    }

    /// Combines the blocks of other members and `own`, in their order. Returns where the result is.
    fn combine(&mut self, others: impl Iterator<Item = usize>, own: Extent) -> Extent {
        let me = self.me;
        let block = |member| Extent { area: Area::Block(member), at: 0, length: own.length };
        if own.length == 0 {
            return own;
        }
        let mut all: Vec<usize> = others.collect();
        let place = all.iter().position(|&other| other > me).unwrap_or(all.len());
        all.insert(place, me);
        let last = all[all.len() - 1];
        if all.len() == 1 {
            return own;
        }
        if last == me {
            self.steps.push_back(ScheduleStep::Copy(own, block(me)));
        }
        for &before in all.iter().rev().skip(1) {
            let before = if before == me { own } else { block(before) };
            self.steps.push_back(ScheduleStep::Combine(before, last));
        }
        block(last)
    }

    /// The top's result to all others' Result.
    fn down(&mut self, top: usize, bytes: usize) {
        let result = Extent::new(Area::Result, 0..bytes);
        match self.me == top {
            true => self.send_to_all(DOWN, result),
            false => {
                self.receive(top, DOWN, result);
                self.wait();
            }
        }
    }

    fn broadcast(&mut self, root: usize, bytes: usize) {
        if self.tuning.synchronous_broadcasts {
            self.reduce(root, 0);
        }
        match self.me == root {
            true => self.send_to_all(DOWN, Extent::new(Area::Mine, 0..bytes)),
            false => self.down(root, bytes),
        }
    }

    fn reduce(&mut self, root: usize, bytes: usize) {
        let (call, me, size) = (*self.call, self.me, self.size);
        if self.is_shared_out(bytes) {
            let share = self.combined_share();
            if me != root {
                return self.send(root, UP, share);
            }
            self.copy(share, call.share(me, size).start);
            for from in self.others() {
                self.receive(from, UP, Extent::new(Area::Result, call.share(from, size)));
            }
            return self.wait();
        }
        let top = if self.is_flat() { root } else { 0 };
        let all = self.combine_up(top, bytes);
        if me == top && top == root {
            self.copy(all, 0);
        } else if me == top {
            self.send(root, DOWN, all);
        } else if me == root {
            self.receive(top, DOWN, Extent::new(Area::Result, 0..bytes));
            self.wait();
        }
    }

    fn all_reduce(&mut self, bytes: usize) {
        let (call, size) = (*self.call, self.size);
        if self.is_shared_out(bytes) {
            let share = self.combined_share();
            self.copy(share, call.share(self.me, size).start);
            let own = call.share(self.me, size);
            return self.spread_from(Area::Result, own, |from| call.share(from, size));
        }
        if size <= self.tuning.exchange_members {
            self.exchange(ACROSS, 0..bytes, |from| Extent::new(Area::Block(from), 0..bytes));
            let (me, mine) = (self.me, Extent::new(Area::Mine, 0..bytes));
            let all = self.combine((0..size).filter(|&member| member != me), mine);
            return self.copy(all, 0);
        }
        let all = self.combine_up(0, bytes);
        if self.me == 0 {
            self.copy(all, 0);
        }
        self.down(0, bytes);
    }

    /// This member's share of what all bring, combined.
    fn combined_share(&mut self) -> Extent {
        let (call, me, size) = (*self.call, self.me, self.size);
        let own = call.share(me, size);
        let length = own.len();
        self.swap(|to| call.share(to, size), |from| Extent::new(Area::Block(from), 0..length));
        self.combine((0..size).filter(|&member| member != me), Extent::new(Area::Mine, own))
    }

    fn gather(&mut self, root: usize, bytes: usize) {
        let mine = Extent::new(Area::Mine, 0..bytes);
        if self.me != root {
            return self.send(root, UP, mine);
        }
        for from in self.others() {
            self.receive(from, UP, Extent::new(Area::Result, bytes * from..bytes * (from + 1)));
        }
        self.copy(mine, bytes * root);
        self.wait();
    }

    fn scatter(&mut self, root: usize, bytes: usize) {
        let part = |member: usize| Extent::new(Area::Mine, bytes * member..bytes * (member + 1));
        if self.me != root {
            return self.down(root, bytes);
        }
        for to in self.others() {
            self.send(to, DOWN, part(to));
        }
        self.copy(part(root), 0);
    }

    /// Every member's bytes to all others, at once.
    fn exchange(&mut self, step: u8, mine: Range<usize>, into: impl Fn(usize) -> Extent) {
        for from in self.others() {
            self.receive(from, step, into(from));
        }
        self.send_to_all(step, Extent::new(Area::Mine, mine));
        self.wait();
    }

    /// Every member's bytes to all others, in rounds.
    fn spread(&mut self, mine: Range<usize>, into: impl Fn(usize) -> Range<usize>) {
        self.spread_from(Area::Mine, mine, into);
    }

    fn spread_from(
        &mut self,
        area: Area,
        mine: Range<usize>,
        into: impl Fn(usize) -> Range<usize>,
    ) {
        let (limit, me) = (self.tuning.round_bytes, self.me);
        let lengths =
            (0..self.size).map(|from| if from == me { mine.len() } else { into(from).len() });
        let rounds = rounds(lengths.max().unwrap_or(0), limit);
        for round in 0..rounds {
            for from in self.others() {
                let all = into(from);
                if let Some(part) = part(all.clone(), round, limit) {
                    let (before, part) = (part.start - all.start, Extent::new(Area::Result, part));
                    self.steps.push_back(ScheduleStep::Receive(from, DOWN, part, before));
                }
            }
            if let Some(part) = part(mine.clone(), round, limit) {
                let before = part.start - mine.start;
                self.send_round(Receivers::Others, DOWN, Extent::new(area, part), before);
            }
            self.wait();
        }
    }

    /// To each member its part of this one's, in rounds with one peer at a time if it is much.
    fn swap(&mut self, of: impl Fn(usize) -> Range<usize>, into: impl Fn(usize) -> Extent) {
        let (me, size) = (self.me, self.size);
        let Tuning { round_bytes: limit, round_packets, .. } = *self.tuning;
        let all = (0..size).map(|to| of(to).len()).sum::<usize>();
        let at_once = all <= limit && size <= round_packets;
        for distance in 1..size {
            let (to, from) = ((me + distance) % size, (me + size - distance) % size);
            let Extent { area, at, length } = into(from);
            let limit = if at_once { usize::MAX } else { limit };
            for round in 0..rounds(of(to).len().max(length), limit) {
                if let Some(part) = part(at..at + length, round, limit) {
                    let (before, part) = (part.start - at, Extent::new(area, part));
                    self.steps.push_back(ScheduleStep::Receive(from, ACROSS, part, before));
                }
                if let Some(part) = part(of(to), round, limit) {
                    let (before, part) = (part.start - of(to).start, Extent::new(Area::Mine, part));
                    self.send_round(Receivers::Member(to), ACROSS, part, before);
                }
                if !at_once {
                    self.wait();
                }
            }
        }
        self.wait();
    }
}

/// The parent of `me`, which is not 0, in the binomial tree that is rooted at member 0.
fn parent(me: usize) -> usize {
    me & (me - 1)
}

/// The children of `me` there.
fn children(me: usize, size: usize) -> impl Iterator<Item = usize> + Clone {
    let most = if me == 0 { usize::BITS } else { me.trailing_zeros() };
    (0..most)
        .map_while(move |bit| 1usize.checked_shl(bit).map(|step| me + step))
        .take_while(move |&child| child < size)
}

/// Rounds that a transfer of `bytes` takes; a transfer of none takes one, too.
fn rounds(bytes: usize, limit: usize) -> usize {
    bytes.div_ceil(limit).max(1)
}

/// The bytes of one round.
fn part(bytes: Range<usize>, round: usize, limit: usize) -> Option<Range<usize>> {
    let start = bytes.start.checked_add(round.checked_mul(limit)?)?;
    let is_there = round == 0 || start < bytes.end;
    is_there.then(|| start..bytes.end.min(start.saturating_add(limit)))
}

#[cfg(test)]
mod tests;
