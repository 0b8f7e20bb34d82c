//! Running a job: one thread that waits for everything at once, and does what the job's state asks for.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use rustix::process::{Signal, getpid, kill_process};
use weft_wire::Rank;

use crate::channel::{self, ReceiveError};
use crate::job::{Action, Event, Job, Verdict as Judged};
use crate::messages::{ToLauncher, ToRank, Welcome};
use crate::orphans::Orphans;
use crate::outcome::{Failure, Outcome, Verdict};
use crate::output::{Kind, Output};
use crate::program::find_program;
use crate::signals::Signals;
use crate::spawn::{Process, Spawned, spawn};
use crate::spec::{JobSpec, LaunchError};
use weft_link_shm::{Supervisor, create_segments};

/// How long to wait before a welcome is sent again that the system refused.
const WELCOME_RETRY: Duration = Duration::from_millis(1);
/// Messages taken in from one rank before the others have their turn.
const MESSAGES_AT_ONCE: usize = 64;

/// Runs a job, and returns when nothing of it is left.
///
/// Blocks until then; the ranks die if the calling thread does. What went wrong in the job is in the
/// [`Outcome`]; what the ranks wrote has been written.
///
/// # Errors
/// [`LaunchError`] if the job could not be started or not be watched. Nothing of it is left then, either.
pub fn run(spec: &JobSpec) -> Result<Outcome, LaunchError> {
    spec.check()?;
    let path = std::env::var_os("PATH");
    let program = find_program(&spec.program, spec.beside.as_deref(), path.as_deref())?;
    let mut supervision = Supervision::start(spec, program)?;
    while !supervision.job.is_over() {
        supervision.step()?;
    }
    supervision.finish()
}

/// What there is to wait for, in the order in which it is attended to: wishes from outside before ends,
/// so that a rank which ends because it was told to is seen to do so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Signals,
    Channel(Rank),
    Stream(usize),
    Sink(usize),
    Exit(Rank),
}

/// The option that tells ranks how many cores the job has.
const CORES: &str = "cores";

#[derive(Debug)]
struct Supervision<'a> {
    spec: &'a JobSpec,
    job: Job,
    clock: Clock,
    processes: Vec<Process>,
    segments: Vec<OwnedFd>,
    supervisor: Supervisor,
    output: Output,
    signals: Option<Signals>,
    orphans: Option<Orphans>,
    /// Ranks that wait for their welcome because the system has too many descriptors under way.
    unwelcomed: BTreeSet<Rank>,
}

impl<'a> Supervision<'a> {
    fn start(spec: &'a JobSpec, program: PathBuf) -> Result<Self, LaunchError> {
        let settings = &spec.settings;
        let ranks = settings.ranks;
        let memory =
            |error| LaunchError::Memory { ranks, bytes: settings.segment_bytes() as u64, error };
        let segments = create_segments(settings).map_err(memory)?;
        let supervisor = Supervisor::attach(settings, &segments).map_err(memory)?;
        let output = Output::open(&spec.output, ranks)
            .map_err(|(path, error)| LaunchError::Output { path, error })?;
        let mut supervision = Supervision {
            spec,
            job: Job::new(ranks, spec.join_limit, spec.loss_grace),
            clock: Clock::start(),
            processes: Vec::new(),
            segments,
            supervisor,
            output,
            signals: spec.dedicated.then(Signals::collect).transpose()?,
            orphans: spec.dedicated.then(Orphans::adopt).transpose()?,
            unwelcomed: BTreeSet::new(),
        };
        for rank in 0..ranks {
            let failed = |error| LaunchError::Spawn { rank, ranks, error };
            let Spawned { process, out, err } =
                spawn(spec, &program, Rank(rank)).map_err(failed)?;
            supervision.processes.push(process);
            supervision.output.add_rank(&spec.output, out, err).map_err(failed)?;
        }
        Ok(supervision)
    }

    /// Waits for something to happen, and attends to all that has.
    fn step(&mut self) -> Result<(), LaunchError> {
        let mut ended = Vec::new();
        for source in self.wait()? {
            match source {
                Source::Signals => self.take_signals(),
                Source::Channel(rank) => self.take_messages(rank),
                Source::Stream(number) => self.output.read_some(number),
                Source::Sink(number) => {
                    if !self.output.write_some(number) {
                        self.handle(Event::OutputClosed);
                    }
                }
                Source::Exit(rank) => {
                    // What it said before it ended decides how its end is judged.
                    self.take_messages(rank);
                    let ending = self.processes[rank.index()].collect()?;
                    ended.extend(ending.map(|ending| (rank, ending)));
                }
            }
        }
        if !ended.is_empty() {
            self.handle(Event::Ended(ended));
        }
        self.job.timeout(self.clock.now());
        self.act();
        Ok(())
    }

