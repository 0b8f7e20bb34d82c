//! All operations that are under way at this rank: what arrived for them, and their continuations.

use super::exchange::Exchange;
use super::pending::{Panic, Pending, Promise};
use super::signature::{Abort, Disagreement, HEADER_BYTES, Header, Operation, Signature, What};
use crate::engine::Engine;
use crate::{Error, Message, Port, Result};
use std::collections::{BTreeMap, VecDeque};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};
use weft_node::biased::Biased;
use weft_packet::{Group, Rank};

/// Operations of a team that a member begins at most before all others have begun them as well.
const OPERATIONS_AHEAD: u32 = 64;
/// Bytes that it brings to them at most, and one operation more.
const BYTES_AHEAD: u64 = 4 << 20;
/// Signatures of operations that ended here, kept to tell what they were.
const REMEMBERED: usize = 16;
/// The step of a packet that only says what its sender has begun.
pub(super) const DECLARATION: u16 = u16::MAX;

/// Why an operation did not end well.
pub(super) enum Failure {
    /// For all of the team, or because of something below.
    Error(Error),
    /// The program's reduction panicked.
    Panicked(Panic),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Error(error)
    }
}

/// What an operation gives in the end.
pub(super) type Outcome<T> = std::result::Result<T, Failure>;

/// The ranks of a team, in its own order.
pub(super) struct Members {
    /// `None`: all ranks, as they are numbered.
    subset: Option<(Vec<Rank>, BTreeMap<Rank, usize>)>,
    pub size: usize,
    /// This rank's place.
    pub me: usize,
    pub group: Group,
}

impl Members {
    pub fn all(size: usize, me: Rank) -> Self {
        Members { subset: None, size, me: me.index(), group: Group::ALL }
    }

    /// `None` if `me` is not one of `members`.
    pub fn subset(members: &[Rank], me: Rank, group: Group) -> Option<Self> {
        let places: BTreeMap<_, _> = members.iter().copied().zip(0..).collect();
        let me = *places.get(&me)?;
        let subset = Some((members.to_vec(), places));
        Some(Members { subset, size: members.len(), me, group })
    }

    /// The rank of member `place`, which there is.
    pub fn rank(&self, place: usize) -> Rank {
        match &self.subset {
            None => Rank(place as u16),
            Some((ranks, _)) => ranks[place],
        }
    }

    /// All ranks but this one's.
    pub fn others(&self) -> impl Iterator<Item = Rank> + '_ {
        (0..self.size).filter(|&place| place != self.me).map(|place| self.rank(place))
    }

    fn contains(&self, rank: Rank) -> bool {
        match &self.subset {
            None => rank.index() < self.size,
            Some((_, places)) => places.contains_key(&rank),
        }
    }
}

/// The operations of all teams of this rank.
pub(super) struct Operations {
    engine: Arc<Engine>,
    port: OnceLock<Port>,
    teams: Biased<Teams>,
}

#[derive(Default)]
struct Teams {
    by_number: BTreeMap<u16, TeamState>,
    created: u16,
}

#[derive(Default)]
struct TeamState {
    /// `None` until this rank has created the team.
    members: Option<Arc<Members>>,
    /// The number of the operation that this rank begins next.
    next: u32,
    begun: [Option<Signature>; REMEMBERED],
    operations: BTreeMap<u32, OperationState>,
    failure: Option<Error>,
    /// Operations begun, and bytes brought to them, since the last fence.
    ahead: (u32, u64),
    /// The last barrier that later operations wait for.
    fence: Option<u32>,
}

/// A resumable operation.
type Continuation = Pin<Box<dyn Future<Output = ()> + Send>>;

#[derive(Default)]
struct OperationState {
    /// What it is, and who said so first.
    signature: Option<(Rank, Signature)>,
    /// What others brought and this rank has not used, by sender and step, each in order.
    inbox: BTreeMap<(Rank, u16), VecDeque<Transfer>>,
    task: Task,
    /// Whether later operations wait for it.
    is_fence: bool,
}

#[derive(Default)]
struct Transfer {
    bytes: Vec<u8>,
    complete: bool,
}

#[derive(Default)]
enum Task {
    /// This rank has not begun it.
    #[default]
    Ahead,
    /// It waits for what others bring.
    Waiting(Continuation),
    /// Somebody runs it; `again` if something came meanwhile.
    Running { again: bool },
}

impl TeamState {
    /// What this rank began as operation `number`, if that is not long ago.
    fn began(&self, number: u32) -> Option<Signature> {
        self.begun[number as usize % REMEMBERED]
    }

