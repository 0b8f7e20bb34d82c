//! Recordings by samples: a process of the user looks at the ranks of a job again and again, in the
//! memory that they share, and writes down what each does. The job does nothing for it but show its
//! counts now and then.
//!
//! A state lasts from the sample that saw it to the next one: so the share of each state is right
//! on the whole, however short it is, as long as the ranks do not keep time with the samples.

mod rank_trace;

use crate::messages::{Options, RANKS, RANKS_MAX, Snapshot, TRACE, Welcome};
use crate::queries::ask_memory;
use crate::recording::Scheduling;
use crate::roll::Meetings;
use crate::this_host;
use crate::wait::is_ready;
use rank_trace::{RankTrace, Wait};
use rustix::event::PollFlags;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;
use weft_link::clock::{Clock, SystemClock};
use weft_link::status::{TeamMeeting, Whom};
use weft_link_shm::Supervisor;
use weft_trace::{MOST_EVENTS, Run, Writer};
use weft_wire::Rank;

/// Samples a second, as they are meant to be.
const SAMPLES_PER_SECOND: u32 = 1000;
/// Time between two samples, in nanoseconds.
const SAMPLE_NS: u64 = 1_000_000_000 / SAMPLES_PER_SECOND as u64;
/// Time between two readings of counters, in nanoseconds: for each of them a thread of the rank
/// wakes.
const COUNT_NS: u64 = 50_000_000;
/// Longest wait for counts that ranks are asked for: one that is stopped shows none.
const SHOWN_WITHIN: Duration = Duration::from_millis(200);
/// Time after which it is seen if they are shown.
const SHOWN_LOOK: Duration = Duration::from_micros(200);

/// Job that can be recorded.
#[derive(Debug)]
pub struct Sampling {
    memory: Supervisor,
    run: Run,
    ranks: Vec<Watched>,
    /// Readable once the job has ended.
    launcher: Option<OwnedFd>,
}

/// Recording that was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sampled {
    /// File that it is in.
    pub file: PathBuf,
    /// Time that it is about.
    pub time: Duration,
    /// Number of looks at each rank.
    pub looks: u64,
    /// True if the job ended before the time was over.
    pub has_ended: bool,
}

/// Failure to record a job.
#[derive(Debug, thiserror::Error)]
pub enum SamplingError {
    /// Its launcher does not share its ranks' memory.
    #[error(
        "the ranks of this job are on several hosts, and what they do can be seen once a second \
         only: `weft top` shows it, and `weft run --trace` records all of it"
    )]
    SeveralHosts,
    /// Its launcher does not answer.
    #[error("it does not show the memory of its ranks: {0}")]
    Memory(io::Error),
    /// The file cannot be written.
    #[error("cannot write {}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
}

/// Rank that is looked at.
#[derive(Debug)]
struct Watched {
    rank: Rank,
    /// Its number in the memory.
    number: usize,
    /// Readable once it has ended.
    exit: Option<OwnedFd>,
    trace: RankTrace,
    scheduling: Scheduling,
    /// Number of the counts that it had shown before it was asked.
    stale: Option<u64>,
}

impl Sampling {
    /// A recording of the job of this launcher, of which this was just seen.
    ///
    /// # Errors
    /// [`SamplingError`], unless it is about the file.
    pub fn of(job: u32, seen: &Snapshot) -> Result<Self, SamplingError> {
        let (welcome, memory) = ask_memory(job).map_err(|error| match error.kind() {
            io::ErrorKind::ConnectionRefused => SamplingError::SeveralHosts,
            _ => SamplingError::Memory(error),
        })?;
        let Welcome { settings, mut options, .. } = welcome;
        let memory = Supervisor::attach(&settings, &memory).map_err(SamplingError::Memory)?;
        let ranks: Vec<_> = (0..usize::from(settings.ranks))
            .filter_map(|number| {
                let process = memory.process_of(number)?;
                let rank = seen.ranks.iter().find(|rank| rank.process == process)?.rank;
                Some(Watched::new(Rank(rank), number, process))
            })
            .collect();
        let size = options.remove(RANKS).and_then(|ranks| ranks.parse().ok());
        let size = size.map_or(settings.ranks, |size: u16| size.min(RANKS_MAX));
        let run = describe(&seen.program, size, options);
        Ok(Sampling { memory, run, ranks, launcher: exit_of(job) })
    }

