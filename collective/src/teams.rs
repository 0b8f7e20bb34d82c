//! All collective operations of one rank: their numbers, what their members agree about, and what
//! came early.

use crate::format::{self, DECLARATION, Header, TransferKind};
use crate::inbox::{ArrivedPacket, Inbox};
use crate::members::Members;
use crate::run::{Job, OperationMemory, RunFailure, RunningOperation, Stage, Transport};
use crate::schedule::{OperationCall, Tuning};
use crate::signature::{Abort, Disagreement, Operation, Signature};
use crate::{AHEAD, EAGER_BYTES, TeamId};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use weft_endpoint::Rank;

/// Operations of which something may come before they are begun here: those ahead, and a barrier.
const MOST_AHEAD: u32 = AHEAD + 2;
/// Teams of which something may come before they are opened here.
pub const MOST_UNOPENED: usize = 64;
/// Signatures of operations that ended here, kept to tell what they were.
const REMEMBERED: usize = 16;

/// Reason for which an operation or a packet is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refused {
    /// There is no such team, or root.
    Missing,
    /// Members began different operations.
    Disagreement(Disagreement),
    /// No member sends that.
    Violation(&'static str),
    /// Its sender is not in the team.
    NotMember,
    /// All operations of the team ended before.
    Failed(Abort),
}

/// Effect of a packet on its receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PacketEffect {
    /// Nothing: it is stored or placed.
    None,
    /// This operation may go on.
    Resume(TeamId, u32),
    /// A member ended all operations of the team.
    Aborted(TeamId, Abort),
}

/// State of a job that was put back.
pub enum Parked<M, K> {
    /// It waits.
    Parked,
    /// Something came meanwhile, and it may go on.
    Again(Box<Job<M, K>>),
    /// All operations of its team have ended.
    Failed(Box<Job<M, K>>, Abort),
}

/// The teams of one rank, and their operations on memory `M`; `K` are packets that are kept.
#[derive(Debug)]
pub struct Teams<M, K> {
    rank: Rank,
    tuning: Tuning,
    /// Packets of a member that may be kept, for which it has no credit meanwhile.
    keeps: usize,
    teams: BTreeMap<TeamId, Team<M, K>>,
    unopened: usize,
    named: u32,
    /// Operations of which something waits for room.
    leaving: VecDeque<(TeamId, u32)>,
}

#[derive(Debug)]
struct Team<M, K> {
    /// `None` until this rank has opened the team.
    members: Option<Arc<Members>>,
    /// The operation that this rank begins next.
    next: u32,
    begun: [Option<(u32, Signature)>; REMEMBERED],
    operations: BTreeMap<u32, Slot<M, K>>,
    failure: Option<Abort>,
    /// All operations before this one are known to have been begun by all.
    known: u32,
    /// One behind the last operation that makes known what all have begun.
    fence: u32,
    /// True if an operation waits for that.
    held_back: bool,
}

#[derive(Debug)]
struct Slot<M, K> {
    /// Signature of the operation, and the rank that said so first.
    signature: Option<(Rank, Signature)>,
    inbox: Inbox<K>,
    task: Task<M, K>,
}

#[derive(Debug)]
enum Task<M, K> {
    /// This rank has not begun it.
    Ahead,
    /// It waits for what others bring.
    Waiting(Box<Job<M, K>>),
    /// Somebody drives it; `again` if something came meanwhile.
    Running { again: bool },
}

impl<M, K> Default for Slot<M, K> {
    fn default() -> Self {
        Slot { signature: None, inbox: Inbox::default(), task: Task::Ahead }
    }
}

impl<M, K> Default for Team<M, K> {
    fn default() -> Self {
        Team {
            members: None,
            next: 0,
            begun: [None; REMEMBERED],
            operations: BTreeMap::new(),
            failure: None,
            known: 0,
            fence: 0,
            held_back: false,
        }
    }
}

impl<M, K> Team<M, K> {
    /// The operation that this rank began with a number, if that is not long ago.
    fn began(&self, number: u32) -> Option<Signature> {
        let began = self.begun[number as usize % REMEMBERED];
        began.filter(|&(began, _)| began == number).map(|(_, signature)| signature)
    }

