//! Critical path: the chain of work and packets that made the run as long as it was.
//!
//! It is followed backward from the last event of all: within a rank to the end of a wait, then
//! over the packet that ended it to its sender. A packet that was there before the wait began ended
//! it, but was not what took so long: the path stays with the rank. What a rank sends in the middle
//! of a wait answers what it took last: the path goes over that packet, too.

use super::arrows::Arrow;
use super::names::Names;
use super::states::{Life, RankState};
use crate::units;
use serde::Serialize;
use std::collections::BTreeMap;

/// Kind of a stretch of the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum On {
    /// A rank did what it did.
    Rank,
    /// A packet was under way, or lay where it had arrived.
    Flight,
    /// A packet had been taken, and the wait was not over.
    Waking,
}

/// Stretch of the path.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Step {
    /// Kind of it.
    pub on: On,
    /// Rank that it is at; the sender of a packet.
    pub rank: u32,
    /// Receiver of a packet; the same rank otherwise.
    pub to: u32,
    /// Time at which it begins.
    pub begin_ns: u64,
    /// Time at which it ends.
    pub end_ns: u64,
}

/// Part of the path that is of one rank or one span.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Part {
    /// Rank, in the list of ranks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Name of a span, in the list of spans; none is outside of spans.
    pub span: Option<String>,
    /// Time.
    pub ns: u64,
}

/// The path.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Path {
    /// Its length.
    pub total_ns: u64,
    /// Part of it in which a rank computed.
    pub computing_ns: u64,
    /// Part in which one ran handlers.
    pub handler_ns: u64,
    /// Part in which one waited for what is no packet of this trace.
    pub waiting_ns: u64,
    /// Part of which nothing is known.
    pub lost_ns: u64,
    /// Part in which packets were under way.
    pub flight_ns: u64,
    /// Part between the arrival of a packet and the end of the wait.
    pub waking_ns: u64,
    /// Computing and handlers by rank, the largest first.
    pub ranks: Vec<Part>,
    /// Computing and handlers by span.
    pub spans: Vec<Part>,
    /// Sentence on what would shorten it.
    pub advice: String,
    /// Stretches, in the order of time.
    pub steps: Vec<Step>,
}

impl Path {
    /// The path of a run.
    pub fn new(lives: &[Life], arrows: &[Arrow], names: &Names) -> Self {
        let mut path = Path { steps: Walk::new(lives, arrows).steps(), ..Path::default() };
        path.add_up(lives, names);
        path.advice = path.advise();
        path
    }

    /// The path of a recording by samples, in which no packets are.
    pub fn unknown() -> Self {
        let advice =
            "Samples know no packets, and so no critical path: a run with --trace finds it";
        Path { advice: advice.into(), ..Path::default() }
    }

    fn add_up(&mut self, lives: &[Life], names: &Names) {
        let mut ranks: BTreeMap<u32, u64> = BTreeMap::new();
        let mut spans: BTreeMap<u32, u64> = BTreeMap::new();
        for step in std::mem::take(&mut self.steps) {
            let took = step.end_ns - step.begin_ns;
            self.total_ns += took;
            match step.on {
                On::Flight => self.flight_ns += took,
                On::Waking => self.waking_ns += took,
                On::Rank => {
                    let life = &lives[step.rank as usize];
                    for (piece, time) in life.within(step.begin_ns, step.end_ns) {
                        *self.of_state(piece.state) += time;
                        if matches!(piece.state, RankState::Computing | RankState::Handler) {
                            *ranks.entry(step.rank).or_default() += time;
                            *spans.entry(piece.span).or_default() += time;
                        }
                    }
                }
            }
            self.steps.push(step);
        }
        self.ranks = largest_first(ranks, |rank, ns| Part { rank: Some(rank), span: None, ns });
        let of_span = |span, ns| Part { rank: None, span: names.text(span).map(Into::into), ns };
        self.spans = largest_first(spans, of_span);
    }

