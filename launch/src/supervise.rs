//! Running a job: one thread that waits for everything at once, and does what the job's state asks
//! for.

use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::event::PollFlags;
use rustix::process::{Signal, getpid, kill_process};
use weft_wire::Rank;

use crate::access::{Access, Bound, bind_sockets};
use crate::clock::Clock;
use crate::crew::{Crew, Part};
use crate::door::{AtDoor, Door, DoorFile, DoorNews};
use crate::error::LaunchError;
use crate::job::{Action, EndCause, Job};
use crate::job_roll::JobRoll;
use crate::limits::allow_descriptors;
use crate::messages::hosts::StandardStream;
use crate::messages::{
    Event, JobNetwork, Message as _, Snapshot, Standing, ToRank, Visitor, draw_job,
};
use crate::mtu::Mtu;
use crate::outcome::{Failure, Fault, JobOutcome, Verdict};
use crate::output::Output;
use crate::program::Found;
use crate::progress::{OnDeadlock, ProgressWatch};
use crate::queries::{QuerySockets, Question, answer_all, share_memory};
use crate::recording::{self, Recording, describe_job};
use crate::roll::{TakenStacks, add_stacks, deadlocked_for, lines};
use crate::signals::Signals;
use crate::spawn::stdin_of_first;
use crate::spec::{BulkWish, JobSpec};
use crate::this_host;
use crate::wait::{Waited, wait_for};

/// Runs a job, and returns when nothing of it is left. `announce` is called once its ranks have
/// been started: all that can be found before has been.
///
/// Blocks until then; the ranks die if the calling thread does. The job's errors are in the
/// [`JobOutcome`]; the output of the ranks has been written.
///
/// # Errors
/// [`LaunchError`] if the job could not be started or not be watched. Nothing of it is left then,
/// either.
pub fn run(spec: &JobSpec, announce: impl FnOnce()) -> Result<JobOutcome, LaunchError> {
    spec.check()?;
    spec.check_directory()?;
    let all: Vec<Rank> = (0..spec.settings.ranks).map(Rank).collect();
    let programs = spec.find_programs(&all)?;
    let mut supervision = Supervision::start(spec, &programs)?;
    announce();
    while !supervision.job.is_over() {
        supervision.step()?;
    }
    supervision.finish()
}

/// Sources of events to wait for, in the order in which they are attended to: wishes from outside
/// before ends, so that a rank which ends because it was told to is seen to do so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Signals,
    Query(Question),
    Door(AtDoor),
    Channel(Rank),
    Stream(usize),
    Sink(usize),
    Exit(Rank),
}

#[derive(Debug)]
struct Supervision<'a> {
    spec: &'a JobSpec,
    programs: &'a Found,
    job: Job,
    clock: Clock,
    crew: Crew<'a>,
    output: Output,
    signals: Option<Signals>,
    /// Places where others ask how the job stands.
    queries: QuerySockets,
    /// The file that says where the door is, while the job runs.
    _door_file: Option<DoorFile>,
    /// Trace of the ranks, if it is wanted.
    recording: Option<Recording>,
    progress: ProgressWatch,
    /// Ranks without which the job has gone on.
    lost: Vec<Failure>,
    /// Activities of the ranks when the job was to end, in lines.
    roll_call_lines: Vec<String>,
}

