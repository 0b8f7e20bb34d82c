//! Parts of varied lengths, which only their senders know when an operation begins.
//!
//! Every packet of a part says how long all of it is. The first rounds are of at most so many bytes
//! as every member stores of every other one; once they have come, each member knows the lengths,
//! and the other rounds are those of the same operation of equal lengths:
//!
//! ```text
//!   gather       each member sends all it has to the root, in one round
//!   scatter      the root sends each part, in one round
//!   all-gather   first rounds of all to all ── wait ── second rounds ── wait ── ...
//!   all-to-all   first rounds of all to all ── wait ── for each distance: second, third, ... round
//! ```
//! All members take first rounds of the same lengths, whatever their parts are: if those with short
//! parts waited for others than those with long parts do, a ring of them could wait for ever.
//!
//! **Bounds** (I9). Lengths that peers announce bound nothing that is allocated: rounds are planned
//! one by one, as they begin, and a block grows as its bytes come.

use super::{ACROSS, Area, DOWN, Extent, OperationCall, Receivers, ScheduleStep, Tuning, UP};
use crate::signature::Operation;
use std::ops::Range;

/// Lengths of rounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rounds {
    /// Bytes of an element: parts are whole elements.
    pub element: usize,
    /// Bytes of the first round of a part at most.
    pub first: usize,
    /// Bytes of each other round at most.
    pub other: usize,
    /// First rounds that a member sends before it waits for as many.
    pub at_once: usize,
}

impl Rounds {
    /// Rounds of an operation of `members` members.
    pub(super) fn new(call: &OperationCall, members: usize, tuning: &Tuning) -> Self {
        let at_once = tuning.round_packets.min(members).max(1);
        let other = tuning.round_bytes.max(1);
        let first = match call.operation {
            Operation::GatherVaried | Operation::ScatterVaried => usize::MAX,
            Operation::AllToAllVaried => (other / at_once).max(1),
            _ => other,
        };
        Rounds { element: call.size.max(1), first, other, at_once }
    }

    /// The bytes of a part that are in a round.
    fn part(&self, bytes: Range<usize>, round: usize) -> Option<Range<usize>> {
        let before = match round.checked_sub(1) {
            None => 0,
            Some(others) => self.first.saturating_add(others.saturating_mul(self.other)),
        };
        let length = if round == 0 { self.first } else { self.other };
        let start = bytes.start.saturating_add(before);
        let is_there = round == 0 || start < bytes.end;
        is_there.then(|| start..bytes.end.min(start.saturating_add(length)))
    }
}

/// The rounds of one member.
#[derive(Debug)]
pub(crate) struct Varied {
    operation: Operation,
    root: usize,
    me: usize,
    size: usize,
    rounds: Rounds,
    /// Bytes of the part that each member announced.
    announced: Vec<usize>,
    /// The round that comes next.
    round: usize,
    /// Distance to the member that gets it, in an all-to-all.
    distance: usize,
}

impl Varied {
    /// Those of member `me` of `size`.
    pub fn new(
        (operation, root): (Operation, usize),
        (me, size): (usize, usize),
        rounds: Rounds,
    ) -> Self {
        let announced = vec![0; size];
        Varied { operation, root, me, size, rounds, announced, round: 1, distance: 1 }
    }

