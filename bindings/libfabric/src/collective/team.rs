//! Operations of all members of a team: in shared memory if they are short, else by packets. A
//! thread waits in each, or it is started and whoever reads completions has it go on.

use crate::in_arena::{ArenaCall, ArenaStage, StartedInArena};
use crate::job::Job;
use crate::refusal::{Refusal, Result};
use crate::state::{State, refusal};
use crate::transfer::{Buffers, EndNotice};
use std::sync::Arc;
use weft_collective::arena::{Arena, ArenaOperation, SLOT_BYTES};
use weft_collective::{
    BARRIER, DISAGREES, Members, Operation, OperationCall, Parked, Refused, Stage, TeamId, awaited,
};
use weft_endpoint::biased::Entered;
use weft_endpoint::{Awaited, Protocol, Rank};
use weft_tagged::collectives::{CollectivePackets, CombineInside, open as open_team, violation};
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
    /// True if operations were started in its arena that have not ended.
    is_behind: bool,
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
    let was_used = state.arenas.remove(&team).map(|arena| arena.view().detach()).is_some();
    let led = state.led.remove(&team);
    if let Some(first) = led {
        state.areas.give_back(first, was_used);
    }
    state.collectives.close(team) || led.is_some()
}

impl<'a> Team<'a> {
    /// The team with this name.
    #[inline(always)]
    pub fn of(job: &'a Job, id: TeamId) -> Result<Self> {
        let state = job.enter();
        let members: &Members = state.collectives.members(id).ok_or(Refusal::NOT_FOUND)?;
        let (size, me) = (members.size(), members.me());
        let arena = state.arenas.get(&id).map(Arc::clone);
        let is_behind = !state.in_arenas.is_free(id);
        Ok(Team { job, id, size, me, arena, is_behind })
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
    #[inline]
    pub fn operate(
        &self,
        call: &OperationCall,
        buffers: &mut Buffers,
        combine: &mut Combine<'_>,
    ) -> Result {
        match self.in_arena(call, buffers) {
            Some(arena) if arena.is_posted() => self.post(&arena, buffers),
            Some(arena) => self.meet(&arena, buffers, combine),
            None => self.run(call, buffers, combine),
        }
    }

    /// Starts an operation of all members, in which no thread waits: whoever reads completions has
    /// it go on, and tells of its end. What combines is called inside of the lock.
    pub fn start(
        &self,
        call: &OperationCall,
        mut buffers: Buffers,
        started: (CombineInside, EndNotice),
    ) -> Result {
        let mut state = self.job.enter();
        if let (Some(operation), Some(arena)) = (self.in_arena(call, &buffers), &self.arena) {
            let next = state.collectives.next(self.id, operation.is_met());
            let place = ((self.size, self.me), next);
            let begun = StartedInArena::new(Arc::clone(arena), *call, place, buffers, started);
            state.in_arenas.add(self.id, begun);
            state.note_started();
            return self.advance(state);
        }
        self.keep_own(call, &mut buffers);
        let State { started: all, collectives, .. } = &mut *state;
        all.start(collectives, self.id, call, buffers, started)
            .map_err(|refused| self.refusal_of(&refused))?;
        state.note_started();
        self.advance(state)
    }

    /// The operation in the team's arena, if it has one, and the operation fits.
    #[inline]
    fn in_arena<'b>(&'b self, call: &'b OperationCall, buffers: &Buffers) -> Option<ArenaCall<'b>> {
        let arena = self.arena.as_deref()?;
        let call = ArenaCall { arena, call, size: self.size, me: self.me };
        call.fits(buffers).then_some(call)
    }

    /// Has started operations go on, and tells of those that have ended.
    fn advance(&self, mut state: Entered<'_, State>) -> Result {
        state.advance_started(self.job.packets()).map_err(|error| refusal(&error))?;
        drop(state);
        self.job.tell_ended();
        Ok(())
    }

    /// Of parts that each have a length of their own, this member's part to itself.
    fn keep_own(&self, call: &OperationCall, buffers: &mut Buffers) {
        let keeps = match call.operation {
            Operation::GatherVaried | Operation::ScatterVaried => call.root == self.me,
            operation => operation.is_varied(),
        };
        if let (true, Some(part), Some(room)) =
            (keeps, buffers.parts.get(self.me), buffers.rooms.get(self.me))
        {
            buffers.into.copy(room.start as u64, &buffers.mine.cut(part.start, part.len()));
        }
    }

    /// Carries out an operation in the team's arena for which all meet.
    fn meet(
        &self,
        arena: &ArenaCall<'_>,
        buffers: &mut Buffers,
        combine: &mut Combine<'_>,
    ) -> Result {
        let mut meeting = ArenaOperation::new(arena.call, buffers.mine.length());
        buffers.mine.read_all(meeting.bytes());
        let stage = self.wait_in_arena(arena.call.operation, || arena.meet(&mut meeting))?;
        let combines = stage == ArenaStage::Combine;
        if combines {
            // Not inside of the lock: what combines may be the program's.
            meeting.combine(arena.arena, combine);
        }
        arena.finish(&mut meeting, buffers, combines);
        if arena.is_met() {
            let mut state = self.job.enter();
            if state.collectives.met(self.id) {
                state.started.resume_all();
            }
        }
        Ok(())
    }

    /// Carries out an operation in the team's arena whose root posts it for all.
    #[inline(never)]
    fn post(&self, arena: &ArenaCall<'_>, buffers: &mut Buffers) -> Result {
        let mut slot = [0; SLOT_BYTES];
        self.wait_in_arena(arena.call.operation, || arena.post(buffers, &mut slot)).map(drop)
    }

    /// Waits until a look finds something in the arena, behind operations that were started there.
    fn wait_in_arena(
        &self,
        operation: Operation,
        mut look: impl FnMut() -> ArenaStage,
    ) -> Result<ArenaStage> {
        if self.is_behind {
            let free = |state: &mut State| state.in_arenas.is_free(self.id).then_some(());
            self.wait(operation, free)?;
        }
        let mut look = || Some(look()).filter(|&stage| stage != ArenaStage::Waiting);
        match look().map_or_else(|| self.wait(operation, |_| look()), Ok)? {
            ArenaStage::Disagrees(member) => Err(self.disagreement(member)),
            stage => Ok(stage),
        }
    }

    /// Carries out an operation by packets; before it a barrier, if nobody must get further ahead.
    #[inline(never)]
    fn run(
        &self,
        call: &OperationCall,
        buffers: &mut Buffers,
        combine: &mut Combine<'_>,
    ) -> Result {
        self.keep_own(call, buffers);
        if self.job.enter().collectives.needs_fence(self.id) {
            self.carry_out(&BARRIER, Buffers::default(), &mut |_, _| ())?;
        }
        self.carry_out(call, std::mem::take(buffers), combine)
    }

    fn carry_out(
        &self,
        call: &OperationCall,
        buffers: Buffers,
        combine: &mut Combine<'_>,
    ) -> Result {
        let begun = self.job.enter().collectives.begin(self.id, call, buffers);
        let number = begun.map_err(|refused| self.refusal_of(&refused))?;
        let outcome = self.drive((number, call.operation), combine);
        let mut state = self.job.enter();
        // After an error the program's memory is its own again, too.
        drop(state.collectives.take(self.id, number));
        if state.collectives.end(self.id, number) {
            state.started.resume_all();
        }
        outcome
    }

    /// The error of a call that cannot be begun.
    #[cold]
    fn refusal_of(&self, refused: &Refused) -> Refusal {
        match violation(refused, self.job.packets().rank()) {
            Some(error) => refusal(&error),
            None => Refusal::INVALID,
        }
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
