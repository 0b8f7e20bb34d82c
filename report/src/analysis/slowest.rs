//! Waits of a run: the longest, where their ranks were, and what those that they waited for did
//! meanwhile.

use super::names::Names;
use super::states::{Life, RankState, Wait};
use serde::Serialize;
use std::collections::BTreeMap;

/// Number of waits that are described.
const SLOWEST: usize = 50;
/// Number of kinds of waits that are listed.
const KINDS: usize = 30;
/// Number of things that a rank did meanwhile that are named.
const MEANWHILE: usize = 3;
/// Number of waits that are looked at for the one that was under way.
const LOOK_BACK: usize = 64;

/// A long wait.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Slow {
    /// Rank that waited.
    pub rank: u32,
    /// Time at which it began.
    pub begin_ns: u64,
    /// Time at which it ended.
    pub end_ns: u64,
    /// Part of it in which the rank was idle.
    pub idle_ns: u64,
    /// Part of that for which it slept.
    pub asleep_ns: u64,
    /// Object of the wait in words, if they were written down.
    pub text: Option<String>,
    /// Name of the span around it.
    pub span: Option<String>,
    /// Name of the port of the handler that waited; none if the program did.
    pub handler: Option<String>,
    /// Rank of which a packet ended it.
    pub ended_by: Option<u32>,
    /// True if nothing ended it as long as there were events.
    pub is_open: bool,
    /// Rank that was waited for: the one that ended it, or else the only one that its text names.
    pub awaited: Option<u32>,
    /// Things that this one did meanwhile, the longest first.
    pub meanwhile: Vec<Meanwhile>,
}

impl Slow {
    /// Words for where the rank was when it waited: ` in the handler of 'rows' in 'solve'`; none
    /// outside of both.
    pub fn place(&self) -> String {
        place(self.handler.as_deref(), self.span.as_deref())
    }

    /// Words for who ended the wait, and what the rank that was waited for did meanwhile:
    /// `until rank 3, which computed in 'solve' for 1.20 ms`.
    pub fn end(&self, nobody: &str) -> String {
        let did: Vec<_> = self.meanwhile.iter().map(|it| it.words.as_str()).collect();
        let did = match did.split_last() {
            None => String::new(),
            Some((only, [])) => format!(", which {only}"),
            Some((last, before)) => format!(", which {}, and {last}", before.join(", ")),
        };
        let named = self.awaited.map_or_else(String::new, |rank| format!("; rank {rank}{did}"));
        match self.ended_by {
            _ if self.is_open => format!("which nothing ended{named}"),
            None => format!("ended by {nobody}{named}"),
            Some(rank) => format!("until rank {rank}{did}"),
        }
    }
}

/// Thing that a rank did.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Meanwhile {
    /// State that it was in.
    pub state: RankState,
    /// Name of the span around it.
    pub span: Option<String>,
    /// Name of the port of the handler that it ran, or in which it waited.
    pub handler: Option<String>,
    /// Text of the wait.
    pub awaited: Option<String>,
    /// Time.
    pub ns: u64,
    /// Words for all of it: `computed in 'solve' for 1.20 ms`.
    pub words: String,
}

impl Meanwhile {
    /// These things, with words.
    fn new(
        state: RankState,
        span: Option<String>,
        handler: Option<String>,
        awaited: Option<String>,
        ns: u64,
    ) -> Self {
        let at = |handler| place(handler, span.as_deref());
        let done = match (state, &handler, &awaited) {
            (RankState::Computing, ..) if span.is_none() => "computed, outside Weft,".into(),
            (RankState::Computing, ..) => format!("computed{}", at(None)),
            (RankState::Handler, Some(port), _) => {
                format!("ran the handler of '{port}'{}", at(None))
            }
            (RankState::Handler, None, _) => format!("ran handlers{}", at(None)),
            (RankState::Lost, ..) => "did what was lost".into(),
            (_, handler, Some(text)) => format!("waited for {text}{}", at(handler.as_deref())),
            (_, handler, None) => format!("waited{}", at(handler.as_deref())),
        };
        let words = format!("{done} for {}", crate::units::time(ns));
        Meanwhile { state, span, handler, awaited, ns, words }
    }
}

/// Words for a handler and a span that something was in.
fn place(handler: Option<&str>, span: Option<&str>) -> String {
    let handler = handler.map_or_else(String::new, |port| format!(" in the handler of '{port}'"));
    let span = span.map_or_else(String::new, |span| format!(" in '{span}'"));
    handler + &span
}

/// Waits with the same text, but for the numbers in it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct WaitKind {
    /// Text, with `#` for numbers; none if nothing was written down.
    pub text: Option<String>,
    /// Number of waits.
    pub count: u64,
    /// Time in which ranks were idle in them.
    pub idle_ns: u64,
    /// Longest one.
    pub longest_ns: u64,
}

