//! Operations of all members of a team, each from its call to its end: in shared memory if it is short, else by packets.

use crate::job::Job;
use crate::memory::Memory;
use crate::refusal::{Refusal, Result};
use crate::state::{State, refusal};
use weft_collective::arena::{Arena, CONTRIBUTION_BYTES, Round, SLOT_BYTES};
use weft_collective::schedule::Area;
use weft_collective::{Call, DISAGREES, Members, Operation, Parked, Stage, TeamId};
use weft_packet::Rank;
use weft_tagged::collectives::{Packets, open as open_team, violation};
use weft_tagged::{Error, Result as TaggedResult};

/// What makes one block of two: of the first and the second, in place of the second.
pub(crate) type Combine<'a> = dyn FnMut(&[u8], &mut [u8]) + 'a;

/// Memory of one operation, which may be the same bytes.
#[derive(Debug)]
pub(crate) struct Buffers {
    mine: Memory,
    into: Memory,
}

impl weft_collective::Memory for Buffers {
    #[inline]
    fn read(&self, area: Area, at: usize, length: usize, take: &mut dyn FnMut(&[u8])) {
        let memory = if area == Area::Mine { &self.mine } else { &self.into };
        memory.read(at as u64, length, take);
    }

    #[inline]
    fn write(&mut self, at: usize, bytes: &[u8]) {
        self.into.write(at as u64, bytes);
    }

    fn copy(&mut self, from: usize, length: usize, at: usize) {
        self.into.copy(at as u64, &self.mine.cut(from, length));
    }
}

/// Members have begun different operations.
struct Disagree;

/// A team, as one of its members uses it.
pub(crate) struct Team<'a> {
    job: &'a Job,
    id: TeamId,
    size: usize,
    me: usize,
}

/// Where the area in shared memory begins, as the leader of a team says it to its members.
pub(crate) type AreaStart = u64;
/// There is none.
const NO_AREA: AreaStart = u64::MAX;

