//! Running a job on several hosts: the launcher's side.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::io::{read, retry_on_intr};
use rustix::process::{Signal, getpid, kill_process};
use weft_trace::Recorded;
use weft_wire::Rank;

use super::branches::Source as Below;
use super::layout::{HostsSpec, RankLayout};
use super::roll_call::RollCall;
use super::roster::{Host, Roster};
use super::snapshots::Snapshots;
use super::start::{Started, Stop, start};
use crate::clock::Clock;
use crate::door::{DoorFile, VISITORS_MAX};
use crate::error::LaunchError;
use crate::hosts::liveness::CHECK_INTERVAL;
use crate::job::{Action, Job, KILL_LIMIT};
use crate::job_roll::JobRoll;
use crate::limits::allow_descriptors;
use crate::messages::Message as _;
use crate::messages::hosts::{FromAgent, ToAgent};
use crate::messages::{Doing, Event, RankNow, Snapshot, Standing, Visitor};
use crate::outcome::{Failure, Fault, JobOutcome, Verdict};
use crate::output::Output;
use crate::progress::{OnDeadlock, ProgressWatch};
use crate::queries::{Client, QuerySockets, Question, answer_all};
use crate::roll::{deadlocked_for, lines};
use crate::signals::Signals;
use crate::spec::JobSpec;
use crate::supervise::{conclude, failure, verdict};
use crate::wait::{Waited, wait_for};

/// Bytes read at once of what rank 0 is to read.
const INPUT_BYTES: usize = 16 * 1024;
/// Longest time for agents to clean up, beside what killed processes take to disappear.
const FINISH_LIMIT: Duration = Duration::from_secs(5);

/// Runs a job on several hosts, and returns when nothing of it is left on those that can be
/// reached. The number of ranks in `spec.settings` is not looked at. `announce` is told where the
/// ranks are before they are started.
///
/// Blocks until then. The job's errors are in the [`JobOutcome`].
///
/// # Errors
/// [`LaunchError`] if the job could not be started on every host. Nothing of it is left then,
/// either.
pub fn run_on_hosts(
    spec: &JobSpec,
    hosts: &HostsSpec,
    announce: impl FnOnce(&RankLayout),
) -> Result<JobOutcome, LaunchError> {
    if spec.dedicated {
        allow_descriptors(hosts.hosts.len());
    }
    let signals = spec.dedicated.then(Signals::collect).transpose()?;
    let started = match start(spec, hosts, signals, announce) {
        Ok(started) => started,
        Err(Stop::Failed(error)) => return Err(error),
        Err(Stop::Signal(signal)) => {
            let verdict = Verdict::Interrupted { signal: signal.as_raw() };
            return Ok(JobOutcome::of(verdict));
        }
    };
    let mut conductor = Conductor::new(spec, started);
    conductor.catch_up();
    while !conductor.job.is_over() {
        conductor.step()?;
    }
    conductor.finish()
}

/// Sources of events, to wait for; wishes from outside first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Signals,
    Query(Question),
    Below(Below),
    Sink(usize),
    Input,
}

/// Standard input of rank 0, which is passed on a piece at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Input {
    /// The next piece may be read.
    Open,
    /// Rank 0 has yet to take the last piece.
    UnderWay,
    /// There is nothing more, or never was.
    Ended,
}

struct Conductor<'a> {
    spec: &'a JobSpec,
    job: Job,
    clock: Clock,
    roster: Roster,
    output: Output,
    signals: Option<Signals>,
    input: Input,
    /// Places where others ask how the job stands, and those that wait for an answer.
    queries: QuerySockets,
    clients: Vec<Client>,
    /// Those that wait for a look at the ranks.
    snapshot_clients: Vec<Client>,
    snapshots: Snapshots,
    roll_call: RollCall,
    progress: ProgressWatch,
    /// Ranks without which the job has gone on.
    lost: Vec<Failure>,
    /// True if the roll call under way is for those that ask, or for the watch.
    is_answering: bool,
    /// True if the watch has found a deadlock that is yet to be said, by the next roll call.
    is_deadlocked: bool,
    /// True if the last roll call is to be said at the end of the job.
    reports_roll_call: bool,
    /// The file that says where the door is, while the job runs.
    _door_file: Option<DoorFile>,
}

