//! Ranks of an agent: what they do, say and write goes to the launcher, and what that asks for is
//! done to them.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::io::{Errno, read, retry_on_intr, write};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Signal;
use weft_wire::Rank;

use super::error::AgentError;
use super::naming::Namings;
use super::uplink::Uplink;
use crate::clock::Clock;
use crate::crew::{Crew, Part, Pipes};
use crate::door::{AtDoor, DoorNews};
use crate::hosts::liveness::HEARTBEAT;
use crate::hosts::window::Window;
use crate::messages::hosts::{FromAgent, StandardStream, ToAgent};
use crate::messages::{BadMessage, Event, LauncherPlace, Message as _, ToRank};
use crate::output::{LAST_BYTES_MAX, READ_BYTES};
use crate::program::Found;
use crate::queries::{QuerySockets, Question, answer_all};
use crate::recording::{self, Recording};
use crate::roll::{StacksOf, TakenStacks};
use crate::signals::Signals;
use crate::spec::JobSpec;
use crate::wait::{Waited, make_nonblocking, wait_for};

/// Sources of events, to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Signals,
    Query(Question),
    Launcher,
    ToLauncher,
    Naming(usize),
    Door(AtDoor),
    Channel(Rank),
    Stream(usize),
    Input,
    Exit(Rank),
}

/// A rank's standard output or standard error.
struct Pipe {
    rank: Rank,
    kind: StandardStream,
    /// `None` once everybody has closed it.
    from: Option<OwnedFd>,
}

/// Standard input of rank 0, if it is here.
#[derive(Default)]
struct Input {
    /// `None` once nothing more comes, or nobody reads.
    to: Option<OwnedFd>,
    pending: Vec<u8>,
}

/// The ranks of an agent, which have been started.
pub(super) struct Supervision<'a> {
    uplink: &'a mut Uplink,
    signals: Signals,
    programs: &'a Found,
    crew: Crew<'a>,
    pipes: Vec<Pipe>,
    input: Input,
    window: Window,
    clock: Clock,
    heartbeat_at: Duration,
    finishing: bool,
    stacks_of: Option<StacksOf>,
    /// Stacks of ranks here that are to be sent.
    namings: Namings,
    /// Part of the job's trace, if that is wanted.
    recording: Option<Recording>,
    /// Place where others ask about the job, and what they are told.
    queries: QuerySockets,
    launcher: LauncherPlace,
}

impl<'a> Supervision<'a> {
    /// Starts the ranks.
    pub fn start(
        uplink: &'a mut Uplink,
        signals: Signals,
        spec: &'a JobSpec,
        programs: &'a Found,
        part: Part,
        recording: Option<Recording>,
        launcher: LauncherPlace,
    ) -> Result<Self, AgentError> {
        let here = part.here.clone();
        let hosts = part.network.as_ref().map_or(1, |(network, _)| network.host_count());
        let (stdin, to) = match here.first() {
            Some(Rank(0)) => pipe_with(PipeFlags::CLOEXEC)
                .map(|(from, to)| (from, Some(to)))
                .map_err(io::Error::from)?,
            _ => (File::open("/dev/null")?.into(), None),
        };
        to.as_ref().map(make_nonblocking).transpose()?;
        let (crew, pipes) = Crew::start(spec, programs, part, stdin)?;
        let pipes = here.into_iter().zip(pipes).map(pipes_of).collect::<io::Result<Vec<_>>>()?;
        uplink.send(&FromAgent::Started(crew.process_ids().collect()));
        Ok(Supervision {
            uplink,
            signals,
            programs,
            crew,
            pipes: pipes.into_iter().flatten().collect(),
            input: Input { to, pending: Vec::new() },
            window: Window::of_each(hosts),
            clock: Clock::start(),
            heartbeat_at: Duration::ZERO,
            finishing: false,
            stacks_of: spec.stacks_of,
            namings: Namings::default(),
            recording,
            queries: QuerySockets::open(true, &[Question::Place]),
            launcher,
        })
    }

