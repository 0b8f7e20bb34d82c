//! The life of a job, without processes or clocks: events in, actions out, time an argument.
//!
//! ```text
//!   a rank is lost, and the job goes on
//!     ┌──┐
//!     │  ▼    a rank is lost, the limit for joining passes, ...          grace over
//!   running ─────────────────────────────────────────────────► ending ──────────────► killed
//!      │                                                          │                      │
//!      └──────────────────── every rank has ended ────────────────┴──────────────────────┴──► over
//! ```
//!
//! In a job that ends at a loss the first one is the cause. A rank that ends afterwards is a
//! victim, and so is a rank that says that it lost another one, unless nothing else explains the
//! end.
//!
//! A job that [goes on](OnLoss::Continue) tells each loss to the survivors, and to the user. It is
//! over when every rank has ended, and has failed if none ended well: of the last loss. All else
//! ends it as it ends others, and so does a rank that dies of a signal that was passed on. Whether
//! a job goes on the user says, or else all programs when they join: the first of them for all.

mod ranks;

use ranks::{RankState, Ranks, Stage};
use std::collections::VecDeque;
use std::time::Duration;

use rustix::process::Signal;
use weft_wire::Rank;

use crate::messages::{Ending, Event, Visitor};
use crate::on_loss::OnLoss;
use crate::outcome::{Fault, PEER_LOST};

/// Longest time that ranks have to end when they are asked to from outside.
pub(crate) const STOP_GRACE: Duration = Duration::from_secs(2);
/// Time after the first wish to stop from which on a second one means "now".
const IMPATIENCE: Duration = Duration::from_millis(300);
/// Longest time that a killed rank has to disappear before the launcher gives it up: one that the
/// system holds.
pub(crate) const KILL_LIMIT: Duration = Duration::from_secs(10);

/// A rank whose host is gone counts as killed: nobody can say what became of it.
const LOST_WITH_HOST: Ending = Ending::Killed(Signal::KILL.as_raw());

/// Action to be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Give the program of this rank its place.
    Welcome(Rank),
    /// Tell the survivors.
    AnnounceLoss { lost: Rank, cause: Ending },
    /// Tell the user of a loss after which the job goes on with so many ranks.
    ReportLoss { lost: Rank, fault: Fault, left: u16 },
    /// Send a signal to a rank and what it has started.
    Signal(Rank, Signal),
    /// Start these ranks, for which another has asked.
    Spawn { by: Rank, ranks: Vec<Rank> },
    /// Tell a rank that has asked for more that there is room for fewer, and for how many.
    RefuseSpawn { by: Rank, left: u16 },
    /// Let in these visitors, each as this rank, for another which has asked for that.
    Admit { by: Rank, admitted: Vec<(Rank, Visitor)> },
    /// Forget a visitor that has gone.
    Forget(Visitor),
    /// Stop until somebody says to continue.
    StopSelf,
}

/// Cause of a job's end, without the particulars of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EndCause {
    Completed,
    NotWeft,
    Failed(Rank, Fault),
    Interrupted(Signal),
    Deadlocked,
    OutOfTime(Duration),
    OutputClosed,
}

/// Loss of a rank.
#[derive(Debug)]
struct Loss {
    lost: Rank,
    cause: Ending,
    fault: Fault,
}

#[derive(Debug)]
enum Phase {
    Running,
    Ending { end_cause: EndCause, kill_at: Duration },
    Killed { end_cause: EndCause, give_up_at: Duration },
}

/// The state of a job.
#[derive(Debug)]
pub(crate) struct Job {
    ranks: Ranks,
    phase: Phase,
    join_limit: Option<Duration>,
    time_limit: Option<Duration>,
    loss_grace: Duration,
    /// Reaction to losses that the user asked for.
    on_loss: OnLoss,
    /// Losses after which the job has gone on.
    borne: Vec<(Rank, Fault)>,
    given_up: bool,
    passed_on: Vec<Signal>,
    /// Those who wait at the door, the first one first.
    visitors: Vec<Visitor>,
    actions: VecDeque<Action>,
}