    /// File with the whole trace of the job, if it writes one.
    pub fn trace(&self) -> Option<&str> {
        self.run.options.get(TRACE).map(String::as_str)
    }

    /// Records for this time, or until the job ends. Says again and again for how long it has.
    ///
    /// # Errors
    /// [`SamplingError::File`].
    pub fn record(
        mut self,
        file: &Path,
        time: Duration,
        mut progress: impl FnMut(Duration),
    ) -> Result<Sampled, SamplingError> {
        let failed = |error| SamplingError::File { path: file.to_owned(), error };
        let mut to = Writer::create(file, &self.run).map_err(failed)?;
        let begun = self.begin();
        let end = begun.saturating_add(time.as_nanos() as u64);
        let (mut now, mut due, mut looks, mut written) = (begun, begun, 0, 0);
        let mut counted = begun;
        loop {
            self.sample(now);
            looks += 1;
            let is_over = now >= end || self.has_ended() || written >= MOST_EVENTS;
            if is_over || now >= counted + COUNT_NS {
                counted = now;
                self.count(now, is_over);
                written += self.write(&mut to).map_err(failed)?;
                progress(Duration::from_nanos(now - begun));
            }
            if is_over {
                break;
            }
            // Samples that are missed are not made up for.
            due += SAMPLE_NS * (1 + (now - due) / SAMPLE_NS);
            thread::sleep(Duration::from_nanos(due.saturating_sub(SystemClock.now())));
            now = SystemClock.now().max(now);
        }
        to.finish().map_err(failed)?;
        let (time, file) = (Duration::from_nanos(now - begun), file.to_owned());
        Ok(Sampled { file, time, looks, has_ended: now < end })
    }

    /// Learns from which counts on to count, and returns the time.
    fn begin(&mut self) -> u64 {
        for of in &mut self.ranks {
            of.stale = self.memory.shown_counts(of.number).map(|(number, _)| number);
        }
        self.await_counts();
        let now = SystemClock.now();
        for of in &mut self.ranks {
            of.trace.begin(now);
            of.count(now, &self.memory);
        }
        now
    }

    /// Samples all ranks.
    fn sample(&mut self, now: u64) {
        let waits: Vec<_> = self
            .ranks
            .iter()
            .map(|of| self.memory.status_of(of.number).and_then(Wait::of))
            .collect();
        let awaited = self.ranks.iter().zip(&waits);
        let awaited = awaited.filter_map(|(of, wait)| Some((of.rank, &wait.as_ref()?.awaited)));
        let meetings = Meetings::of(awaited);
        let mut last: BTreeMap<(u64, u32), Option<Rank>> = BTreeMap::new();
        let mut last = |it: &TeamMeeting| {
            let known = last.entry((it.team, it.number));
            *known.or_insert_with(|| only(&meetings.missing(it)))
        };
        // Of two ranks the other one is anyone.
        let others = |rank: Rank| match self.run.hosts.len() {
            2 => Some(Rank(1 - rank.0.min(1))),
            _ => None,
        };
        for (of, wait) in self.ranks.iter_mut().zip(&waits) {
            let whom = wait.as_ref().and_then(|wait| match &wait.awaited.whom {
                Whom::One(rank) => Some(*rank),
                Whom::OneOf(ranks) => only(ranks),
                Whom::Meeting(meeting) => last(meeting),
                Whom::Anyone => others(of.rank),
                Whom::Unknown => None,
            });
            match is_over(of.exit.as_ref()) {
                true => of.trace.end(now),
                false => of.trace.sample(now, wait.as_ref(), whom),
            }
        }
    }