impl<'a> Supervision<'a> {
    fn start(spec: &'a JobSpec, programs: &'a Found) -> Result<Self, LaunchError> {
        let ranks = spec.settings.ranks;
        if spec.dedicated {
            allow_descriptors(ranks.into());
        }
        let mut output = Output::open(&spec.output, ranks)
            .map_err(|(path, error)| LaunchError::Output { path, error })?;
        let create = |path: &Path| {
            let run = describe_job(spec, vec![this_host::name(); ranks.into()], 0);
            let failed = |error| LaunchError::Trace { path: path.to_owned(), error };
            let spared = Recording::check_spared(programs, path);
            spared.and_then(|()| Recording::create(path, &run)).map_err(failed)
        };
        let recording = spec.trace().map(create).transpose()?;
        let signals = spec.dedicated.then(Signals::collect).transpose()?;
        let queries = QuerySockets::open(spec.dedicated, &Question::ALL);
        let here = (0..ranks).map(Rank).collect();
        let key = spec.draw_door()?;
        let door = key.as_ref().map(Door::open).transpose()?;
        let part = Part { here, founders: spec.founders(), network: network(spec)?, door };
        let (crew, pipes) = Crew::start(spec, programs, part, stdin_of_first()?)?;
        for (rank, (out, err)) in (0..).zip(pipes) {
            let failed = |error| LaunchError::Spawn { rank, ranks, error };
            output.add_rank(&spec.output, out, err).map_err(failed)?;
        }
        let job = Job::new(
            (spec.founders(), spec.vacant),
            spec.join_limit,
            spec.loss_grace,
            spec.on_loss(),
        )
        .limited_to(spec.time_limit);
        let door_file = spec.show_door(key.as_ref())?;
        Ok(Supervision {
            spec,
            programs,
            job,
            clock: Clock::start(),
            crew,
            output,
            signals,
            queries,
            _door_file: door_file,
            recording,
            progress: ProgressWatch::new(spec.progress_limit),
            lost: Vec::new(),
            roll_call_lines: Vec::new(),
        })
    }

    /// Waits for something to happen, and attends to all that has.
    fn step(&mut self) -> Result<(), LaunchError> {
        let mut ended = Vec::new();
        for source in self.wait()? {
            match source {
                Source::Signals => self.take_signals(),
                Source::Query(question) => self.answer(question),
                Source::Door(at) => self.attend(at),
                Source::Channel(rank) => self.take_messages(rank),
                Source::Stream(number) => self.output.read_some(number),
                Source::Sink(number) => {
                    if !self.output.write_some(number) {
                        self.handle(Event::OutputClosed);
                    }
                }
                Source::Exit(rank) => {
                    // Its last message before it ended decides how its end is judged.
                    self.take_messages(rank);
                    let ending = self.crew.collect(rank)?;
                    ended.extend(ending.map(|ending| (rank, ending)));
                }
            }
        }
        if !ended.is_empty() {
            self.handle(Event::Ended(ended));
        }
        self.crew.reap();
        if let Some(recording) = &mut self.recording {
            recording.take(self.crew.traces(), false);
        }
        self.end_in_time();
        self.check_for_deadlock();
        self.act();
        Ok(())
    }

    /// Takes in how late it is. What the ranks did when the job had no more time is said at its
    /// end.
    fn end_in_time(&mut self) {
        let now = self.clock.now();
        if self.job.is_out_of_time(now) {
            self.roll_call_lines = lines(&self.roll_call(), self.crew.started());
        }
        self.job.timeout(now);
    }

    /// Looks if the ranks wait for one another, if it is time to.
    fn check_for_deadlock(&mut self) {
        let now = self.clock.now();
        if !self.progress.is_due(now) {
            return;
        }
        let ranks = self.crew.started();
        if !self.progress.checked(now, deadlocked_for(&self.crew.roll_call(), ranks)) {
            return;
        }
        let roll_call_lines = lines(&self.roll_call(), ranks);
        match self.spec.on_deadlock {
            OnDeadlock::Report => roll_call_lines.iter().for_each(|line| eprintln!("weft: {line}")),
            OnDeadlock::End => {
                self.roll_call_lines = roll_call_lines;
                self.handle(Event::Deadlock);
            }
        }
    }

    fn wait(&self) -> Result<Vec<Source>, LaunchError> {
        let until = self.job.next_deadline().map(|at| at.saturating_sub(self.clock.now()));
        let look = self.progress.next_check().map(|at| at.saturating_sub(self.clock.now()));
        let record = self.recording.as_ref().map(|_| recording::EVERY);
        let all = [until, look, self.crew.retry_after(), record];
        let timeout = all.into_iter().flatten().min();
        Ok(wait_for(&self.sources(), timeout)?)
    }