impl Job {
    /// A job of `ranks` that have been started, at time zero, with room for `vacant` more. They
    /// have `join_limit` to join, and survivors of a loss `loss_grace` to end by themselves, if it
    /// ends the job.
    pub fn new(
        (ranks, vacant): (u16, u16),
        join_limit: Option<Duration>,
        loss_grace: Duration,
        on_loss: OnLoss,
    ) -> Self {
        Job {
            ranks: Ranks::new(ranks, vacant),
            phase: Phase::Running,
            join_limit,
            time_limit: None,
            loss_grace,
            on_loss,
            borne: Vec::new(),
            given_up: false,
            passed_on: Vec::new(),
            visitors: Vec::new(),
            actions: VecDeque::new(),
        }
    }

    /// The job, on several hosts: these are the numbers of each rank's.
    pub fn on_hosts(mut self, host_of: impl Fn(Rank) -> u16) -> Self {
        self.ranks.are_on(host_of);
        self
    }

    /// The job, which may take so long at most.
    pub fn limited_to(mut self, time_limit: Option<Duration>) -> Self {
        self.time_limit = time_limit;
        self
    }

    /// Takes in what happened.
    pub fn handle(&mut self, now: Duration, event: Event) {
        match event {
            Event::Hello(rank) => self.welcome(now, rank),
            Event::GoOn(rank) => self.ask_to_go_on(now, rank),
            Event::Spawn(rank, count) => self.spawn(now, rank, count),
            Event::Admit(rank, most) => self.admit(now, rank, most),
            Event::Knocked(visitor) => self.visitors.push(visitor),
            Event::WentAway(visitor) => {
                self.visitors.retain(|waiting| *waiting != visitor);
                self.actions.push_back(Action::Forget(visitor));
            }
            Event::Joined(rank) => self.reach(rank, Stage::Joined),
            Event::Leaving(rank) => self.reach(rank, Stage::Leaving),
            Event::Report(rank, words) => self.ranks[rank].report = Some(words),
            Event::BadMessage(rank, what) => self.fail(now, rank, Fault::BadMessage(what)),
            Event::CannotStart(rank, errno) => self.fail(now, rank, Fault::CannotStart { errno }),
            Event::Ended(endings) => self.ended(now, endings),
            Event::HostLost(ranks, why) => self.host_lost(now, &ranks, why),
            Event::Signal(signal) => self.signalled(now, signal),
            Event::Deadlock => {
                self.begin_ending(EndCause::Deadlocked, now + STOP_GRACE, Some(Signal::TERM));
            }
            Event::OutputClosed => {
                self.begin_ending(EndCause::OutputClosed, now + STOP_GRACE, Some(Signal::TERM));
            }
        }
    }

    /// Takes in that it is now so late.
    pub fn timeout(&mut self, now: Duration) {
        if self.next_deadline().is_none_or(|deadline| now < deadline) {
            return;
        }
        match self.phase {
            Phase::Running if self.is_out_of_time(now) => {
                let end_cause = EndCause::OutOfTime(self.time_limit.unwrap_or_default());
                self.begin_ending(end_cause, now + STOP_GRACE, Some(Signal::TERM));
            }
            Phase::Running => {
                let limit = self.join_limit.unwrap_or_default();
                if let Some((late, _)) = self.ranks.first_not_joined() {
                    self.fail(now, late, Fault::LateJoin { limit });
                }
            }
            Phase::Ending { .. } => self.kill(now),
            Phase::Killed { .. } => self.given_up = true,
        }
    }

    /// True if the job runs, and may not any more.
    pub fn is_out_of_time(&self, now: Duration) -> bool {
        matches!(self.phase, Phase::Running) && self.time_limit.is_some_and(|limit| now >= limit)
    }

    /// Time at which [`timeout`](Self::timeout) has something to do next: the limit of the job, or
    /// for joining, while the job runs, the end of the grace while it ends, the end of patience
    /// after that.
    pub fn next_deadline(&self) -> Option<Duration> {
        match self.phase {
            Phase::Running => {
                let late = self.ranks.first_not_joined();
                let joined_at = late.and_then(|(_, since)| Some(since + self.join_limit?));
                [joined_at, self.time_limit].into_iter().flatten().min()
            }
            Phase::Ending { kill_at, .. } => Some(kill_at),
            Phase::Killed { give_up_at, .. } => Some(give_up_at),
        }
    }

    /// The next thing to do.
    pub fn next_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// True if there is nothing left to wait for.
    pub fn is_over(&self) -> bool {
        self.given_up || self.running().is_empty()
    }

