//! Operations of all members of a team, each from its call to its end: movements, and folds in the order of members.

use crate::job::Job;
use crate::memory::Memory;
use crate::refusal::{Refusal, Result};
use crate::state::{State, refusal};
use weft_packet::Rank;
use weft_tagged::Error;
use weft_tagged::together::{Board, MOST_BROUGHT, MOST_POSTED, Meeting, Movement, Shares, TeamId};

/// Reductions of more bytes share the combining out among all members.
const SHARED_OUT_BYTES: usize = 8 * 1024;
/// Members up to whom each tells all others at once, instead of one who tells all.
const MOST_AT_ONCE: usize = 4;

/// What makes one block of two: of the first and the second, in place of the second.
pub(crate) type Combine<'a> = dyn FnMut(&[u8], &mut [u8]) + 'a;

/// A team, as one of its members uses it.
pub(crate) struct Party<'a> {
    job: &'a Job,
    team: TeamId,
    size: usize,
    me: usize,
}

/// So many elements of so many bytes.
#[derive(Clone, Copy)]
pub(crate) struct Elements {
    pub count: usize,
    pub size: usize,
}

impl Elements {
    fn bytes(self) -> usize {
        self.count * self.size
    }

    /// Divided among members.
    fn shares(self) -> Shares {
        Shares { elements: self.count as u64, size: self.size as u64 }
    }

    /// As many of each of `members`.
    fn of_each(self, members: usize) -> Shares {
        Shares { elements: (self.count * members) as u64, size: self.size as u64 }
    }
}

/// What the leader of a team says of it to its members, besides its name: where its area in shared memory begins.
pub(crate) type Said = u64;
/// It has none.
const NO_AREA: Said = u64::MAX;

/// A name for a team of so many members that this rank leads, and what to say of it.
pub(crate) fn name(job: &Job, members: usize) -> (TeamId, Said) {
    let (packets, mut state) = (job.packets(), job.enter());
    let team = state.together.name();
    let Some(words) = packets.shared_words() else { return (team, NO_AREA) };
    let Some(first) = state.areas.take(words.board(packets.rank()), members) else {
        return (team, NO_AREA);
    };
    state.led.insert(team, first);
    (team, first as u64)
}

/// Opens a team, whose leader has said this.
pub(crate) fn open(job: &Job, team: TeamId, said: Said, members: &[Rank]) -> Result {
    let mut state = job.enter();
    let opened = state.together.open(team, members).map_err(|error| refusal(&error))?;
    let size = state.together.size(team).filter(|_| opened).ok_or(Refusal::INVALID)?;
    if let (Some(words), true) = (job.packets().shared_words(), said != NO_AREA) {
        let first = usize::try_from(said).map_err(|_| Refusal::INVALID)?;
        let board = Board::new(words, team.leader, first, size);
        state.boards.insert(team, board.ok_or(Refusal::INVALID)?);
    }
    Ok(())
}

/// Closes a team, or forgets one that this rank has only named. Whether there was one.
pub(crate) fn close(job: &Job, team: TeamId) -> bool {
    let mut state = job.enter();
    let was_used = state.boards.remove(&team).map(Board::leave).is_some();
    let led = state.led.remove(&team);
    if let Some(first) = led {
        state.areas.give_back(first, was_used);
    }
    state.together.close(team) || led.is_some()
}

impl<'a> Party<'a> {
    /// The team with this name.
    pub fn of(job: &'a Job, team: TeamId) -> Result<Self> {
        let (size, me) = job.enter().together.size(team).ok_or(Refusal::NOT_FOUND)?;
        Ok(Party { job, team, size, me })
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
        if self.meet_in_memory(&Memory::NONE, |_, _| ())?.is_some() {
            return Ok(());
        }
        self.begin()?;
        if self.size <= MOST_AT_ONCE {
            let shares = Elements { count: 0, size: 1 }.shares();
            self.carry_out(Movement::Spread { shares }, Memory::NONE, Memory::NONE)?;
            return Ok(());
        }
        self.meet()
    }

