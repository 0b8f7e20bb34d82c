//! One operation in an arena, at one member.

use super::{Arena, CONTRIBUTION_BYTES, Round};
use crate::schedule::OperationCall;
use crate::signature::Operation;

/// A contribution, and then the result: aligned as elements of any type are.
#[repr(align(16))]
struct Line([u8; CONTRIBUTION_BYTES]);

/// An operation of all members in an arena.
pub struct ArenaOperation {
    operation: Operation,
    root: usize,
    /// Number that stands for all that the members have to agree on.
    signature: u32,
    line: Line,
    length: usize,
    round: Option<Round>,
}

/// State of a meeting at this member.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Met {
    /// Others have to come.
    Waiting,
    /// This member [combines](ArenaOperation::combine) what all have brought.
    Combine,
    /// Over.
    Done,
    /// Members have begun different operations.
    Disagree,
}

impl ArenaOperation {
    /// An operation to which each member brings `length` bytes, no more than a
    /// [line](CONTRIBUTION_BYTES).
    #[inline]
    pub fn new(call: &OperationCall, length: usize) -> Self {
        let (&OperationCall { operation, root, .. }, line) = (call, Line([0; CONTRIBUTION_BYTES]));
        let signature = call.signature().hash();
        ArenaOperation { operation, root, signature, line, length, round: None }
    }

    /// The contribution, and once the meeting is over the result, if there is one.
    #[inline]
    pub fn bytes(&mut self) -> &mut [u8] {
        &mut self.line.0[..self.length]
    }

    /// Arrives as soon as this member may, and looks who else has.
    #[inline]
    pub fn poll(&mut self, arena: &Arena) -> Met {
        let view = arena.view();
        let round = match self.round {
            Some(round) => round,
            None if !view.may_arrive() => return Met::Waiting,
            None => {
                let bytes = &self.line.0[..self.length];
                let wakes = !self.has_one_result();
                *self.round.insert(view.arrive(self.signature, bytes, wakes))
            }
        };
        let makes_result = match self.operation {
            Operation::AllReduce | Operation::ReduceScatter => round.is_last(),
            Operation::Reduce | Operation::Gather if arena.me != self.root => {
                return Met::Done;
            }
            Operation::ExclusiveScan => arena.me > 0,
            operation => matches!(operation, Operation::Reduce | Operation::Scan),
        };
        let awaits_result = self.has_one_result() && !round.is_last();
        if awaits_result && view.result(round, self.bytes()) {
            return Met::Done;
        }
        match view.outcome(round) {
            Some(false) => Met::Disagree,
            Some(true) if makes_result => Met::Combine,
            Some(true) if !awaits_result => Met::Done,
            _ => Met::Waiting,
        }
    }

    /// True if one member combines what the others read.
    #[inline]
    fn has_one_result(&self) -> bool {
        matches!(self.operation, Operation::AllReduce | Operation::ReduceScatter)
    }

    /// Combines the contributions of all, or those of a scan, from the last member to the first:
    /// `combine` makes one block of two, in place of the second. If all await the result, tells
    /// them.
    pub fn combine(&mut self, arena: &Arena, mut combine: impl FnMut(&[u8], &mut [u8])) {
        let (Some(round), view) = (self.round, arena.view()) else { return };
        let mut before = Line([0; CONTRIBUTION_BYTES]);
        let last = match self.operation {
            Operation::Scan => arena.me,
            Operation::ExclusiveScan => arena.me - 1,
            _ => arena.size - 1,
        };
        let before = &mut before.0[..self.length];
        view.contribution(round, last, self.bytes());
        for member in (0..last).rev() {
            view.contribution(round, member, before);
            combine(before, self.bytes());
        }
        if self.has_one_result() {
            view.put_result(round, self.bytes());
        }
    }

    /// Visits what each member has brought, until this one arrives again.
    pub fn for_each(&mut self, arena: &Arena, mut visit: impl FnMut(usize, &[u8])) {
        let (Some(round), view) = (self.round, arena.view()) else { return };
        for member in 0..arena.size {
            view.contribution(round, member, self.bytes());
            visit(member, self.bytes());
        }
    }
}
