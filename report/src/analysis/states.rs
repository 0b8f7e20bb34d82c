//! States of ranks over time: what each does at every moment, and its waits.

use super::names::Names;
use serde::Serialize;
use std::collections::BTreeMap;
use weft_trace::{Event, RankTrace, What};

/// State of a rank.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RankState {
    /// It is outside of waits and handlers.
    Computing,
    /// It waits, and looks for packets.
    Waiting,
    /// It waits, and sleeps.
    Asleep,
    /// It runs a handler.
    Handler,
    /// Nobody knows: its events of this time were lost.
    Lost,
}

impl RankState {
    /// All states, by their numbers.
    pub const ALL: [RankState; 5] = [
        RankState::Computing,
        RankState::Waiting,
        RankState::Asleep,
        RankState::Handler,
        RankState::Lost,
    ];

    /// True if the rank waits, awake or asleep.
    pub fn is_idle(self) -> bool {
        matches!(self, RankState::Waiting | RankState::Asleep)
    }

    /// Word for it, as in "it is ...".
    pub fn word(self) -> &'static str {
        match self {
            RankState::Computing => "computing",
            RankState::Waiting => "waiting",
            RankState::Asleep => "asleep",
            RankState::Handler => "in handlers",
            RankState::Lost => "unknown",
        }
    }
}

/// Stretch of time in one state, until the next one begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Time at which it begins.
    pub start: u64,
    /// State during it.
    pub state: RankState,
    /// Name of the innermost span, in [`Names`]; 0 outside of spans.
    pub span: u32,
    /// Name of the port or system of the handler, in [`Names`]; 0 outside of handlers.
    pub port: u32,
}

/// A wait of a rank.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wait {
    /// Rank that waits.
    pub rank: u32,
    /// Time at which it begins.
    pub begin: u64,
    /// Time at which it ends.
    pub end: u64,
    /// Time for which it was idle itself: without handlers, and waits within them.
    pub idle: u64,
    /// Part of that for which it slept.
    pub asleep: u64,
    /// Index of the last packet that came before the end, and the rank that it came from.
    pub ended_by: Option<(u32, u32)>,
    /// Index of the event that ended it; `None` if nothing did before the rank's last event.
    pub ended: Option<u32>,
    /// Number of its text in [`Names`]; 0 if it has none.
    pub text: u32,
    /// Number of the name of the span around it; 0 if there is none.
    pub span: u32,
    /// Number of the name of the port of the handler that waits; 0 if the program does.
    pub handler: u32,
}

/// Times of spans of one name at one rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SpanTime {
    /// Number of spans.
    pub count: u64,
    /// Time from their beginnings to their ends, one within another counted once.
    pub total: u64,
}

/// Span of a rank, from its beginning to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// Name, in [`Names`].
    pub name: u32,
    /// Time at which it begins.
    pub begin: u64,
    /// Time at which it ends.
    pub end: u64,
}

/// A rank over time.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Life {
    /// Time of its first event.
    pub begin: u64,
    /// Time of its last event.
    pub heard: u64,
    /// Time of that event, or the end of the trace if it waits then.
    pub end: u64,
    /// States from its beginning to its end, without holes.
    pub pieces: Vec<Piece>,
    /// Its waits, in the order in which they began.
    pub waits: Vec<Wait>,
    /// Its spans, by their names.
    pub spans: BTreeMap<u32, SpanTime>,
    /// Each of them, in the order in which they began.
    pub stretches: Vec<Stretch>,
    /// Number of handlers that ran where packets are taken, by the names of their ports.
    pub handlers: BTreeMap<u32, u64>,
    /// Number of times that it was interrupted to take packets.
    pub interrupts: u64,
}

impl Life {
    /// The life of a rank, of which these are the events and their times, in a trace with this end.
    pub fn new(rank: u32, of: &RankTrace, times: &[u64], end: u64, names: &mut Names) -> Self {
        let mut walk = Walk { rank, ..Walk::default() };
        let begin = times.first().copied().unwrap_or(0);
        (walk.now, walk.life.begin) = (begin, begin);
        for (at, (event, time)) in of.events.iter().zip(times).enumerate() {
            if of.gaps.contains(&at) {
                walk.lose(*time, &of.events[at..]);
            }
            walk.proceed(*time);
            walk.take(at, event, of, names);
        }
        walk.finish(end)
    }