    /// Takes the next number for an operation with `signature`.
    fn number(&mut self, signature: Signature) -> u32 {
        let number = self.next;
        self.next = number.wrapping_add(1);
        self.begun[number as usize % REMEMBERED] = Some(signature);
        number
    }

    fn has_begun(&self, number: u32) -> bool {
        (number.wrapping_sub(self.next) as i32) < 0
    }

    /// Whether a member may be as far ahead now as it may ever be.
    fn needs_fence(&mut self, signature: Signature) -> bool {
        let (operations, bytes) = &mut self.ahead;
        let full = *operations >= OPERATIONS_AHEAD || *bytes >= BYTES_AHEAD;
        if full {
            self.ahead = (0, 0);
        }
        self.ahead.0 += 1;
        self.ahead.1 += signature.bytes;
        full
    }

    /// Stores a piece. Returns with whom its sender disagrees, if it does.
    fn store(
        &mut self,
        me: Rank,
        from: Rank,
        header: &Header,
        theirs: Signature,
        bytes: Vec<u8>,
    ) -> std::result::Result<(), Disagreement> {
        let number = header.number;
        let begun = self.has_begun(number);
        let disagree = |one| Err(Disagreement { number, one, other: (from, theirs) });
        if begun && !self.operations.contains_key(&number) {
            // It ended here without this piece, or went on in shared memory.
            let Some(mine) = self.began(number) else { return Ok(()) };
            let same = header.step == DECLARATION && mine == theirs;
            return if same { Ok(()) } else { disagree((me, mine)) };
        }
        let operation = self.operations.entry(number).or_default();
        let &mut (who, signature) = operation.signature.get_or_insert((from, theirs));
        if signature != theirs {
            return disagree((who, signature));
        }
        let transfers = operation.inbox.entry((from, header.step)).or_default();
        match transfers.back_mut() {
            Some(transfer) if !transfer.complete => {
                transfer.bytes.extend_from_slice(&bytes);
                transfer.complete = header.last;
            }
            _ => transfers.push_back(Transfer { bytes, complete: header.last }),
        }
        Ok(())
    }
}

impl Operations {
    /// The operations of `engine`'s rank; one a rank.
    ///
    /// # Errors
    /// [`Error::PortTaken`] if there are some already.
    pub fn new(engine: &Arc<Engine>) -> Result<Arc<Self>> {
        let teams = Biased::new(Teams::default());
        let operations =
            Arc::new(Operations { engine: Arc::clone(engine), port: OnceLock::new(), teams });
        let this = Arc::downgrade(&operations);
        let port = Port::new(engine, "weft.collective", move |message| {
            if let Some(operations) = this.upgrade() {
                operations.deliver(message);
            }
        })?;
        operations.port.get_or_init(|| port);
        Ok(operations)
    }

    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Where packets of operations go. Messages wait for a port that is still being made.
    pub fn port(&self) -> Result<&Port> {
        self.port.get().ok_or(Error::Abandoned)
    }

    /// The number of a new team. `members` is `None` where this rank is not one.
    pub fn create(&self, members: Option<&Arc<Members>>) -> u16 {
        let mut teams = self.teams.enter();
        let number = teams.created;
        assert!(number < u16::MAX, "a job has no more than 65,534 teams");
        teams.created += 1;
        if let Some(members) = members {
            let team = teams.by_number.entry(number).or_default();
            team.members = Some(Arc::clone(members));
        }
        number
    }

    /// Begins the next operation of `team`: `run` for this member. It runs as far as it can.
    ///
    /// # Errors
    /// [`Error::Disagreement`], or what ended all operations of this team before.
    pub fn begin<T, F>(
        self: &Arc<Self>,
        team: u16,
        members: &Arc<Members>,
        signature: Signature,
        run: impl FnOnce(Exchange) -> F,
    ) -> Result<Pending<T>>
    where
        T: Send + 'static,
        F: Future<Output = Outcome<T>> + Send + 'static,
    {
        let full = self.teams.enter().by_number.entry(team).or_default().needs_fence(signature);
        if full && members.size > 1 {
            let barrier = Signature::new(Operation::Barrier, 0, 0);
            let number = self.start(team, members, barrier, super::algorithms::barrier)?.0;
            let mut teams = self.teams.enter();
            let state = teams.by_number.entry(team).or_default();
            if let Some(operation) = state.operations.get_mut(&number) {
                operation.is_fence = true;
                state.fence = Some(number);
            }
        }
        self.start(team, members, signature, run).map(|(_, pending)| pending)
    }