    fn wait(&self) -> Result<Vec<Source>, LaunchError> {
        let waited_for = self.sources();
        let until = self.job.next_deadline().map(|at| at.saturating_sub(self.clock.now()));
        let retry = (!self.unwelcomed.is_empty()).then_some(WELCOME_RETRY);
        let timeout = [until, retry].into_iter().flatten().min();
        Ok(wait_for(&waited_for, timeout)?)
    }

    fn sources(&self) -> Vec<(Source, BorrowedFd<'_>)> {
        let mut sources = Vec::new();
        sources.extend(self.signals.iter().map(|s| (Source::Signals, s.waits_for().as_fd())));
        for (rank, process) in self.ranks() {
            sources.extend(process.channel.iter().map(|c| (Source::Channel(rank), c.as_fd())));
        }
        sources.extend(self.output.readable().map(|(n, pipe)| (Source::Stream(n), pipe.as_fd())));
        sources.extend(self.output.writable().map(|(n, sink)| (Source::Sink(n), sink.as_fd())));
        for (rank, process) in self.ranks().filter(|(_, process)| process.is_running()) {
            sources.push((Source::Exit(rank), process.exit.as_fd()));
        }
        sources
    }

    fn ranks(&self) -> impl Iterator<Item = (Rank, &Process)> {
        (0u16..).map(Rank).zip(&self.processes)
    }

    fn handle(&mut self, event: Event) {
        self.job.handle(self.clock.now(), event);
    }

    fn take_signals(&mut self) {
        for signal in self.signals.as_mut().map(Signals::take).unwrap_or_default() {
            match (signal, &self.orphans) {
                (Signal::CHILD, Some(orphans)) => {
                    let pid = |process: &Process| process.id().cast_signed();
                    orphans.reap(&self.processes.iter().map(pid).collect());
                }
                (Signal::CHILD, None) => {}
                (other, _) => self.handle(Event::Signal(other)),
            }
        }
    }

    fn take_messages(&mut self, rank: Rank) {
        for _ in 0..MESSAGES_AT_ONCE {
            let Some(channel) = &self.processes[rank.index()].channel else { return };
            let event = match channel::receive(channel, RecvFlags::DONTWAIT) {
                Ok(received) => event_of(rank, &received.bytes),
                Err(ReceiveError::System(Errno::AGAIN)) => return,
                Err(ReceiveError::Bad(bad)) => Event::BadMessage(rank, bad.to_string()),
                Err(ReceiveError::Closed | ReceiveError::System(_)) => {
                    self.processes[rank.index()].channel = None;
                    return;
                }
            };
            self.handle(event);
        }
    }

    fn act(&mut self) {
        for rank in std::mem::take(&mut self.unwelcomed) {
            self.welcome(rank);
        }
        while let Some(action) = self.job.next_action() {
            match action {
                Action::Welcome(rank) => self.welcome(rank),
                Action::AnnounceLoss { lost, cause } => {
                    self.supervisor.announce_loss(lost, cause.into());
                }
                Action::Signal(rank, signal) => self.processes[rank.index()].signal(signal),
                Action::StopSelf => self.clock.pause(|| {
                    // If it cannot be stopped it goes on, which is what it would do next.
                    let _ = kill_process(getpid(), Signal::STOP);
                }),
            }
        }
    }

    /// Gives a rank its place. Only now are its segments sent: descriptors under way are limited.
    fn welcome(&mut self, rank: Rank) {
        let Some(channel) = &self.processes[rank.index()].channel else { return };
        let Self { spec, segments, .. } = self;
        let mut options = spec.options.clone();
        // A rank that is bound to a core sees one; how long it may spin follows from all of them.
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        options.entry(CORES.into()).or_insert_with(|| cores.to_string());
        let welcome = ToRank::Welcome(Welcome { rank, settings: spec.settings, options });
        let segments: Vec<_> = segments.iter().map(OwnedFd::as_fd).collect();
        let sent = channel::send(channel, &welcome.emit(), &segments, SendFlags::DONTWAIT);
        // A rank that cannot be reached ends, or fails to join in time; either is noticed.
        if let Err(Errno::TOOMANYREFS | Errno::AGAIN) = sent {
            self.unwelcomed.insert(rank);
        }
    }