/// A name for a team of so many members that this rank leads, and its area.
pub(crate) fn name(job: &Job, members: usize) -> (TeamId, AreaStart) {
    let (packets, mut state) = (job.packets(), job.enter());
    let team = state.collectives.name();
    let Some(words) = packets.shared_words() else { return (team, NO_AREA) };
    let Some(first) = state.areas.take(words.board(packets.rank()), members) else {
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
    if let (Some(words), true) = (packets.shared_words(), area != NO_AREA) {
        let first = usize::try_from(area).map_err(|_| Refusal::INVALID)?;
        let place = state.collectives.members(team).map_or((0, 0), |it| (it.size(), it.me()));
        let arena = Arena::new(words, team.leader, first, true, place);
        state.arenas.insert(team, arena.ok_or(Refusal::INVALID)?);
    }
    Ok(())
}

/// Closes a team, or forgets one that this rank has only named. True if there was one.
pub(crate) fn close(job: &Job, team: TeamId) -> bool {
    let mut state = job.enter();
    let was_used = state.arenas.remove(&team).map(Arena::leave).is_some();
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
        Ok(Team { job, id, size, me })
    }

    /// How many members.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Which of them this is.
    pub fn me(&self) -> usize {
        self.me
    }

    /// Returns once all members have called it.
    pub fn barrier(&self) -> Result {
        let call = Call { operation: Operation::Barrier, root: 0, count: 0, size: 0 };
        if self.meet(&call, &Memory::NONE, |_, _| ())?.is_some() {
            return Ok(());
        }
        self.run(&call, Memory::NONE, Memory::NONE, &mut |_, _| ())
    }

    /// The bytes of member `root` to all.
    pub fn broadcast(&self, root: usize, mut memory: Memory) -> Result {
        if self.broadcast_in_arena(root, &mut memory)? {
            return Ok(());
        }
        let call = Call { operation: Operation::Broadcast, root, count: memory.length(), size: 1 };
        let (mine, into) =
            if root == self.me { (memory, Memory::NONE) } else { (Memory::NONE, memory) };
        self.run(&call, mine, into, &mut |_, _| ())
    }

    /// As many bytes of each member, in the order of members, to all. The place of a member's own may be where they are.
    pub fn all_gather(&self, mine: Memory, mut all: Memory) -> Result {
        let call = Call { operation: Operation::AllGather, root: 0, count: mine.length(), size: 1 };
        let mut block = [0; CONTRIBUTION_BYTES];
        let gathered = self.meet(&call, &mine, |arena, round| {
            let block = &mut block[..mine.length()];
            for member in 0..self.size {
                arena.contribution(round, member, block);
                all.write((block.len() * member) as u64, block);
            }
        })?;
        match gathered {
            Some(()) => Ok(()),
            None => self.run(&call, mine, all, &mut |_, _| ()),
        }
    }

    /// Contributions of `count` elements of `size` bytes each, combined in the order of members, to all.
    pub fn all_reduce(
        &self,
        mine: Memory,
        mut into: Memory,
        (count, size): (usize, usize),
        combine: &mut Combine<'_>,
    ) -> Result {
        let call = Call { operation: Operation::AllReduce, root: 0, count, size };
        if self.all_reduce_in_arena(&call, &mine, &mut into, combine)? {
            return Ok(());
        }
        self.run(&call, mine, into, combine)
    }

    /// The same to member `root`, who alone has room for it.
    pub fn reduce(
        &self,
        root: usize,
        mine: Memory,
        mut into: Memory,
        (count, size): (usize, usize),
        combine: &mut Combine<'_>,
    ) -> Result {
        let call = Call { operation: Operation::Reduce, root, count, size };
        let met = self.arrive(&call, &mine, |arena, round| match root == self.me {
            true if !arena.is_over(round) => None,
            true if !arena.is_agreed(round) => Some(Err(Disagree)),
            true => Some(Ok(Some(self.contributions(arena, round, mine.length())))),
            // Whoever is there has nothing to wait for.
            false => Some(Ok(None)),
        })?;
        match met.transpose().map_err(|Disagree| self.disagreement(self.other()))? {
            Some(None) => Ok(()),
            Some(Some(mut all)) => {
                into.write(0, fold(&mut all, mine.length(), combine));
                Ok(())
            }
            None => self.run(&call, mine, into, combine),
        }
    }

    /// A broadcast of what fits into a slot of the arena, if the team has one. True if it was one.
    fn broadcast_in_arena(&self, root: usize, memory: &mut Memory) -> Result<bool> {
        let mut bytes = [0; SLOT_BYTES];
        let Some(bytes) = bytes.get_mut(..memory.length()) else { return Ok(false) };
        if root == self.me {
            read(memory, bytes);
        }
        let posted = self.in_arena(|arena| {
            if root != self.me {
                return arena.posted(root, bytes).map(|came| came.then_some(())).transpose();
            }
            arena.may_post().then(|| {
                arena.post(bytes);
                Ok(())
            })
        })?;
        match posted {
            None => Ok(false),
            Some(Err(_)) => Err(self.disagreement(root)),
            Some(Ok(())) => {
                if root != self.me {
                    memory.write(0, bytes);
                }
                Ok(true)
            }
        }
    }

    /// Meets all members in the arena. The last to arrive combines all contributions, and the others wait for the result. True if
    /// the team has an arena with room for it.
    fn all_reduce_in_arena(
        &self,
        call: &Call,
        mine: &Memory,
        into: &mut Memory,
        combine: &mut Combine<'_>,
    ) -> Result<bool> {
        let mut result = [0; CONTRIBUTION_BYTES];
        let Some(result) = result.get_mut(..mine.length()) else { return Ok(false) };
        let met = self.arrive(call, mine, |arena, round| {
            if !round.is_last() && arena.result(round, result) {
                return Some(Ok(None));
            }
            match (arena.is_over(round), arena.is_agreed(round)) {
                (true, false) => Some(Err(Disagree)),
                _ if !round.is_last() => None,
                _ => Some(Ok(Some((round, self.contributions(arena, round, mine.length()))))),
            }
        })?;
        let met = met.transpose().map_err(|Disagree| self.disagreement(self.other()))?;
        let Some(found) = met else { return Ok(false) };
        if let Some((round, mut all)) = found {
            // Not inside of the lock: what combines may be the program's.
            result.copy_from_slice(fold(&mut all, mine.length(), combine));
            if let Some(arena) = self.job.enter().arenas.get(&self.id) {
                arena.put_result(round, result);
            }
        }
        into.write(0, result);
        self.job.enter().collectives.met(self.id);
        Ok(true)
    }

    /// Meets all members in the arena with a contribution; then `read_all` reads those of all. `None` if the team has no
    /// arena, or it has too little room.
    fn meet<T>(
        &self,
        call: &Call,
        mine: &Memory,
        mut read_all: impl FnMut(&Arena, Round) -> T,
    ) -> Result<Option<T>> {
        let met = self.arrive(call, mine, |arena, round| {
            arena.is_over(round).then(|| match arena.is_agreed(round) {
                true => Ok(read_all(arena, round)),
                false => Err(Disagree),
            })
        })?;
        if met.is_some() {
            self.job.enter().collectives.met(self.id);
        }
        met.transpose().map_err(|Disagree| self.disagreement(self.other()))
    }

    /// Arrives in the arena with a contribution, and waits there until `look` finds something. `None` if the team has no
    /// arena, or it has too little room.
    fn arrive<T>(
        &self,
        call: &Call,
        mine: &Memory,
        mut look: impl FnMut(&Arena, Round) -> Option<T>,
    ) -> Result<Option<T>> {
        let mut bytes = [0; CONTRIBUTION_BYTES];
        let Some(bytes) = bytes.get_mut(..mine.length()) else { return Ok(None) };
        read(mine, bytes);
        let mut round = None;
        self.in_arena(|arena| {
            if round.is_none() && arena.may_arrive() {
                round = Some(arena.arrive(call.signature().hash(), bytes));
            }
            look(arena, round?)
        })
    }

    /// Waits until `look` finds something in the team's arena. `None` if it has none.
    fn in_arena<T>(&self, mut look: impl FnMut(&Arena) -> Option<T>) -> Result<Option<T>> {
        let state = self.job.enter();
        let Some(arena) = state.arenas.get(&self.id) else { return Ok(None) };
        if let Some(found) = look(arena) {
            return Ok(Some(found));
        }
        drop(state);
        self.wait(|state| look(state.arenas.get(&self.id)?)).map(Some)
    }

    /// The contributions of all members, one behind the other.
    fn contributions(&self, arena: &Arena, round: Round, bytes: usize) -> Vec<u8> {
        let mut all = vec![0; bytes * self.size];
        for (member, block) in all.chunks_exact_mut(bytes.max(1)).enumerate() {
            arena.contribution(round, member, block);
        }
        all
    }

    /// Carries out an operation by packets; before it a barrier, if nobody must get further ahead.
    fn run(&self, call: &Call, mine: Memory, into: Memory, combine: &mut Combine<'_>) -> Result {
        if self.job.enter().collectives.needs_fence(self.id) {
            let barrier = Call { operation: Operation::Barrier, root: 0, count: 0, size: 0 };
            let nothing = Buffers { mine: Memory::NONE, into: Memory::NONE };
            self.carry_out(&barrier, nothing, &mut |_, _| ())?;
        }
        self.carry_out(call, Buffers { mine, into }, combine)
    }

    fn carry_out(&self, call: &Call, buffers: Buffers, combine: &mut Combine<'_>) -> Result {
        let me = self.job.packets().rank();
        let begun = self.job.enter().collectives.begin(self.id, call, buffers);
        let number = begun.map_err(|refused| match violation(&refused, me) {
            Some(error) => refusal(&error),
            None => Refusal::INVALID,
        })?;
        let outcome = self.drive(number, combine);
        let mut state = self.job.enter();
        // After an error the program's memory is its own again, too.
        drop(state.collectives.take(self.id, number));
        state.collectives.end(self.id, number);
        outcome
    }

    /// Drives an operation to its end. What combines may be the program's, and is not called inside of the lock.
    fn drive(&self, number: u32, combine: &mut Combine<'_>) -> Result {
        let id = self.id;
        let look = |state: &mut State| -> Option<TaggedResult<Stage>> {
            let mut packets = self.job.packets();
            match state.collectives.drive(id, number, &mut Packets(&mut packets)) {
                Ok(Stage::Waiting) => None,
                Ok(stage) => Some(Ok(stage)),
                Err(failure) => Some(Err(failure.into())),
            }
        };
        loop {
            let found = look(&mut self.job.enter());
            let stage = match found {
                Some(stage) => stage,
                None => self.wait(look)?,
            };
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
    fn wait<T>(&self, mut look: impl FnMut(&mut State) -> Option<T>) -> Result<T> {
        loop {
            match self.job.wait_beside(None, &mut look, super::progress) {
                // A rank is lost, and this process is about to end.
                Err(Refusal::AGAIN) => std::thread::yield_now(),
                outcome => return outcome,
            }
        }
    }

    /// Some other member.
    fn other(&self) -> usize {
        (self.me + 1) % self.size
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

/// Blocks of so many bytes, combined from the last to the first in place of the last: always in the same order.
fn fold<'a>(all: &'a mut [u8], bytes: usize, combine: &mut Combine<'_>) -> &'a [u8] {
    let (before, last) = all.split_at_mut(all.len().saturating_sub(bytes));
    if bytes > 0 {
        before.chunks_exact(bytes).rev().for_each(|block| combine(block, last));
    }
    last
}