impl<'a> Conductor<'a> {
    fn new(spec: &'a JobSpec, started: Started) -> Self {
        let Started { layout, roster, signals, door_file, mut output } = started;
        let (founders, room) = (layout.ranks(), layout.room());
        (0..room).for_each(|_| output.add_remote_rank(&spec.output));
        let ranks = (founders, room - founders);
        let job = Job::new(ranks, spec.join_limit, spec.loss_grace, spec.on_loss())
            .limited_to(spec.time_limit)
            .on_hosts(|rank| roster.host_of(rank).unwrap_or_default());
        Conductor {
            spec,
            job,
            clock: Clock::start(),
            roster,
            output,
            signals,
            queries: QuerySockets::open(spec.dedicated, &[Question::Why, Question::Snapshot]),
            clients: Vec::new(),
            snapshot_clients: Vec::new(),
            snapshots: Snapshots::default(),
            roll_call: RollCall::default(),
            progress: ProgressWatch::new(spec.progress_limit),
            lost: Vec::new(),
            is_answering: false,
            is_deadlocked: false,
            reports_roll_call: false,
            _door_file: door_file,
            input: if io::stdin().is_terminal() { Input::Ended } else { Input::Open },
        }
    }

    /// Takes in what agents said, and that they ended, when others were still listened to: nothing
    /// more may come that would answer_all.
    fn catch_up(&mut self) {
        self.roster.branches.receive_all(self.clock.now());
        self.receive();
        self.act();
    }

    /// Waits for something to happen, and attends to all that has.
    fn step(&mut self) -> Result<(), LaunchError> {
        self.turn()?;
        self.end_in_time();
        self.advance_roll_call();
        self.answer_snapshots();
        self.act();
        self.finish_hosts();
        Ok(())
    }

    /// Takes in how late it is. What the ranks did when the job had no more time is said at its
    /// end: agents answer before they pass on what ends the ranks.
    fn end_in_time(&mut self) {
        let now = self.clock.now();
        if self.job.is_out_of_time(now) && !self.reports_roll_call {
            self.call_roll(true);
            self.reports_roll_call = true;
        }
        self.job.timeout(now);
    }

    fn turn(&mut self) -> Result<(), LaunchError> {
        let until = self.job.next_deadline().map(|at| at.saturating_sub(self.clock.now()));
        let timeout = until.map_or(CHECK_INTERVAL, |until| until.min(CHECK_INTERVAL));
        for source in wait_for(&self.sources(), Some(timeout))? {
            match source {
                Source::Signals => self.take_signals(),
                Source::Query(Question::Why) => {
                    self.clients.extend(self.queries.clients(Question::Why));
                }
                Source::Query(Question::Snapshot) => {
                    self.snapshot_clients.extend(self.queries.clients(Question::Snapshot));
                }
                // Of agents, each has the memory of its own ranks; the launcher is here.
                Source::Query(Question::Memory | Question::Place) => {}
                Source::Below(source) => self.roster.branches.attend(source, self.clock.now()),
                Source::Sink(number) => {
                    if !self.output.write_some(number) {
                        self.handle(Event::OutputClosed);
                    }
                }
                Source::Input => self.read_input(),
            }
        }
        self.receive();
        self.acknowledge_output();
        self.roster.branches.tick(self.clock.now(), true);
        Ok(())
    }

