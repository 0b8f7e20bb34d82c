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

/// An operation in an arena, at one member of its team. Its bytes are the caller's: the members'
/// [meeting](ArenaCall::meet), or a [slot](Slot) for what its root posts for all.
#[derive(Clone, Copy)]
pub(crate) struct ArenaCall<'a> {
    pub arena: &'a Arena,
    pub call: &'a OperationCall,
    pub size: usize,
    pub me: usize,
}

/// Room for what is posted.
pub(crate) type Slot = [u8; SLOT_BYTES];

/// State of an operation in an arena.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArenaStage {
    /// Others have to come, or to go.
    Waiting,
    /// This member combines what all have brought.
    Combine,
    /// All has come that this member is to have.
    Done,
    /// This member has begun another operation.
    Disagrees(usize),
}

impl ArenaCall<'_> {
    /// True if it is short enough for the arena.
    #[inline]
    pub fn fits(&self, Buffers { mine, into, .. }: &Buffers) -> bool {
        match self.call.operation {
            Operation::Broadcast => mine.length().max(into.length()) <= SLOT_BYTES,
            Operation::Scatter => into.length().saturating_mul(self.size) <= SLOT_BYTES,
            operation => !operation.is_varied() && mine.length() <= CONTRIBUTION_BYTES,
        }
    }

    /// True if its root posts it for all, and nobody waits for anybody else.
    #[inline]
    pub fn is_posted(&self) -> bool {
        matches!(self.call.operation, Operation::Broadcast | Operation::Scatter)
    }

    /// Arrives as soon as this member may, and looks what has come.
    #[inline]
    pub fn meet(&self, meeting: &mut ArenaOperation) -> ArenaStage {
        match meeting.poll(self.arena) {
            Met::Waiting => ArenaStage::Waiting,
            Met::Combine => ArenaStage::Combine,
            Met::Done => ArenaStage::Done,
            Met::Disagree => ArenaStage::Disagrees((self.me + 1) % self.size),
        }
    }

    /// The root's bytes to all, as soon as there is room for them, or they are there.
    pub fn post(&self, Buffers { mine, into, .. }: &mut Buffers, slot: &mut Slot) -> ArenaStage {
        let &OperationCall { operation, root, .. } = self.call;
        let is_scatter = operation == Operation::Scatter;
        if root == self.me {
            if !self.arena.view().may_post() {
                return ArenaStage::Waiting;
            }
            let bytes = &mut slot[..mine.length()];
            mine.read_all(bytes);
            self.arena.view().post(operation, bytes);
            if is_scatter {
                // The root's own may be where it belongs, in memory that nobody writes.
                into.copy(0, &mine.cut(into.length() * root, into.length()));
            }
            return ArenaStage::Done;
        }
        let (each, parts) = (into.length(), if is_scatter { self.size } else { 1 });
        match self.arena.view().posted(operation, root, &mut slot[..each * parts]) {
            Ok(false) => return ArenaStage::Waiting,
            Ok(true) => {}
            Err(_) => return ArenaStage::Disagrees(root),
        }
        into.write(0, &slot[if is_scatter { each * self.me } else { 0 }..][..each]);
        ArenaStage::Done
    }

    /// Puts the result of a meeting where it belongs, after the last look and the combining, if
    /// there was any.
    #[inline]
    pub fn finish(
        &self,
        meeting: &mut ArenaOperation,
        Buffers { mine, into, .. }: &mut Buffers,
        has_combined: bool,
    ) {
        match self.call.operation {
            Operation::Gather if self.call.root != self.me => {}
            Operation::AllGather | Operation::Gather => {
                meeting.for_each(self.arena, |member, bytes| {
                    into.write((bytes.len() * member) as u64, bytes);
                });
            }
            Operation::AllToAll => {
                let part = mine.length() / self.size;
                meeting.for_each(self.arena, |member, bytes| {
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
    #[inline]
    pub fn is_met(&self) -> bool {
        !self.is_posted() && !matches!(self.call.operation, Operation::Reduce | Operation::Gather)
    }
}

/// An operation that was started in an arena.
pub(crate) struct StartedInArena {
    arena: Arc<Arena>,
    call: OperationCall,
    /// The number of members, and this one's.
    place: (usize, usize),
    buffers: Buffers,
    /// `None` of what is posted.
    meeting: Option<ArenaOperation>,
    combine: CombineInside,
    notice: EndNotice,
    /// Number of the next operation of the team, when this one was begun.
    next: u32,
}

impl StartedInArena {
    /// The operation, and whoever is told of its end; `next` is the number of the team's next one.
    pub fn new(
        arena: Arc<Arena>,
        call: OperationCall,
        (place, next): ((usize, usize), u32),
        buffers: Buffers,
        (combine, notice): (CombineInside, EndNotice),
    ) -> Self {
        let mut started =
            StartedInArena { arena, call, place, buffers, meeting: None, combine, notice, next };
        if !started.operation().is_posted() {
            let meeting = ArenaOperation::new(&call, started.buffers.mine.length());
            started.buffers.mine.read_all(started.meeting.insert(meeting).bytes());
        }
        started
    }

    fn operation(&self) -> ArenaCall<'_> {
        let (size, me) = self.place;
        ArenaCall { arena: &self.arena, call: &self.call, size, me }
    }

    /// Goes on, and ends if it can.
    fn advance(&mut self) -> ArenaStage {
        let (size, me) = self.place;
        let operation = ArenaCall { arena: &self.arena, call: &self.call, size, me };
        let Some(meeting) = &mut self.meeting else {
            return operation.post(&mut self.buffers, &mut [0; SLOT_BYTES]);
        };
        let stage = operation.meet(meeting);
        if stage == ArenaStage::Combine {
            meeting.combine(&self.arena, &mut *self.combine);
        }
        if matches!(stage, ArenaStage::Combine | ArenaStage::Done) {
            operation.finish(meeting, &mut self.buffers, stage == ArenaStage::Combine);
        }
        stage
    }
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
            match first.advance() {
                ArenaStage::Waiting => continue,
                ArenaStage::Disagrees(member) => return Err((team, member)),
                ArenaStage::Combine | ArenaStage::Done => {}
            }
            let known = first.operation().is_met().then_some(first.next);
            let Some(StartedInArena { notice, .. }) = queue.pop_front() else { continue };
            if queue.is_empty() {
                self.0.remove(&team);
            }
            return Ok(Some(EndedInArena { team, known, notice }));
        }
        Ok(None)
    }
}
