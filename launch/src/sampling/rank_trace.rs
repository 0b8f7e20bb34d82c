//! Samples of one rank, as events of a trace. Sans-IO.

use crate::roll::AWAY;
use weft_link::gauge::Counts;
use weft_link::status::{Awaited, RankStatus};
use weft_trace::event::{COUNTERS, EventWords, text_parts};
use weft_trace::{Event, NamedThing, What};
use weft_wire::Rank;

/// Wait of a rank, as a sample sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Wait {
    /// Time at which it began, by which one is told from the next.
    pub begun: u64,
    pub polls: bool,
    pub awaited: Awaited,
}

impl Wait {
    /// The wait of a rank with this status, if it waits.
    pub fn of(status: RankStatus) -> Option<Self> {
        let is_away = status.polls && status.looked >= AWAY;
        let RankStatus { begun, polls, awaited, .. } = status;
        Some(Wait { begun, polls, awaited: awaited.filter(|_| !is_away)? })
    }
}

/// Events of a rank that is sampled.
#[derive(Debug, Default)]
pub(super) struct RankTrace {
    events: Vec<EventWords>,
    /// Time of the first sample.
    first: u64,
    /// Time of the last sample.
    last: u64,
    /// Samples since they were noted down, and the longest time between two.
    samples: (u64, u64),
    /// Beginning of the wait that is under way, and the sample that saw it first.
    wait: Option<(u64, u64)>,
    /// Rank that it is for, as far as was known last.
    whom: Option<Rank>,
    counts: Option<Counts>,
    has_ended: bool,
}

impl RankTrace {
    /// The first sample comes at this time.
    pub fn begin(&mut self, now: u64) {
        (self.first, self.last) = (now, now);
    }

    /// Takes in a sample: the rank is in this wait, or in none. The wait is for this rank.
    pub fn sample(&mut self, now: u64, wait: Option<&Wait>, whom: Option<Rank>) {
        if self.has_ended {
            return;
        }
        self.samples = (self.samples.0 + 1, self.samples.1.max(now - self.last));
        self.last = now;
        let is_same = self.wait.map(|(begun, _)| begun) == wait.map(|wait| wait.begun);
        if !is_same {
            self.end_wait(now);
            if let Some(wait) = wait {
                self.begin_wait(now, wait);
            }
        }
        if wait.is_some() && whom.is_some() && whom != self.whom {
            self.whom = whom;
            whom.into_iter().for_each(|rank| self.note(now, What::WaitsFor(rank)));
        }
    }

    /// Counters of the rank stand here. They count from the first ones on.
    pub fn counts(&mut self, now: u64, counts: Counts) {
        let Some(last) = self.counts.replace(counts) else { return };
        let counters = last.to_words().into_iter().zip(counts.to_words()).take(COUNTERS.len());
        for (counter, (before, now_is)) in (0..).zip(counters) {
            let more = now_is.saturating_sub(before);
            if more > 0 {
                self.note(now, What::Counted { counter, more });
            }
        }
    }

    /// Writes down how often it was sampled. No event is later than this one.
    pub fn note_samples(&mut self, now: u64) {
        if !self.has_ended {
            let (times, longest_ns) = std::mem::take(&mut self.samples);
            self.note(now, What::Looked { times, longest_ns });
        }
    }

    /// The rank has ended.
    pub fn end(&mut self, now: u64) {
        if !self.has_ended {
            self.end_wait(now);
            self.note_samples(now);
            self.has_ended = true;
        }
    }

    /// The recording ends. A wait that lasted through all of it does not.
    pub fn close(&mut self, now: u64) {
        if self.wait.is_some_and(|(_, seen)| seen > self.first) {
            self.end_wait(now);
        }
    }

    /// Events since the last time.
    pub fn take(&mut self) -> Vec<EventWords> {
        std::mem::take(&mut self.events)
    }

    fn begin_wait(&mut self, now: u64, wait: &Wait) {
        self.wait = Some((wait.begun, now));
        self.note(now, What::WaitBegins);
        if !wait.polls {
            self.note(now, What::SleepBegins);
        }
        for part in text_parts(NamedThing::Wait, 0, wait.awaited.subject()) {
            self.note(now, part);
        }
    }

    fn end_wait(&mut self, now: u64) {
        self.whom = None;
        if self.wait.take().is_some() {
            self.note(now, What::WaitEnds);
        }
    }

    fn note(&mut self, time: u64, what: What) {
        self.events.push(Event { time, what }.to_words());
    }
}

#[cfg(test)]
mod tests;