    /// Outcome of the job, once it is over.
    pub fn end_cause(&self) -> EndCause {
        match (&self.phase, self.borne.last()) {
            (Phase::Running, Some((last, fault))) if !self.ranks.has_one_ended_well() => {
                EndCause::Failed(*last, fault.clone())
            }
            (Phase::Running, None) if self.ranks.have_none_asked() => EndCause::NotWeft,
            (Phase::Running, _) => EndCause::Completed,
            (Phase::Ending { end_cause, .. } | Phase::Killed { end_cause, .. }, _) => {
                end_cause.clone()
            }
        }
    }

    /// Report of a rank.
    pub fn report(&self, rank: Rank) -> Option<&str> {
        self.ranks[rank].report.as_deref()
    }

    /// Number of those who wait at the door of a host.
    pub fn visitors_of(&self, host: u16) -> usize {
        self.visitors.iter().filter(|visitor| visitor.host == host).count()
    }

    /// Number of ranks of the job that have been started. Those in between that never will be,
    /// because their host is lost, count too.
    pub fn ranks(&self) -> u16 {
        self.ranks.started()
    }

    /// True if the job is ending, and all of these ranks have ended that have been started.
    pub fn is_done_with(&self, mut ranks: impl Iterator<Item = Rank>) -> bool {
        let has_ended = |state: &RankState| state.stage == Stage::Vacant || state.ended.is_some();
        !matches!(self.phase, Phase::Running) && ranks.all(|it| has_ended(&self.ranks[it]))
    }

    /// The ranks whose processes have not ended.
    pub fn running(&self) -> Vec<Rank> {
        self.ranks.running().map(|(rank, _)| rank).collect()
    }

    fn welcome(&mut self, now: Duration, rank: Rank) {
        if self.ranks[rank].stage != Stage::Started {
            let again = "a second process of this rank asked to join";
            return self.fail(now, rank, Fault::BadMessage(again.into()));
        }
        if !self.agrees(rank) {
            return self.fail(now, rank, Fault::AsksOtherwise);
        }
        self.reach(rank, Stage::Welcomed);
        self.actions.push_back(Action::Welcome(rank));
        // A rank that ended well before it joined could still have been no Weft program at all.
        let deserters = self.ranks.numbered().filter(|(_, state)| {
            state.stage == Stage::Started && state.ended == Some(Ending::Exited(0))
        });
        let cause = Ending::Exited(0);
        let loss = |(lost, _)| Loss { lost, cause, fault: Fault::NeverJoined };
        self.lose(now, deserters.map(loss).collect());
    }

    /// A rank asks for so many more. Who asks while the job ends needs no answer.
    fn spawn(&mut self, now: Duration, by: Rank, count: u16) {
        let Phase::Running = self.phase else { return };
        let vacant = self.ranks.vacant();
        let Some(ranks) = vacant.get(..usize::from(count)) else {
            let left = vacant.len() as u16;
            return self.actions.push_back(Action::RefuseSpawn { by, left });
        };
        ranks.iter().for_each(|rank| self.ranks.start(now, *rank));
        self.actions.push_back(Action::Spawn { by, ranks: ranks.to_vec() });
    }

    /// A rank lets in so many visitors: those for whom there is a place on their host.
    fn admit(&mut self, now: Duration, by: Rank, most: u16) {
        let Phase::Running = self.phase else { return };
        if most > 0 && self.ranks.vacant().is_empty() {
            return self.actions.push_back(Action::RefuseSpawn { by, left: 0 });
        }
        let mut admitted = Vec::new();
        for visitor in std::mem::take(&mut self.visitors) {
            let vacant = self.ranks.vacant().into_iter();
            let place = { vacant }.find(|it| self.ranks[*it].host == visitor.host);
            match place.filter(|_| admitted.len() < usize::from(most)) {
                Some(rank) => {
                    self.ranks.start(now, rank);
                    admitted.push((rank, visitor));
                }
                None => self.visitors.push(visitor),
            }
        }
        self.actions.push_back(Action::Admit { by, admitted });
    }

