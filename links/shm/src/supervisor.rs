//! Access of the launcher to the segments of a job.

use crate::doorbell::announce_loss;
use crate::segment::{Segment, Settings};
use crate::trace::TraceRing;
use std::io;
use std::os::fd::OwnedFd;
use weft_link::bell::{Cause, Loss};
use weft_link::gauge::Counts;
use weft_link::status::RankStatus;
use weft_link::sync::Ordering;
use weft_wire::Rank;

/// Supervisor of a job: all its segments, by which the survivors are notified of a loss.
pub struct Supervisor {
    segments: Vec<Segment>,
}

impl std::fmt::Debug for Supervisor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Supervisor of {} segments", self.segments.len())
    }
}

impl Supervisor {
    /// Maps the memory of a job.
    ///
    /// # Errors
    /// An error of the kernel when it maps it.
    pub fn attach(settings: &Settings, memory: &OwnedFd) -> io::Result<Self> {
        Ok(Supervisor { segments: Segment::map_all(memory, *settings, None)? })
    }

    /// The status of the rank with this number among these segments, if it has said any.
    pub fn status_of(&self, number: usize) -> Option<RankStatus> {
        self.segments.get(number)?.status().read()
    }

    /// The process of that rank, once it has joined.
    pub fn process_of(&self, number: usize) -> Option<u32> {
        let process = self.segments.get(number)?.identity().process[0].load(Ordering::Acquire);
        u32::try_from(process).ok().filter(|process| *process != 0)
    }

    /// Asks that rank for its counts, and returns those that it has shown last.
    pub fn counts_of(&self, number: usize) -> Option<Counts> {
        self.ask_counts(number);
        self.shown_counts(number).map(|(_, counts)| counts)
    }

    /// Asks that rank for its counts, which it shows soon, unless it is stopped.
    pub fn ask_counts(&self, number: usize) {
        if let Some(segment) = self.segments.get(number) {
            segment.gauge().ask();
        }
    }

    /// Counts that that rank has shown last, and a number that changes whenever it shows some.
    pub fn shown_counts(&self, number: usize) -> Option<(u64, Counts)> {
        self.segments.get(number)?.gauge().read()
    }

    /// The trace of that rank, if there is one.
    pub fn trace_of(&self, number: usize) -> Option<TraceRing> {
        self.segments.get(number)?.trace()
    }

    /// Announces the loss of `lost`, and its cause, to every rank of these segments, and wakes it.
    /// `lost` is a rank of the job: on several hosts it need not be one of these. Returns true if
    /// the first rank of these segments had no loss that it has not taken: of several threads that
    /// announce one at one time, one is told so.
    pub fn announce_loss(&self, lost: Rank, cause: Cause) -> bool {
        let loss = Loss { rank: lost, cause };
        let mut is_news =
            self.segments.iter().map(|segment| announce_loss(&segment.control(), loss));
        let is_news_to_first = is_news.next().unwrap_or_default();
        is_news.for_each(drop);
        is_news_to_first
    }
}
