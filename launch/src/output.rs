//! The ranks' output: read from their pipes, cut into lines, passed on without mixing them.
//!
//! What is held is bounded: a rank whose output is not taken blocks when its pipe is full, as it
//! would if it wrote to the terminal itself.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::io::{Errno, read, retry_on_intr};
use weft_wire::Rank;

use crate::last_words::LastWords;
use crate::messages::hosts::StandardStream;
use crate::wait::make_nonblocking;

pub(crate) mod pieces;
mod sink;

use pieces::Pieces;
use sink::Sink;

/// Destination of the ranks' output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputPlan {
    /// True if every line begins with the rank that wrote it.
    pub label: bool,
    /// Write `rank-N.out` and `rank-N.err` here, instead of to the launcher's own streams.
    pub directory: Option<PathBuf>,
}

/// Bytes read from a rank at once.
pub(crate) const READ_BYTES: usize = 16 * 1024;
/// Bytes read from a rank that has ended: more than a pipe holds unless somebody still writes.
pub(crate) const LAST_BYTES_MAX: usize = 2 * 1024 * 1024;

#[derive(Debug)]
struct Stream {
    pipe: Option<OwnedFd>,
    pieces: Pieces,
    label: String,
    sink: usize,
    last_words: LastWords,
}

/// All streams, standard output before standard error for each rank, and all sinks.
#[derive(Debug)]
pub(crate) struct Output {
    streams: Vec<Stream>,
    sinks: Vec<Sink>,
    /// Directory of the sinks' files; `None` if they are the launcher's own streams. Then the first
    /// is its standard output, which ends the job when nobody reads it any more.
    directory: Option<PathBuf>,
    is_lost: bool,
}

/// The number of the launcher among the streams that share a sink.
const LAUNCHER: usize = usize::MAX;

impl Output {
    /// No streams yet, and the sinks that the plan asks for.
    ///
    /// # Errors
    /// The path that could not be created, and why.
    pub fn open(plan: &OutputPlan, ranks: u16) -> Result<Self, (PathBuf, io::Error)> {
        let sinks = match &plan.directory {
            Some(directory) => open_files(directory, ranks)?,
            None => {
                let own = |error| (PathBuf::from("standard output"), error);
                let out = Sink::stream(io::stdout().as_fd()).map_err(own)?;
                vec![out, Sink::stream(io::stderr().as_fd()).map_err(own)?]
            }
        };
        let directory = plan.directory.clone();
        Ok(Output { streams: Vec::new(), sinks, directory, is_lost: false })
    }

    /// Adds the streams of the next rank.
    pub fn add_rank(&mut self, plan: &OutputPlan, out: OwnedFd, err: OwnedFd) -> io::Result<()> {
        make_nonblocking(&out)?;
        make_nonblocking(&err)?;
        self.add_streams(plan, [Some(out), Some(err)]);
        Ok(())
    }

    /// Adds the streams of the next rank, which is on another host: what it writes comes by
    /// [`take_in`](Self::take_in).
    pub fn add_remote_rank(&mut self, plan: &OutputPlan) {
        self.add_streams(plan, [None, None]);
    }

    fn add_streams(&mut self, plan: &OutputPlan, pipes: [Option<OwnedFd>; 2]) {
        let rank = self.streams.len() / 2;
        let label = if plan.label { format!("[{rank}] ") } else { String::new() };
        for (kind, pipe) in pipes.into_iter().enumerate() {
            let sink = if self.directory.is_none() { kind } else { 2 * rank + kind };
            self.streams.push(Stream {
                pipe,
                pieces: Pieces::default(),
                label: label.clone(),
                sink,
                last_words: LastWords::default(),
            });
        }
    }

    /// Takes in what a rank on another host has written.
    pub fn take_in(&mut self, rank: Rank, kind: StandardStream, bytes: &[u8]) {
        self.take_in_of(2 * rank.index() + kind as usize, bytes);
    }

    /// True if more of what ranks on other hosts write should be taken in.
    pub fn has_room(&self) -> bool {
        self.sinks.iter().all(Sink::has_room)
    }

    fn take_in_of(&mut self, number: usize, bytes: &[u8]) {
        let Stream { pieces, label, sink, last_words, .. } = &mut self.streams[number];
        pieces.take_in(bytes, |piece| {
            last_words.take_in(piece);
            self.sinks[*sink].push(number, label, piece);
        });
    }

