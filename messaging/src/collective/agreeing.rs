//! Agreements of teams in a job that goes on after a loss: what one member hears of an operation
//! all members hear that live.
//!
//! An operation that has ended here may have failed elsewhere: a broadcast's root is done once the
//! last packet has left, and then the packet or the receiver is lost. So its outcome is kept until
//! all members that live have agreed ([`weft_collective::agreement`]) that it has ended well at
//! each of them. If not it failed, at all of them, and so do all that come after it: the team is
//! broken. What its members do next is agreed about in the same line, one after the other:
//!
//! ```text
//!   line of a team:   broadcast ── barrier ── shrink ──▶
//!                     ended        under      called
//!                     │            way
//!                     ▼
//!                     agreement 0: all of them say whether it has ended well
//! ```
//! Each entry brings a bit of its own kind, and no other; so the flags of a decision, combined by
//! AND, have the bit only if all members that live were at an entry of the same kind, and an
//! operation had ended well. A member that shrinks while others are in an operation makes that fail
//! for them; they come to shrink next, where it waits for them.

use super::operations::TeamId;
use super::values::{Ended, Values};
use crate::engine::Engine;
use crate::{Completer, Completion, Error, Port, Result};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use weft_collective::Members;
use weft_collective::agreement::{Agreement, AgreementMessage, Decision, Post};
use weft_collective::teams::MOST_UNOPENED;
use weft_endpoint::{DeferredSends, Packets, Rank};

/// Kind of an entry in the line of a team, as a bit of its flags. The lower half of the flags is
/// the caller's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub(super) enum EntryKind {
    /// An operation, which has ended well.
    Operation = 1 << 63,
    /// [`Team::agree`](super::Team::agree).
    Agree = 1 << 62,
    /// [`Team::shrink`](super::Team::shrink).
    Shrink = 1 << 61,
    /// The end of the program.
    Leave = 1 << 60,
}

impl EntryKind {
    /// Act of the members, in words.
    pub fn name(self) -> &'static str {
        match self {
            EntryKind::Operation => "take part",
            EntryKind::Agree => "agree",
            EntryKind::Shrink => "shrink it",
            EntryKind::Leave => "leave",
        }
    }

    /// True if a decision is about entries of this kind.
    pub fn is_in(self, flags: u64) -> bool {
        flags & self as u64 != 0
    }
}

/// Messages that may come for a team that is not open here, of each.
const MOST_EARLY: usize = 4;

/// The lines of all teams of this rank.
pub(super) struct Agreeing {
    port: OnceLock<Port>,
    state: Mutex<State>,
    outbox: Arc<Outbox>,
}

/// Messages that leave in order. They wait for packets themselves, and so nothing waits here.
type Outbox = DeferredSends<(Rank, Vec<u8>)>;

struct State {
    lines: BTreeMap<TeamId, Line>,
    /// Messages for teams that are not open here.
    early: BTreeMap<TeamId, Vec<(Rank, AgreementMessage)>>,
    outbox: Arc<Outbox>,
}

/// Line of a team: entries that it agrees about, one after the other.
struct Line {
    agreement: Agreement,
    entries: VecDeque<Entry>,
    /// True while the first entry is agreed about.
    is_under_way: bool,
    /// True once an operation has failed.
    is_broken: bool,
}

enum Entry {
    /// An operation with this number, and its outcome once it has ended here.
    Operation(u32, Option<Outcome>),
    /// A call that brings these flags.
    Call(u64, Completer<Decision>),
}

/// An operation that has ended here, and how.
pub(super) type Outcome = (Box<dyn Values>, Ended);

/// Consequence of a decision, for who is outside of the lock.
pub(super) enum Effect {
    /// The outcome is known.
    Conclude(Outcome),
    /// A call has its answer.
    Answer(Completer<Decision>, Decision),
    /// All operations of the team fail, because of this rank if it is known.
    Break(TeamId, Option<Rank>),
}

/// Messages of one team on their way into the outbox.
struct Letters<'a> {
    team: TeamId,
    outbox: &'a Outbox,
}

impl Post for Letters<'_> {
    fn send(&mut self, to: Rank, message: &AgreementMessage) {
        let mut bytes = self.team.emit().to_vec();
        bytes.extend_from_slice(&message.emit());
        self.outbox.push((to, bytes));
    }
}

impl Agreeing {
    /// No lines yet, of a rank with these packets.
    pub fn new(packets: &Packets) -> Self {
        let outbox = Arc::new(packets.system().deferred());
        let (lines, early) = (BTreeMap::new(), BTreeMap::new());
        let state = State { lines, early, outbox: Arc::clone(&outbox) };
        Agreeing { port: OnceLock::new(), state: Mutex::new(state), outbox }
    }

