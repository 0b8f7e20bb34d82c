//! The ranks of this host: their memory, their processes, and what these leave behind.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use rustix::process::{Pid, Signal};
use weft_link_shm::{Supervisor, create_memory};
use weft_wire::Rank;

use crate::access::Access;
use crate::channel::{self, ReceiveError};
use crate::door::{AtDoor, Door, DoorNews};
use crate::error::LaunchError;
use crate::limits::killed_for_memory;
use crate::messages::{
    CORES, Doing, Ending, Event, Growth, JobNetwork, Message as _, Options, RankNow, Standing,
    ToLauncher, ToRank, Welcome,
};
use crate::orphans::{KILL_LIMIT, Orphans};
use crate::program::Found;
use crate::recording::Source;
use crate::roll::{rank_now, standing_of};
use crate::shared_files::remove_files_of;
use crate::spawn::{Process, Seat, Spawned, spawn};
use crate::spec::JobSpec;
use crate::this_host;

/// Delay before a welcome is sent again that the system refused.
const WELCOME_RETRY: Duration = Duration::from_millis(1);
/// Messages taken in from one rank before the others have their turn.
const MESSAGES_AT_ONCE: usize = 64;

/// Ranks of a job that are here.
#[derive(Debug)]
pub(crate) struct Part {
    /// These ranks in their order, those that may come later last: `spec.settings.ranks` of them.
    pub here: Vec<Rank>,
    /// Number of ranks that the whole job begins with.
    pub founders: u16,
    /// The network and what reaches it from the ranks here, if ranks are to have that.
    pub network: Option<(JobNetwork, Vec<Access>)>,
    /// The door of this host, if the job has one.
    pub door: Option<Door>,
}

impl Part {
    /// Number of ranks that the whole job may have.
    fn room(&self) -> u16 {
        let of_network = self.network.as_ref().map(|(network, _)| network.ranks());
        of_network.unwrap_or(self.here.len() as u16)
    }
}

/// The ranks of this host. Their processes are killed when this is dropped before they have ended.
#[derive(Debug)]
pub(crate) struct Crew<'a> {
    spec: &'a JobSpec,
    part: Part,
    processes: Vec<Process>,
    memory: OwnedFd,
    supervisor: Supervisor,
    orphans: Option<Orphans>,
    /// Ranks that had others started, by the rank that was.
    spawners: BTreeMap<Rank, Rank>,
    /// Ranks that wait for their welcome because the system has too many descriptors under way.
    unwelcomed: BTreeSet<Rank>,
    /// [`killed_for_memory`] before these processes were started, and those of them since then that
    /// were so.
    killed_for_memory_before: Option<u64>,
}

/// A rank's standard output and standard error.
pub(crate) type Pipes = (OwnedFd, OwnedFd);

impl<'a> Crew<'a> {
    /// Makes the memory and starts the processes, which die with the thread that calls this.
    /// `stdin` is what rank 0 reads, if it is here.
    pub fn start(
        spec: &'a JobSpec,
        programs: &Found,
        part: Part,
        stdin: OwnedFd,
    ) -> Result<(Self, Vec<Pipes>), LaunchError> {
        let (settings, ranks) = (&spec.settings, spec.settings.ranks);
        let failed =
            |error| LaunchError::Memory { ranks, bytes: settings.segment_bytes() as u64, error };
        let memory = create_memory(settings).map_err(failed)?;
        let supervisor = Supervisor::attach(settings, &memory).map_err(failed)?;
        let orphans = spec.dedicated.then(Orphans::adopt).transpose()?;
        let mut crew = Crew {
            spec,
            part,
            processes: Vec::new(),
            memory,
            supervisor,
            orphans,
            spawners: BTreeMap::new(),
            unwelcomed: BTreeSet::new(),
            killed_for_memory_before: killed_for_memory(),
        };
        let (mut pipes, size) = (Vec::new(), crew.part.founders);
        for _ in 0..spec.founders() {
            let rank = crew.part.here[crew.processes.len()];
            let failed = |error| LaunchError::Spawn { rank: rank.0, ranks: size, error };
            let stdin = (rank == 0).then(|| stdin.as_fd());
            pipes.push(crew.start_next(programs, stdin).map_err(failed)?);
        }
        Ok((crew, pipes))
    }