    fn ask_to_go_on(&mut self, now: Duration, rank: Rank) {
        let state = &mut self.ranks[rank];
        match state.stage {
            Stage::Started => state.asks_to_go_on = true,
            _ => {
                let late = "it asked that the job go on after it had joined";
                self.fail(now, rank, Fault::BadMessage(late.into()));
            }
        }
    }

    /// False if this rank and one that was welcomed want different reactions to losses, and the
    /// user has not said what holds.
    fn agrees(&self, rank: Rank) -> bool {
        let asks = self.ranks[rank].asks_to_go_on;
        self.on_loss == OnLoss::Continue || self.ranks.welcomed().all(|it| it.asks_to_go_on == asks)
    }

    /// True if the job goes on after a loss: all that were welcomed have asked alike, or the user
    /// has said it.
    fn goes_on(&self) -> bool {
        self.on_loss == OnLoss::Continue || self.ranks.welcomed().any(|it| it.asks_to_go_on)
    }

    fn reach(&mut self, rank: Rank, stage: Stage) {
        let state = &mut self.ranks[rank];
        state.stage = state.stage.max(stage);
    }

    /// Of ends seen together the gravest is judged first: a crash before a status before silence.
    fn ended(&mut self, now: Duration, mut endings: Vec<(Rank, Ending)>) {
        for (rank, ending) in &mut endings {
            *ending = self.ranks[*rank].as_said(*ending);
        }
        endings.sort_by_key(|(rank, ending)| match ending {
            Ending::Killed(_) | Ending::OutOfMemory | Ending::Unseen => (0, *rank),
            Ending::Exited(status) if *status != 0 => (1, *rank),
            Ending::Exited(_) => (2, *rank),
        });
        for &(rank, ending) in &endings {
            self.ranks[rank].ended = Some(ending);
        }
        self.tell_of_well_ended(&endings);
        let loss = |(lost, cause)| Some(Loss { lost, cause, fault: self.fault_of(lost, cause)? });
        self.lose(now, endings.into_iter().filter_map(loss).collect());
    }

    /// In a job that goes on, those who have ended well are announced too, and are no losses: all
    /// have come to the end of the program then, but one that is lost at its end may have told some
    /// of the last agreement, and those who have ended tell nobody.
    fn tell_of_well_ended(&mut self, endings: &[(Rank, Ending)]) {
        if !self.goes_on() || self.ranks.have_none_asked() {
            return;
        }
        for &(lost, cause) in endings {
            if self.fault_of(lost, cause).is_none() && !self.running().is_empty() {
                self.actions.push_back(Action::AnnounceLoss { lost, cause });
            }
        }
    }

    /// The ranks that were still running are lost, and those that were not started never will be.
    fn host_lost(&mut self, now: Duration, ranks: &[Rank], why: String) {
        let mut running = self.running();
        running.retain(|rank| ranks.contains(rank));
        for rank in ranks {
            let state = &mut self.ranks[*rank];
            state.ended.get_or_insert(LOST_WITH_HOST);
            let host = state.host;
            self.visitors.retain(|visitor| visitor.host != host);
        }
        let fault = || Fault::HostLost { why: why.clone() };
        let loss = |lost| Loss { lost, cause: LOST_WITH_HOST, fault: fault() };
        self.lose(now, running.into_iter().map(loss).collect());
    }

    fn fault_of(&self, rank: Rank, ending: Ending) -> Option<Fault> {
        match (ending, self.ranks[rank].stage) {
            (Ending::Killed(signal), _) => Some(Fault::Killed { signal }),
            (Ending::OutOfMemory, _) => Some(Fault::OutOfMemory),
            (Ending::Unseen, _) => Some(Fault::Ended),
            (Ending::Exited(0), Stage::Leaving) => None,
            (Ending::Exited(0), Stage::Started) => {
                (!self.ranks.have_none_asked()).then_some(Fault::NeverJoined)
            }
            (Ending::Exited(0), _) => Some(Fault::LeftEarly),
            (Ending::Exited(status), _) => Some(Fault::Exited { status }),
        }
    }