    fn sources(&self) -> Vec<Waited<'_, Source>> {
        use PollFlags as For;
        let mut all = Vec::new();
        let signals = self.signals.iter();
        all.extend(signals.map(|s| (Source::Signals, s.waits_for().as_fd(), For::IN)));
        let queries = self.queries.waits_for();
        all.extend(queries.map(|(asked, socket)| (Source::Query(asked), socket, For::IN)));
        let door = self.crew.at_door();
        all.extend(door.map(|(at, fd, flags)| (Source::Door(at), fd, flags)));
        let roll_call_lines = self.crew.channels();
        all.extend(roll_call_lines.map(|(rank, fd)| (Source::Channel(rank), fd.as_fd(), For::IN)));
        let written = self.output.readable();
        all.extend(written.map(|(n, pipe)| (Source::Stream(n), pipe.as_fd(), For::IN)));
        let sinks = self.output.writable();
        all.extend(sinks.map(|(n, sink)| (Source::Sink(n), sink.as_fd(), For::OUT)));
        let ends = self.crew.exits();
        all.extend(ends.map(|(rank, exit)| (Source::Exit(rank), exit.as_fd(), For::IN)));
        all
    }

    fn handle(&mut self, event: Event) {
        self.job.handle(self.clock.now(), event);
    }

    fn take_signals(&mut self) {
        for signal in self.signals.as_mut().map(Signals::take).unwrap_or_default() {
            if let Signal::INT | Signal::TERM | Signal::QUIT = signal
                && self.roll_call_lines.is_empty()
            {
                self.roll_call_lines = lines(&self.roll_call(), self.crew.started());
            }
            if signal != Signal::CHILD {
                self.handle(Event::Signal(signal));
            }
        }
    }

    /// Standing of all ranks, of some with their stacks.
    fn roll_call(&self) -> Vec<Standing> {
        let mut all = self.crew.roll_call();
        if let Some(stacks_of) = self.spec.stacks_of {
            let taken = TakenStacks::of(&all, stacks_of);
            add_stacks(&mut all, taken.name());
        }
        all
    }

    /// Answers those who ask how the job stands.
    fn answer(&self, question: Question) {
        let clients = self.queries.clients(question);
        if clients.is_empty() {
            // A stranger's knock costs the ranks nothing.
            return;
        }
        let bytes = match question {
            Question::Why => self.job_roll().emit(),
            Question::Snapshot => self.snapshot().emit(),
            Question::Memory => {
                let (message, memory) = self.crew.memory();
                return share_memory(&clients, &message, memory);
            }
            // Of agents: the launcher is here.
            Question::Place => return,
        };
        answer_all(clients, &bytes);
    }

    fn job_roll(&self) -> JobRoll {
        JobRoll {
            ranks: self.crew.started(),
            program: self.spec.program_name(),
            time: self.clock.now(),
            standings: self.roll_call(),
        }
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            program: self.spec.program_name(),
            seconds: self.clock.now().as_secs_f64(),
            ranks: self.crew.snapshot(),
        }
    }

    fn take_messages(&mut self, rank: Rank) {
        for event in self.crew.take_messages(rank) {
            self.handle(event);
        }
    }

    fn act(&mut self) {
        self.crew.welcome_again();
        while let Some(action) = self.job.next_action() {
            match action {
                Action::Welcome(rank) => self.crew.welcome(rank),
                Action::AnnounceLoss { lost, cause } => self.crew.announce_loss(lost, cause),
                Action::ReportLoss { lost, fault, left } => self.report_loss(lost, fault, left),
                Action::Signal(rank, signal) => self.crew.signal(rank, signal),
                Action::Spawn { by, ranks } => self.spawn(by, ranks),
                Action::RefuseSpawn { by, left } => self.crew.answer(by, &ToRank::NoRoom(left)),
                Action::Admit { by, admitted } => self.admit(by, &admitted),
                Action::Forget(visitor) => self.crew.forget(visitor.number),
                Action::StopSelf => self.clock.pause(|| {
                    // If it cannot be stopped it goes on, which is what it would do next.
                    let _ = kill_process(getpid(), Signal::STOP);
                }),
            }
        }
    }

    /// Starts ranks that rank `by` has asked for, and tells it.
    fn spawn(&mut self, by: Rank, ranks: Vec<Rank>) {
        for &rank in &ranks {
            let started = self.crew.spawn(self.programs, by);
            let added =
                started.and_then(|(out, err)| self.output.add_rank(&self.spec.output, out, err));
            if let Err(error) = added {
                let events = Event::not_started(rank, &error);
                return events.into_iter().for_each(|event| self.handle(event));
            }
        }
        self.crew.answer(by, &ToRank::Spawned(ranks));
    }

    /// Attends to what happens at the door.
    fn attend(&mut self, at: AtDoor) {
        let here = |number| Visitor { host: 0, number };
        match self.crew.attend(at) {
            Some(DoorNews::Knocked(number)) => self.handle(Event::Knocked(here(number))),
            Some(DoorNews::Gone(number)) => self.handle(Event::WentAway(here(number))),
            None => {}
        }
    }

    /// Lets visitors in as these ranks, and tells rank `by`. What they write goes where it went.
    fn admit(&mut self, by: Rank, admitted: &[(Rank, Visitor)]) {
        for (rank, visitor) in admitted {
            if let Err(error) = self.crew.admit(visitor.number, by) {
                let events = Event::not_started(*rank, &error);
                return events.into_iter().for_each(|event| self.handle(event));
            }
            self.output.add_remote_rank(&self.spec.output);
        }
        let ranks = admitted.iter().map(|(rank, _)| *rank).collect();
        self.crew.answer(by, &ToRank::Spawned(ranks));
    }

    /// Tells the user of a rank without which the job goes on.
    fn report_loss(&mut self, lost: Rank, fault: Fault, left: u16) {
        self.end_output(lost);
        let failure =
            failure(self.spec, &self.job, &self.output, (lost, fault), |rank| self.place(rank));
        self.output.say(&failure.borne_by(left));
        self.lost.push(failure);
    }

    /// Takes in all that a rank, which has ended, has written.
    fn end_output(&mut self, rank: Rank) {
        self.output.read_rest(rank, StandardStream::Out);
        self.output.read_rest(rank, StandardStream::Err);
        self.output.close_rank(rank);
    }

    /// Cleans up, writes what is left to write, and says how the job came out.
    fn finish(mut self) -> Result<JobOutcome, LaunchError> {
        let recorded = self.recording.take().map(|mut recording| {
            recording.take(self.crew.traces(), true);
            recording.finish()
        });
        let stuck = self.crew.clean_up();
        (0..self.crew.started()).for_each(|rank| self.end_output(Rank(rank)));
        let verdict = verdict(self.spec, &self.job, &self.output, |rank| self.place(rank));
        let outcome = conclude(verdict, stuck, &mut self.output, self.signals.as_mut())?;
        let (lost, roll_call) = (self.lost, self.roll_call_lines);
        Ok(JobOutcome { lost, roll_call, recorded, ..outcome })
    }

    /// The process of a rank, and its host.
    fn place(&self, rank: Rank) -> (u32, String) {
        let process = self.crew.process_ids().nth(rank.index()).unwrap_or_default();
        (process, this_host::name())
    }
}