    fn start<T, F>(
        self: &Arc<Self>,
        team: u16,
        members: &Arc<Members>,
        signature: Signature,
        run: impl FnOnce(Exchange) -> F,
    ) -> Result<(u32, Pending<T>)>
    where
        T: Send + 'static,
        F: Future<Output = Outcome<T>> + Send + 'static,
    {
        let (number, fence) = self.register(team, members, signature)?;
        let exchange = Exchange::new(self, team, members, signature, number);
        let (promise, pending) = Pending::new(&self.engine);
        let (this, steps) = (Arc::downgrade(self), run(exchange.clone()));
        let task = async move {
            if let Some(fence) = fence {
                let passed = || this.upgrade().is_none_or(|this| this.has_passed(team, fence));
                poll_fn(|_| if passed() { Poll::Ready(()) } else { Poll::Pending }).await;
            }
            conclude(&exchange, promise, steps.await);
        };
        let mut teams = self.teams.enter();
        let operations = &mut teams.by_number.entry(team).or_default().operations;
        operations.entry(number).or_default().task = Task::Waiting(Box::pin(task));
        drop(teams);
        self.resume(team, number);
        Ok((number, pending))
    }

    /// Gives an operation its number, and says which fence it has to wait for.
    fn register(
        &self,
        team: u16,
        members: &Members,
        signature: Signature,
    ) -> Result<(u32, Option<u32>)> {
        let mut teams = self.teams.enter();
        let state = teams.by_number.entry(team).or_default();
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        let number = state.number(signature);
        let fence = state.fence.filter(|fence| state.operations.contains_key(fence));
        let mine = (members.rank(members.me), signature);
        let heard = *state.operations.entry(number).or_default().signature.get_or_insert(mine);
        drop(teams);
        if heard.1 == signature {
            return Ok((number, fence));
        }
        let disagreement = Disagreement { number, one: heard, other: mine };
        self.abort(team, members, Abort::Disagreement(disagreement));
        Err(Error::Disagreement(disagreement))
    }

    /// Takes a number for an operation that needs no messages.
    ///
    /// # Errors
    /// What ended all operations of this team before, or [`Error::Disagreement`].
    pub fn pass(&self, team: u16, members: &Members, signature: Signature) -> Result<u32> {
        let mut teams = self.teams.enter();
        let state = teams.by_number.entry(team).or_default();
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        // It cannot end before all have come, so nobody is ahead afterwards.
        state.ahead = (0, 0);
        let number = state.number(signature);
        let Some(heard) = state.operations.remove(&number) else { return Ok(number) };
        drop(teams);
        let mine = (members.rank(members.me), signature);
        let one = heard.signature.unwrap_or(mine);
        if one.1 == signature && heard.inbox.keys().all(|&(_, step)| step == DECLARATION) {
            return Ok(number);
        }
        let disagreement = Disagreement { number, one, other: mine };
        self.abort(team, members, Abort::Disagreement(disagreement));
        Err(Error::Disagreement(disagreement))
    }

    /// Why all operations of `team` ended, if they did.
    pub fn failure(&self, team: u16) -> Option<Error> {
        self.teams.enter().by_number.get(&team).and_then(|team| team.failure.clone())
    }

    fn has_passed(&self, team: u16, fence: u32) -> bool {
        let teams = self.teams.enter();
        teams.by_number.get(&team).is_none_or(|team| !team.operations.contains_key(&fence))
    }

    /// The next complete transfer for an operation from `from`, if it is there.
    pub fn take(&self, team: u16, number: u32, from: Rank, step: u16) -> Result<Option<Vec<u8>>> {
        let mut teams = self.teams.enter();
        let Some(team) = teams.by_number.get_mut(&team) else { return Ok(None) };
        if let Some(failure) = &team.failure {
            return Err(failure.clone());
        }
        let operation = team.operations.get_mut(&number);
        let transfers = operation.and_then(|operation| operation.inbox.get_mut(&(from, step)));
        Ok(transfers.and_then(|transfers| match transfers.front() {
            Some(Transfer { complete: true, .. }) => transfers.pop_front().map(|t| t.bytes),
            _ => None,
        }))
    }

