//! Traces of ranks, taken out of their memory while they run, and written to a file.

mod scheduling;

pub(crate) use scheduling::Scheduling;

use crate::messages::{CORES, Options};
use crate::program::Found;
use crate::spec::JobSpec;
use crate::this_host;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use weft_link_shm::{Supervisor, TraceRing};
use weft_trace::event::EventWords;
use weft_trace::{Event, MOST_EVENTS, Recorded, Run, Writer, part_of};
use weft_wire::Rank;

/// Time after which the traces are taken out of memory again.
pub(crate) const EVERY: Duration = Duration::from_millis(10);

/// Trace of a rank that this process takes out of its memory.
pub(crate) struct Source {
    /// The rank.
    pub rank: Rank,
    /// Its process.
    pub process: u32,
    /// Ring with its events.
    pub ring: TraceRing,
}

/// Trace of a job, while it is written.
#[derive(Debug)]
pub(crate) struct Recording {
    to: Writer<File>,
    recorded: Recorded,
    /// Number of the next event of each rank here.
    next: Vec<u64>,
    scheduling: BTreeMap<Rank, Scheduling>,
    /// Error for which nothing more is written.
    failed: Option<io::Error>,
}

impl Recording {
    /// Begins the file of a trace.
    pub fn create(file: &Path, run: &Run) -> io::Result<Self> {
        let to = Writer::create(file, run)?;
        let recorded = Recorded { file: file.to_owned(), ..Recorded::default() };
        let (next, scheduling) = (vec![0; run.hosts.len()], BTreeMap::new());
        Ok(Recording { to, recorded, next, scheduling, failed: None })
    }

    /// Begins the file of a part of a trace. With the first one an older trace ends that was whole.
    pub fn create_part(file: &Path, number: u16, run: &Run) -> io::Result<Self> {
        if number == 0 {
            match std::fs::remove_file(file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Recording::create(&part_of(file, number), run)
    }

    /// Checks that a trace in this file replaces none of the programs.
    ///
    /// # Errors
    /// It would.
    pub fn check_spared(programs: &Found, file: &Path) -> io::Result<()> {
        let identity = |path: &Path| path.metadata().map(|about| (about.dev(), about.ino())).ok();
        let replaced = identity(file);
        match programs.files().any(|program| replaced.is_some() && identity(program) == replaced) {
            true => Err(io::Error::other("that is the program: name another file")),
            false => Ok(()),
        }
    }

    /// Takes what these ranks have written down since the last time. If they have ended, nothing
    /// more comes.
    pub fn take(&mut self, traces: impl IntoIterator<Item = Source>, have_ended: bool) {
        for Source { rank, process, ring } in traces {
            let mut events = Vec::new();
            let mut lost = ring.take(&mut self.next[rank.index()], &mut events, have_ended);
            let before = events.len();
            // What a rank writes there is its own affair: the file has events only.
            events.retain(|words| Event::of_words(words).is_some());
            let scheduling = self.scheduling.entry(rank);
            scheduling.or_insert_with(|| Scheduling::of(process)).add_to(&mut events);
            let room = MOST_EVENTS - self.recorded.events;
            events.truncate(usize::try_from(room).unwrap_or(usize::MAX));
            lost += before.saturating_sub(events.len()) as u64;
            self.write(rank, lost, &events);
        }
    }

    fn write(&mut self, rank: Rank, lost: u64, events: &[EventWords]) {
        self.recorded.lost = self.recorded.lost.saturating_add(lost);
        if events.is_empty() && lost == 0 || self.failed.is_some() {
            return;
        }
        match self.to.append(rank, lost, events).and_then(|()| self.to.flush()) {
            Ok(()) => self.recorded.events += events.len() as u64,
            Err(error) => self.failed = Some(error),
        }
    }

    /// Ends the file.
    pub fn finish(self) -> Recorded {
        let ended = match self.failed {
            Some(error) => Err(error),
            None => self.to.finish().map(drop),
        };
        Recorded { error: ended.err().map(|error| error.to_string()), ..self.recorded }
    }
}

/// Trace that a rank writes itself, because nobody of Weft's has started it.
#[derive(Debug)]
pub(crate) struct OwnTrace {
    rank: Rank,
    supervisor: Arc<Supervisor>,
    /// Number of this rank among those of its host.
    number: usize,
    /// `None` once it is ended.
    recording: Mutex<Option<Recording>>,
}

impl OwnTrace {
    /// The part of this rank, which has this number on its host, of the trace `run` in `file`.
    pub fn create(
        file: &Path,
        run: &Run,
        (rank, number): (Rank, usize),
        supervisor: Arc<Supervisor>,
    ) -> io::Result<Self> {
        let recording = Mutex::new(Some(Recording::create_part(file, rank.0, run)?));
        Ok(OwnTrace { rank, supervisor, number, recording })
    }

    /// Writes what there is.
    pub fn take(&self) {
        if let Some(recording) = &mut *self.recording() {
            recording.take(self.ring(), false);
        }
    }

    /// Writes what there is, and ends the file.
    pub fn finish(&self) {
        if let Some(mut recording) = self.recording().take() {
            recording.take(self.ring(), true);
            recording.finish().complain();
        }
    }

    fn ring(&self) -> Option<Source> {
        let ring = self.supervisor.trace_of(self.number)?;
        Some(Source { rank: self.rank, process: std::process::id(), ring })
    }

    fn recording(&self) -> MutexGuard<'_, Option<Recording>> {
        self.recording.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Description of the run of a program with these arguments, on these hosts.
pub(crate) fn describe<'a>(
    words: impl Iterator<Item = &'a OsStr>,
    hosts: Vec<String>,
    parts: u16,
    options: &Options,
) -> Run {
    let words: Vec<_> = words.map(OsStr::to_string_lossy).collect();
    let mut options = BTreeMap::clone(options);
    options.entry(CORES.into()).or_insert_with(|| this_host::cores().to_string());
    Run { program: words.join(" "), hosts, parts, options, ..Run::default() }
}

/// Description of the run of a job whose ranks are on these hosts.
pub(crate) fn describe_job(spec: &JobSpec, hosts: Vec<String>, parts: u16) -> Run {
    let words = spec.commands().enumerate().flat_map(|(number, (_, program, arguments))| {
        let colon = (number > 0).then_some(OsStr::new(":"));
        colon.into_iter().chain([program]).chain(arguments.iter().map(OsString::as_os_str))
    });
    describe(words, hosts, parts, &spec.options)
}