    /// Takes its messages from a port of `engine`'s; what comes goes to `arrived`.
    ///
    /// # Errors
    /// [`Error::PortTaken`].
    pub fn open_port(
        &self,
        engine: &Arc<Engine>,
        arrived: impl Fn(Rank, &[u8]) + Send + Sync + 'static,
    ) -> Result<()> {
        let port = Port::new(engine, "weft.agreement", move |mut message| {
            let from = message.source();
            if let Ok(bytes) = message.read_to_vec() {
                drop(message);
                arrived(from, &bytes);
            }
        })?;
        self.port.get_or_init(|| port);
        Ok(())
    }

    /// Begins the line of a team, in which `lost` are lost.
    ///
    /// # Errors
    /// The sender of what came early and no member sends.
    pub fn open(
        &self,
        team: TeamId,
        members: &Members,
        lost: &[Rank],
    ) -> std::result::Result<Vec<Effect>, Rank> {
        let me = members.rank(members.me());
        let mut ranks: Vec<Rank> = (0..members.size()).map(|place| members.rank(place)).collect();
        ranks.sort_unstable();
        let agreement = Agreement::new(&ranks, me);
        let entries = VecDeque::new();
        let line = Line { agreement, entries, is_under_way: false, is_broken: false };
        let mut state = self.state();
        state.lines.insert(team, line);
        let early = state.early.remove(&team).unwrap_or_default();
        let mut effects = Vec::new();
        for &rank in lost.iter().filter(|rank| **rank != me) {
            effects.extend(state.with(team, |line, letters| line.agreement.lost(rank, letters)));
        }
        for (from, message) in early {
            effects.extend(state.arrived(team, from, message).map_err(|_| from)?);
        }
        Ok(effects)
    }

    /// The next operation of a team has begun, and has this number.
    pub fn begun(&self, team: TeamId, number: u32) {
        if let Some(line) = self.state().lines.get_mut(&team).filter(|line| !line.is_broken) {
            line.entries.push_back(Entry::Operation(number, None));
        }
    }

    /// An operation has ended here.
    pub fn ended(&self, team: TeamId, number: u32, outcome: Outcome) -> Vec<Effect> {
        let mut state = self.state();
        let Some(line) = state.lines.get_mut(&team) else {
            return vec![Effect::Conclude(outcome)];
        };
        let is_it =
            |entry: &&mut Entry| matches!(entry, Entry::Operation(its, None) if *its == number);
        let Some(Entry::Operation(_, place)) = line.entries.iter_mut().find(is_it) else {
            // All that come after one that failed have failed.
            return vec![Effect::Conclude(failed(outcome, None))];
        };
        *place = Some(outcome);
        state.with(team, |_, _| ())
    }

    /// An operation that cannot begin here: others may have, and hear of it.
    pub fn refused(&self, team: TeamId, outcome: Outcome) -> Vec<Effect> {
        let mut state = self.state();
        match state.lines.get_mut(&team).filter(|line| !line.is_broken) {
            Some(line) => line.entries.push_back(Entry::Operation(0, Some(outcome))),
            None => return vec![Effect::Conclude(outcome)],
        }
        state.with(team, |_, _| ())
    }

    /// Comes to a call of this kind, with `flags` of the caller's.
    pub fn call(
        &self,
        engine: &Arc<Engine>,
        team: TeamId,
        (kind, flags): (EntryKind, u32),
    ) -> (Completion<Decision>, Vec<Effect>) {
        let (completer, decided) = Completion::new(engine);
        let mut state = self.state();
        if let Some(line) = state.lines.get_mut(&team) {
            line.entries.push_back(Entry::Call(kind as u64 | u64::from(flags), completer));
        }
        (decided, state.with(team, |_, _| ()))
    }

    /// A rank is lost. Returns the teams that it was in, too.
    pub fn lose(&self, rank: Rank) -> (Vec<TeamId>, Vec<Effect>) {
        let mut state = self.state();
        let all: Vec<TeamId> = state.lines.keys().copied().collect();
        let (mut teams, mut effects) = (Vec::new(), Vec::new());
        for team in all {
            effects.extend(state.with(team, |line, letters| {
                line.agreement.lost(rank, letters);
                if line.agreement.known_lost().contains(&rank) {
                    teams.push(team);
                }
            }));
        }
        (teams, effects)
    }