    /// The upcall.
    fn deliver(self: &Arc<Self>, mut message: Message) {
        let from = message.source();
        let Some((header, bytes)) = read(&mut message) else { return };
        drop(message);
        let team = header.team;
        let mut teams = self.teams.enter();
        let state = teams.by_number.entry(team).or_default();
        let stranger = state.members.as_ref().is_some_and(|members| !members.contains(from));
        if state.failure.is_some() || stranger {
            return;
        }
        let theirs = match header.what {
            What::Piece(theirs) => theirs,
            What::Abort => {
                drop(teams);
                if let Some(abort) = Abort::parse(&bytes) {
                    self.fail(team, abort);
                }
                return;
            }
        };
        let me = self.engine.packets().rank();
        let stored = state.store(me, from, &header, theirs, bytes);
        let members = state.members.clone();
        drop(teams);
        match (stored, members) {
            (Ok(()), _) => self.resume(team, header.number),
            (Err(disagreement), Some(members)) => {
                self.abort(team, &members, Abort::Disagreement(disagreement));
            }
            (Err(disagreement), None) => self.fail(team, Abort::Disagreement(disagreement)),
        }
    }

    /// Goes on with an operation, if it has begun, until it has to wait again.
    fn resume(&self, team: u16, number: u32) {
        let Some(mut task) = self.take_task(team, number) else { return };
        loop {
            let ended = task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
            let mut teams = self.teams.enter();
            let Some(state) = teams.by_number.get_mut(&team) else { return };
            if ended {
                let ended = state.operations.remove(&number);
                drop(teams);
                if ended.is_some_and(|operation| operation.is_fence) {
                    self.resume_all(team);
                }
                return;
            }
            let Some(operation) = state.operations.get_mut(&number) else { return };
            if !matches!(operation.task, Task::Running { again: true }) {
                operation.task = Task::Waiting(task);
                return;
            }
            operation.task = Task::Running { again: false };
        }
    }

    /// The continuation of an operation, to be run; `None` if there is none, or somebody runs it, who
    /// then looks again.
    fn take_task(&self, team: u16, number: u32) -> Option<Continuation> {
        let mut teams = self.teams.enter();
        let operation = teams.by_number.get_mut(&team)?.operations.get_mut(&number)?;
        match std::mem::replace(&mut operation.task, Task::Running { again: true }) {
            Task::Ahead => operation.task = Task::Ahead,
            Task::Running { .. } => {}
            Task::Waiting(task) => {
                operation.task = Task::Running { again: false };
                return Some(task);
            }
        }
        None
    }

    fn resume_all(&self, team: u16) {
        let state = |teams: &Teams| {
            let team = teams.by_number.get(&team);
            team.map(|team| team.operations.keys().copied().collect::<Vec<_>>())
        };
        let numbers = state(&self.teams.enter());
        numbers.into_iter().flatten().for_each(|number| self.resume(team, number));
    }

    /// Ends all operations of a team, here and at its other members.
    pub fn abort(&self, team: u16, members: &Members, abort: Abort) {
        let header = Header { team, what: What::Abort, last: true, number: 0, step: 0 };
        let bytes = abort.emit();
        for rank in members.others() {
            // Whoever cannot be told is lost, and that is known soon enough.
            let _ = self.port().and_then(|port| port.send(rank, &[&header.emit()[..], &bytes]));
        }
        self.fail(team, abort);
    }

    fn fail(&self, team: u16, abort: Abort) {
        let error = match abort {
            Abort::Disagreement(disagreement) => Error::Disagreement(disagreement),
            Abort::Panicked(rank) => Error::ReductionPanicked(rank),
        };
        let mut teams = self.teams.enter();
        let state = teams.by_number.entry(team).or_default();
        state.failure.get_or_insert(error);
        state.operations.retain(|_, operation| !matches!(operation.task, Task::Ahead));
        drop(teams);
        self.resume_all(team);
    }
}

/// Gives the outcome of an operation to whoever waits for it.
fn conclude<T>(exchange: &Exchange, promise: Promise<T>, outcome: Outcome<T>) {
    match outcome {
        Ok(value) => promise.complete(Ok(Ok(value))),
        Err(Failure::Error(error)) => promise.complete(Err(error)),
        Err(Failure::Panicked(panic)) => {
            exchange.abort_for_panic();
            promise.complete(Ok(Err(panic)));
        }
    }
}

/// The header and the data of a packet. All of it is there when its upcall begins.
fn read(message: &mut Message) -> Option<(Header, Vec<u8>)> {
    let mut header = [0; HEADER_BYTES];
    message.read_exact(&mut header).ok()?;
    Some((Header::parse(&header)?, message.read_to_vec().ok()?))
}
