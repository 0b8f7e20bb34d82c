//! Files of events, and what a whole trace holds.
//!
//! ```text
//! File:   "weft trace 1" | newline | Run as JSON | newline | blocks
//! Block:  rank (4) | events (4) | lost before them (8) | events x words (40)      little-endian
//! ```
//! A trace may be several files, its parts, with the name of the whole and a number behind it: one
//! for each host, or each rank, that has written its own.
//!
//! A file that ends within a block was written by a launcher that was killed: what came before is
//! read.

use crate::event::{Event, EventWords, NamedThing, WORDS, What};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use weft_wire::Rank;

const FIRST_LINE: &str = "weft trace 1";
/// Longest description of a run, in bytes.
const RUN_BYTES: u64 = 4 << 20;
/// Events of the longest trace, all ranks together: 640 MiB.
pub const MOST_EVENTS: u64 = 16 << 20;
/// Events of the largest block.
const BLOCK_EVENTS: u32 = 1 << 16;

/// Description of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Run {
    /// Name of the program, and its arguments.
    pub program: String,
    /// Hosts of the ranks, by rank. Ranks of hosts with the same name have the same clock.
    pub hosts: Vec<String>,
    /// Number of files that the trace is in; 0 if it is in one.
    #[serde(default)]
    pub parts: u16,
    /// True if it was simulated: its time is virtual.
    pub is_simulated: bool,
    /// Looks a second, as they were meant to be, of a recording by samples: somebody has looked at
    /// the ranks, which have written nothing down themselves. None in a trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looks_per_second: Option<u32>,
    /// Options of the run that somebody set, its link, and `cores` that the ranks of a host share.
    pub options: BTreeMap<String, String>,
}

/// Trace of one rank.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RankTrace {
    /// Events in the order in which they were written down, without texts. Those of several threads
    /// may be out of the order of time by as much as it takes to write one down.
    pub events: Vec<Event>,
    /// Number of events that did not fit.
    pub lost: u64,
    /// Places where they are missing: the indices of the events before which some were lost.
    pub gaps: BTreeSet<usize>,
    /// Names of spans and ports.
    pub names: BTreeMap<(NamedThing, u32), String>,
    /// Objects of waits, by the index of their [`What::WaitBegins`].
    pub waits: BTreeMap<usize, String>,
}

/// Trace of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    /// Description of the run.
    pub run: Run,
    /// Traces of its ranks, by rank.
    pub ranks: Vec<RankTrace>,
    /// True if the file ends before its time.
    pub is_cut: bool,
}

/// Failure to read a trace.
#[derive(Debug, thiserror::Error)]
pub enum BadTrace {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is something else.
    #[error("it is no trace of Weft's: `weft run --trace` writes one")]
    Other,
    /// Its description is none.
    #[error("the description of its run is damaged or cut off ({0}): record the run anew")]
    Run(serde_json::Error),
    /// A block is of no rank of the run, or too long.
    #[error(
        "it is damaged (a block of {events} events of rank {rank}, of {ranks} ranks): record the run anew"
    )]
    Block {
        /// Rank that the block says.
        rank: u32,
        /// Number of events that it says.
        events: u32,
        /// Ranks of the run.
        ranks: usize,
    },
    /// An event is none.
    #[error("it is damaged (an event of rank {0} is none): record the run anew")]
    Event(Rank),
}

/// Writes a trace.
#[derive(Debug)]
pub struct Writer<W: Write> {
    to: BufWriter<W>,
}

impl Writer<File> {
    /// Creates the file, or replaces it. It is this writer's until it is dropped.
    ///
    /// # Errors
    /// Errors of the system; `ResourceBusy` if another writer has the file.
    pub fn create(path: &Path, run: &Run) -> io::Result<Self> {
        // What another one writes is not to be thrown away: it has what it wrote until it is mine.
        let file = File::options().write(true).create(true).truncate(false).open(path)?;
        // Some file systems have no locks.
        if flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
            return Err(in_use());
        }
        // A pipe or a device has no length.
        if file.metadata()?.is_file() {
            file.set_len(0)?;
        }
        Writer::new(file, run)
    }
}

fn in_use() -> io::Error {
    let told = "another job is being recorded there: name another file";
    io::Error::new(io::ErrorKind::ResourceBusy, told)
}

impl<W: Write> Writer<W> {
    /// Begins a trace.
    ///
    /// # Errors
    /// Errors of `to`.
    pub fn new(to: W, run: &Run) -> io::Result<Self> {
        let mut to = BufWriter::new(to);
        writeln!(to, "{FIRST_LINE}")?;
        serde_json::to_writer(&mut to, run)?;
        writeln!(to)?;
        to.flush()?;
        Ok(Writer { to })
    }

    /// Appends events of a rank, before which `lost` were lost.
    ///
    /// # Errors
    /// Errors of what it writes to.
    pub fn append(&mut self, rank: Rank, lost: u64, events: &[EventWords]) -> io::Result<()> {
        let mut lost = lost;
        // Losses without an event behind them are a block, too.
        let no_events = (events.is_empty() && lost > 0).then_some(events);
        for block in events.chunks(BLOCK_EVENTS as usize).chain(no_events) {
            self.to.write_all(&u32::from(rank.0).to_le_bytes())?;
            self.to.write_all(&(block.len() as u32).to_le_bytes())?;
            self.to.write_all(&std::mem::take(&mut lost).to_le_bytes())?;
            for word in block.iter().flatten() {
                self.to.write_all(&word.to_le_bytes())?;
            }
        }
        Ok(())
    }

