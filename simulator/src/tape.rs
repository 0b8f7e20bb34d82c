//! Traces of simulated runs: what ranks write down, and what the network sees, in virtual time.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use weft_link::clock::Clock;
use weft_link_sim::{FrameEvent, Happened, Observer, Processor};
use weft_trace::event::EventWords;
use weft_trace::{
    BadTrace, Event, MOST_EVENTS, PacketEvent, Recorded, Recorder, Run, Trace, What, Writer,
};
use weft_wire::Rank;

/// Trace of a simulated run. Clones are handles to the same one.
#[derive(Clone, Debug)]
pub struct Tape {
    kept: Arc<Mutex<Kept>>,
}

#[derive(Debug)]
struct Kept {
    ranks: Vec<Vec<EventWords>>,
    events: u64,
    lost: Vec<u64>,
}

impl Tape {
    /// An empty trace of so many ranks.
    pub fn new(ranks: u16) -> Self {
        let (ranks, lost) = (vec![Vec::new(); ranks.into()], vec![0; ranks.into()]);
        Tape { kept: Arc::new(Mutex::new(Kept { ranks, events: 0, lost })) }
    }

    /// Writes down what a rank says, by its clock.
    pub(crate) fn recorder(&self, rank: Rank, clock: Processor) -> Arc<dyn Recorder> {
        Arc::new(RankRecorder { tape: self.clone(), rank, clock })
    }

    /// Writes down what the network sees, and has `other` see it, too.
    pub(crate) fn observer(&self, other: Option<Box<dyn Observer>>) -> Box<dyn Observer> {
        Box::new(NetworkObserver { tape: self.clone(), other })
    }

    /// Writes the trace to a file.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn write(&self, file: &Path, run: &Run) -> io::Result<Recorded> {
        self.append_to(Writer::create(file, run)?)?;
        let kept = self.kept();
        let (file, lost) = (file.to_owned(), kept.lost.iter().sum());
        Ok(Recorded { file, events: kept.events, lost, ..Recorded::default() })
    }

    /// The trace as whoever opens its file reads it.
    ///
    /// # Errors
    /// [`BadTrace`].
    pub fn trace(&self, run: &Run) -> Result<Trace, BadTrace> {
        let file = self.append_to(Writer::new(Vec::new(), run)?)?;
        Trace::read(&file[..])
    }

    fn append_to<W: io::Write>(&self, mut writer: Writer<W>) -> io::Result<W> {
        let mut kept = self.kept();
        let Kept { ranks, lost, .. } = &mut *kept;
        for ((number, events), lost) in (0..).zip(&mut *ranks).zip(&*lost) {
            // NIs and hosts have been at work at one time.
            events.sort_by_key(|words| words[0]);
            writer.append(Rank(number), *lost, events)?;
        }
        writer.finish()
    }

    fn keep(&self, rank: Rank, event: Event) {
        let mut kept = self.kept();
        if kept.events >= MOST_EVENTS {
            kept.lost[rank.index()] += 1;
            return;
        }
        kept.events += 1;
        kept.ranks[rank.index()].push(event.to_words());
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct RankRecorder {
    tape: Tape,
    rank: Rank,
    clock: Processor,
}

impl Recorder for RankRecorder {
    fn record(&self, what: &What) {
        self.tape.keep(self.rank, Event { time: self.clock.now(), what: *what });
    }
}

struct NetworkObserver {
    tape: Tape,
    other: Option<Box<dyn Observer>>,
}

impl Observer for NetworkObserver {
    fn see(&mut self, happened: &Happened) {
        let Happened { time, rank, what, frame, head } = happened;
        let packet = frame.map(|(peer, header)| PacketEvent::new(peer, &header, *head));
        let what = match (what, packet) {
            (FrameEvent::Transmitted, Some(packet)) => Some(What::Sent(packet)),
            (FrameEvent::Received, Some(packet)) => Some(What::Received(packet)),
            (FrameEvent::Interrupted, _) => Some(What::Interrupted),
            _ => None,
        };
        if let Some(what) = what {
            self.tape.keep(*rank, Event { time: *time, what });
        }
        if let Some(other) = &mut self.other {
            other.see(happened);
        }
    }
}