    /// Watches over the ranks, and does what the launcher asks for, until all is cleaned up.
    pub fn run(mut self) -> Result<(), AgentError> {
        let mut done = Ok(());
        while !self.finishing && done.is_ok() {
            done = self.step();
        }
        self.end_recording();
        if done.is_err() {
            // Nobody is left to ask for it: the ranks end, and what they have left behind.
            self.crew.kill();
            self.crew.clean_up();
            return done;
        }
        self.finish()
    }

    /// Waits for something to happen, and passes it on.
    fn step(&mut self) -> Result<(), AgentError> {
        let until_beat = self.heartbeat_at.saturating_sub(self.clock.now());
        let record = self.recording.as_ref().map(|_| recording::EVERY);
        let sooner = [self.crew.retry_after(), record].into_iter().flatten().min();
        let timeout = sooner.map_or(until_beat, |sooner| sooner.min(until_beat));
        let mut ended = Vec::new();
        for source in wait_for(&self.sources()?, Some(timeout))? {
            match source {
                Source::Signals => self.take_signals()?,
                Source::Query(question) => {
                    answer_all(self.queries.clients(question), &self.launcher.emit());
                }
                Source::Launcher => self.uplink.stream.read_some()?,
                Source::ToLauncher => self.uplink.stream.write_some(),
                Source::Naming(number) => self.send_stacks(number),
                Source::Door(at) => self.attend(at),
                Source::Channel(rank) => self.take_messages(rank),
                Source::Stream(number) => drop(self.pass_on(number)),
                Source::Input => self.feed(),
                Source::Exit(rank) => {
                    self.take_messages(rank);
                    let ending = self.crew.collect(rank)?;
                    self.pass_on_last(rank);
                    ended.extend(ending.map(|ending| (rank, ending)));
                }
            }
        }
        if !ended.is_empty() {
            self.tell(Event::Ended(ended));
        }
        while let Some(message) = self.uplink.take()? {
            self.carry_out(message)?;
        }
        self.crew.reap();
        if let Some(recording) = &mut self.recording {
            recording.take(self.crew.traces(), false);
        }
        self.crew.welcome_again();
        self.beat()
    }