    /// Writes what is left to write. All of it is in the file then, whatever becomes of this
    /// process.
    ///
    /// # Errors
    /// Errors of what it writes to.
    pub fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }

    /// Writes what is left to write, and returns what it was written to.
    ///
    /// # Errors
    /// Errors of what it writes to.
    pub fn finish(self) -> io::Result<W> {
        self.to.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

impl Trace {
    /// Reads the trace in a file, or in the parts of it.
    ///
    /// # Errors
    /// [`BadTrace`].
    pub fn open(path: &Path) -> Result<Self, BadTrace> {
        match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // That there is no such file is the error, if there is no part of it either.
                let first = File::open(part_of(path, 0)).map_err(|_| error)?;
                Trace::read(first)?.with_parts(path)
            }
            file => Trace::read(file?),
        }
    }

    fn with_parts(mut self, path: &Path) -> Result<Self, BadTrace> {
        for number in 1..self.run.parts {
            let part = Trace::read(File::open(part_of(path, number))?)?;
            for (rank, other) in self.ranks.iter_mut().zip(part.ranks) {
                if !other.events.is_empty() || other.lost > 0 {
                    *rank = other;
                }
            }
            self.is_cut |= part.is_cut;
        }
        Ok(self)
    }

    /// Reads a trace.
    ///
    /// # Errors
    /// [`BadTrace`].
    pub fn read(from: impl Read) -> Result<Self, BadTrace> {
        let mut from = BufReader::new(from);
        if line(&mut from, FIRST_LINE.len() as u64 + 1)? != FIRST_LINE.as_bytes() {
            return Err(BadTrace::Other);
        }
        let run: Run =
            serde_json::from_slice(&line(&mut from, RUN_BYTES)?).map_err(BadTrace::Run)?;
        let ranks = run.hosts.iter().map(|_| RankTrace::default()).collect();
        let mut trace = Trace { run, ranks, is_cut: false };
        let mut texts = vec![Text::default(); trace.ranks.len()];
        while !trace.is_cut && !from.fill_buf()?.is_empty() {
            match trace.block(&mut from, &mut texts) {
                Err(BadTrace::Io(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    trace.is_cut = true;
                }
                read => read?,
            }
        }
        for (rank, text) in trace.ranks.iter_mut().zip(&mut texts) {
            text.end(rank);
        }
        Ok(trace)
    }

    fn block(&mut self, from: &mut impl Read, texts: &mut [Text]) -> Result<(), BadTrace> {
        let (rank, events) = (u32::from_le_bytes(take(from)?), u32::from_le_bytes(take(from)?));
        let lost = u64::from_le_bytes(take(from)?);
        let ranks = self.ranks.len();
        let of = self.ranks.get_mut(rank as usize).filter(|_| events <= BLOCK_EVENTS);
        let Some(of) = of else { return Err(BadTrace::Block { rank, events, ranks }) };
        of.lost = of.lost.saturating_add(lost);
        if lost > 0 {
            of.gaps.insert(of.events.len());
        }
        for _ in 0..events {
            let mut words: EventWords = [0; WORDS];
            for word in &mut words {
                *word = u64::from_le_bytes(take(from)?);
            }
            let event = Event::of_words(&words).ok_or(BadTrace::Event(Rank(rank as u16)))?;
            texts[rank as usize].take(of, event);
        }
        Ok(())
    }
}

/// File of a part of a trace.
pub fn part_of(path: &Path, number: u16) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}

/// Text of which parts have come.
#[derive(Clone, Debug, Default)]
struct Text {
    of: Option<(NamedThing, u32)>,
    bytes: Vec<u8>,
}

impl Text {
    /// Takes the next event of a rank: a part of a text is put together, another one kept.
    fn take(&mut self, rank: &mut RankTrace, event: Event) {
        let What::Text { named, number, part, bytes } = event.what else {
            self.end(rank);
            rank.events.push(event);
            return;
        };
        if part == 0 || self.of != Some((named, number)) {
            self.end(rank);
        }
        self.of = Some((named, number));
        self.bytes.extend(bytes);
    }

    /// The text is whole, if there is one.
    fn end(&mut self, rank: &mut RankTrace) {
        let Some((named, number)) = self.of.take() else { return };
        let bytes = std::mem::take(&mut self.bytes);
        let length = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let text = String::from_utf8_lossy(&bytes[..length]).into_owned();
        if named != NamedThing::Wait {
            rank.names.insert((named, number), text);
            return;
        }
        let begun = rank.events.iter().rposition(|event| event.what == What::WaitBegins);
        if let Some(begun) = begun {
            rank.waits.insert(begun, text);
        }
    }
}

/// A line without its end, of `most` bytes at most.
fn line(from: &mut impl BufRead, most: u64) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    from.take(most).read_until(b'\n', &mut line)?;
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    Ok(line)
}

fn take<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
