//! Operations of all members of a team, each from its call to its end: in shared memory if it is
//! short, else by packets.

use crate::job::Job;
use crate::memory::Memory;
use crate::refusal::{Refusal, Result};
use crate::state::{State, refusal};
use crate::transfer::Buffers;
use std::sync::Arc;
use weft_collective::arena::{Arena, ArenaOperation, CONTRIBUTION_BYTES, Met, SLOT_BYTES};
use weft_collective::{
    BARRIER, DISAGREES, Members, Operation, OperationCall, Parked, Stage, TeamId, awaited,
};
use weft_endpoint::{Awaited, Protocol, Rank};
use weft_tagged::collectives::{CollectivePackets, open as open_team, violation};
use weft_tagged::{Error, Result as TaggedResult};

/// Function that makes one block of two: of the first and the second, in place of the second.
pub(crate) type Combine<'a> = dyn FnMut(&[u8], &mut [u8]) + 'a;

/// A team, as one of its members uses it.
pub(crate) struct Team<'a> {
    job: &'a Job,
    id: TeamId,
    size: usize,
    me: usize,
    arena: Option<Arc<Arena>>,
}

/// Start of a team's area in shared memory, as the leader tells it to the members.
pub(crate) type AreaStart = u64;
/// There is none.
const NO_AREA: AreaStart = u64::MAX;

/// A name for a team of so many members that this rank leads, and its area.
pub(crate) fn name(job: &Job, members: usize) -> (TeamId, AreaStart) {
    let (packets, mut state) = (job.packets(), job.enter());
    let team = state.collectives.name();
    let Some(words) = packets.atomics().shared_words() else { return (team, NO_AREA) };
    let Some(first) = state.areas.take(words.arena(packets.rank()), members) else {
        return (team, NO_AREA);
    };
    state.led.insert(team, first);
    (team, first as u64)
}

/// Opens a team, whose leader has this area for it.
pub(crate) fn open(job: &Job, team: TeamId, area: AreaStart, members: &[Rank]) -> Result {
    let (packets, mut state) = (job.packets(), job.enter());
    let me = (packets.rank(), packets.size());
    let opened = open_team(&mut state.collectives, team, members, me);
    if !opened.map_err(|error| refusal(&error))? {
        return Err(Refusal::INVALID);
    }
    if let (Some(words), true) = (packets.atomics().shared_words(), area != NO_AREA) {
        let first = usize::try_from(area).map_err(|_| Refusal::INVALID)?;
        let place = state.collectives.members(team).map_or((0, 0), |it| (it.size(), it.me()));
        let arena = Arena::new(words, team.leader, first, true, place);
        state.arenas.insert(team, Arc::new(arena.ok_or(Refusal::INVALID)?));
    }
    Ok(())
}

/// Closes a team, or forgets one that this rank has only named. True if there was one.
pub(crate) fn close(job: &Job, team: TeamId) -> bool {
    let mut state = job.enter();
    let was_used = state.arenas.remove(&team).map(|arena| arena.detach()).is_some();
    let led = state.led.remove(&team);
    if let Some(first) = led {
        state.areas.give_back(first, was_used);
    }
    state.collectives.close(team) || led.is_some()
}

impl<'a> Team<'a> {
    /// The team with this name.
    pub fn of(job: &'a Job, id: TeamId) -> Result<Self> {
        let state = job.enter();
        let members: &Members = state.collectives.members(id).ok_or(Refusal::NOT_FOUND)?;
        let (size, me) = (members.size(), members.me());
        let arena = state.arenas.get(&id).map(Arc::clone);
        Ok(Team { job, id, size, me, arena })
    }

    /// Number of members.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Number of this rank among them.
    pub fn me(&self) -> usize {
        self.me
    }

    /// Carries out an operation of all members, in the arena if it is short. `combine` makes one
    /// block of elements of two.
    pub fn operate(
        &self,
        call: &OperationCall,
        mine: Memory,
        mut into: Memory,
        combine: &mut Combine<'_>,
    ) -> Result {
        if self.meet(call, &mine, &mut into, combine)? {
            return Ok(());
        }
        self.run(call, Buffers::new(mine, into), combine)
    }

    /// An operation of parts that each have a length of their own, which its giver and its taker
    /// know.
    pub fn operate_varied(
        &self,
        operation: Operation,
        root: usize,
        mut buffers: Buffers,
    ) -> Result {
        let keeps = match operation {
            Operation::GatherVaried | Operation::ScatterVaried => root == self.me,
            _ => true,
        };
        if let (true, Some(part), Some(room)) =
            (keeps, buffers.parts.get(self.me), buffers.rooms.get(self.me))
        {
            buffers.into.copy(room.start as u64, &buffers.mine.cut(part.start, part.len()));
        }
        let call = OperationCall { operation, root, count: 0, size: 1 };
        self.run(&call, buffers, &mut |_, _| ())
    }