    /// Reads counters: those that ranks have shown of themselves, or, at the end, as they are now.
    fn count(&mut self, now: u64, is_over: bool) {
        if is_over {
            for of in &mut self.ranks {
                of.stale = self.memory.shown_counts(of.number).map(|(number, _)| number);
            }
            self.await_counts();
        }
        for of in &mut self.ranks {
            if !is_over {
                self.memory.ask_counts(of.number);
            }
            of.count(now, &self.memory);
            if is_over {
                of.trace.close(now);
            }
        }
    }

    /// Asks for counts, and waits until all that can have shown some.
    fn await_counts(&self) {
        let until = SystemClock.now() + SHOWN_WITHIN.as_nanos() as u64;
        self.ranks.iter().for_each(|of| self.memory.ask_counts(of.number));
        let waits = |of: &Watched| !is_over(of.exit.as_ref()) && of.fresh(&self.memory).is_none();
        while self.ranks.iter().any(waits) && SystemClock.now() < until {
            thread::sleep(SHOWN_LOOK);
        }
    }

    /// Writes what is new. Returns the number of events.
    fn write(&mut self, to: &mut Writer<File>) -> io::Result<u64> {
        let mut written = 0;
        for of in &mut self.ranks {
            let mut events = of.trace.take();
            of.scheduling.add_to(&mut events);
            to.append(of.rank, 0, &events)?;
            written += events.len() as u64;
        }
        to.flush()?;
        Ok(written)
    }

    /// True if there is nothing to look at any more.
    fn has_ended(&self) -> bool {
        is_over(self.launcher.as_ref()) || self.ranks.iter().all(|of| is_over(of.exit.as_ref()))
    }
}

impl Watched {
    fn new(rank: Rank, number: usize, process: u32) -> Self {
        let (exit, scheduling) = (exit_of(process), Scheduling::of(process));
        Watched { rank, number, exit, trace: RankTrace::default(), scheduling, stale: None }
    }

    /// Counts that were shown since it was asked for some.
    fn fresh(&self, memory: &Supervisor) -> Option<weft_link::gauge::Counts> {
        let (number, counts) = memory.shown_counts(self.number)?;
        (self.stale != Some(number)).then_some(counts)
    }

    fn count(&mut self, now: u64, memory: &Supervisor) {
        if let Some(counts) = self.fresh(memory) {
            self.trace.counts(now, counts);
        }
        self.trace.note_samples(now);
    }
}

impl fmt::Display for Sampled {
    /// A line for people, who want to know where it is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sampled { file, time, looks, has_ended } = self;
        let (name, time) = (file.display(), time.as_secs_f64());
        let ended = if *has_ended { ", until the job ended" } else { "" };
        write!(
            f,
            "{time:.1} s of this job are in {name}{ended}, in {looks} looks at each rank: \
             `weft report {name}` shows them"
        )
    }
}

fn describe(program: &str, size: u16, options: Options) -> Run {
    Run {
        program: program.into(),
        hosts: vec![this_host::name(); size.into()],
        looks_per_second: Some(SAMPLES_PER_SECOND),
        options,
        ..Run::default()
    }
}

/// The rank of these, if it is one.
fn only(ranks: &[Rank]) -> Option<Rank> {
    if let [rank] = ranks { Some(*rank) } else { None }
}

/// Descriptor that is readable once a process has ended; `None` if it is out of sight.
fn exit_of(process: u32) -> Option<OwnedFd> {
    pidfd_open(Pid::from_raw(process.cast_signed())?, PidfdFlags::empty()).ok()
}

fn is_over(exit: Option<&OwnedFd>) -> bool {
    let has_ended = |exit| is_ready(exit, PollFlags::IN, Duration::ZERO).unwrap_or(false);
    exit.is_some_and(has_ended)
}
