//! Running a job on several hosts: the launcher's side.

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::io::{read, retry_on_intr};
use rustix::process::{Signal, getpid, kill_process};
use weft_wire::Rank;

use super::layout::{HostsSpec, Layout};
use super::remote::{Remote, Remotes};
use super::start::{Started, Stop, start};
use super::{BEAT, FLUSH_LIMIT, LOOK};
use crate::clock::Clock;
use crate::job::{Action, Event, Job, KILL_LIMIT};
use crate::limits::allow_descriptors;
use crate::messages::hosts::{FromAgent, ToAgent};
use crate::outcome::{Outcome, Verdict};
use crate::output::Output;
use crate::signals::Signals;
use crate::spec::{JobSpec, LaunchError};
use crate::supervise::{conclude, verdict};
use crate::wait::{Waited, wait_for};

/// Bytes read at once of what rank 0 is to read.
const INPUT_BYTES: usize = 16 * 1024;
/// Longest time for agents to clean up, beside what killed processes take to disappear.
const FINISH_LIMIT: Duration = Duration::from_secs(5);

/// Runs a job on several hosts, and returns when nothing of it is left on those that can be
/// reached. The number of ranks in `spec.settings` is not looked at. `announce` is told where the
/// ranks are before they are started.
///
/// Blocks until then. What went wrong in the job is in the [`Outcome`].
///
/// # Errors
/// [`LaunchError`] if the job could not be started on every host. Nothing of it is left then,
/// either.
pub fn run_on_hosts(
    spec: &JobSpec,
    hosts: &HostsSpec,
    announce: impl FnOnce(&Layout),
) -> Result<Outcome, LaunchError> {
    if spec.dedicated {
        allow_descriptors(hosts.hosts.len());
    }
    let signals = spec.dedicated.then(Signals::collect).transpose()?;
    let started = match start(spec, hosts, signals, announce) {
        Ok(started) => started,
        Err(Stop::Failed(error)) => return Err(error),
        Err(Stop::Signal(signal)) => {
            let verdict = Verdict::Interrupted { signal: signal.as_raw() };
            return Ok(Outcome { verdict, stuck: Vec::new(), output_lost: false });
        }
    };
    let mut conductor = Conductor::new(spec, started)?;
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
    Agent(usize),
    ToAgent(usize),
    Complaints(usize),
    Sink(usize),
    Input,
}

/// Standard input of rank 0, which is passed on a piece at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Input {
    /// The next piece may be read.
    Open,
    /// Rank 0 has yet to take the last piece.
    Under,
    /// There is nothing more, or never was.
    Ended,
}

struct Conductor<'a> {
    spec: &'a JobSpec,
    job: Job,
    clock: Clock,
    ticked_at: Duration,
    beat_at: Duration,
    remotes: Remotes,
    output: Output,
    signals: Option<Signals>,
    input: Input,
}

impl<'a> Conductor<'a> {
    fn new(spec: &'a JobSpec, started: Started) -> Result<Self, LaunchError> {
        let Started { layout, remotes, signals } = started;
        let ranks = layout.ranks();
        let mut output = Output::open(&spec.output, ranks)
            .map_err(|(path, error)| LaunchError::Output { path, error })?;
        (0..ranks).for_each(|_| output.add_remote_rank(&spec.output));
        Ok(Conductor {
            spec,
            job: Job::new(ranks, spec.join_limit, spec.loss_grace),
            clock: Clock::start(),
            ticked_at: Duration::ZERO,
            beat_at: Duration::ZERO,
            remotes,
            output,
            signals,
            input: if io::stdin().is_terminal() { Input::Ended } else { Input::Open },
        })
    }

    /// Takes in what agents said, and that they ended, when others were still listened to: nothing
    /// more may come that would tell.
    fn catch_up(&mut self) {
        (0..self.remotes.len()).for_each(|number| self.hear(number));
        self.act();
    }

    /// Waits for something to happen, and attends to all that has.
    fn step(&mut self) -> Result<(), LaunchError> {
        self.turn()?;
        self.job.timeout(self.clock.now());
        self.act();
        Ok(())
    }