    fn of_state(&mut self, state: RankState) -> &mut u64 {
        match state {
            RankState::Computing => &mut self.computing_ns,
            RankState::Handler => &mut self.handler_ns,
            RankState::Waiting | RankState::Asleep => &mut self.waiting_ns,
            RankState::Lost => &mut self.lost_ns,
        }
    }

    /// Sentence on its largest part.
    fn advise(&self) -> String {
        let share = |ns| units::percent(ns, self.total_ns);
        let busy = self.computing_ns + self.handler_ns;
        let others = [self.flight_ns, self.waking_ns, self.waiting_ns, self.lost_ns];
        let Some(first) = self.ranks.first().filter(|_| others.iter().all(|other| *other <= busy))
        else {
            return self.advise_on_waits();
        };
        let rank = first.rank.unwrap_or_default();
        let span = self.spans.first().and_then(|part| Some((part.span.as_ref()?, part.ns)));
        let within = span.map_or_else(String::new, |(span, ns)| {
            format!("; '{span}' is {} of it, on whichever rank", share(ns))
        });
        if first.ns * 2 >= busy && self.ranks.len() > 1 {
            return format!(
                "Rank {rank} computes during {} of the critical path{within}: take work from it, \
                 or make that work faster",
                share(first.ns)
            );
        }
        format!(
            "The critical path is computing for {}, on {}{within}: only faster computing, or more \
             ranks, shorten it",
            share(busy),
            units::count(self.ranks.len() as u64, "rank")
        )
    }

    fn advise_on_waits(&self) -> String {
        let share = |ns| units::percent(ns, self.total_ns);
        let largest = self.flight_ns.max(self.waking_ns).max(self.waiting_ns).max(self.lost_ns);
        let flights = self.steps.iter().filter(|step| step.on == On::Flight).count() as u64;
        match largest {
            0 => "The run is too short to say what would shorten it".into(),
            _ if largest == self.flight_ns => format!(
                "{} on the critical path are under way for {} of it: fewer messages that wait for \
                 one another, or work between sending and waiting, shorten it",
                units::count(flights, "packet"),
                share(largest)
            ),
            _ if largest == self.waking_ns => format!(
                "{} of the critical path passes between the arrival of packets and the end of the \
                 waits for them: ranks wake up slowly, or wait for more than one packet",
                share(largest)
            ),
            _ if largest == self.waiting_ns => format!(
                "{} of the critical path is waiting for what no packet of this trace ends, such as \
                 shared memory or time: look at the slowest waits",
                share(largest)
            ),
            _ => "Most events of the critical path were lost: trace less, or for a shorter time"
                .into(),
        }
    }
}

fn largest_first(times: BTreeMap<u32, u64>, part: impl Fn(u32, u64) -> Part) -> Vec<Part> {
    let mut parts: Vec<_> = times.into_iter().map(|(key, ns)| part(key, ns)).collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.ns));
    parts
}

/// A wait that an arrow ended, or interrupted.
struct Ended {
    /// Index of the event that ends it, or of the packet.
    at: u32,
    begin: u64,
    end: u64,
    arrow: usize,
}

struct Walk<'a> {
    lives: &'a [Life],
    arrows: &'a [Arrow],
    /// By rank, in the order of their ends.
    ended: Vec<Vec<Ended>>,
    /// Time that the fastest packet took, by sender and receiver.
    fastest: BTreeMap<(u32, u32), u64>,
}

impl<'a> Walk<'a> {
    fn new(lives: &'a [Life], arrows: &'a [Arrow]) -> Self {
        let mut fastest = BTreeMap::new();
        for arrow in arrows.iter().filter(|arrow| arrow.flight() > 0) {
            let least = fastest.entry((arrow.from, arrow.to)).or_insert(u64::MAX);
            *least = arrow.flight().min(*least);
        }
        let mut ended: Vec<_> = lives.iter().map(|life| ended(life, arrows)).collect();
        for taken in arrows.chunk_by(|a, b| a.to == b.to) {
            let to = taken[0].to as usize;
            let first = arrows.partition_point(|arrow| (arrow.to as usize) < to);
            // The end of a wait is after the packet that is the same event.
            let mut waits = interrupted(&lives[to], taken, first);
            waits.append(&mut ended[to]);
            waits.sort_by_key(|wait| wait.at);
            ended[to] = waits;
        }
        Walk { lives, arrows, ended, fastest }
    }