    /// Starts the next rank, which rank `by` has asked for.
    ///
    /// # Errors
    /// The system's. There is no next one, [`InvalidInput`](io::ErrorKind::InvalidInput).
    pub fn spawn(&mut self, programs: &Found, by: Rank) -> io::Result<Pipes> {
        let next = self.part.here.get(self.processes.len());
        self.spawners.insert(*next.ok_or(io::ErrorKind::InvalidInput)?, by);
        self.start_next(programs, None)
    }

    /// Makes the visitor of this number the next rank, for rank `by`.
    ///
    /// # Errors
    /// There is no such visitor, or no next rank: [`InvalidInput`](io::ErrorKind::InvalidInput).
    pub fn admit(&mut self, number: u32, by: Rank) -> io::Result<()> {
        let visitor = self.part.door.as_mut().and_then(|door| door.admit(number));
        let next = self.part.here.get(self.processes.len());
        let (Some(visitor), Some(next)) = (visitor, next) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        self.spawners.insert(*next, by);
        self.processes.push(Process::admitted(visitor));
        Ok(())
    }

    /// Forgets a visitor that has gone.
    pub fn forget(&mut self, number: u32) {
        if let Some(door) = &mut self.part.door {
            door.forget(number);
        }
    }

    /// Descriptors that tell of something at the door.
    pub fn at_door(&self) -> impl Iterator<Item = (AtDoor, BorrowedFd<'_>, PollFlags)> {
        self.part.door.iter().flat_map(Door::waits_for)
    }

    /// Attends to what such a descriptor tells of.
    pub fn attend(&mut self, at: AtDoor) -> Option<DoorNews> {
        self.part.door.as_mut()?.attend(at)
    }

    fn start_next(&mut self, programs: &Found, stdin: Option<BorrowedFd<'_>>) -> io::Result<Pipes> {
        let index = self.processes.len();
        let rank = self.part.here[index];
        let seat = Seat { rank, index: index as u16, size: self.part.founders, stdin };
        let Spawned { process, out, err } = spawn(self.spec, programs.of(rank), seat)?;
        self.processes.push(process);
        Ok((out, err))
    }

    /// Number of ranks that have been started here.
    pub fn started(&self) -> u16 {
        self.processes.len() as u16
    }

    /// Answers a rank that has asked for more.
    pub fn answer(&self, rank: Rank, answer: &ToRank) {
        if let Some(channel) = &self.processes[self.index(rank)].channel {
            // A rank that cannot be reached has ended, or does not read: then it waits for nothing.
            let _ = channel::send(channel, &answer.emit(), &[], SendFlags::DONTWAIT);
        }
    }

