//! Lives of ranks as slices, for viewers that draw such: computing, waits, sleeps and handlers,
//! within the spans that they are in.

use crate::analysis::Analysis;
use crate::analysis::states::{Life, Piece, State};
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

/// Slices of a rank in the order in which they begin, each before those in it.
pub(crate) fn slices<'a>(analysis: &'a Analysis, life: &'a Life) -> Vec<Slice<'a>> {
    let mut all: Vec<Slice<'_>> = Vec::new();
    // Place of the span around, if there is one, and its number.
    let mut around = (None, None);
    for (piece, time) in life.within(life.begin, life.end) {
        let (begin, end) = (piece.start, piece.start + time);
        if around.1 != Some(piece.span) {
            let name = analysis.names.text(piece.span);
            let place = name.is_some().then_some(all.len());
            let span =
                |name: &str| Slice { name: name.into(), kind: "span", begin, end, awaited: None };
            all.extend(name.map(span));
            around = (place, Some(piece.span));
        }
        if let Some(place) = around.0 {
            all[place].end = end;
        }
        let (name, kind) = (name_of(analysis, &piece), piece.state.word());
        let awaited = awaited(analysis, life, piece.state, (begin, end));
        all.push(Slice { name, kind, begin, end, awaited });
    }
    all
}

fn name_of(analysis: &Analysis, piece: &Piece) -> String {
    match (piece.state, analysis.names.text(piece.port)) {
        (State::Handler, Some(port)) => format!("handler of {port}"),
        (State::Handler, None) => "handler".into(),
        (state, _) => state.word().into(),
    }
}

/// Text of the wait that this stretch is of.
fn awaited<'a>(
    analysis: &'a Analysis,
    life: &Life,
    state: State,
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
