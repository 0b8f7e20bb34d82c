//! Lives of ranks as slices, for viewers that draw such: computing, waits, sleeps and handlers,
//! within the spans that they are in.

use crate::analysis::Analysis;
use crate::analysis::states::{Life, Piece, RankState, Stretch};
use std::collections::BTreeMap;

/// Stretch of time of a rank.
pub(crate) struct Slice<'a> {
    pub name: String,
    /// Kind of what it is: `span`, or a state.
    pub kind: &'static str,
    pub begin: u64,
    pub end: u64,
    /// Object of the wait that it is of.
    pub awaited: Option<&'a str>,
}

/// Number of the host of each rank.
pub(crate) fn hosts(analysis: &Analysis) -> Vec<u32> {
    let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
    let number = |host| {
        let next = numbers.len() as u32;
        *numbers.entry(host).or_insert(next)
    };
    analysis.findings.time.iter().map(|of| of.host.as_str()).map(number).collect()
}

/// Slices of a rank in the order in which they begin, each before those in it. A span that goes on
/// when the one around it ends is two.
pub(crate) fn slices<'a>(analysis: &'a Analysis, life: &'a Life) -> Vec<Slice<'a>> {
    let mut nest = Nest { analysis, all: Vec::new(), open: Vec::new(), next: &life.stretches };
    for (piece, time) in life.within(life.begin, life.end) {
        let (mut begin, end) = (piece.start, piece.start + time);
        while begin < end {
            nest.proceed(begin);
            let until = nest.change().min(end);
            let (name, kind) = (name_of(analysis, &piece), piece.state.word());
            let awaited = awaited(analysis, life, piece.state, (begin, until));
            nest.all.push(Slice { name, kind, begin, end: until, awaited });
            begin = until;
        }
    }
    // Those that take no time are there, too.
    nest.proceed(u64::MAX);
    nest.all
}

/// Spans within one another.
struct Nest<'a> {
    analysis: &'a Analysis,
    all: Vec<Slice<'a>>,
    /// Those under way, the outermost first, each with the end of its slice.
    open: Vec<(Stretch, u64)>,
    /// Those that have not begun.
    next: &'a [Stretch],
}

impl Nest<'_> {
    /// Time goes on to this: spans end, and others begin.
    fn proceed(&mut self, time: u64) {
        while let Some((first, rest)) = self.next.split_first()
            && first.begin <= time
        {
            self.next = rest;
            self.close(first.begin);
            self.open(*first, first.begin);
        }
        self.close(time);
    }

    /// Time at which the next span begins or ends.
    fn change(&self) -> u64 {
        let end = self.open.last().map_or(u64::MAX, |(_, end)| *end);
        self.next.first().map_or(end, |next| next.begin.min(end))
    }

    fn open(&mut self, span: Stretch, begin: u64) {
        let Some(name) = self.analysis.names.text(span.name) else { return };
        let end = self.open.last().map_or(span.end, |(_, around)| span.end.min(*around));
        self.all.push(Slice { name: name.into(), kind: "span", begin, end, awaited: None });
        self.open.push((span, end));
    }

    /// Ends slices of spans that are over. Spans that go on begin anew.
    fn close(&mut self, time: u64) {
        let Some(first) = self.open.iter().position(|(_, end)| *end <= time) else { return };
        for (span, _) in self.open.split_off(first) {
            if span.end > time {
                self.open(span, time);
            }
        }
    }
}

fn name_of(analysis: &Analysis, piece: &Piece) -> String {
    match (piece.state, analysis.names.text(piece.port)) {
        (RankState::Handler, Some(port)) => format!("handler of {port}"),
        (RankState::Handler, None) => "handler".into(),
        (state, _) => state.word().into(),
    }
}

/// Text of the wait that this stretch is of.
fn awaited<'a>(
    analysis: &'a Analysis,
    life: &Life,
    state: RankState,
    within: (u64, u64),
) -> Option<&'a str> {
    if !state.is_idle() {
        return None;
    }
    let before = life.waits.partition_point(|wait| wait.begin <= within.0);
    let around = life.waits[..before].iter().rev().take(64).find(|wait| wait.end >= within.1);
    analysis.names.text(around?.text)
}

#[cfg(test)]
pub(crate) mod tests;
