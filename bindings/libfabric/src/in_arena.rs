//! Operations in a team's arena, in shared memory: one that a thread waits in, and those that are
//! started, which take turns.
//!
//! An arena has one operation after the other. So of what a member starts in a team only the first
//! goes on there, and a call that blocks waits for its turn, too. All members begin the same
//! operations in the same order, and each goes on with its own wherever it reads completions or
//! waits.

use crate::transfer::{Buffers, EndNotice};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use weft_collective::arena::{Arena, ArenaOperation, CONTRIBUTION_BYTES, Met, SLOT_BYTES};
use weft_collective::{Operation, OperationCall, TeamId};
use weft_tagged::collectives::CombineInside;

/// One operation in an arena, at one member.
pub(crate) struct ArenaCall {
    arena: Arc<Arena>,
    call: OperationCall,
    buffers: Buffers,
    /// `None` of what its root posts for all.
    meeting: Option<ArenaOperation>,
    size: usize,
    me: usize,
}

/// State of an operation in an arena.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArenaStage {
    /// Others have to come, or to go.
    Waiting,
    /// This member [combines](ArenaCall::combine) what all have brought.
    Combine,
    /// All has come that this member is to have.
    Done,
    /// This member has begun another operation.
    Disagrees(usize),
}

impl ArenaCall {
    /// An operation of a team of `size` members, of which this is member `me`. Its buffers, if it
    /// is too long for the arena.
    #[inline(always)]
    pub fn new(
        arena: &Arc<Arena>,
        (size, me): (usize, usize),
        call: &OperationCall,
        buffers: Buffers,
    ) -> Result<Self, Buffers> {
        let Buffers { mine, into, .. } = &buffers;
        let (length, most) = match call.operation {
            Operation::Broadcast => (mine.length().max(into.length()), SLOT_BYTES),
            Operation::Scatter => (into.length().saturating_mul(size), SLOT_BYTES),
            operation if operation.is_varied() => return Err(buffers),
            _ => (mine.length(), CONTRIBUTION_BYTES),
        };
        if length > most {
            return Err(buffers);
        }
        let is_posted = matches!(call.operation, Operation::Broadcast | Operation::Scatter);
        let meeting = (!is_posted).then(|| {
            let mut meeting = ArenaOperation::new(*call, length);
            mine.read_all(meeting.bytes());
            meeting
        });
        Ok(ArenaCall { arena: Arc::clone(arena), call: *call, buffers, meeting, size, me })
    }

    /// Kind of the operation.
    pub fn operation(&self) -> Operation {
        self.call.operation
    }

    /// Arrives as soon as this member may, and looks what has come.
    #[inline]
    pub fn poll(&mut self) -> ArenaStage {
        let Some(meeting) = &mut self.meeting else { return self.poll_post() };
        match meeting.poll(&self.arena) {
            Met::Waiting => ArenaStage::Waiting,
            Met::Combine => ArenaStage::Combine,
            Met::Done => ArenaStage::Done,
            Met::Disagree => ArenaStage::Disagrees((self.me + 1) % self.size),
        }
    }

    /// The root's bytes to all through a slot of the arena.
    fn poll_post(&mut self) -> ArenaStage {
        let OperationCall { operation, root, .. } = self.call;
        let Buffers { mine, into, .. } = &mut self.buffers;
        let parts = if operation == Operation::Scatter { self.size } else { 1 };
        let mut bytes = [0; SLOT_BYTES];
        if root == self.me {
            if !self.arena.may_post() {
                return ArenaStage::Waiting;
            }
            let bytes = &mut bytes[..mine.length()];
            mine.read_all(bytes);
            self.arena.post(operation, bytes);
            if operation == Operation::Scatter {
                // The root's own may be where it belongs, in memory that nobody writes.
                into.copy(0, &mine.cut(into.length() * root, into.length()));
            }
            return ArenaStage::Done;
        }
        let (each, bytes) = (into.length(), &mut bytes[..into.length() * parts]);
        match self.arena.posted(operation, root, bytes) {
            Ok(false) => return ArenaStage::Waiting,
            Ok(true) => {}
            Err(_) => return ArenaStage::Disagrees(root),
        }
        let own = if operation == Operation::Scatter { each * self.me } else { 0 };
        into.write(0, &bytes[own..][..each]);
        ArenaStage::Done
    }