    /// To each member its part of what member `root` has, who alone has `all`.
    pub fn scatter(&self, root: usize, all: Memory, mut mine: Memory) -> Result {
        let (each, me) = (mine.length(), self.me);
        if let Some(whole) = each.checked_mul(self.size).filter(|&whole| whole <= SLOT_BYTES) {
            let mut bytes = [0; SLOT_BYTES];
            let bytes = &mut bytes[..whole];
            if root == me {
                read(&all, bytes);
            }
            if self.post(Operation::Scatter, root, bytes)? {
                // The root's own may be where it belongs, in memory that nobody writes.
                match root == me {
                    true => mine.copy(0, &all.cut(each * me, each)),
                    false => mine.write(0, &bytes[each * me..][..each]),
                }
                return Ok(());
            }
        }
        let call = OperationCall { operation: Operation::Scatter, root, count: each, size: 1 };
        self.run(&call, Buffers::new(all, mine), &mut |_, _| ())
    }

    /// The bytes of member `root` to all.
    pub fn broadcast(&self, root: usize, mut memory: Memory) -> Result {
        if self.broadcast_in_arena(root, &mut memory)? {
            return Ok(());
        }
        let call = OperationCall {
            operation: Operation::Broadcast,
            root,
            count: memory.length(),
            size: 1,
        };
        let (mine, into) =
            if root == self.me { (memory, Memory::NONE) } else { (Memory::NONE, memory) };
        self.run(&call, Buffers::new(mine, into), &mut |_, _| ())
    }

    /// A broadcast of what fits into a slot of the arena, if the team has one. True if it was one.
    fn broadcast_in_arena(&self, root: usize, memory: &mut Memory) -> Result<bool> {
        let mut bytes = [0; SLOT_BYTES];
        let Some(bytes) = bytes.get_mut(..memory.length()) else { return Ok(false) };
        if root == self.me {
            read(memory, bytes);
        }
        let posted = self.post(Operation::Broadcast, root, bytes)?;
        if posted && root != self.me {
            memory.write(0, bytes);
        }
        Ok(posted)
    }

    /// The root's `bytes` to all through a slot of the arena, if the team has one. True if it was
    /// one.
    fn post(&self, operation: Operation, root: usize, bytes: &mut [u8]) -> Result<bool> {
        let Some(arena) = &self.arena else { return Ok(false) };
        let mut look = || match root == self.me {
            false => {
                arena.posted(operation, root, bytes).map(|came| came.then_some(())).transpose()
            }
            true => arena.may_post().then(|| {
                arena.post(operation, bytes);
                Ok(())
            }),
        };
        let posted = look().map_or_else(|| self.wait(operation, |_| look()), Ok)?;
        posted.map_err(|_| self.disagreement(root))?;
        Ok(true)
    }

    /// Carries out an operation in the team's arena. False if it has none, or it has too little
    /// room.
    fn meet(
        &self,
        call: &OperationCall,
        mine: &Memory,
        into: &mut Memory,
        combine: &mut Combine<'_>,
    ) -> Result<bool> {
        let arena = self.arena.as_ref().filter(|_| mine.length() <= CONTRIBUTION_BYTES);
        let Some(arena) = arena else { return Ok(false) };
        let mut meeting = ArenaOperation::new(*call, mine.length());
        read(mine, meeting.bytes());
        let mut look = || Some(meeting.poll(arena)).filter(|&met| met != Met::Waiting);
        let met = look().map_or_else(|| self.wait(call.operation, |_| look()), Ok)?;
        match (met, call.operation) {
            (Met::Disagree, _) => return Err(self.disagreement((self.me + 1) % self.size)),
            // Not inside of the lock: what combines may be the program's.
            (Met::Combine, _) => meeting.combine(arena, combine),
            (_, Operation::Gather) if call.root != self.me => {}
            (_, Operation::AllGather | Operation::Gather) => {
                meeting.for_each(arena, |member, bytes| {
                    into.write((bytes.len() * member) as u64, bytes);
                });
            }
            (_, Operation::AllToAll) => {
                let part = mine.length() / self.size;
                meeting.for_each(arena, |member, bytes| {
                    into.write((part * member) as u64, &bytes[part * self.me..][..part]);
                });
            }
            _ => {}
        }
        match call.operation {
            Operation::ReduceScatter => {
                into.write(0, &meeting.bytes()[call.share(self.me, self.size)]);
            }
            Operation::AllReduce => into.write(0, meeting.bytes()),
            _ if met == Met::Combine => into.write(0, meeting.bytes()),
            _ => {}
        }
        // Of these only the root waits.
        if !matches!(call.operation, Operation::Reduce | Operation::Gather) {
            self.job.enter().collectives.met(self.id);
        }
        Ok(true)
    }

