//! All operations that are under way at this rank: how their packets travel, and who goes on with
//! them.

use super::agreeing::{Agreeing, Effect, EntryKind};
use super::pending::{Begun, Pending, Promise};
use super::team::{Team, opened};
use super::values::{Ended, Values};
use crate::engine::Engine;
use crate::parts::Parts;
use crate::{Completion, Error, Message, Port, Result, format};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock, Weak, atomic::AtomicU16};
use weft_collective::agreement::Decision;
use weft_collective::arena::{AgreedAreas, Arena};
use weft_collective::format::{DECLARATION, Header, SIZE, TransferKind, abort_packet};
use weft_collective::{
    Abort, BARRIER, EAGER_BYTES, Members, OperationCall, PacketEffect, Parked, Refused, RunFailure,
    Signature, Stage, Teams, TransferBody, Transport, Tuning, teams::MOST_UNOPENED,
};
use weft_endpoint::biased::Biased;
use weft_endpoint::{Awaited, Group, Packets, Rank, Whom};

pub(super) use weft_collective::TeamId;

/// All-reduces of more bytes share the combining out among all members.
const SHARED_OUT_BYTES: usize = 32 << 10;

/// Teams that a rank creates at most without knowing that all others have created the first of
/// them: what comes for teams that are not open yet is stored (I9).
const TEAMS_AHEAD: u32 = MOST_UNOPENED as u32 / 2;
/// Teams that a rank splits at a time at most. A rank hears of a part that it has not opened only
/// while it splits the whole, so that these and the teams that others are ahead by are no more than
/// are stored (I9).
const SPLITS_AT_ONCE: u32 = MOST_UNOPENED as u32 - TEAMS_AHEAD;
/// The team of all ranks, in which they wait for one another's teams.
const CREATORS: TeamId = TeamId { leader: Rank(0), count: u32::MAX };

/// A team that was opened: its name, its members, and its arena if it has one.
pub(super) type Opened = (TeamId, Arc<Members>, Option<Arena>);

type Job = weft_collective::Job<Box<dyn Values>, Vec<u8>>;

/// The operations of all teams of this rank.
pub(super) struct Operations {
    engine: Arc<Engine>,
    port: OnceLock<Port>,
    /// Bytes of a packet.
    room: usize,
    packets_at_once: usize,
    state: Biased<State>,
    /// Agreements of teams, if the job goes on after a loss.
    pub agreeing: Option<Agreeing>,
    pub counters_kept: AtomicU16,
}

struct State {
    teams: Teams<Box<dyn Values>, Vec<u8>>,
    created: u32,
    /// Splits under way.
    splits: u32,
    /// Teams that have grown, in their order.
    grown: Vec<(TeamId, Arc<Members>)>,
    areas: AgreedAreas,
}

/// A split under way at this rank.
pub(super) struct Splitting<'a> {
    operations: &'a Operations,
    /// Name of the part that this rank leads, if it leads one.
    pub name: TeamId,
}

impl Drop for Splitting<'_> {
    fn drop(&mut self) {
        self.operations.state.enter().splits -= 1;
    }
}

/// Transport of an operation's packets: messages.
struct Carrier<'a> {
    operations: &'a Operations,
    sent: usize,
}

/// A packet as a message.
struct Packet<'a> {
    head: &'a [u8],
    body: &'a TransferBody<'a>,
}

impl Parts for Packet<'_> {
    fn for_each(&self, visit: &mut dyn FnMut(&[u8])) {
        visit(self.head);
        self.body.read(0, self.body.len(), visit);
    }

    fn total(&self) -> usize {
        self.head.len() + self.body.len()
    }
}

impl Carrier<'_> {
    /// Two members that send much to each other must both take what comes.
    fn count(&mut self) -> Result<bool> {
        self.sent += 1;
        if self.sent.is_multiple_of(self.operations.packets_at_once) {
            self.operations.engine.progress()?;
        }
        Ok(true)
    }
}

impl Transport for Carrier<'_> {
    type Error = Error;

    fn payload(&self) -> usize {
        self.operations.room
    }

    fn multicast_payload(&self) -> usize {
        self.operations.room
    }

    fn packets_at_once(&self) -> usize {
        usize::MAX
    }

    fn send(&mut self, to: Rank, head: &[u8], body: &TransferBody<'_>) -> Result<bool> {
        self.operations.port()?.send(to, &Packet { head, body })?;
        self.count()
    }

    fn multicast(&mut self, group: Group, head: &[u8], body: &TransferBody<'_>) -> Result<bool> {
        self.operations.port()?.multicast(group, &Packet { head, body })?;
        self.count()
    }
}