    /// Combines what all have brought, where it is this member's turn to.
    pub fn combine(&mut self, combine: impl FnMut(&[u8], &mut [u8])) {
        if let Some(meeting) = &mut self.meeting {
            meeting.combine(&self.arena, combine);
        }
    }

    /// Puts the result where it belongs, after the last look and the combining, if there was any.
    pub fn finish(&mut self, has_combined: bool) {
        let (Some(meeting), into) = (&mut self.meeting, &mut self.buffers.into) else { return };
        match self.call.operation {
            Operation::Gather if self.call.root != self.me => {}
            Operation::AllGather | Operation::Gather => {
                meeting.for_each(&self.arena, |member, bytes| {
                    into.write((bytes.len() * member) as u64, bytes);
                });
            }
            Operation::AllToAll => {
                let part = self.buffers.mine.length() / self.size;
                meeting.for_each(&self.arena, |member, bytes| {
                    into.write((part * member) as u64, &bytes[part * self.me..][..part]);
                });
            }
            Operation::ReduceScatter => {
                into.write(0, &meeting.bytes()[self.call.share(self.me, self.size)]);
            }
            Operation::AllReduce => into.write(0, meeting.bytes()),
            _ if has_combined => into.write(0, meeting.bytes()),
            _ => {}
        }
    }

    /// True if nobody ends it before all have begun it: of a reduction or a gather only the root
    /// waits, and of what is posted nobody waits for all.
    pub fn is_met(&self) -> bool {
        self.meeting.is_some()
            && !matches!(self.call.operation, Operation::Reduce | Operation::Gather)
    }
}

/// An operation that was started in an arena.
pub(crate) struct StartedInArena {
    pub call: ArenaCall,
    pub combine: CombineInside,
    pub notice: EndNotice,
    /// Number of the next operation of the team, when this one was begun.
    pub next: u32,
}

/// Operations that were started in arenas, of each team in the order in which they began.
#[derive(Default)]
pub(crate) struct StartedInArenas(BTreeMap<TeamId, VecDeque<StartedInArena>>);

/// One that has ended: what it told about the operations of its team, and its notice.
pub(crate) struct EndedInArena {
    pub team: TeamId,
    /// All have begun every operation before this one.
    pub known: Option<u32>,
    pub notice: EndNotice,
}

impl StartedInArenas {
    /// True if a team has none.
    pub fn is_free(&self, team: TeamId) -> bool {
        !self.0.contains_key(&team)
    }

    /// True if none is under way.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds one behind the others of its team.
    pub fn add(&mut self, team: TeamId, started: StartedInArena) {
        self.0.entry(team).or_default().push_back(started);
    }

    /// Has them go on, up to the first one that ends.
    ///
    /// # Errors
    /// A team, and its member that has begun another operation.
    pub fn advance(&mut self) -> Result<Option<EndedInArena>, (TeamId, usize)> {
        for (&team, queue) in &mut self.0 {
            let Some(first) = queue.front_mut() else { continue };
            let stage = first.call.poll();
            match stage {
                ArenaStage::Waiting => continue,
                ArenaStage::Disagrees(member) => return Err((team, member)),
                ArenaStage::Combine => first.call.combine(&mut *first.combine),
                ArenaStage::Done => {}
            }
            first.call.finish(stage == ArenaStage::Combine);
            let Some(StartedInArena { call, notice, next, .. }) = queue.pop_front() else {
                continue;
            };
            if queue.is_empty() {
                self.0.remove(&team);
            }
            return Ok(Some(EndedInArena { team, known: call.is_met().then_some(next), notice }));
        }
        Ok(None)
    }
}