    /// The streams that can be read from as far as their sinks have room, by number.
    pub fn readable(&self) -> impl Iterator<Item = (usize, &OwnedFd)> {
        let numbered = self.streams.iter().enumerate();
        numbered.filter_map(|(number, stream)| {
            let pipe = stream.pipe.as_ref()?;
            self.sinks[stream.sink].has_room().then_some((number, pipe))
        })
    }

    /// The sinks that have something to write, by number.
    pub fn writable(&self) -> impl Iterator<Item = (usize, &OwnedFd)> {
        let numbered = self.sinks.iter().enumerate();
        numbered.filter_map(|(number, sink)| Some((number, sink.waits_for()?)))
    }

    /// Reads once from a stream that is ready.
    pub fn read_some(&mut self, number: usize) {
        let Some(pipe) = &self.streams[number].pipe else { return };
        let mut bytes = [0; READ_BYTES];
        match retry_on_intr(|| read(pipe, &mut bytes)) {
            Err(Errno::AGAIN) => {}
            Ok(0) | Err(_) => self.close(number),
            Ok(count) => self.take_in_of(number, &bytes[..count]),
        }
    }

    /// Writes once to a sink that is ready; says so if it cannot be written. False if it is the
    /// job's output, which nobody reads any more.
    pub fn write_some(&mut self, number: usize) -> bool {
        let is_own = self.directory.is_none();
        match self.sinks[number].write_some() {
            Ok(()) => true,
            Err(Errno::PIPE) if is_own => number != StandardStream::Out as usize,
            Err(error) => {
                self.announce_loss(number, error);
                true
            }
        }
    }

    /// True if output was lost because it could not be written, though somebody may read it.
    pub fn is_lost(&self) -> bool {
        self.is_lost
    }

    fn announce_loss(&mut self, number: usize, error: Errno) {
        self.is_lost = true;
        let name = match &self.directory {
            Some(directory) => file(directory, number).display().to_string(),
            None => ["standard output", "standard error"][number].into(),
        };
        self.say(&format!("cannot write to {name}: {error}; what ranks write there is lost"));
    }

    /// Says something to the user on standard error, behind what ranks have written there.
    pub fn say(&mut self, words: &str) {
        match self.directory {
            None => self.sinks[StandardStream::Err as usize].push(
                LAUNCHER,
                "",
                format!("weft: {words}\n").as_bytes(),
            ),
            Some(_) => eprintln!("weft: {words}"),
        }
    }

    /// Reads all that a rank, which has ended, wrote to one of its streams.
    pub fn read_rest(&mut self, rank: Rank, kind: StandardStream) {
        let number = 2 * rank.index() + kind as usize;
        for _ in 0..LAST_BYTES_MAX / READ_BYTES {
            let Some(pipe) = &self.streams[number].pipe else { return };
            match rustix::io::ioctl_fionread(pipe) {
                Ok(waiting) if waiting > 0 => self.read_some(number),
                _ => return,
            }
        }
    }

    /// Ends the streams of a rank: nobody writes to them any more.
    pub fn close_rank(&mut self, rank: Rank) {
        for kind in [StandardStream::Out, StandardStream::Err] {
            self.close(2 * rank.index() + kind as usize);
        }
    }

    /// The last line on a rank's standard error.
    pub fn last_words(&self, rank: Rank) -> Option<&str> {
        self.streams[2 * rank.index() + StandardStream::Err as usize].last_words.get()
    }

    /// Ends the last line on standard error, where the launcher is about to write its own.
    pub fn end_line(&mut self) {
        if self.directory.is_none() {
            self.sinks[StandardStream::Err as usize].end_line();
        }
    }

    fn close(&mut self, number: usize) {
        let Stream { pipe, pieces, label, sink, last_words } = &mut self.streams[number];
        *pipe = None;
        pieces.finish(|piece| {
            last_words.take_in(piece);
            self.sinks[*sink].push(number, label, piece);
        });
    }
}

fn open_files(directory: &Path, ranks: u16) -> Result<Vec<Sink>, (PathBuf, io::Error)> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |error| (path, error)
    };
    fs::create_dir_all(directory).map_err(failed(directory))?;
    let mut sinks = Vec::new();
    for number in 0..2 * usize::from(ranks) {
        let path = file(directory, number);
        sinks.push(Sink::file(File::create(&path).map_err(failed(&path))?));
    }
    Ok(sinks)
}

/// The file of a sink.
fn file(directory: &Path, number: usize) -> PathBuf {
    let kind = ["out", "err"][number % 2];
    directory.join(format!("rank-{}.{kind}", number / 2))
}