    fn sources(&self) -> Result<Vec<Waited<'_, Source>>, AgentError> {
        use PollFlags as For;
        let from = self.uplink.stream.readable().ok_or(AgentError::Gone)?;
        let mut all = vec![
            (Source::Signals, self.signals.waits_for().as_fd(), For::IN),
            (Source::Launcher, from.as_fd(), For::IN),
        ];
        let queries = self.queries.waits_for();
        all.extend(queries.map(|(asked, socket)| (Source::Query(asked), socket, For::IN)));
        let to = self.uplink.stream.writable().into_iter();
        all.extend(to.map(|to| (Source::ToLauncher, to.as_fd(), For::OUT)));
        let namings = self.namings.waits_for();
        all.extend(namings.map(|(number, done)| (Source::Naming(number), done, For::IN)));
        let door = self.crew.at_door();
        all.extend(door.map(|(at, fd, flags)| (Source::Door(at), fd, flags)));
        let channels = self.crew.channels();
        all.extend(channels.map(|(rank, fd)| (Source::Channel(rank), fd.as_fd(), For::IN)));
        if self.window.is_open() {
            let open = self.pipes.iter().enumerate();
            let open = open.filter_map(|(number, pipe)| Some((number, pipe.from.as_ref()?)));
            all.extend(open.map(|(n, from)| (Source::Stream(n), from.as_fd(), For::IN)));
        }
        let input = self.input.to.iter().filter(|_| !self.input.pending.is_empty());
        all.extend(input.map(|to| (Source::Input, to.as_fd(), For::OUT)));
        let ends = self.crew.exits();
        all.extend(ends.map(|(rank, exit)| (Source::Exit(rank), exit.as_fd(), For::IN)));
        Ok(all)
    }

    /// Ends this host's part of the trace. Of one that is not whole only this host knows.
    fn end_recording(&mut self) {
        let Some(mut recording) = self.recording.take() else { return };
        recording.take(self.crew.traces(), true);
        recording.finish().complain();
    }

    /// The end of the agent is the end of the host's part of the job.
    fn take_signals(&mut self) -> Result<(), AgentError> {
        for signal in self.signals.take() {
            match signal {
                Signal::TERM | Signal::INT | Signal::HUP | Signal::QUIT => {
                    return Err(AgentError::Gone);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn take_messages(&mut self, rank: Rank) {
        for event in self.crew.take_messages(rank) {
            self.tell(event);
        }
    }

    fn tell(&mut self, event: Event) {
        self.uplink.send(&FromAgent::Event(event));
    }

    /// Passes on what a rank has written. Returns whether there was something.
    fn pass_on(&mut self, number: usize) -> bool {
        let pipe = &mut self.pipes[number];
        let Some(from) = &pipe.from else { return false };
        let mut bytes = vec![0; READ_BYTES];
        match retry_on_intr(|| read(from, &mut bytes)) {
            Err(Errno::AGAIN) => false,
            Ok(0) | Err(_) => {
                pipe.from = None;
                false
            }
            Ok(count) => {
                bytes.truncate(count);
                self.window.sent(count);
                self.uplink.send(&FromAgent::Output(pipe.rank, pipe.kind, bytes));
                true
            }
        }
    }

    /// Passes on what a rank, which has ended, has written, as far as there is room for it: its
    /// last words come before its end does.
    fn pass_on_last(&mut self, rank: Rank) {
        for number in 0..self.pipes.len() {
            let mut left = LAST_BYTES_MAX / READ_BYTES;
            let is_its = self.pipes[number].rank == rank;
            while is_its && left > 0 && self.window.is_open() && self.pass_on(number) {
                left -= 1;
            }
        }
    }

    fn carry_out(&mut self, order: ToAgent) -> Result<(), AgentError> {
        match order {
            ToAgent::Welcome(rank) => self.crew.welcome(self.own(rank)?),
            ToAgent::Spawn(by, ranks) => self.spawn(by, &ranks),
            ToAgent::Spawned(by, ranks) => {
                self.crew.answer(self.own(by)?, &ToRank::Spawned(ranks));
            }
            ToAgent::NoRoom(by, left) => self.crew.answer(self.own(by)?, &ToRank::NoRoom(left)),
            ToAgent::Admit(by, admitted) => self.admit(by, &admitted),
            ToAgent::Forget(number) => self.crew.forget(number),
            ToAgent::Loss(lost, cause) => self.crew.announce_loss(lost, cause),
            ToAgent::Signal(rank, signal) => self.crew.signal(self.own(rank)?, signal),
            ToAgent::Taken(count) => self.window.acknowledged(count as usize),
            ToAgent::Input(bytes) => {
                if bytes.is_empty() {
                    self.input.to = None;
                } else {
                    self.input.pending = bytes;
                    self.feed();
                }
            }
            ToAgent::RollCall { number, stacks } => self.answer(number, stacks),
            ToAgent::Snapshot(number) => {
                self.uplink.send(&FromAgent::Snapshot(number, self.crew.snapshot()));
            }
            ToAgent::Finish => self.finishing = true,
            ToAgent::Begin(_)
            | ToAgent::Meet { .. }
            | ToAgent::Go { .. }
            | ToAgent::Heartbeat
            | ToAgent::Pause
            | ToAgent::Subtree(_)
            | ToAgent::For(..)
            | ToAgent::ForAll(_) => return Err(AgentError::out_of_order()),
        }
        Ok(())
    }

    /// Starts ranks that rank `by` has asked for, and says which processes they are.
    fn spawn(&mut self, by: Rank, ranks: &[Rank]) {
        let before = self.crew.started().into();
        for &rank in ranks {
            let started = self.crew.spawn(self.programs, by);
            match started.and_then(|pipes| pipes_of((rank, pipes))) {
                Ok(pipes) => self.pipes.extend(pipes),
                Err(error) => {
                    Event::not_started(rank, &error).into_iter().for_each(|it| self.tell(it));
                    break;
                }
            }
        }
        self.name_processes(before);
    }

    /// Lets visitors in as these ranks, for rank `by`, and says which processes they are.
    fn admit(&mut self, by: Rank, admitted: &[(Rank, u32)]) {
        let before = self.crew.started().into();
        for (rank, visitor) in admitted {
            if let Err(error) = self.crew.admit(*visitor, by) {
                Event::not_started(*rank, &error).into_iter().for_each(|it| self.tell(it));
                break;
            }
        }
        self.name_processes(before);
    }

    /// Says which processes the ranks here are, but for the first `before`, which were named
    /// before.
    fn name_processes(&mut self, before: usize) {
        let started = self.crew.process_ids().skip(before).collect();
        self.uplink.send(&FromAgent::Started(started));
    }

    /// Attends to what happens at the door.
    fn attend(&mut self, at: AtDoor) {
        let news = self.crew.attend(at).map(|news| match news {
            DoorNews::Knocked(number) => FromAgent::Knocked(number),
            DoorNews::Gone(number) => FromAgent::WentAway(number),
        });
        news.into_iter().for_each(|news| self.uplink.send(&news));
    }

    /// Says what the ranks here do. Stacks are taken before anything else is obeyed, such as a
    /// signal for the ranks, and sent when they have names.
    fn answer(&mut self, number: u32, stacks: bool) {
        let standings = self.crew.roll_call();
        self.uplink.send(&FromAgent::Roll(number, standings.clone()));
        let Some(stacks_of) = self.stacks_of.filter(|_| stacks && self.namings.has_room()) else {
            return self.uplink.send(&FromAgent::Stacks(number, Vec::new()));
        };
        if self.namings.begin(number, TakenStacks::of(&standings, stacks_of)).is_err() {
            self.uplink.send(&FromAgent::Stacks(number, Vec::new()));
        }
    }

    fn send_stacks(&mut self, naming: usize) {
        let (number, stacks) = self.namings.take(naming);
        self.uplink.send(&FromAgent::Stacks(number, stacks));
    }

    fn own(&self, rank: Rank) -> Result<Rank, AgentError> {
        if self.crew.has(rank) { Ok(rank) } else { Err(BadMessage::Range("rank").into()) }
    }

    /// Gives rank 0 what it takes of what it is to read, and says so when it has taken everything.
    fn feed(&mut self) {
        let Input { to, pending } = &mut self.input;
        let written = match &*to {
            Some(to) => retry_on_intr(|| write(to, pending.as_slice())),
            None => Ok(pending.len()),
        };
        match written {
            Ok(count) => drop(pending.drain(..count)),
            Err(Errno::AGAIN) => {}
            Err(_) => {
                *to = None;
                pending.clear();
            }
        }
        if pending.is_empty() {
            self.uplink.send(&FromAgent::InputTaken);
        }
    }

    /// Says that this agent is there, and gives up a launcher that has not said so for long.
    fn beat(&mut self) -> Result<(), AgentError> {
        let now = self.clock.now();
        if now >= self.heartbeat_at {
            self.heartbeat_at = now + HEARTBEAT;
            if self.uplink.stream.is_flushed() {
                self.uplink.send(&FromAgent::Heartbeat);
            }
        }
        self.uplink.check()
    }

    /// Cleans up, passes on what is left, and says that this is all.
    fn finish(mut self) -> Result<(), AgentError> {
        let stuck = self.crew.clean_up();
        for (number, stacks) in self.namings.take_all() {
            self.uplink.send(&FromAgent::Stacks(number, stacks));
        }
        for number in 0..self.pipes.len() {
            for _ in 0..LAST_BYTES_MAX / READ_BYTES {
                if !self.pass_on(number) {
                    break;
                }
            }
        }
        self.uplink.send(&FromAgent::Finished(stuck));
        self.uplink.flush()
    }
}

fn pipes_of((rank, (out, err)): (Rank, Pipes)) -> io::Result<[Pipe; 2]> {
    make_nonblocking(&out)?;
    make_nonblocking(&err)?;
    let pipes = [(StandardStream::Out, out), (StandardStream::Err, err)];
    Ok(pipes.map(|(kind, from)| Pipe { rank, kind, from: Some(from) }))
}