/// Packets that are sent before others' are looked at. While a rank looks for a frame to fill it
/// runs no handlers, so what members who all send to one another have under way must leave frames
/// for the rest, whoever reads it late.
fn packets_at_once(packets: &Packets) -> usize {
    (packets.in_flight() / 4).max(1)
}

impl Operations {
    /// The operations of `engine`'s rank; one a rank.
    ///
    /// # Errors
    /// [`Error::PortTaken`] if there are some already.
    pub fn new(engine: &Arc<Engine>) -> Result<Arc<Self>> {
        let packets = engine.packets();
        let (data, at_once) =
            (format::room(packets.multicast_payload(), SIZE), packets_at_once(packets));
        let tuning = Tuning {
            exchange_members: 0,
            flat_members: 0,
            shared_out_bytes: SHARED_OUT_BYTES,
            round_bytes: (data * at_once).min(EAGER_BYTES),
            round_packets: at_once,
            synchronous_broadcasts: false,
        };
        let teams = Teams::new(packets.rank(), tuning, usize::MAX);
        let operations = Arc::new(Operations {
            engine: Arc::clone(engine),
            port: OnceLock::new(),
            room: data + SIZE,
            packets_at_once: at_once,
            state: Biased::new(State {
                teams,
                created: 0,
                splits: 0,
                grown: Vec::new(),
                areas: AgreedAreas::default(),
            }),
            agreeing: packets.losses().goes_on().then(|| Agreeing::new(packets)),
            counters_kept: AtomicU16::new(0),
        });
        engine.sharing.on_share(&operations, |operations| operations.state.share());
        let this = Arc::downgrade(&operations);
        let port = Port::new(engine, "weft.collective", move |message| {
            if let Some(operations) = this.upgrade() {
                operations.deliver(message);
            }
        })?;
        operations.port.get_or_init(|| port);
        operations.agree_after_losses()?;
        if packets.rank().index() < packets.size() {
            operations.open(CREATORS, Members::all(packets.size(), packets.rank()))?;
        }
        Ok(operations)
    }

    /// Takes part in agreements, if the job goes on after a loss.
    fn agree_after_losses(self: &Arc<Self>) -> Result<()> {
        let Some(agreeing) = &self.agreeing else { return Ok(()) };
        let this = Arc::downgrade(self);
        agreeing.open_port(&self.engine, move |from, bytes| {
            if let Some(this) = this.upgrade()
                && let Some(agreeing) = &this.agreeing
            {
                match agreeing.arrived(from, bytes) {
                    Ok(effects) => this.carry_out(effects),
                    Err(what) => this.engine.name_violation(from, "collective operations", what),
                }
            }
        })?;
        // Others are told by messages, which a hook must not send.
        let (this, tasks) = (Arc::downgrade(self), Arc::downgrade(&self.engine.messages.tasks));
        self.engine.packets().losses().on_each(move |loss| {
            let this = Weak::clone(&this);
            let lose = async move {
                if let Some(this) = this.upgrade() {
                    this.lose(loss.rank);
                }
            };
            if let Some(tasks) = tasks.upgrade() {
                tasks.spawn(lose);
            }
        });
        Ok(())
    }

    /// Opens a team. False if it is open already.
    fn open(&self, id: TeamId, members: Members) -> Result<bool> {
        let is_new = self.state.enter().teams.open(id, members);
        let is_new = is_new.map_err(|from| Error::Stray { from })?;
        let members = self.state.enter().teams.members(id).cloned();
        if let (Some(agreeing), Some(members), true) = (&self.agreeing, members, is_new) {
            let losses = self.engine.packets().losses().all();
            let lost: Vec<Rank> = losses.iter().map(|loss| loss.rank).collect();
            let opened = agreeing.open(id, &members, &lost);
            self.carry_out(opened.map_err(|from| Error::Stray { from })?);
            for rank in lost {
                if members.place(rank).is_some() {
                    self.fail(id, Abort::Broken(Some(rank)));
                }
            }
        }
        Ok(is_new)
    }

    /// A rank is lost: the operations of its teams fail.
    fn lose(&self, rank: Rank) {
        let Some(agreeing) = &self.agreeing else { return };
        let (teams, effects) = agreeing.lose(rank);
        for team in teams {
            self.fail(team, Abort::Broken(Some(rank)));
        }
        self.carry_out(effects);
    }