    /// Pieces that overlap this time, each with its part within it.
    pub fn within(&self, begin: u64, end: u64) -> impl Iterator<Item = (Piece, u64)> {
        let first = self.pieces.partition_point(|piece| piece.start <= begin).saturating_sub(1);
        let ends = self.pieces[first..].iter().skip(1).map(|next| next.start).chain([self.end]);
        self.pieces[first..]
            .iter()
            .zip(ends)
            .take_while(move |(piece, _)| piece.start < end)
            .map(move |(piece, until)| {
                (*piece, until.min(end).saturating_sub(piece.start.max(begin)))
            })
            .filter(|(_, time)| *time > 0)
    }

    /// Time in each state, by its number.
    pub fn in_states(&self) -> [u64; RankState::ALL.len()] {
        let mut times = [0; RankState::ALL.len()];
        for (piece, time) in self.within(self.begin, self.end) {
            times[piece.state as usize] += time;
        }
        times
    }
}

/// Thing that is under way at a rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Open {
    /// The wait with this index.
    Wait(usize),
    Sleep,
    /// The handler of the port with this number, and its name.
    Handler(u32, u32),
}

/// The life of a rank as far as its events have been read.
#[derive(Debug, Default)]
struct Walk {
    rank: u32,
    now: u64,
    open: Vec<Open>,
    /// Names of the spans under way, and their places among the stretches.
    spans: Vec<(u32, usize)>,
    /// True if events say for whom waits are, as those of recordings by samples do.
    is_told: bool,
    life: Life,
}

impl Walk {
    /// Time goes on to this.
    fn proceed(&mut self, time: u64) {
        let state = match self.open.last() {
            None => RankState::Computing,
            Some(Open::Wait(_)) => RankState::Waiting,
            Some(Open::Sleep) => RankState::Asleep,
            Some(Open::Handler(..)) => RankState::Handler,
        };
        let passed = time - self.now;
        if state.is_idle()
            && let Some(wait) = self.innermost_wait()
        {
            wait.idle += passed;
            wait.asleep += if state == RankState::Asleep { passed } else { 0 };
        }
        let port = match self.open.last() {
            Some(Open::Handler(_, name)) => *name,
            _ => 0,
        };
        self.spend(time, state, port);
    }

    fn spend(&mut self, time: u64, state: RankState, port: u32) {
        if time > self.now {
            let span = self.span();
            let piece = Piece { start: self.now, state, span, port };
            let is_same = |last: &Piece| (last.state, last.span, last.port) == (state, span, port);
            if !self.life.pieces.last().is_some_and(is_same) {
                self.life.pieces.push(piece);
            }
        }
        self.now = time;
    }

    /// Events before this time were lost: nothing is known of what was under way, except that a
    /// wait that ends next has begun.
    fn lose(&mut self, time: u64, after: &[Event]) {
        self.end_waits(0);
        self.open.clear();
        self.spend(time, RankState::Lost, 0);
        let next = after.iter().map(|event| event.what).find(|what| {
            matches!(what, What::WaitBegins | What::WaitEnds | What::SleepBegins | What::SleepEnds)
        });
        if matches!(next, Some(What::WaitEnds | What::SleepBegins | What::SleepEnds)) {
            self.begin_wait(0);
        }
        if next == Some(What::SleepEnds) {
            self.open.push(Open::Sleep);
        }
    }