    /// Takes the next number for an operation.
    fn number(&mut self, signature: Signature, tuning: &Tuning) -> u32 {
        let number = self.next;
        self.next = number.wrapping_add(1);
        self.begun[number as usize % REMEMBERED] = Some((number, signature));
        if tuning.synchronizes(signature.operation) {
            self.fence = self.next;
        }
        // The one member of a team is ahead of nobody.
        if self.members.as_ref().is_some_and(|members| members.size() == 1) {
            self.known = self.next;
        }
        number
    }

    fn may_start(&self, number: u32) -> bool {
        let ahead = number.wrapping_sub(self.known) as i32;
        // A barrier may be the one that makes it known.
        let signature = || self.operations.get(&number)?.signature;
        let is_barrier = || signature().is_some_and(|(_, it)| it.operation == Operation::Barrier);
        ahead < AHEAD as i32 || (ahead == AHEAD as i32 && is_barrier())
    }

    /// Notes that all have begun every operation before `number`. True if operations have waited
    /// for that.
    fn know(&mut self, number: u32) -> bool {
        if number.wrapping_sub(self.known) as i32 > 0 {
            self.known = number;
        }
        std::mem::take(&mut self.held_back)
    }
}

impl<M: OperationMemory, K: AsRef<[u8]>> Teams<M, K> {
    /// The teams of `rank`. It keeps at most `keeps` packets of each member of a team. Bytes of
    /// a transfer that come early are stored, up to [`EAGER_BYTES`](crate::EAGER_BYTES).
    pub fn new(rank: Rank, tuning: Tuning, keeps: usize) -> Self {
        Teams {
            rank,
            tuning,
            keeps,
            teams: BTreeMap::new(),
            unopened: 0,
            named: 0,
            leaving: VecDeque::new(),
        }
    }

    /// A name for a team that this rank leads. None is given twice.
    pub fn name(&mut self) -> TeamId {
        let count = self.named;
        self.named = count.wrapping_add(1);
        TeamId { leader: self.rank, count }
    }

    /// Opens a team. All members do so, with the same members in the same order. False if it is
    /// open already.
    ///
    /// # Errors
    /// The sender of what came for it, if it is not in the team.
    pub fn open(&mut self, id: TeamId, members: Members) -> Result<bool, Rank> {
        let team = self.teams.entry(id).or_default();
        if team.members.is_some() {
            return Ok(false);
        }
        if !team.operations.is_empty() || team.failure.is_some() {
            self.unopened = self.unopened.saturating_sub(1);
        }
        for slot in team.operations.values_mut() {
            // Stored by rank, as long as places were not known.
            slot.inbox = std::mem::take(&mut slot.inbox).by_place(|rank| {
                let rank = Rank(rank as u16);
                members.place(rank).ok_or(rank)
            })?;
        }
        team.members = Some(Arc::new(members));
        Ok(true)
    }

    /// Closes a team. True if there was one.
    pub fn close(&mut self, id: TeamId) -> bool {
        self.teams.remove(&id).is_some_and(|team| team.members.is_some())
    }

    /// The members of a team.
    #[inline]
    pub fn members(&self, id: TeamId) -> Option<&Arc<Members>> {
        self.teams.get(&id)?.members.as_ref()
    }

    /// Reason for which all operations of a team have ended, if they have.
    pub fn failure(&self, id: TeamId) -> Option<Abort> {
        self.teams.get(&id)?.failure
    }

    /// True if all members have to begin a barrier before the next operation. It is so for all of
    /// them or for none.
    pub fn needs_fence(&self, id: TeamId) -> bool {
        self.teams.get(&id).is_some_and(|team| {
            let size = team.members.as_ref().map_or(0, |members| members.size());
            size > 1 && team.next.wrapping_sub(team.fence) >= AHEAD
        })
    }