    /// Cleans up, writes what is left to write, and says how the job came out.
    fn finish(mut self) -> Result<Outcome, LaunchError> {
        let mut stuck: Vec<u32> = Vec::new();
        for process in &mut self.processes {
            if process.is_running() {
                process.give_up();
                stuck.push(process.id());
            }
        }
        if let Some(orphans) = &self.orphans {
            let left = orphans.end_all();
            stuck.extend(left.iter().map(|pid| pid.as_raw_pid().cast_unsigned()));
        }
        for rank in (0..self.spec.settings.ranks).map(Rank) {
            self.output.read_rest(rank, Kind::Out);
            self.output.read_rest(rank, Kind::Err);
            self.output.close_rank(rank);
        }
        let outcome = Outcome { verdict: self.verdict(), stuck };
        if !outcome.is_silent() {
            self.output.end_line();
        }
        self.write_rest()?;
        Ok(outcome)
    }

    /// Writes what is queued. How long that takes is up to whoever reads; a wish to stop ends it.
    fn write_rest(&mut self) -> Result<(), LaunchError> {
        while self.output.writable().next().is_some() {
            let mut waited_for: Vec<_> = Vec::new();
            waited_for
                .extend(self.signals.iter().map(|s| (Source::Signals, s.waits_for().as_fd())));
            waited_for
                .extend(self.output.writable().map(|(n, sink)| (Source::Sink(n), sink.as_fd())));
            for source in wait_for(&waited_for, None)? {
                match source {
                    Source::Sink(number) => {
                        self.output.write_some(number);
                    }
                    _ => {
                        let signals = self.signals.as_mut().map(Signals::take).unwrap_or_default();
                        if signals.contains(&Signal::INT) || signals.contains(&Signal::TERM) {
                            return Ok(());
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn verdict(&self) -> Verdict {
        let program = self.spec.program.to_string_lossy().into_owned();
        match self.job.verdict() {
            Judged::Completed => Verdict::Completed,
            Judged::NeverAsked => Verdict::NotWeft { program },
            Judged::Interrupted(signal) => Verdict::Interrupted { signal: signal.as_raw() },
            Judged::OutputClosed => Verdict::OutputClosed,
            Judged::Failed(rank, fault) => {
                let words = self.job.report(rank).or(self.output.last_words(rank));
                let uname = rustix::system::uname();
                Verdict::Failed(Box::new(Failure {
                    rank,
                    ranks: self.spec.settings.ranks,
                    process: self.processes[rank.index()].id(),
                    host: uname.nodename().to_string_lossy().into_owned(),
                    program,
                    fault,
                    last_words: words.map(str::to_owned),
                }))
            }
        }
    }
}

fn event_of(rank: Rank, bytes: &[u8]) -> Event {
    match ToLauncher::parse(bytes) {
        Ok(ToLauncher::Hello) => Event::Asked(rank),
        Ok(ToLauncher::Joined) => Event::Joined(rank),
        Ok(ToLauncher::Leaving) => Event::Leaving(rank),
        Ok(ToLauncher::Report(words)) => Event::Report(rank, words),
        Ok(ToLauncher::CannotStart(errno)) => Event::CannotStart(rank, errno),
        Err(bad) => Event::BadMessage(rank, bad.to_string()),
    }
}

/// Waits until one of these is ready or the time is over, and returns those that are.
fn wait_for(
    sources: &[(Source, BorrowedFd<'_>)],
    timeout: Option<Duration>,
) -> io::Result<Vec<Source>> {
    let flags = |source| match source {
        Source::Sink(_) => PollFlags::OUT,
        _ => PollFlags::IN,
    };
    let mut polled: Vec<_> =
        sources.iter().map(|(source, fd)| PollFd::from_borrowed_fd(*fd, flags(*source))).collect();
    let timeout = timeout.map(|duration| Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(duration.subsec_nanos()),
    });
    match poll(&mut polled, timeout.as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let ready = sources.iter().zip(&polled).filter(|(_, polled)| !polled.revents().is_empty());
    Ok(ready.map(|((source, _), _)| *source).collect())
}

/// Time since the job began, without the time that the launcher was stopped.
#[derive(Debug)]
struct Clock {
    began: Instant,
    paused: Duration,
}

impl Clock {
    fn start() -> Self {
        Clock { began: Instant::now(), paused: Duration::ZERO }
    }

    fn now(&self) -> Duration {
        self.began.elapsed().saturating_sub(self.paused)
    }

    fn pause(&mut self, pause: impl FnOnce()) {
        let before = Instant::now();
        pause();
        self.paused += before.elapsed();
    }
}