    /// Ranks are lost, seen together. A job that ends at a loss announces the first one only: the
    /// survivors have all that they need to know.
    fn lose(&mut self, now: Duration, mut losses: Vec<Loss>) {
        losses.retain(|loss| !self.ranks[loss.lost].is_lost);
        let mut borne = Vec::new();
        for Loss { lost, cause, fault } in losses {
            let goes_on = self.goes_on();
            if goes_on || !self.ranks.have_lost_one() {
                self.actions.push_back(Action::AnnounceLoss { lost, cause });
            }
            self.ranks[lost].is_lost = true;
            let told_to = |signal: &&Signal| cause == Ending::Killed(signal.as_raw());
            match self.passed_on.iter().find(told_to) {
                Some(signal) => self.end_at(now, lost, EndCause::Interrupted(*signal)),
                None if goes_on && matches!(self.phase, Phase::Running) => {
                    borne.push((lost, fault));
                }
                None => self.end_at(now, lost, EndCause::Failed(lost, fault)),
            }
        }
        self.bear(borne);
    }

    /// The job goes on after these losses. The last one of a job of which nobody is left is its end
    /// cause, which is told when it is over.
    fn bear(&mut self, losses: Vec<(Rank, Fault)>) {
        let left = self.running().len() as u16;
        let is_running = matches!(self.phase, Phase::Running);
        let is_end = is_running && left == 0 && !self.ranks.has_one_ended_well();
        let told = losses.len().saturating_sub(usize::from(is_end));
        for (lost, fault) in losses.iter().take(told).cloned() {
            self.actions.push_back(Action::ReportLoss { lost, fault, left });
        }
        self.borne.extend(losses);
    }

    /// The job ends at the loss of a rank, which is the cause unless there is a better one.
    fn end_at(&mut self, now: Duration, lost: Rank, end_cause: EndCause) {
        if self.only_victims_explain_the_end() && !self.is_victim(lost) {
            self.phase = Phase::Ending { end_cause, kill_at: now + self.loss_grace };
        } else {
            self.begin_ending(end_cause, now + self.loss_grace, None);
        }
    }

    fn only_victims_explain_the_end(&self) -> bool {
        match self.phase {
            Phase::Ending { end_cause: EndCause::Failed(first, _), .. } => self.is_victim(first),
            _ => false,
        }
    }

    fn is_victim(&self, rank: Rank) -> bool {
        let state = &self.ranks[rank];
        state.ended == Some(Ending::Exited(i32::from(PEER_LOST))) && state.report.is_some()
    }

    /// The job cannot go on, though no rank has ended.
    fn fail(&mut self, now: Duration, rank: Rank, fault: Fault) {
        self.begin_ending(EndCause::Failed(rank, fault), now + self.loss_grace, Some(Signal::TERM));
    }

    fn begin_ending(&mut self, end_cause: EndCause, kill_at: Duration, tell: Option<Signal>) {
        if !matches!(self.phase, Phase::Running) {
            return;
        }
        self.phase = Phase::Ending { end_cause, kill_at };
        if let Some(signal) = tell {
            self.signal_all(signal);
        }
    }

    fn kill(&mut self, now: Duration) {
        if let Phase::Ending { end_cause, .. } = &self.phase {
            let (end_cause, give_up_at) = (end_cause.clone(), now + KILL_LIMIT);
            self.phase = Phase::Killed { end_cause, give_up_at };
            self.signal_all(Signal::KILL);
        }
    }

    fn signal_all(&mut self, signal: Signal) {
        for rank in self.running() {
            self.actions.push_back(Action::Signal(rank, signal));
        }
    }

    fn signalled(&mut self, now: Duration, signal: Signal) {
        match signal {
            Signal::INT | Signal::TERM => self.asked_to_stop(now, signal),
            Signal::TSTP => {
                self.signal_all(signal);
                self.actions.push_back(Action::StopSelf);
            }
            Signal::CONT => self.signal_all(signal),
            other => {
                self.signal_all(other);
                self.passed_on.push(other);
            }
        }
    }

    fn asked_to_stop(&mut self, now: Duration, signal: Signal) {
        match self.phase {
            Phase::Running => {
                let end_cause = EndCause::Interrupted(signal);
                self.begin_ending(end_cause, now + STOP_GRACE, Some(signal));
            }
            // `timeout` and shells signal a process and then its group: the same wish, twice.
            Phase::Ending { kill_at, .. } if now + STOP_GRACE < kill_at + IMPATIENCE => {}
            // Somebody is impatient.
            Phase::Ending { .. } => self.kill(now),
            Phase::Killed { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests;