    /// The bytes of member `root` to all.
    pub fn broadcast(&self, root: usize, mut memory: Memory) -> Result {
        if self.broadcast_in_memory(root, &mut memory)? {
            return Ok(());
        }
        self.begin()?;
        let bytes = memory.length() as u64;
        let (source, into) =
            if root == self.me { (memory, Memory::NONE) } else { (Memory::NONE, memory) };
        self.carry_out(Movement::Broadcast { root, bytes }, source, into)?;
        Ok(())
    }

    /// As many bytes of each member, in the order of members, to all. The place of a member's own may be where they are.
    pub fn all_gather(&self, mine: Memory, mut all: Memory) -> Result {
        let gathered = self.meet_in_memory(&mine, |board, meeting| {
            self.read_all(board, meeting, mine.length(), &mut all);
        })?;
        if gathered.is_some() {
            return Ok(());
        }
        self.begin()?;
        let each = Elements { count: 1, size: mine.length() };
        all.copy((each.size * self.me) as u64, &mine);
        let movement = Movement::Spread { shares: each.of_each(self.size) };
        self.carry_out(movement, mine, all)?;
        Ok(())
    }

    /// What all members have, combined in their order, to all.
    pub fn all_reduce(
        &self,
        mine: Memory,
        mut into: Memory,
        elements: Elements,
        combine: &mut Combine<'_>,
    ) -> Result {
        if self.all_reduce_in_memory(&mine, &mut into, combine)? {
            return Ok(());
        }
        self.begin()?;
        if elements.bytes() > SHARED_OUT_BYTES {
            let (mine, shares) = (self.combined_share(mine, elements, combine)?, elements.shares());
            into.copy(shares.of(self.me, self.size).0, &mine);
            self.carry_out(Movement::Spread { shares }, mine, into)?;
            return Ok(());
        }
        let shares = elements.of_each(self.size);
        if self.size <= MOST_AT_ONCE {
            let room = self.room_for_all(&mine, elements);
            let (_, all) = self.carry_out(Movement::Spread { shares }, mine, room)?;
            into.copy(0, &folded(all, elements.bytes(), combine));
            return Ok(());
        }
        let movement = Movement::Gather { root: 0, shares };
        let bytes = elements.bytes() as u64;
        if self.me == 0 {
            let room = self.room_for_all(&mine, elements);
            let (_, all) = self.carry_out(movement, mine, room)?;
            into.copy(0, &folded(all, elements.bytes(), combine));
            self.carry_out(Movement::Broadcast { root: 0, bytes }, into, Memory::NONE)?;
        } else {
            self.carry_out(movement, mine, Memory::NONE)?;
            self.carry_out(Movement::Broadcast { root: 0, bytes }, Memory::NONE, into)?;
        }
        Ok(())
    }

    /// What all members have, combined in their order, to member `root`, who alone has room for it.
    pub fn reduce(
        &self,
        root: usize,
        mine: Memory,
        mut into: Memory,
        elements: Elements,
        combine: &mut Combine<'_>,
    ) -> Result {
        let brought = self.bring(&mine, |board, meeting| match root == self.me {
            true => board.is_over(meeting).then(|| Some(self.all_brought(board, meeting, &mine))),
            // Whoever is there has nothing to wait for.
            false => Some(None),
        })?;
        if let Some(all) = brought {
            if let Some(all) = all {
                into.copy(0, &folded(all, elements.bytes(), combine));
            }
            return Ok(());
        }
        self.begin()?;
        if elements.bytes() > SHARED_OUT_BYTES {
            let (mine, shares) = (self.combined_share(mine, elements, combine)?, elements.shares());
            if root == self.me {
                into.copy(shares.of(self.me, self.size).0, &mine);
            }
            self.carry_out(Movement::Gather { root, shares }, mine, into)?;
            return Ok(());
        }
        let movement = Movement::Gather { root, shares: elements.of_each(self.size) };
        if root != self.me {
            self.carry_out(movement, mine, Memory::NONE)?;
            return Ok(());
        }
        let room = self.room_for_all(&mine, elements);
        let (_, all) = self.carry_out(movement, mine, room)?;
        into.copy(0, &folded(all, elements.bytes(), combine));
        Ok(())
    }