    fn steps(&self) -> Vec<Step> {
        let last = (0..).zip(self.lives).max_by_key(|(_, life)| life.heard);
        let Some((mut rank, life)) = last else { return Vec::new() };
        let (mut now, mut before) = (life.end, u32::MAX);
        let mut steps = Vec::new();
        // In a trace that contradicts itself the chain might go round.
        let mut left = self.ended.iter().map(Vec::len).sum::<usize>() + self.lives.len();
        while let Some(wait) = self.binding(rank, before, &mut left) {
            let arrow = &self.arrows[wait.arrow];
            let end = wait.end.min(now);
            let arrived = arrow.arrived.min(end);
            let sent = arrow.left.min(arrived);
            steps.push(Step { on: On::Rank, rank, to: rank, begin_ns: end, end_ns: now });
            steps.push(Step { on: On::Waking, rank, to: rank, begin_ns: arrived, end_ns: end });
            let flight = Step {
                on: On::Flight,
                rank: arrow.from,
                to: rank,
                begin_ns: sent,
                end_ns: arrived,
            };
            steps.push(flight);
            (rank, now, before) = (arrow.from, sent, arrow.sent);
        }
        let begin = self.lives[rank as usize].begin.min(now);
        steps.push(Step { on: On::Rank, rank, to: rank, begin_ns: begin, end_ns: now });
        steps.retain(|step| step.begin_ns < step.end_ns);
        steps.reverse();
        steps
    }

    /// The last wait of a rank before one of its events that was as long as it was because of the
    /// packet that ended it.
    fn binding(&self, rank: u32, before: u32, left: &mut usize) -> Option<&Ended> {
        let ended = self.ended.get(rank as usize)?;
        let candidates = &ended[..ended.partition_point(|wait| wait.at < before)];
        for wait in candidates.iter().rev() {
            *left = left.checked_sub(1)?;
            let arrow = &self.arrows[wait.arrow];
            let fastest = self.fastest.get(&(arrow.from, arrow.to)).copied().unwrap_or(0);
            if arrow.left.saturating_add(fastest) >= wait.begin {
                return Some(wait);
            }
        }
        None
    }
}

/// Waits of a rank that packets of the trace ended.
fn ended(life: &Life, arrows: &[Arrow]) -> Vec<Ended> {
    let ended = life.waits.iter().filter_map(|wait| {
        let key = (wait.rank, wait.ended_by?.0);
        let arrow = arrows.binary_search_by_key(&key, |arrow| (arrow.to, arrow.received)).ok()?;
        Some(Ended { at: wait.ended?, begin: wait.begin, end: wait.end, arrow })
    });
    ended.collect()
}

/// Waits of a rank, each from the packet before to the next one, which it takes in the middle. The
/// first of these has the index `first`.
fn interrupted(life: &Life, taken: &[Arrow], first: usize) -> Vec<Ended> {
    let mut last = life.begin;
    let mut waits = Vec::new();
    for (index, arrow) in taken.iter().enumerate() {
        let until = life.pieces.partition_point(|piece| piece.start < arrow.arrived);
        let mut begin = None;
        for piece in life.pieces[..until].iter().rev().take_while(|piece| piece.state.is_idle()) {
            begin = Some(piece.start.max(last));
            if piece.start <= last {
                break;
            }
        }
        last = arrow.arrived;
        let waited = begin.map(|begin| {
            let (at, end) = (arrow.received, arrow.arrived);
            Ended { at, begin, end, arrow: first + index }
        });
        waits.extend(waited);
    }
    waits
}

#[cfg(test)]
mod tests;