    /// Begins the next operation of a team. It goes on when it is [taken](Self::take) or
    /// [driven](Self::drive).
    ///
    /// # Errors
    /// A disagreement, or what ended all operations of the team before.
    pub fn begin(&mut self, id: TeamId, call: &OperationCall, memory: M) -> Result<u32, Refused> {
        let team = self.teams.get_mut(&id).ok_or(Refused::Missing)?;
        let members = team.members.as_ref().filter(|members| call.root < members.size());
        let members = Arc::clone(members.ok_or(Refused::Missing)?);
        if let Some(failure) = team.failure {
            return Err(Refused::Failed(failure));
        }
        let mine = (self.rank, call.signature());
        let number = team.number(mine.1, &self.tuning);
        let slot = team.operations.entry(number).or_default();
        let heard = *slot.signature.get_or_insert(mine);
        if !heard.1.agrees(&mine.1) {
            return Err(Refused::Disagreement(Disagreement { number, one: heard, other: mine }));
        }
        let inbox = std::mem::take(&mut slot.inbox);
        let run = RunningOperation::new((id, number), call, &members, &self.tuning, inbox);
        slot.task = Task::Waiting(Box::new(Job { run, memory }));
        Ok(number)
    }

    /// Takes the number of an operation that all members meet for in an [arena](crate::arena),
    /// without packets. The caller begins nothing else before they have met. Also returns true if
    /// operations have waited for that.
    ///
    /// # Errors
    /// Those of [`Self::begin`].
    pub fn pass(&mut self, id: TeamId, signature: Signature) -> Result<(u32, bool), Refused> {
        let team = self.teams.get_mut(&id).ok_or(Refused::Missing)?;
        if let Some(failure) = team.failure {
            return Err(Refused::Failed(failure));
        }
        let number = team.number(signature, &self.tuning);
        let passed = (number, team.know(number.wrapping_add(1)));
        if team.operations.is_empty() {
            return Ok(passed);
        }
        let Some(heard) = team.operations.remove(&number) else { return Ok(passed) };
        let mine = (self.rank, signature);
        let one = heard.signature.unwrap_or(mine);
        if one.1 == signature && !heard.inbox.has_pieces() {
            return Ok(passed);
        }
        Err(Refused::Disagreement(Disagreement { number, one, other: mine }))
    }

    /// All members have met, so that nobody is ahead. True if operations have waited for that.
    #[inline]
    pub fn met(&mut self, id: TeamId) -> bool {
        let Some(team) = self.teams.get_mut(&id) else { return false };
        team.fence = team.next;
        team.know(team.next)
    }

    /// Number of the next operation that is begun. If all members are about to meet without
    /// packets, they are known to have begun all before it [once they have met](Self::met_before);
    /// others may be begun meanwhile.
    pub fn next(&mut self, id: TeamId, is_met: bool) -> u32 {
        self.teams.get_mut(&id).map_or(0, |team| {
            if is_met {
                team.fence = team.next;
            }
            team.next
        })
    }

    /// All members have met that had begun every operation before `number`. True if operations have
    /// waited for that.
    pub fn met_before(&mut self, id: TeamId, number: u32) -> bool {
        self.teams.get_mut(&id).is_some_and(|team| team.know(number))
    }

    /// Takes an operation out, to drive it elsewhere. `None` if there is none, if it may not start,
    /// or if somebody drives it already, who then looks again.
    pub fn take(&mut self, id: TeamId, number: u32) -> Option<Box<Job<M, K>>> {
        let team = self.teams.get_mut(&id)?;
        let may_start = team.may_start(number);
        let slot = team.operations.get_mut(&number)?;
        match &mut slot.task {
            Task::Ahead => None,
            Task::Running { again } => {
                *again = true;
                None
            }
            Task::Waiting(_) if !may_start => {
                team.held_back = true;
                None
            }
            task => match std::mem::replace(task, Task::Running { again: false }) {
                Task::Waiting(job) => Some(job),
                _ => None,
            },
        }
    }

    /// Puts an operation back.
    pub fn put(&mut self, id: TeamId, number: u32, mut job: Box<Job<M, K>>) -> Parked<M, K> {
        let Some(team) = self.teams.get_mut(&id) else { return Parked::Parked };
        if let Some(failure) = team.failure {
            team.operations.remove(&number);
            return Parked::Failed(job, failure);
        }
        let Some(slot) = team.operations.get_mut(&number) else { return Parked::Parked };
        match slot.task {
            Task::Running { again: true } => {
                slot.task = Task::Running { again: false };
                job.run.absorb(&mut job.memory, std::mem::take(&mut slot.inbox));
                Parked::Again(job)
            }
            _ => {
                slot.task = Task::Waiting(job);
                Parked::Parked
            }
        }
    }