    /// A broadcast of what fits into a slot in shared memory, if the team has some. Whether it was one.
    fn broadcast_in_memory(&self, root: usize, memory: &mut Memory) -> Result<bool> {
        let mut bytes = [0; MOST_POSTED];
        let Some(bytes) = bytes.get_mut(..memory.length()) else { return Ok(false) };
        if root == self.me {
            read(memory, bytes);
        }
        let posted = self.in_memory(|board| {
            if root != self.me {
                return board.posted(root, bytes).map(|came| came.then_some(())).transpose();
            }
            board.may_post().then(|| {
                board.post(bytes);
                Ok(())
            })
        })?;
        match posted {
            None => Ok(false),
            Some(Err(what)) => Err(refusal(&Error::Violation { from: self.rank(root)?, what })),
            Some(Ok(())) => {
                if root != self.me {
                    memory.write(0, bytes);
                }
                Ok(true)
            }
        }
    }

    /// Meets all members in shared memory, bringing `mine`. The last to come combines what all have brought, which they wait for. Whether
    /// the team has an area there, with room for it.
    fn all_reduce_in_memory(
        &self,
        mine: &Memory,
        into: &mut Memory,
        combine: &mut Combine<'_>,
    ) -> Result<bool> {
        let mut made = [0; MOST_BROUGHT];
        let Some(made) = made.get_mut(..mine.length()) else { return Ok(false) };
        let found = self.bring(mine, |board, meeting| match meeting.is_last() {
            true => Some(Some((meeting, self.all_brought(board, meeting, mine)))),
            false => board.made(meeting, made).then_some(None),
        })?;
        let Some(found) = found else { return Ok(false) };
        if let Some((meeting, all)) = found {
            // Not inside of the lock: what combines may be the program's.
            read(&folded(all, mine.length(), combine), made);
            if let Some(board) = self.job.enter().boards.get(&self.team) {
                board.make(meeting, made);
            }
        }
        into.write(0, made);
        self.job.enter().together.met(self.team);
        Ok(true)
    }

    /// Meets all members in shared memory, bringing `mine`; then `read_all` reads what all brought. `None` if the team has no area there, or too
    /// little room.
    fn meet_in_memory<T>(
        &self,
        mine: &Memory,
        mut read_all: impl FnMut(&Board, Meeting) -> T,
    ) -> Result<Option<T>> {
        let found = self.bring(mine, |board, meeting| {
            board.is_over(meeting).then(|| read_all(board, meeting))
        })?;
        if found.is_some() {
            self.job.enter().together.met(self.team);
        }
        Ok(found)
    }

    /// Brings `mine` to a meeting in shared memory, and waits there until `look` finds something. `None` if the team has no area there, or too little
    /// room.
    fn bring<T>(
        &self,
        mine: &Memory,
        mut look: impl FnMut(&Board, Meeting) -> Option<T>,
    ) -> Result<Option<T>> {
        let mut bytes = [0; MOST_BROUGHT];
        let Some(bytes) = bytes.get_mut(..mine.length()) else { return Ok(None) };
        read(mine, bytes);
        let mut meeting = None;
        self.in_memory(|board| {
            if meeting.is_none() && board.may_arrive() {
                meeting = Some(board.arrive(bytes));
            }
            look(board, meeting?)
        })
    }

    /// Waits until `look` finds something in the team's area in shared memory. `None` if it has none.
    fn in_memory<T>(&self, mut look: impl FnMut(&mut Board) -> Option<T>) -> Result<Option<T>> {
        let mut state = self.job.enter();
        let Some(board) = state.boards.get_mut(&self.team) else { return Ok(None) };
        if let Some(found) = look(board) {
            return Ok(Some(found));
        }
        drop(state);
        self.wait(|state| look(state.boards.get_mut(&self.team)?)).map(Some)
    }

    /// What all have brought, each as much as this member, one behind the other.
    fn all_brought(&self, board: &Board, meeting: Meeting, mine: &Memory) -> Memory {
        let mut all = Memory::room(mine.length() * self.size);
        self.read_all(board, meeting, mine.length(), &mut all);
        all
    }