    fn turn(&mut self) -> Result<(), LaunchError> {
        let until = self.job.next_deadline().map(|at| at.saturating_sub(self.clock.now()));
        let timeout = until.map_or(LOOK, |until| until.min(LOOK));
        for source in wait_for(&self.sources(), Some(timeout))? {
            match source {
                Source::Signals => self.take_signals(),
                Source::Agent(number) => self.hear(number),
                Source::ToAgent(number) => self.remotes[number].stream.write_some(),
                Source::Complaints(number) => self.remotes[number].hear_complaints(),
                Source::Sink(number) => {
                    if !self.output.write_some(number) {
                        self.handle(Event::OutputClosed);
                    }
                }
                Source::Input => self.read_input(),
            }
        }
        self.acknowledge_output();
        self.tick();
        Ok(())
    }

    fn sources(&self) -> Vec<Waited<'_, Source>> {
        use PollFlags as For;
        let mut all = Vec::new();
        let signals = self.signals.iter();
        all.extend(signals.map(|s| (Source::Signals, s.waits_for().as_fd(), For::IN)));
        for (number, remote) in self.remotes.iter().enumerate().filter(|(_, r)| !r.is_lost) {
            let from = remote.stream.readable().into_iter();
            all.extend(from.map(|from| (Source::Agent(number), from.as_fd(), For::IN)));
            let to = remote.stream.writable().into_iter();
            all.extend(to.map(|to| (Source::ToAgent(number), to.as_fd(), For::OUT)));
            let complaints = remote.complaints.iter();
            all.extend(complaints.map(|from| (Source::Complaints(number), from.as_fd(), For::IN)));
        }
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
            if signal != Signal::CHILD {
                self.handle(Event::Signal(signal));
            }
        }
    }

    /// Takes in what an agent has said.
    fn hear(&mut self, number: usize) {
        let remote = &mut self.remotes[number];
        remote.silent = Duration::ZERO;
        let mut wrong = remote.stream.read_some().err().map(|bad| bad.to_string());
        while wrong.is_none()
            && let Some(message) = self.remotes[number].take()
        {
            wrong = match message {
                Ok(message) => self.heard(number, message).err(),
                Err(bad) => Some(bad.to_string()),
            };
        }
        let remote = &mut self.remotes[number];
        if let Some(wrong) = wrong {
            self.lose(number, format!("its agent's message is unusable: {wrong}"));
        } else if remote.stream.readable().is_none() && remote.finished.is_none() {
            let why = remote.explain_end();
            self.lose(number, why);
        }
    }

    /// Takes in one message of an agent, which may speak for its own ranks only.
    fn heard(&mut self, number: usize, message: FromAgent) -> Result<(), String> {
        let remote = &mut self.remotes[number];
        let has = |rank: &Rank| {
            if remote.has(*rank) { Ok(()) } else { Err(format!("rank {rank} is not there")) }
        };
        match message {
            FromAgent::Event(event) => {
                event.ranks().iter().try_for_each(has)?;
                self.handle(event);
            }
            FromAgent::Output(rank, kind, bytes) => {
                has(&rank)?;
                remote.owed_bytes += bytes.len() as u32;
                self.output.take_in(rank, kind, &bytes);
            }
            FromAgent::InputTaken if number == 0 && self.input == Input::Under => {
                self.input = Input::Open;
            }
            FromAgent::InputTaken | FromAgent::Beat => {}
            FromAgent::Finished(stuck) => remote.finished = Some(stuck),
            FromAgent::Refused(why) => return Err(why),
            FromAgent::Ready { .. }
            | FromAgent::Bound(..)
            | FromAgent::Met { .. }
            | FromAgent::Started(_) => return Err("it is out of order".into()),
        }
        Ok(())
    }

    /// A host is gone, and its ranks with it.
    fn lose(&mut self, number: usize, why: String) {
        let remote = &mut self.remotes[number];
        remote.is_lost = true;
        remote.stream.close();
        let ranks = remote.ranks().collect();
        self.handle(Event::HostLost(ranks, why));
    }

    /// Lets agents send on what they hold back, as far as there is room for it.
    fn acknowledge_output(&mut self) {
        if !self.output.has_room() {
            return;
        }
        for remote in self.remotes.iter_mut().filter(|remote| remote.owed_bytes > 0) {
            let owed = std::mem::take(&mut remote.owed_bytes);
            remote.send(&ToAgent::Taken(owed));
        }
    }

    /// From time to time: says that the launcher is there, and looks who has not said so for long.
    fn tick(&mut self) {
        let elapsed = self.clock.now().saturating_sub(self.ticked_at);
        if elapsed < LOOK {
            return;
        }
        self.ticked_at = self.clock.now();
        let beats = self.ticked_at.saturating_sub(self.beat_at) >= BEAT;
        if beats {
            self.beat_at = self.ticked_at;
        }
        for number in 0..self.remotes.len() {
            let remote = &mut self.remotes[number];
            if remote.is_lost || remote.finished.is_some() {
                continue;
            }
            if beats && remote.stream.is_flushed() {
                remote.send(&ToAgent::Beat);
            }
            let limit = self.spec.silence;
            if remote.has_been_silent(elapsed, limit) {
                let seconds = limit.as_secs_f64();
                self.lose(number, format!("nothing has been heard of it for {seconds} s"));
            }
        }
    }

    fn read_input(&mut self) {
        let mut bytes = vec![0; INPUT_BYTES];
        let count = retry_on_intr(|| read(rustix::stdio::stdin(), &mut bytes)).unwrap_or(0);
        bytes.truncate(count);
        self.input = if count == 0 { Input::Ended } else { Input::Under };
        self.remotes[0].send(&ToAgent::Input(bytes));
    }

    fn act(&mut self) {
        while let Some(action) = self.job.next_action() {
            match action {
                Action::Welcome(rank) => self.send(rank, &ToAgent::Welcome(rank)),
                Action::AnnounceLoss { lost, cause } => {
                    self.remotes
                        .iter_mut()
                        .for_each(|remote| remote.send(&ToAgent::Loss(lost, cause)));
                }
                Action::Signal(rank, signal) => self.send(rank, &ToAgent::Signal(rank, signal)),
                Action::StopSelf => self.stop(),
            }
        }
    }

    fn send(&mut self, rank: Rank, message: &ToAgent) {
        if let Some(remote) = self.remotes.iter_mut().find(|remote| remote.has(rank)) {
            remote.send(message);
        }
    }

    /// Stops until somebody says to continue. Agents are told, so that they do not take it for the
    /// end.
    fn stop(&mut self) {
        for remote in self.remotes.iter_mut() {
            remote.send(&ToAgent::Pause);
            // An agent that does not take it finds the launcher silent, which it bears for a while.
            let _ = remote.stream.flush(FLUSH_LIMIT);
        }
        self.clock.pause(|| {
            // If it cannot be stopped it goes on, which is what it would do next.
            let _ = kill_process(getpid(), Signal::STOP);
        });
    }

    /// Has the agents clean up, writes what is left to write, and says how the job came out.
    fn finish(mut self) -> Result<Outcome, LaunchError> {
        let limit = self.clock.now() + KILL_LIMIT + FINISH_LIMIT;
        self.remotes.iter_mut().for_each(|remote| remote.send(&ToAgent::Finish));
        let working = |remote: &Remote| !remote.is_lost && remote.finished.is_none();
        while self.remotes.iter().any(working) && self.clock.now() < limit {
            self.turn()?;
        }
        let finished = self.remotes.iter().filter_map(|remote| remote.finished.as_ref());
        let stuck = finished.flatten().copied().collect();
        (0..self.job.ranks()).for_each(|rank| self.output.close_rank(Rank(rank)));
        let verdict = verdict(self.spec, &self.job, &self.output, |rank| self.place(rank));
        conclude(verdict, stuck, &mut self.output, self.signals.as_mut())
    }

    /// The process of a rank, and its host.
    fn place(&self, rank: Rank) -> (u32, String) {
        let Some(remote) = self.remotes.iter().find(|remote| remote.has(rank)) else {
            return Default::default();
        };
        let index = rank.index() - usize::from(remote.first);
        (remote.processes.get(index).copied().unwrap_or_default(), remote.name.clone())
    }
}

#[cfg(test)]
mod tests;