/// The slowest waits, the longest first.
pub fn slowest(lives: &[Life], names: &Names) -> Vec<Slow> {
    let mut waits: Vec<&Wait> = lives.iter().flat_map(|life| &life.waits).collect();
    let order = |wait: &&Wait| (std::cmp::Reverse(wait.idle), wait.begin, wait.rank);
    if waits.len() > SLOWEST {
        waits.select_nth_unstable_by_key(SLOWEST, order);
        waits.truncate(SLOWEST);
    }
    waits.sort_by_key(order);
    waits.retain(|wait| wait.idle > 0);
    waits.iter().map(|wait| describe(wait, lives, names)).collect()
}

fn describe(wait: &Wait, lives: &[Life], names: &Names) -> Slow {
    let text = |number| names.text(number).map(Into::into);
    let ended_by = wait.ended_by.map(|(_, rank)| rank);
    let named = || named_rank(names.text(wait.text).unwrap_or_default());
    let awaited = ended_by.or_else(named).filter(|rank| (*rank as usize) < lives.len());
    let other = awaited.filter(|rank| *rank != wait.rank).map(|rank| &lives[rank as usize]);
    Slow {
        rank: wait.rank,
        begin_ns: wait.begin,
        end_ns: wait.end,
        idle_ns: wait.idle,
        asleep_ns: wait.asleep,
        text: text(wait.text),
        span: text(wait.span),
        handler: text(wait.handler),
        ended_by,
        is_open: wait.ended.is_none(),
        awaited,
        meanwhile: other.map_or_else(Vec::new, |life| meanwhile(life, wait, names)),
    }
}

fn meanwhile(life: &Life, during: &Wait, names: &Names) -> Vec<Meanwhile> {
    let text = |number| names.text(number).map(String::from);
    let mut times: BTreeMap<(RankState, u32, u32), u64> = BTreeMap::new();
    for (piece, time) in life.within(during.begin, during.end) {
        // Awake or asleep, it waited.
        let state = if piece.state.is_idle() { RankState::Waiting } else { piece.state };
        *times.entry((state, piece.span, piece.port)).or_default() += time;
    }
    let mut times: Vec<_> = times.into_iter().collect();
    times.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    times.truncate(MEANWHILE);
    let waited = longest_within(life, during.begin, during.end);
    let described = times.into_iter().map(|((state, span, port), ns)| match waited {
        Some(wait) if state.is_idle() => {
            Meanwhile::new(state, text(span), text(wait.handler), text(wait.text), ns)
        }
        _ => Meanwhile::new(state, text(span), text(port), None, ns),
    });
    described.collect()
}

/// Wait that is under way longest between these times.
fn longest_within(life: &Life, begin: u64, end: u64) -> Option<&Wait> {
    let before = life.waits.partition_point(|wait| wait.begin < end);
    let candidates = life.waits[..before].iter().rev().take(LOOK_BACK);
    let overlap = |wait: &&Wait| wait.end.min(end).saturating_sub(wait.begin.max(begin));
    candidates.max_by_key(overlap)
}

/// Rank that a text names, if it names one only.
fn named_rank(text: &str) -> Option<u32> {
    let mut ranks = text.split("rank ").skip(1).map(|rest| {
        let digits = rest.find(|char: char| !char.is_ascii_digit()).unwrap_or(rest.len());
        rest[..digits].parse().ok()
    });
    let first = ranks.next()??;
    ranks.all(|rank| rank == Some(first)).then_some(first)
}

/// Waits by their texts, those with the longest time first.
pub fn kinds(lives: &[Life], names: &Names) -> Vec<WaitKind> {
    let general: Vec<_> = names.texts().iter().map(|text| without_numbers(text)).collect();
    let mut kinds: BTreeMap<&str, WaitKind> = BTreeMap::new();
    for wait in lives.iter().flat_map(|life| &life.waits) {
        let kind = kinds.entry(&general[wait.text as usize]).or_default();
        kind.count += 1;
        kind.idle_ns += wait.idle;
        kind.longest_ns = kind.longest_ns.max(wait.idle);
    }
    let named = |(text, kind): (&str, WaitKind)| WaitKind {
        text: (!text.is_empty()).then(|| text.into()),
        ..kind
    };
    let mut kinds: Vec<_> = kinds.into_iter().map(named).collect();
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.idle_ns));
    kinds.truncate(KINDS);
    kinds
}

fn without_numbers(text: &str) -> String {
    let mut out = String::new();
    for char in text.chars() {
        match char.is_ascii_digit() {
            false => out.push(char),
            true if !out.ends_with('#') => out.push('#'),
            true => {}
        }
    }
    out
}

#[cfg(test)]
mod tests;