    /// Notes how long the part of a member is. Returns the bytes of its first round.
    ///
    /// # Errors
    /// Those are no elements.
    pub fn learn(&mut self, from: usize, bytes: usize) -> Result<usize, &'static str> {
        if !bytes.is_multiple_of(self.rounds.element) {
            return Err("a part of a collective operation that is no whole number of elements");
        }
        self.announced[from] = bytes;
        Ok(bytes.min(self.rounds.first))
    }

    /// The first rounds; `part` has the bytes for each member.
    pub fn first(&self, part: impl Fn(usize) -> Range<usize>) -> Vec<ScheduleStep> {
        let mut steps = Vec::new();
        let others = (1..self.size).map(|distance| self.pair(distance).0);
        match self.operation {
            Operation::GatherVaried if self.me == self.root => {
                steps.extend(others.flat_map(|from| self.receive(from, UP, 0)));
                steps.push(ScheduleStep::Wait);
            }
            Operation::GatherVaried => {
                steps.extend(self.give(Receivers::Member(self.root), UP, part(self.root), 0));
            }
            Operation::ScatterVaried if self.me == self.root => {
                steps.extend(
                    others.flat_map(|to| self.give(Receivers::Member(to), DOWN, part(to), 0)),
                );
            }
            Operation::ScatterVaried => {
                steps.extend(self.receive(self.root, DOWN, 0));
                steps.push(ScheduleStep::Wait);
            }
            Operation::AllGatherVaried => self.spread(&mut steps, part(self.me), 0),
            _ => {
                for distance in 1..self.size {
                    self.swap(&mut steps, distance, &part, 0);
                    if distance.is_multiple_of(self.rounds.at_once) {
                        steps.push(ScheduleStep::Wait);
                    }
                }
                steps.extend([ScheduleStep::Wait, ScheduleStep::Resume]);
            }
        }
        steps
    }

    /// The next round, and the step to go on with. No steps if all rounds have been.
    pub fn next(&mut self, part: impl Fn(usize) -> Range<usize>) -> Vec<ScheduleStep> {
        let mut steps = Vec::new();
        if self.operation == Operation::AllGatherVaried {
            self.spread(&mut steps, part(self.me), self.round);
            self.round += 1;
            return steps;
        }
        while steps.is_empty() && self.distance < self.size {
            self.swap(&mut steps, self.distance, &part, self.round);
            match steps.is_empty() {
                true => (self.round, self.distance) = (1, self.distance + 1),
                false => {
                    self.round += 1;
                    steps.extend([ScheduleStep::Wait, ScheduleStep::Resume]);
                }
            }
        }
        steps
    }

    /// A round of every member's bytes to all others; no steps if no member has any in it.
    fn spread(&self, steps: &mut Vec<ScheduleStep>, mine: Range<usize>, round: usize) {
        let others = (1..self.size).map(|distance| self.pair(distance).0);
        steps.extend(others.flat_map(|from| self.receive(from, DOWN, round)));
        if self.size > 1 {
            steps.extend(self.give(Receivers::Others, DOWN, mine, round));
        }
        if !steps.is_empty() {
            steps.extend([ScheduleStep::Wait, ScheduleStep::Resume]);
        }
    }

    /// A round of the parts of two members at one distance; no steps if neither has any in it.
    fn swap(
        &self,
        steps: &mut Vec<ScheduleStep>,
        distance: usize,
        part: impl Fn(usize) -> Range<usize>,
        round: usize,
    ) {
        let (to, from) = self.pair(distance);
        steps.extend(self.receive(from, ACROSS, round));
        steps.extend(self.give(Receivers::Member(to), ACROSS, part(to), round));
    }

    /// The members that this one gives to and gets from at a distance.
    fn pair(&self, distance: usize) -> (usize, usize) {
        ((self.me + distance) % self.size, (self.me + self.size - distance) % self.size)
    }

    fn receive(&self, from: usize, step: u8, round: usize) -> Option<ScheduleStep> {
        let area = Area::Block(from);
        if round == 0 {
            let into = Extent { area, at: 0, length: Extent::ANNOUNCED };
            return Some(ScheduleStep::Receive(from, step, into, 0));
        }
        let part = self.rounds.part(0..self.announced[from], round)?;
        let before = part.start;
        Some(ScheduleStep::Receive(from, step, Extent::new(area, part), before))
    }

    fn give(
        &self,
        to: Receivers,
        step: u8,
        all: Range<usize>,
        round: usize,
    ) -> Option<ScheduleStep> {
        let part = self.rounds.part(all.clone(), round)?;
        let before = part.start - all.start;
        Some(ScheduleStep::Give(to, step, Extent::new(Area::Mine, part), before))
    }
}