/// Verdict on a job that is over. `place` says which process a rank was, and on which host.
pub(crate) fn verdict(
    spec: &JobSpec,
    job: &Job,
    output: &Output,
    place: impl FnOnce(Rank) -> (u32, String),
) -> Verdict {
    match job.end_cause() {
        EndCause::Completed => Verdict::Completed,
        EndCause::NotWeft => Verdict::NotWeft { program: spec.program_name() },
        EndCause::Interrupted(signal) => Verdict::Interrupted { signal: signal.as_raw() },
        EndCause::Deadlocked => Verdict::Deadlocked,
        EndCause::OutOfTime(limit) => Verdict::OutOfTime { limit },
        EndCause::OutputClosed => Verdict::OutputClosed,
        EndCause::Failed(rank, fault) => {
            Verdict::Failed(Box::new(failure(spec, job, output, (rank, fault), place)))
        }
    }
}

/// The particulars of a rank with this fault. `place` says which process it was, and on which host.
pub(crate) fn failure(
    spec: &JobSpec,
    job: &Job,
    output: &Output,
    (rank, fault): (Rank, Fault),
    place: impl FnOnce(Rank) -> (u32, String),
) -> Failure {
    let words = job.report(rank).or(output.last_words(rank));
    let (process, host) = place(rank);
    let program = spec.command_of(rank).0.to_string_lossy().into_owned();
    let (ranks, last_words) = (job.ranks(), words.map(str::to_owned));
    Failure { rank, ranks, process, host, program, fault, last_words }
}