    /// The processes that are the ranks, in their order.
    pub fn process_ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.processes.iter().map(Process::id)
    }

    /// Descriptors that become readable when a rank says something.
    pub fn channels(&self) -> impl Iterator<Item = (Rank, &OwnedFd)> {
        self.ranks().filter_map(|(rank, process)| Some((rank, process.channel.as_ref()?)))
    }

    /// Descriptors that become readable when a rank ends, for those that have not.
    pub fn exits(&self) -> impl Iterator<Item = (Rank, &OwnedFd)> {
        let running = self.ranks().filter(|(_, process)| process.is_running());
        running.map(|(rank, process)| (rank, &process.exit))
    }

    /// Delay after which to call [`welcome_again`](Self::welcome_again) at the latest.
    pub fn retry_after(&self) -> Option<Duration> {
        (!self.unwelcomed.is_empty()).then_some(WELCOME_RETRY)
    }

    /// True if this rank is here.
    pub fn has(&self, rank: Rank) -> bool {
        self.index(rank) < self.processes.len()
    }

    /// Takes in what a rank has said.
    pub fn take_messages(&mut self, rank: Rank) -> Vec<Event> {
        let index = self.index(rank);
        let mut events = Vec::new();
        while let Some(channel) = &self.processes[index].channel
            && events.len() < MESSAGES_AT_ONCE
        {
            match channel::receive(channel, RecvFlags::DONTWAIT) {
                Ok(received) => match event_of(rank, &received.bytes) {
                    Event::Spawn(..) if self.part.founders == self.part.room() => {
                        self.answer(rank, &ToRank::NoRoom(0));
                    }
                    Event::Admit(..) if self.part.door.is_none() => {
                        self.answer(rank, &ToRank::NoDoor);
                    }
                    event => events.push(event),
                },
                Err(ReceiveError::System(Errno::AGAIN)) => break,
                Err(ReceiveError::Bad(bad)) => {
                    events.push(Event::BadMessage(rank, bad.to_string()))
                }
                Err(ReceiveError::Closed | ReceiveError::System(_)) => {
                    self.processes[index].channel = None;
                }
            }
        }
        events
    }

    /// Ending of a rank, if it has ended.
    pub fn collect(&mut self, rank: Rank) -> io::Result<Option<Ending>> {
        let index = self.index(rank);
        let ending = self.processes[index].collect()?;
        let killed = ending == Some(Ending::Killed(Signal::KILL.as_raw()));
        if !killed || killed_for_memory() <= self.killed_for_memory_before {
            return Ok(ending);
        }
        // One of these is this rank, and the others may be the next ones.
        self.killed_for_memory_before = self.killed_for_memory_before.map(|count| count + 1);
        Ok(Some(Ending::OutOfMemory))
    }

    /// Reaps what ranks have left behind and has ended. To be called when ranks that have ended
    /// were collected.
    pub fn reap(&self) {
        if let Some(orphans) = &self.orphans {
            orphans.reap(&self.process_ids().map(u32::cast_signed).collect());
        }
    }

    /// Gives a rank its place. Only now are descriptors sent: those under way are limited.
    pub fn welcome(&mut self, rank: Rank) {
        let Some(channel) = &self.processes[self.index(rank)].channel else { return };
        let options = self.options();
        let mut descriptors = vec![self.memory.as_fd()];
        let network = self.part.network.as_ref().map(|(network, all)| {
            let access = &all[self.index(rank)];
            descriptors.extend(access.descriptors());
            JobNetwork { ethernet: access.ethernet().cloned(), ..network.clone() }
        });
        let growth = self.growth_for(rank);
        let welcome = Welcome { rank, settings: self.spec.settings, options, network, growth };
        let message = ToRank::Welcome(welcome).emit();
        let sent = channel::send(channel, &message, &descriptors, SendFlags::DONTWAIT);
        // A rank that cannot be reached ends, or fails to join in time; either is noticed.
        if let Err(Errno::TOOMANYREFS | Errno::AGAIN) = sent {
            self.unwelcomed.insert(rank);
        }
    }

    /// Growth of the job, for a rank that joins, if it can grow.
    fn growth_for(&self, rank: Rank) -> Option<Growth> {
        let founders = self.part.founders;
        let spawner = self.spawners.get(&rank).copied();
        (founders < self.part.room()).then_some(Growth { founders, spawner })
    }

    /// Options of the ranks.
    fn options(&self) -> Options {
        let mut options = self.spec.options.clone();
        // A rank that is bound to a core sees one; how long it may spin follows from all of them.
        options.entry(CORES.into()).or_insert_with(|| this_host::cores().to_string());
        options
    }

    /// Welcomes those again whose welcome the system refused.
    pub fn welcome_again(&mut self) {
        for rank in std::mem::take(&mut self.unwelcomed) {
            self.welcome(rank);
        }
    }

    /// Tells the ranks here that one is lost, here or elsewhere.
    pub fn announce_loss(&self, lost: Rank, cause: Ending) {
        self.supervisor.announce_loss(lost, cause.into());
    }

    /// Standing of the ranks here.
    pub fn roll_call(&self) -> Vec<Standing> {
        let standing = |(number, (rank, process)): (usize, (Rank, &Process))| {
            if !process.is_running() {
                return Some(Standing::outside(rank, Doing::HasLeft));
            }
            let joined = self.supervisor.process_of(number).map(u32::cast_signed);
            match joined.and_then(Pid::from_raw) {
                Some(joined) => standing_of(rank, joined, self.supervisor.status_of(number)),
                None => Some(Standing::outside(rank, Doing::HasNotJoined)),
            }
        };
        self.ranks().enumerate().filter_map(standing).collect()
    }

    /// Ranks here that have joined, as they are now. Counts are those of the question before.
    pub fn snapshot(&self) -> Vec<RankNow> {
        let numbers = self.ranks().enumerate();
        let now = |(number, (rank, process)): (usize, (Rank, &Process))| {
            let joined = self.supervisor.process_of(number).filter(|_| process.is_running())?;
            let counts = self.supervisor.counts_of(number);
            rank_now(rank, joined, self.supervisor.status_of(number), counts)
        };
        numbers.filter_map(now).collect()
    }

    /// The memory of the ranks here, for a user who reads it himself: a message with its sizes
    /// and the options, and its file.
    pub fn memory(&self) -> (Vec<u8>, &OwnedFd) {
        let message = ToRank::memory(self.spec.settings, self.options(), self.part.room());
        (message.emit(), &self.memory)
    }

    /// Traces of the ranks here, if the job is traced.
    pub fn traces(&self) -> impl Iterator<Item = Source> {
        self.ranks().enumerate().filter_map(|(number, (rank, process))| {
            let ring = self.supervisor.trace_of(number)?;
            Some(Source { rank, process: process.id(), ring })
        })
    }

    /// Sends a signal to a rank and what it has started.
    pub fn signal(&self, rank: Rank, signal: Signal) {
        // One that could not be started has no process.
        if let Some(process) = self.processes.get(self.index(rank)) {
            process.signal(signal);
        }
    }

    /// Kills all ranks, which have one deadline to disappear.
    pub fn kill(&mut self) {
        let by = Instant::now() + KILL_LIMIT;
        self.processes.iter().for_each(|process| process.signal(Signal::KILL));
        self.processes.iter_mut().for_each(|process| process.end(by));
        self.processes.clear();
    }

    /// Ends what the ranks have left behind. Returns the processes that do not disappear.
    pub fn clean_up(&mut self) -> Vec<u32> {
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
        self.remove_files();
        stuck
    }

    /// Removes what ranks have left of libfabric's provider `shm`.
    fn remove_files(&self) {
        let is_fabric = self.spec.options.get("link").is_some_and(|link| link == "fabric");
        if let Some((network, _)) = self.part.network.as_ref().filter(|_| is_fabric) {
            remove_files_of(network.job);
        }
    }

    fn ranks(&self) -> impl Iterator<Item = (Rank, &Process)> {
        self.part.here.iter().copied().zip(&self.processes)
    }

    /// Number of a rank here; of one that is elsewhere, which no process has.
    fn index(&self, rank: Rank) -> usize {
        self.part.here.binary_search(&rank).unwrap_or(usize::MAX)
    }
}

impl Drop for Crew<'_> {
    fn drop(&mut self) {
        self.kill();
        self.remove_files();
    }
}

fn event_of(rank: Rank, bytes: &[u8]) -> Event {
    match ToLauncher::parse(bytes) {
        Ok(ToLauncher::Hello) => Event::Hello(rank),
        Ok(ToLauncher::Joined) => Event::Joined(rank),
        Ok(ToLauncher::Leaving) => Event::Leaving(rank),
        Ok(ToLauncher::Report(words)) => Event::Report(rank, words),
        Ok(ToLauncher::CannotStart(errno)) => Event::CannotStart(rank, errno),
        Ok(ToLauncher::GoOn) => Event::GoOn(rank),
        Ok(ToLauncher::Spawn(count)) => Event::Spawn(rank, count),
        Ok(ToLauncher::Admit(most)) => Event::Admit(rank, most),
        Ok(ToLauncher::Knock(_)) => Event::BadMessage(rank, "it knocks inside of the job".into()),
        Err(bad) => Event::BadMessage(rank, bad.to_string()),
    }
}