    /// A message has come.
    ///
    /// # Errors
    /// Messages that no member sends.
    pub fn arrived(
        &self,
        from: Rank,
        bytes: &[u8],
    ) -> std::result::Result<Vec<Effect>, &'static str> {
        const NO_MESSAGE: &str = "bytes that are no message of an agreement";
        let (team, bytes) = TeamId::parse(bytes).ok_or(NO_MESSAGE)?;
        let message = AgreementMessage::parse(bytes).map_err(|_| NO_MESSAGE)?;
        let mut state = self.state();
        if state.lines.contains_key(&team) {
            return state.arrived(team, from, message);
        }
        let is_new = !state.early.contains_key(&team);
        if is_new && state.early.len() >= MOST_UNOPENED {
            return Err("messages of agreements of more teams than there can be");
        }
        let early = state.early.entry(team).or_default();
        if early.iter().filter(|(sender, _)| *sender == from).count() >= MOST_EARLY {
            return Err("more messages of an agreement than a team can have");
        }
        early.push((from, message));
        Ok(Vec::new())
    }

    /// Ranks that this one waits for in the line of a team.
    pub fn awaited(&self, team: TeamId) -> Vec<Rank> {
        self.state().lines.get(&team).map_or(Vec::new(), |line| line.agreement.awaited())
    }

    /// True if a rank is lost, as far as members of a team that this one is in have agreed.
    pub fn knows_lost(&self, rank: Rank) -> bool {
        let state = self.state();
        state.lines.values().any(|line| line.agreement.known_lost().contains(&rank))
    }

    /// Sends what is to be sent, in order. A rank that does not get it is lost.
    pub fn send(&self) {
        let Some(port) = self.port.get() else { return };
        let _ = self.outbox.flush(|(to, bytes)| {
            let _ = port.send(*to, &bytes[..]);
            Ok(true)
        });
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Does something to the line of a team, and all that follows from that.
    fn with(&mut self, team: TeamId, act: impl FnOnce(&mut Line, &mut Letters<'_>)) -> Vec<Effect> {
        let Some(line) = self.lines.get_mut(&team) else { return Vec::new() };
        let mut letters = Letters { team, outbox: &self.outbox };
        act(line, &mut letters);
        line.go_on(&mut letters)
    }

    fn arrived(
        &mut self,
        team: TeamId,
        from: Rank,
        message: AgreementMessage,
    ) -> std::result::Result<Vec<Effect>, &'static str> {
        let mut outcome = Ok(());
        let effects = self.with(team, |line, letters| {
            outcome = line.agreement.arrived(from, message, letters);
        });
        match outcome {
            Ok(()) => Ok(effects),
            Err(_) => Err("a message of an agreement that no member sends"),
        }
    }
}

impl Line {
    /// Begins agreements, and takes what was decided, as far as there is something.
    fn go_on(&mut self, letters: &mut Letters<'_>) -> Vec<Effect> {
        let mut effects = Vec::new();
        loop {
            if !self.is_under_way {
                let Some(flags) = self.entries.front().and_then(Entry::flags) else { break };
                self.is_under_way = true;
                self.agreement.begin(flags, letters);
            }
            let Some(decision) = self.agreement.decided() else { break };
            self.is_under_way = false;
            self.decided(decision, letters.team, &mut effects);
        }
        effects
    }

    /// The first entry was decided about.
    fn decided(&mut self, decision: Decision, team: TeamId, effects: &mut Vec<Effect>) {
        match self.entries.pop_front() {
            Some(Entry::Call(_, completer)) => effects.push(Effect::Answer(completer, decision)),
            Some(Entry::Operation(_, Some(outcome))) => {
                if EntryKind::Operation.is_in(decision.flags) {
                    effects.push(Effect::Conclude(outcome));
                    return;
                }
                let lost = decision.lost.first().copied();
                effects.push(Effect::Conclude(failed(outcome, lost)));
                self.is_broken = true;
                effects.push(Effect::Break(team, lost));
                // Nobody agrees about those behind it any more.
                for entry in std::mem::take(&mut self.entries) {
                    match entry {
                        Entry::Operation(_, Some(outcome)) => {
                            effects.push(Effect::Conclude(failed(outcome, lost)));
                        }
                        Entry::Operation(_, None) => {}
                        call => self.entries.push_back(call),
                    }
                }
            }
            Some(Entry::Operation(_, None)) | None => {}
        }
    }
}

impl Entry {
    /// The flags that this rank brings, once it has some.
    fn flags(&self) -> Option<u64> {
        match self {
            Entry::Call(flags, _) => Some(*flags),
            Entry::Operation(_, Some((_, Ended::Well(_)))) => Some(EntryKind::Operation as u64),
            Entry::Operation(_, Some(_)) => Some(0),
            Entry::Operation(_, None) => None,
        }
    }
}

/// The outcome of an operation that has failed somewhere.
fn failed((values, ended): Outcome, lost: Option<Rank>) -> Outcome {
    let ended = match ended {
        Ended::Well(_) => Ended::Failed(lost.map_or(Error::Abandoned, Error::lost)),
        other => other,
    };
    (values, ended)
}