    /// An operation has ended. True if others have waited for that.
    pub fn end(&mut self, id: TeamId, number: u32) -> bool {
        let Some(team) = self.teams.get_mut(&id) else { return false };
        let slot = team.operations.remove(&number);
        let signature = slot.and_then(|slot| slot.signature);
        let tuning = &self.tuning;
        let synchronizes = signature.is_some_and(|(_, it)| tuning.synchronizes(it.operation));
        synchronizes && team.know(number.wrapping_add(1))
    }

    /// Numbers of all operations of a team.
    pub fn numbers(&self, id: TeamId) -> Vec<u32> {
        self.teams.get(&id).map_or(Vec::new(), |team| team.operations.keys().copied().collect())
    }

    /// Ends all operations of a team, and gives back those that nobody drives.
    pub fn fail(&mut self, id: TeamId, abort: Abort) -> Vec<Box<Job<M, K>>> {
        let team = self.teams.entry(id).or_default();
        team.failure.get_or_insert(abort);
        let mut jobs = Vec::new();
        let operations = std::mem::take(&mut team.operations);
        for (number, slot) in operations {
            match slot.task {
                Task::Ahead => {}
                Task::Waiting(job) => jobs.push(job),
                Task::Running { .. } => {
                    team.operations.insert(number, slot);
                }
            }
        }
        jobs
    }

    /// Goes on with an operation where it is, as far as can be.
    ///
    /// # Errors
    /// Those of [`RunningOperation::advance`].
    pub fn drive<X: Transport>(
        &mut self,
        id: TeamId,
        number: u32,
        transport: &mut X,
    ) -> Result<Stage, RunFailure<X::Error>> {
        let Some(team) = self.teams.get_mut(&id) else { return Ok(Stage::Waiting) };
        let may_start = team.may_start(number);
        let Some(Slot { task: Task::Waiting(job), .. }) = team.operations.get_mut(&number) else {
            return Ok(Stage::Waiting);
        };
        if !may_start {
            team.held_back = true;
            return Ok(Stage::Waiting);
        }
        let stage = job.advance(transport)?;
        if stage == Stage::Waiting
            && job.run.has_to_transmit()
            && !self.leaving.contains(&(id, number))
        {
            self.leaving.push_back((id, number));
        }
        Ok(stage)
    }

    /// True if something waits for room.
    #[inline]
    pub fn has_to_transmit(&self) -> bool {
        !self.leaving.is_empty()
    }

    /// Sends what waits for room, as far as there is some. True if anything left.
    ///
    /// # Errors
    /// Those of [`RunningOperation::advance`].
    pub fn transmit<X: Transport>(
        &mut self,
        transport: &mut X,
    ) -> Result<bool, RunFailure<X::Error>> {
        let mut any = false;
        for _ in 0..self.leaving.len() {
            let Some((id, number)) = self.leaving.pop_front() else { break };
            let before = self.sent(id, number);
            self.drive(id, number, transport)?;
            any |= self.sent(id, number) != before;
        }
        Ok(any)
    }

    fn sent(&self, id: TeamId, number: u32) -> u64 {
        match self.teams.get(&id).and_then(|team| team.operations.get(&number)) {
            Some(Slot { task: Task::Waiting(job), .. }) => job.run.sent(),
            _ => 0,
        }
    }

    /// Bytes that have come for what is not that far here, for those who watch the bound.
    pub fn stored(&self) -> usize {
        let slots = self.teams.values().flat_map(|team| team.operations.values());
        let stored = |slot: &Slot<M, K>| match &slot.task {
            Task::Waiting(job) => slot.inbox.stored() + job.run.stored(),
            _ => slot.inbox.stored(),
        };
        slots.map(stored).sum()
    }