    fn sources(&self) -> Vec<Waited<'_, Source>> {
        use PollFlags as For;
        let mut all = Vec::new();
        let signals = self.signals.iter();
        all.extend(signals.map(|s| (Source::Signals, s.waits_for().as_fd(), For::IN)));
        let queries = self.queries.waits_for();
        all.extend(queries.map(|(asked, socket)| (Source::Query(asked), socket, For::IN)));
        let below = self.roster.branches.sources(true);
        all.extend(below.map(|(source, fd, flags)| (Source::Below(source), fd, flags)));
        let sinks = self.output.writable();
        all.extend(sinks.map(|(n, sink)| (Source::Sink(n), sink.as_fd(), For::OUT)));
        if self.input == Input::Open {
            all.push((Source::Input, rustix::stdio::stdin(), For::IN));
        }
        all
    }

    fn handle(&mut self, event: Event) {
        self.job.handle(self.clock.now(), event);
    }

    fn take_signals(&mut self) {
        for signal in self.signals.as_mut().map(Signals::take).unwrap_or_default() {
            if let Signal::INT | Signal::TERM | Signal::QUIT = signal
                && !self.reports_roll_call
            {
                // Agents answer before they pass on what ends the ranks.
                self.call_roll(true);
                self.reports_roll_call = true;
            }
            if signal != Signal::CHILD {
                self.handle(Event::Signal(signal));
            }
        }
    }

    /// Asks all hosts what their ranks do, and, for people, for the stacks of some.
    fn call_roll(&mut self, stacks: bool) {
        let number = self.roll_call.begin(self.clock.now(), self.roster.there(), stacks);
        self.roster.branches.send_all(&ToAgent::RollCall { number, stacks });
    }

    /// Answers those that want a look at the ranks, once there is a fresh one.
    fn answer_snapshots(&mut self) {
        let now = self.clock.now();
        if !self.snapshots.end(now) || self.snapshot_clients.is_empty() {
            return;
        }
        let Some((at, ranks)) = self.snapshots.fresh(now) else {
            let number = self.snapshots.begin(now, self.roster.there());
            return self.roster.branches.send_all(&ToAgent::Snapshot(number));
        };
        let on_host = |rank: &RankNow| {
            let host = self.roster.host_of(Rank(rank.rank));
            let host = host.map(|host| self.roster[usize::from(host)].name.clone());
            RankNow { host, ..rank.clone() }
        };
        let program = self.spec.program_name();
        let ranks = ranks.iter().map(on_host).collect();
        let snapshot = Snapshot { program, seconds: at.as_secs_f64(), ranks }.emit();
        answer_all(std::mem::take(&mut self.snapshot_clients), &snapshot);
    }

    /// Begins a roll call if somebody wants one, and ends it when all have answered.
    fn advance_roll_call(&mut self) {
        let now = self.clock.now();
        if self.roll_call.is_open(now) {
            return;
        }
        if self.is_answering {
            self.is_answering = false;
            self.end_roll_call(now);
        }
        let is_read = self.is_deadlocked || !self.clients.is_empty();
        if !self.reports_roll_call && (is_read || self.progress.is_due(now)) {
            self.is_answering = true;
            self.call_roll(is_read);
        }
    }

    /// All hosts have answered that will.
    fn end_roll_call(&mut self, now: Duration) {
        let ranks = self.job.ranks();
        let program = self.spec.program_name();
        let roll = JobRoll { ranks, program, time: now, standings: self.standings() };
        answer_all(std::mem::take(&mut self.clients), &roll.emit());
        let deadlocked_for = deadlocked_for(&roll.standings, ranks);
        let is_found = self.progress.checked(now, deadlocked_for);
        // Once it is found the roll is called again, with stacks.
        let was_found = std::mem::replace(&mut self.is_deadlocked, is_found);
        if !was_found || deadlocked_for.is_none() {
            return;
        }
        match self.spec.on_deadlock {
            OnDeadlock::Report => roll.lines().iter().for_each(|it| eprintln!("weft: {it}")),
            OnDeadlock::End => {
                self.reports_roll_call = true;
                self.handle(Event::Deadlock);
            }
        }
    }

    /// Standings of the ranks by the last roll call. Of lost hosts nobody answers, nor do their
    /// ranks do anything more.
    fn standings(&self) -> Vec<Standing> {
        let lost = self.roster.iter().filter(|host| host.is_lost).flat_map(|host| &host.ranks);
        let ranks = self.job.ranks();
        let lost: BTreeSet<Rank> = lost.copied().filter(|rank| rank.0 < ranks).collect();
        let mut all = self.roll_call.called();
        all.retain(|standing| !lost.contains(&standing.rank));
        all.extend(lost.into_iter().map(|rank| Standing::outside(rank, Doing::HasLeft)));
        all.sort_by_key(|standing| standing.rank);
        all
    }

    /// Takes in messages of agents, and ends of connections.
    fn receive(&mut self) {
        self.roster.take_arrivals();
        for number in 0..self.roster.len() {
            while let Some(message) = self.roster[number].messages.pop_front() {
                if let Err(wrong) = self.take_message(number as u16, message) {
                    let why = format!("its agent's message is unusable: {wrong}");
                    self.roster.branches.refuse(number as u16, why);
                }
            }
        }
        self.roster.take_arrivals();
        while let Some((hosts, why)) = self.roster.lost.pop_front() {
            self.lose(&hosts, why);
        }
    }

    /// Takes in one message of an agent, which may speak for its own ranks only.
    fn take_message(&mut self, number: u16, message: FromAgent) -> Result<(), String> {
        let host = &mut self.roster[usize::from(number)];
        if host.is_lost {
            return Ok(());
        }
        let has = |rank: &Rank| {
            if host.has(*rank) { Ok(()) } else { Err(format!("rank {rank} is not there")) }
        };
        match message {
            FromAgent::Event(event) => {
                event.ranks().iter().try_for_each(has)?;
                self.handle(event);
            }
            FromAgent::Output(rank, kind, bytes) => {
                has(&rank)?;
                host.owe(bytes.len())?;
                self.output.take_in(rank, kind, &bytes);
            }
            FromAgent::InputTaken if number == 0 && self.input == Input::UnderWay => {
                self.input = Input::Open;
            }
            FromAgent::InputTaken | FromAgent::Heartbeat => {}
            FromAgent::Roll(number_of_call, mut standings) => {
                standings.iter().try_for_each(|standing| has(&standing.rank))?;
                // Its threads are not here, and stacks come by themselves.
                for standing in &mut standings {
                    (standing.thread, standing.stack) = (None, None);
                }
                self.roll_call.standings.answered(number, number_of_call, standings);
            }
            FromAgent::Stacks(number_of_call, stacks) => {
                stacks.iter().try_for_each(|(rank, _)| has(rank))?;
                self.roll_call.stacks.answered(number, number_of_call, stacks);
            }
            FromAgent::Snapshot(number_of_snapshot, ranks) => {
                ranks.iter().try_for_each(|rank| has(&Rank(rank.rank)))?;
                self.snapshots.inquiry.answered(number, number_of_snapshot, ranks);
            }
            FromAgent::Started(processes) => host.add_processes(processes)?,
            FromAgent::Knocked(visitor) => {
                if self.job.visitors_of(number) >= VISITORS_MAX {
                    return Err("more wait at its door than may".into());
                }
                self.handle(Event::Knocked(Visitor { host: number, number: visitor }));
            }
            FromAgent::WentAway(visitor) => {
                self.handle(Event::WentAway(Visitor { host: number, number: visitor }));
            }
            FromAgent::Finished(stuck) => host.finished = Some(stuck),
            FromAgent::Refused(why) => return Err(why),
            FromAgent::Ready { .. }
            | FromAgent::Bound(..)
            | FromAgent::Met { .. }
            | FromAgent::From(..)
            | FromAgent::Lost(..) => return Err("it is out of order".into()),
        }
        Ok(())
    }

    /// Hosts are gone, and their ranks with them.
    fn lose(&mut self, hosts: &[u16], why: String) {
        let mut ranks = Vec::new();
        for number in hosts {
            let host = &mut self.roster[usize::from(*number)];
            host.is_lost = true;
            self.roll_call.lost(*number);
            self.snapshots.inquiry.lost(*number);
            ranks.extend_from_slice(&host.ranks);
        }
        self.handle(Event::HostLost(ranks, why));
    }

    /// Lets agents send on what they hold back, as far as there is room for it.
    fn acknowledge_output(&mut self) {
        if !self.output.has_room() {
            return;
        }
        for number in 0..self.roster.len() {
            let owed = std::mem::take(&mut self.roster[number].owed_bytes);
            if owed > 0 {
                self.roster.send(number as u16, &ToAgent::Taken(owed));
            }
        }
    }

    fn read_input(&mut self) {
        let mut bytes = vec![0; INPUT_BYTES];
        let count = retry_on_intr(|| read(rustix::stdio::stdin(), &mut bytes)).unwrap_or(0);
        bytes.truncate(count);
        self.input = if count == 0 { Input::Ended } else { Input::UnderWay };
        self.roster.send(0, &ToAgent::Input(bytes));
    }

    fn act(&mut self) {
        while let Some(action) = self.job.next_action() {
            match action {
                Action::Welcome(rank) => {
                    self.roster.send_to_rank(rank, &ToAgent::Welcome(rank));
                }
                Action::AnnounceLoss { lost, cause } => {
                    self.roster.branches.send_all(&ToAgent::Loss(lost, cause));
                }
                Action::ReportLoss { lost, fault, left } => self.report_loss(lost, fault, left),
                Action::Signal(rank, signal) => {
                    self.roster.send_to_rank(rank, &ToAgent::Signal(rank, signal));
                }
                Action::Spawn { by, ranks } => self.spawn(by, ranks),
                Action::RefuseSpawn { by, left } => {
                    self.roster.send_to_rank(by, &ToAgent::NoRoom(by, left));
                }
                Action::Admit { by, admitted } => self.admit(by, &admitted),
                Action::Forget(visitor) => {
                    self.roster.send(visitor.host, &ToAgent::Forget(visitor.number));
                }
                Action::StopSelf => self.stop(),
            }
        }
    }

    /// Has ranks started that rank `by` has asked for, each by the agent of its host, and tells it.
    fn spawn(&mut self, by: Rank, ranks: Vec<Rank>) {
        for number in 0..self.roster.len() {
            let host = &self.roster[number];
            let here: Vec<Rank> = ranks.iter().copied().filter(|rank| host.has(*rank)).collect();
            if !here.is_empty() {
                self.roster.send(number as u16, &ToAgent::Spawn(by, here));
            }
        }
        self.roster.send_to_rank(by, &ToAgent::Spawned(by, ranks));
    }

    /// Has visitors let in, each by the agent of its host, and tells rank `by`, who asked for that.
    fn admit(&mut self, by: Rank, admitted: &[(Rank, Visitor)]) {
        for number in 0..self.roster.len() as u16 {
            let here = admitted.iter().filter(|(_, visitor)| visitor.host == number);
            let here: Vec<_> = here.map(|(rank, visitor)| (*rank, visitor.number)).collect();
            if !here.is_empty() {
                self.roster.send(number, &ToAgent::Admit(by, here));
            }
        }
        let ranks = admitted.iter().map(|(rank, _)| *rank).collect();
        self.roster.send_to_rank(by, &ToAgent::Spawned(by, ranks));
    }

    /// Tells the user of a rank without which the job goes on.
    fn report_loss(&mut self, lost: Rank, fault: Fault, left: u16) {
        self.output.close_rank(lost);
        let failure =
            failure(self.spec, &self.job, &self.output, (lost, fault), |rank| self.place(rank));
        self.output.say(&failure.borne_by(left));
        self.lost.push(failure);
    }

    /// Has the agents clean up that a job which is ending needs no more: others may be stuck.
    fn finish_hosts(&mut self) {
        for number in 0..self.roster.len() {
            let host = &self.roster[number];
            if !host.is_finishing
                && !host.is_lost
                && self.job.is_done_with(host.ranks.iter().copied())
            {
                self.roster[number].is_finishing = true;
                self.roster.send(number as u16, &ToAgent::Finish);
            }
        }
    }

    /// Stops until somebody says to continue. Agents are told, so that they do not take it for the
    /// end.
    fn stop(&mut self) {
        self.roster.branches.send_and_flush(&ToAgent::Pause);
        self.clock.pause(|| {
            // If it cannot be stopped it goes on, which is what it would do next.
            let _ = kill_process(getpid(), Signal::STOP);
        });
    }

    /// Has the agents clean up, writes what is left to write, and says how the job came out.
    fn finish(mut self) -> Result<JobOutcome, LaunchError> {
        let limit = self.clock.now() + KILL_LIMIT + FINISH_LIMIT;
        // Those that have been told before do not listen any more.
        self.roster.branches.send_all(&ToAgent::Finish);
        self.roster.iter_mut().for_each(|host| host.is_finishing = true);
        let working = |host: &Host| !host.is_lost && host.finished.is_none();
        while self.roster.iter().any(working) && self.clock.now() < limit {
            self.turn()?;
        }
        let finished = self.roster.iter().filter_map(|host| host.finished.as_ref());
        let stuck = finished.flatten().copied().collect();
        (0..self.job.ranks()).for_each(|rank| self.output.close_rank(Rank(rank)));
        let verdict = verdict(self.spec, &self.job, &self.output, |rank| self.place(rank));
        let outcome = conclude(verdict, stuck, &mut self.output, self.signals.as_mut())?;
        let roll_call = match self.reports_roll_call {
            true => lines(&self.standings(), self.job.ranks()),
            false => Vec::new(),
        };
        let hosts = self.roster.len() as u16;
        let recorded = self.spec.trace().map(|file| Recorded::in_parts(file, hosts));
        Ok(JobOutcome { lost: self.lost, roll_call, recorded, ..outcome })
    }

    /// The process of a rank, and its host.
    fn place(&self, rank: Rank) -> (u32, String) {
        let Some(host) = self.roster.host_of(rank) else { return Default::default() };
        let host = &self.roster[usize::from(host)];
        (host.process_of(rank).unwrap_or_default(), host.name.clone())
    }
}

#[cfg(test)]
mod tests;