/// A network of this host alone, if it was asked for.
fn network(spec: &JobSpec) -> Result<Option<(JobNetwork, Vec<Access>)>, LaunchError> {
    if !spec.sockets {
        return Ok(None);
    }
    let ranks = spec.settings.ranks;
    let (sockets, addresses): (Vec<_>, _) =
        bind_sockets(Ipv4Addr::LOCALHOST.into(), ranks, spec.bulk != BulkWish::Datagrams)?
            .into_iter()
            .unzip();
    let bulk = sockets.iter().all(|(_, listener)| listener.is_some());
    let access = |(socket, listener): Bound| Access::Udp(socket, listener.filter(|_| bulk));
    let sockets = sockets.into_iter().map(access).collect();
    let (job, secret) = draw_job()?;
    let hosts = vec![0; ranks.into()];
    let mtu = spec.mtu.unwrap_or(Mtu::USUAL);
    Ok(Some((
        JobNetwork {
            job,
            secret,
            protection: spec.protection,
            mtu,
            addresses,
            hosts,
            ethernet: None,
            copied: false,
            bulk,
        },
        sockets,
    )))
}

/// Outcome of a job of which nothing is left but its output, which this writes.
pub(crate) fn conclude(
    verdict: Verdict,
    stuck: Vec<u32>,
    output: &mut Output,
    signals: Option<&mut Signals>,
) -> Result<JobOutcome, LaunchError> {
    let mut outcome = JobOutcome { stuck, ..JobOutcome::of(verdict) };
    if !outcome.is_silent() {
        output.end_line();
    }
    write_rest(output, signals)?;
    outcome.output_lost = output.is_lost();
    Ok(outcome)
}

/// Writes what is queued. How long that takes is up to whoever reads; a wish to stop ends it.
fn write_rest(output: &mut Output, mut signals: Option<&mut Signals>) -> Result<(), LaunchError> {
    while output.writable().next().is_some() {
        let mut waited_for = Vec::new();
        let wishes = signals.iter();
        waited_for.extend(wishes.map(|s| (Source::Signals, s.waits_for().as_fd(), PollFlags::IN)));
        let sinks = output.writable();
        waited_for.extend(sinks.map(|(n, sink)| (Source::Sink(n), sink.as_fd(), PollFlags::OUT)));
        for source in wait_for(&waited_for, None)? {
            match source {
                Source::Sink(number) => {
                    output.write_some(number);
                }
                _ => {
                    let signals =
                        signals.as_mut().map(|signals| signals.take()).unwrap_or_default();
                    if signals.contains(&Signal::INT) || signals.contains(&Signal::TERM) {
                        return Ok(());
                    }
                }
            }
        }
    }
    Ok(())
}