    /// Carries out an operation by packets; before it a barrier, if nobody must get further ahead.
    fn run(&self, call: &OperationCall, buffers: Buffers, combine: &mut Combine<'_>) -> Result {
        if self.job.enter().collectives.needs_fence(self.id) {
            let nothing = Buffers::new(Memory::NONE, Memory::NONE);
            self.carry_out(&BARRIER, nothing, &mut |_, _| ())?;
        }
        self.carry_out(call, buffers, combine)
    }

    fn carry_out(
        &self,
        call: &OperationCall,
        buffers: Buffers,
        combine: &mut Combine<'_>,
    ) -> Result {
        let me = self.job.packets().rank();
        let begun = self.job.enter().collectives.begin(self.id, call, buffers);
        let number = begun.map_err(|refused| match violation(&refused, me) {
            Some(error) => refusal(&error),
            None => Refusal::INVALID,
        })?;
        let outcome = self.drive((number, call.operation), combine);
        let mut state = self.job.enter();
        // After an error the program's memory is its own again, too.
        drop(state.collectives.take(self.id, number));
        state.collectives.end(self.id, number);
        outcome
    }

    /// Drives an operation to its end. The function that combines may be the program's, and is not
    /// called inside of the lock.
    fn drive(&self, (number, operation): (u32, Operation), combine: &mut Combine<'_>) -> Result {
        let id = self.id;
        let look = |state: &mut State| -> Option<TaggedResult<Stage>> {
            let mut packets = self.job.packets();
            match state.collectives.drive(id, number, &mut CollectivePackets(&mut packets)) {
                Ok(Stage::Waiting) => None,
                Ok(stage) => Some(Ok(stage)),
                Err(failure) => Some(Err(failure.into())),
            }
        };
        loop {
            let found = look(&mut self.job.enter());
            let stage = found.map_or_else(|| self.wait(operation, look), Ok)?;
            if stage.map_err(|error| refusal(&error))? == Stage::Done {
                return Ok(());
            }
            let job = self.job.enter().collectives.take(id, number);
            let Some(mut job) = job else { return Err(Refusal::INVALID) };
            job.run.combine(&job.memory, &mut *combine);
            let mut state = self.job.enter();
            let mut parked = state.collectives.put(id, number, job);
            while let Parked::Again(job) = parked {
                parked = state.collectives.put(id, number, job);
            }
        }
    }

    /// Waits until `look` finds something, and has completions read meanwhile.
    fn wait<T>(
        &self,
        operation: Operation,
        mut look: impl FnMut(&mut State) -> Option<T>,
    ) -> Result<T> {
        let what = || self.awaited(operation);
        loop {
            match self.job.wait_beside(None, &what, &mut look, super::progress) {
                // A rank is lost, and this process is about to end.
                Err(Refusal::AGAIN) => std::thread::yield_now(),
                outcome => return outcome,
            }
        }
    }

    /// Object of the wait for an operation. Of these nobody counts those in the arena: a member
    /// that waits in any of the team's has come.
    fn awaited(&self, operation: Operation) -> Awaited {
        let state = self.job.enter();
        let Some(members) = state.collectives.members(self.id) else {
            return Awaited::of_unknown(operation.to_string());
        };
        let call = OperationCall { operation, root: 0, count: 0, size: 0 };
        let mut awaited = awaited(Protocol::TAGGED, self.id, members, (0, call.signature()));
        awaited.what = format!("{operation} of a communicator of {} ranks", self.size);
        awaited
    }

    /// The end of the job, because members have begun different operations.
    #[cold]
    fn disagreement(&self, member: usize) -> Refusal {
        let state = self.job.enter();
        let Some(members) = state.collectives.members(self.id) else { return Refusal::INVALID };
        let from = members.rank(member);
        drop(state);
        refusal(&Error::Violation { from, what: DISAGREES })
    }
}

fn read(memory: &Memory, into: &mut [u8]) {
    let mut at = 0;
    memory.read(0, into.len(), &mut |bytes| {
        into[at..at + bytes.len()].copy_from_slice(bytes);
        at += bytes.len();
    });
}