    /// Comes to a call of the members of `team` that live, about which they agree; `flags` are
    /// combined by AND.
    ///
    /// # Errors
    /// [`Error::CallsDiffer`] if others call something else.
    pub fn agree(&self, team: TeamId, entry: EntryKind, flags: u32) -> Result<Decision> {
        let Some(agreeing) = &self.agreeing else { return Err(Error::Abandoned) };
        let what = entry.name();
        // Whoever was in an operation that failed by this comes to the same call next.
        for _ in 0..2 {
            let (decided, effects) = agreeing.call(&self.engine, team, (entry, flags));
            self.carry_out(effects);
            let awaited = || {
                Awaited::new(
                    format!("all members that live to {what}"),
                    Whom::OneOf(agreeing.awaited(team)),
                )
            };
            let decision = decided.wait_for(&awaited)?;
            if entry.is_in(decision.flags) {
                return Ok(decision);
            }
        }
        Err(Error::CallsDiffer(what))
    }

    /// Does what follows from decisions, and sends what is to be sent.
    fn carry_out(&self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Conclude((values, Ended::Failed(error))) => {
                    values.conclude(Ended::Failed(self.with_cause(error)));
                }
                Effect::Conclude((values, ended)) => values.conclude(ended),
                Effect::Answer(completer, decision) => completer.complete(Ok(decision)),
                Effect::Break(team, lost) => self.fail(team, Abort::Broken(lost)),
            }
        }
        if let Some(agreeing) = &self.agreeing {
            agreeing.send();
        }
    }

    /// The error with all that is known of a loss.
    fn with_cause(&self, error: Error) -> Error {
        let known = error.lost_rank().and_then(|rank| self.engine.packets().losses().of(rank));
        known.map_or(error, |loss| weft_endpoint::Error::RankLost(loss).into())
    }

    /// Gives an operation its outcome, now or once all members agree about it.
    fn conclude(&self, team: TeamId, number: u32, values: Box<dyn Values>, ended: Ended) {
        match &self.agreeing {
            None => values.conclude(ended),
            Some(agreeing) => self.carry_out(agreeing.ended(team, number, (values, ended))),
        }
    }

    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Port of the packets of operations. Messages wait for a port that is still being made.
    fn port(&self) -> Result<&Port> {
        self.port.get().ok_or(Error::Abandoned)
    }

    /// Waits until all ranks have created about as many teams as this one.
    ///
    /// # Errors
    /// Those of a barrier.
    pub fn keep_pace(self: &Arc<Self>) -> Result<()> {
        if !self.state.enter().created.is_multiple_of(TEAMS_AHEAD) {
            return Ok(());
        }
        self.begin(CREATORS, &BARRIER, super::team::barrier_values)?.wait()
    }

    /// Opens a new team of `size` members whose first is `leader`, with an arena if ranks share
    /// memory and there is room. `members` is `None` where this rank is not one.
    ///
    /// # Errors
    /// [`Error::Stray`] if somebody else has sent something for it.
    pub fn create(
        &self,
        leader: Rank,
        size: usize,
        members: Option<Members>,
    ) -> Result<Option<Opened>> {
        let words = self.engine.packets().atomics().shared_words();
        let mut state = self.state.enter();
        let id = TeamId { leader: Rank(0), count: state.created };
        state.created += 1;
        let first = words.and_then(|words| state.areas.take(words.arena(leader), leader, size));
        let Some(members) = members else { return Ok(None) };
        drop(state);
        let place = (size, members.me());
        self.open(id, members)?;
        // Who meets in shared memory cannot agree about how that has ended.
        let arena = words.zip(first).filter(|_| self.agreeing.is_none());
        let arena = arena.and_then(|(words, first)| Arena::new(words, leader, first, false, place));
        let members = self.state.enter().teams.members(id).cloned();
        Ok(members.map(|members| (id, members, arena)))
    }

    /// Enters a split, in which members tell each other names for the parts.
    ///
    /// # Errors
    /// [`Error::TooManySplits`].
    pub fn split(&self) -> Result<Splitting<'_>> {
        let mut state = self.state.enter();
        if state.splits >= SPLITS_AT_ONCE {
            return Err(Error::TooManySplits { limit: SPLITS_AT_ONCE });
        }
        state.splits += 1;
        let TeamId { leader, count } = state.teams.name();
        let name = TeamId { leader, count: count | TeamId::SPLIT };
        Ok(Splitting { operations: self, name })
    }

    /// Opens the part of a split team that this rank is in. It has no arena: only what all ranks
    /// do can agree on room for one.
    ///
    /// # Errors
    /// [`Error::Stray`] if somebody else has sent something for it, or its leader used the name
    /// before.
    pub fn open_part(&self, id: TeamId, members: Members) -> Result<Opened> {
        let is_new = self.open(id, members)?;
        let members = self.state.enter().teams.members(id).filter(|_| is_new).cloned();
        let members = members.ok_or(Error::Stray { from: id.leader })?;
        Ok((id, members, None))
    }

    /// Notes a team that has grown: its members leave together.
    pub fn note_grown(&self, team: &Team) {
        let (id, members) = (team.shared.id, Arc::clone(&team.shared.members));
        self.state.enter().grown.push((id, members));
    }

    /// The teams that have grown, the last one first.
    pub fn grown(self: &Arc<Self>) -> Vec<Team> {
        let grown = self.state.enter().grown.clone();
        let team = |(id, members)| opened(self, (id, members, None));
        grown.into_iter().rev().map(team).collect()
    }

    /// Begins the next operation of `team`, and goes on with it as far as can be. `values` makes
    /// its values of the promise that they will keep.
    ///
    /// # Errors
    /// [`Error::Disagreement`], or what ended all operations of this team before.
    pub fn begin<T>(
        self: &Arc<Self>,
        team: TeamId,
        call: &OperationCall,
        values: impl FnOnce(Promise<T>) -> Box<dyn Values>,
    ) -> Result<Pending<T>> {
        let state = self.state.enter();
        let (needs_fence, members) =
            (state.teams.needs_fence(team), state.teams.members(team).cloned());
        drop(state);
        if needs_fence {
            let nobody_waits = super::team::barrier_values(Completion::new(&self.engine).0);
            self.start(team, &BARRIER, nobody_waits)?;
        }
        let begun = Begun { team, members, number: 0, signature: call.signature() };
        let (promise, mut pending) = Pending::new(&self.engine, begun);
        pending.set_number(self.start(team, call, values(promise))?);
        Ok(pending)
    }

    fn start(
        self: &Arc<Self>,
        team: TeamId,
        call: &OperationCall,
        values: Box<dyn Values>,
    ) -> Result<u32> {
        let mut state = self.state.enter();
        if let Some(agreeing) = &self.agreeing
            && let Some(abort) = state.teams.failure(team)
        {
            drop(state);
            let outcome = (values, Ended::Failed(error_of(abort)));
            self.carry_out(agreeing.refused(team, outcome));
            return Ok(0);
        }
        let begun = state.teams.begin(team, call, values);
        if let (Some(agreeing), Ok(number)) = (&self.agreeing, &begun) {
            agreeing.begun(team, *number);
        }
        drop(state);
        let number = begun.map_err(|refused| self.refused(team, refused))?;
        self.resume(team, number);
        Ok(number)
    }

    /// Takes a number for an operation in an arena. Also says whether operations have waited for
    /// it.
    ///
    /// # Errors
    /// What ended all operations of this team before, or [`Error::Disagreement`].
    #[inline]
    pub fn pass(&self, team: TeamId, signature: Signature) -> Result<(u32, bool)> {
        let passed = self.state.enter().teams.pass(team, signature);
        passed.map_err(|refused| self.refused(team, refused))
    }

    /// The error for the program. Others are told, too.
    #[cold]
    fn refused(&self, team: TeamId, refused: Refused) -> Error {
        match refused {
            Refused::Disagreement(disagreement) => {
                self.abort(team, Abort::Disagreement(disagreement));
                Error::Disagreement(disagreement)
            }
            Refused::Failed(abort) => error_of(abort),
            _ => Error::Abandoned,
        }
    }

    /// Reason why all operations of `team` ended, if they did.
    pub fn failure(&self, team: TeamId) -> Option<Error> {
        self.state.enter().teams.failure(team).map(error_of)
    }

    /// Tells all others what this member has begun.
    ///
    /// # Errors
    /// What the network says.
    pub fn declare(&self, team: TeamId, number: u32, signature: Signature) -> Result<()> {
        let group = self.state.enter().teams.members(team).and_then(|members| members.group());
        let header =
            Header { kind: TransferKind::Piece, team, number, step: DECLARATION, signature };
        match group {
            Some(group) => self.port()?.multicast(group, &header.emit()),
            None => Ok(()),
        }
    }

    /// The upcall.
    fn deliver(self: &Arc<Self>, mut message: Message) {
        let from = message.source();
        let Ok(packet) = message.read_to_vec() else { return };
        drop(message);
        let Some((Header { team, .. }, _)) = Header::parse(&packet) else { return };
        let outcome = self.state.enter().teams.arrive(from, packet);
        match outcome {
            Ok(PacketEffect::Resume(team, number)) => self.resume(team, number),
            Ok(PacketEffect::Aborted(team, abort)) => self.fail(team, abort),
            Err(Refused::Disagreement(disagreement)) => {
                self.abort(team, Abort::Disagreement(disagreement));
            }
            Err(Refused::Violation(_)) => self.abort(team, Abort::Violation(from)),
            Ok(PacketEffect::None) | Err(_) => {}
        }
    }

    /// Goes on with an operation, if it has begun, until it has to wait again.
    fn resume(&self, team: TeamId, number: u32) {
        let Some(mut job) = self.state.enter().teams.take(team, number) else { return };
        loop {
            match self.advance(&mut job) {
                Ok(Stage::Done) => {
                    let blocks = job.run.take_blocks();
                    return self.end(team, number, job, Ended::Well(blocks));
                }
                Err(ended) => return self.end(team, number, job, ended),
                Ok(_) => {}
            }
            let parked = self.state.enter().teams.put(team, number, job);
            match parked {
                Parked::Parked => return,
                Parked::Again(again) => job = again,
                Parked::Failed(job, abort) => {
                    return self.conclude(team, number, job.memory, Ended::Failed(error_of(abort)));
                }
            }
        }
    }

    /// Goes on as far as can be. A reduction that panics does so where the program waits, not in
    /// whatever upcall brought the last piece.
    fn advance(&self, job: &mut Job) -> std::result::Result<Stage, Ended> {
        let team = job.run.header().team;
        let mut messages = Carrier { operations: self, sent: 0 };
        let advanced = catch_unwind(AssertUnwindSafe(|| {
            loop {
                match job.advance(&mut messages) {
                    Ok(Stage::Combine) => job.memory.combine(&mut job.run),
                    other => return other,
                }
            }
        }));
        match advanced {
            Ok(Ok(stage)) => Ok(stage),
            Ok(Err(RunFailure::Transport(error))) => Err(Ended::Failed(error)),
            Ok(Err(RunFailure::Violation { from, .. })) => {
                self.abort(team, Abort::Violation(from));
                Err(Ended::Failed(Error::Stray { from }))
            }
            Err(panic) => {
                self.abort(team, Abort::Panicked(self.engine.packets().rank()));
                Err(Ended::Panicked(panic))
            }
        }
    }

    fn end(&self, team: TeamId, number: u32, job: Box<Job>, ended: Ended) {
        let others_wait = self.state.enter().teams.end(team, number);
        self.conclude(team, number, job.memory, ended);
        if others_wait {
            self.resume_all(team);
        }
    }

    /// Goes on with operations that have waited for another one.
    pub fn resume_all(&self, team: TeamId) {
        let numbers = self.state.enter().teams.numbers(team);
        numbers.into_iter().for_each(|number| self.resume(team, number));
    }

    /// Ends all operations of a team, here and at its other members.
    pub fn abort(&self, team: TeamId, abort: Abort) {
        let members = self.state.enter().teams.members(team).cloned();
        let packet = abort_packet(team, &abort);
        for rank in members.iter().flat_map(|members| members.others()) {
            // A member that this does not reach is lost, which is announced by itself.
            let _ = self.port().and_then(|port| port.send(rank, &packet));
        }
        self.fail(team, abort);
    }

    fn fail(&self, team: TeamId, abort: Abort) {
        let jobs = self.state.enter().teams.fail(team, abort);
        for job in jobs {
            let number = job.run.header().number;
            self.conclude(team, number, job.memory, Ended::Failed(error_of(abort)));
        }
    }
}

fn error_of(abort: Abort) -> Error {
    match abort {
        Abort::Disagreement(disagreement) => Error::Disagreement(disagreement),
        Abort::Panicked(rank) => Error::ReductionPanicked(rank),
        Abort::Violation(from) => Error::Stray { from },
        Abort::Broken(lost) => lost.map_or(Error::Abandoned, Error::lost),
    }
}