    /// Takes one packet.
    ///
    /// # Errors
    /// What is wrong with it.
    #[inline]
    pub fn arrive(
        &mut self,
        from: Rank,
        packet: impl ArrivedPacket<Kept = K>,
    ) -> Result<PacketEffect, Refused> {
        const NONE: Refused = Refused::Violation("a packet of a collective operation that is none");
        let (header, data) = Header::parse(packet.bytes()).ok_or(NONE)?;
        let (id, me, keeps) = (header.team, self.rank, self.keeps);
        let team = match self.teams.contains_key(&id) {
            true => self.teams.entry(id).or_default(),
            false => self.unopened(id)?,
        };
        let place = match &team.members {
            Some(members) => members.place(from).ok_or(Refused::NotMember)?,
            None => from.index(),
        };
        if let Some(failure) = team.failure {
            return Err(Refused::Failed(failure));
        }
        if header.kind == TransferKind::Abort {
            return Ok(PacketEffect::Aborted(id, Abort::parse(data).ok_or(NONE)?));
        }
        team.arrive((me, from, place), &header, packet, keeps)
    }

    /// A team that is not open here: members that have opened it may be ahead.
    fn unopened(&mut self, id: TeamId) -> Result<&mut Team<M, K>, Refused> {
        if self.unopened >= MOST_UNOPENED {
            const MORE: &str = "parts of collective operations of more teams than there may be";
            return Err(Refused::Violation(MORE));
        }
        self.unopened += 1;
        Ok(self.teams.entry(id).or_default())
    }
}

impl<M: OperationMemory, K: AsRef<[u8]>> Team<M, K> {
    fn arrive(
        &mut self,
        (me, from, place): (Rank, Rank, usize),
        header: &Header,
        packet: impl ArrivedPacket<Kept = K>,
        keeps: usize,
    ) -> Result<PacketEffect, Refused> {
        let (number, theirs) = (header.number, header.signature);
        let disagree =
            |one| Err(Refused::Disagreement(Disagreement { number, one, other: (from, theirs) }));
        let distance = number.wrapping_sub(self.next) as i32;
        if distance < 0 && !self.operations.contains_key(&number) {
            // It ended here without this packet, or went on in shared memory.
            let Some(mine) = self.began(number) else { return Ok(PacketEffect::None) };
            let same = header.step == DECLARATION && mine == theirs;
            return if same { Ok(PacketEffect::None) } else { disagree((me, mine)) };
        }
        if distance > MOST_AHEAD as i32 {
            const FAR: &str =
                "a part of a collective operation that is further ahead than it may be";
            return Err(Refused::Violation(FAR));
        }
        let slot = self.operations.entry(number).or_default();
        let &mut heard = slot.signature.get_or_insert((from, theirs));
        if !heard.1.agrees(&theirs) {
            return disagree(heard);
        }
        if header.step == DECLARATION {
            // Of what goes on in packets here: its sender went on in shared memory.
            return if distance < 0 { disagree((me, heard.1)) } else { Ok(PacketEffect::None) };
        }
        let limit = match &slot.task {
            // It may have said that it is ready.
            Task::Running { .. } => EAGER_BYTES.max(theirs.bytes as usize),
            _ => EAGER_BYTES,
        };
        let outcome = match &mut slot.task {
            Task::Waiting(job) => {
                let Job { run, memory } = &mut **job;
                run.arrive(memory, place, header, packet, (limit, keeps))
            }
            task => {
                if let Task::Running { again } = task {
                    *again = true;
                }
                let keeps = if distance <= 0 { keeps } else { 0 };
                match header.kind {
                    TransferKind::Ready => slot.inbox.store_ready(place, header.step),
                    _ => slot.inbox.store((place, header.step), packet, theirs.bytes, limit, keeps),
                }
                .map(|()| false)
            }
        };
        match outcome {
            Ok(true) => Ok(PacketEffect::Resume(header.team, number)),
            Ok(false) => Ok(PacketEffect::None),
            Err(what) => Err(Refused::Violation(what)),
        }
    }
}

/// True if a call's bytes can be described in packets, those of all members too.
pub fn is_describable(call: &OperationCall, members: usize) -> bool {
    let bytes = call.count.checked_mul(call.size).and_then(|bytes| bytes.checked_mul(members));
    bytes.is_some_and(|bytes| format::is_describable(bytes as u64))
}