    /// As above, to where it belongs.
    fn read_all(&self, board: &Board, meeting: Meeting, bytes: usize, all: &mut Memory) {
        let mut block = [0; MOST_BROUGHT];
        for member in 0..self.size {
            board.brought(meeting, member, &mut block[..bytes]);
            all.write((bytes * member) as u64, &block[..bytes]);
        }
    }

    /// This member's share of what all have, combined.
    fn combined_share(
        &self,
        mine: Memory,
        elements: Elements,
        combine: &mut Combine<'_>,
    ) -> Result<Memory> {
        let shares = elements.shares();
        let (start, length) = shares.of(self.me, self.size);
        let length = length as usize;
        let mut room = Memory::room(length * self.size);
        room.copy((length * self.me) as u64, &mine.cut(start as usize, length));
        let (_, all) = self.carry_out(Movement::Swap { shares }, mine, room)?;
        Ok(folded(all, length, combine))
    }

    /// Room for the blocks of all members, with this one's in its place.
    fn room_for_all(&self, mine: &Memory, elements: Elements) -> Memory {
        let mut room = Memory::room(elements.bytes() * self.size);
        room.copy((elements.bytes() * self.me) as u64, mine);
        room
    }

    /// What stands before all operations: nobody gets too far ahead.
    fn begin(&self) -> Result {
        let must_meet = self.job.enter().together.must_meet(self.team);
        if must_meet { self.meet() } else { Ok(()) }
    }

    /// One hears of all, and tells all.
    fn meet(&self) -> Result {
        let shares = Elements { count: 0, size: 1 }.shares();
        let up = Movement::Gather { root: 0, shares };
        self.carry_out(up, Memory::NONE, Memory::NONE)?;
        let down = Movement::Broadcast { root: 0, bytes: 0 };
        self.carry_out(down, Memory::NONE, Memory::NONE)?;
        Ok(())
    }

    /// Which rank a member is.
    fn rank(&self, member: usize) -> Result<Rank> {
        self.job.enter().together.member(self.team, member).ok_or(Refusal::INVALID)
    }

    /// Begins a movement and waits for its end. Gives back what it used.
    fn carry_out(
        &self,
        movement: Movement,
        source: Memory,
        into: Memory,
    ) -> Result<(Memory, Memory)> {
        let (job, team) = (self.job, self.team);
        let mut state = job.enter();
        let mut packets = job.packets();
        let together = &mut state.together;
        if !together
            .begin(&mut packets, team, movement, source, into)
            .map_err(|error| refusal(&error))?
        {
            return Err(Refusal::INVALID);
        }
        if let Some(ended) = together.take(team) {
            return Ok(ended);
        }
        drop(state);
        self.wait(|state| state.together.take(team))
    }

    /// Waits until `look` finds something, and has completions read meanwhile.
    fn wait<T>(&self, mut look: impl FnMut(&mut State) -> Option<T>) -> Result<T> {
        loop {
            match self.job.wait_beside(None, &mut look, crate::collective::progress) {
                // A rank is lost, and this process is about to end.
                Err(Refusal::AGAIN) => std::thread::yield_now(),
                Err(error) => {
                    self.job.enter().together.abandon(self.team);
                    return Err(error);
                }
                Ok(found) => return Ok(found),
            }
        }
    }
}

fn read(memory: &Memory, into: &mut [u8]) {
    let mut at = 0;
    memory.read(0, into.len(), &mut |bytes| {
        into[at..at + bytes.len()].copy_from_slice(bytes);
        at += bytes.len();
    });
}

/// Blocks of so many bytes, combined from the last to the first: always in the same order.
fn folded(all: Memory, bytes: usize, combine: &mut Combine<'_>) -> Memory {
    let mut all = match all.into_own() {
        Ok(own) => own,
        Err(all) => return all,
    };
    // The last block takes them all.
    let mut rest = all.split_off(all.len().saturating_sub(bytes));
    if bytes > 0 {
        all.chunks_exact(bytes).rev().for_each(|block| combine(block, &mut rest));
    }
    Memory::of_own(rest)
}