    fn take(&mut self, at: usize, event: &Event, of: &RankTrace, names: &mut Names) {
        match event.what {
            What::Received(packet) => {
                let from = (at as u32, u32::from(packet.peer.0));
                for open in &self.open {
                    if let Open::Wait(wait) = open {
                        self.life.waits[*wait].ended_by = Some(from);
                    }
                }
            }
            What::WaitsFor(rank) => {
                self.is_told = true;
                if let Some(wait) = self.innermost_wait() {
                    wait.ended_by = Some((at as u32, rank.0.into()));
                }
            }
            What::WaitBegins => {
                let text = of.waits.get(&at).map_or(0, |text| names.number(text));
                self.begin_wait(text);
            }
            What::WaitEnds => self.end_wait(at as u32),
            What::SleepBegins => self.open.push(Open::Sleep),
            What::SleepEnds => self.close(|open| *open == Open::Sleep),
            What::SpanBegins(number) => {
                let name = names.span(of, number);
                self.spans.push((name, self.life.stretches.len()));
                self.life.stretches.push(Stretch { name, begin: self.now, end: self.now });
                self.life.spans.entry(name).or_default().count += 1;
            }
            What::SpanEnds(number) => self.end_span(names.span(of, number)),
            What::HandlerBegins(number) => {
                let name = names.port(of, number);
                self.open.push(Open::Handler(number, name));
                *self.life.handlers.entry(name).or_default() += 1;
            }
            What::HandlerGoesOn(number) => {
                self.open.push(Open::Handler(number, names.port(of, number)));
            }
            What::HandlerEnds(number) => {
                self.close(|open| matches!(open, Open::Handler(port, _) if *port == number));
            }
            What::Interrupted => self.life.interrupts += 1,
            What::Sent(_)
            | What::Meets(_)
            | What::Unexpected(_)
            | What::Scheduled { .. }
            | What::PopupBegins { .. }
            | What::PopupEnds { .. }
            | What::Submitted { .. }
            | What::Delivered { .. }
            | What::Put { .. }
            | What::Got { .. }
            | What::Counted { .. }
            | What::Looked { .. }
            | What::Text { .. } => {}
        }
    }

    fn begin_wait(&mut self, text: u32) {
        let handler = self.open.iter().rev().find_map(|open| match open {
            Open::Handler(_, name) => Some(*name),
            _ => None,
        });
        self.open.push(Open::Wait(self.life.waits.len()));
        self.life.waits.push(Wait {
            rank: self.rank,
            begin: self.now,
            end: self.now,
            idle: 0,
            asleep: 0,
            ended_by: None,
            ended: None,
            text,
            span: self.span(),
            handler: handler.unwrap_or(0),
        });
    }

    /// Ends the innermost wait, and sleeps within it.
    fn end_wait(&mut self, at: u32) {
        let last = self.open.iter().rposition(|open| matches!(open, Open::Wait(_)));
        let Some(last) = last else { return };
        if let Open::Wait(wait) = self.open.remove(last) {
            self.life.waits[wait].end = self.now;
            self.life.waits[wait].ended = Some(at);
        }
        while self.open.get(last) == Some(&Open::Sleep) {
            self.open.remove(last);
        }
    }

    /// Waits under way last until now, and no longer as far as is known.
    fn end_waits(&mut self, from: usize) {
        for open in &self.open[from..] {
            if let Open::Wait(wait) = open {
                self.life.waits[*wait].end = self.now;
                // The packet that came last has not ended it. Who is said to be waited for still
                // is.
                if !self.is_told {
                    self.life.waits[*wait].ended_by = None;
                }
            }
        }
    }

    fn end_span(&mut self, name: u32) {
        let last = self.spans.iter().rposition(|(open, _)| *open == name);
        let Some((_, at)) = last.map(|last| self.spans.remove(last)) else { return };
        let stretch = &mut self.life.stretches[at];
        stretch.end = self.now;
        if !self.spans.iter().any(|(open, _)| *open == name) {
            self.life.spans.entry(name).or_default().total += self.now - stretch.begin;
        }
    }

    fn close(&mut self, is_it: impl Fn(&Open) -> bool) {
        if let Some(last) = self.open.iter().rposition(is_it) {
            self.open.remove(last);
        }
    }

    fn innermost_wait(&mut self) -> Option<&mut Wait> {
        let wait = self.open.iter().rev().find_map(|open| match open {
            Open::Wait(wait) => Some(*wait),
            _ => None,
        });
        wait.map(|wait| &mut self.life.waits[wait])
    }

    fn span(&self) -> u32 {
        self.spans.last().map_or(0, |(name, _)| *name)
    }

    fn finish(mut self, end: u64) -> Life {
        self.life.heard = self.now;
        // A rank that waits when it is heard of last has waited since, as the end of a wait is an
        // event.
        if matches!(self.open.last(), Some(Open::Wait(_) | Open::Sleep)) {
            self.proceed(end.max(self.now));
        }
        self.end_waits(0);
        while let Some((name, _)) = self.spans.last().copied() {
            self.end_span(name);
        }
        self.life.end = self.now;
        self.life
    }
}

#[cfg(test)]
mod tests;
