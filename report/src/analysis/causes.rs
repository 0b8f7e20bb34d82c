//! Known reasons for which programs crawl, each with its evidence and with what to do about it.
//!
//! | module | cause | evidence |
//! |---|---|---|
//! | [`messages`] | unexpected messages | events that say how many there are |
//! | [`messages`] | tiny messages | rows of short packets to one rank, and their time |
//! | [`waits`] | late receiver | waits for a rank to receive |
//! | [`waits`] | false sharing of a region | write misses of several ranks, and their time |
//! | [`network`] | lost way | packets that were sent again and came less often |
//! | [`network`] | slow link | the fastest packets in both directions |
//! | [`cores`] | too few cores | run delay of ranks that compute |
//!
//! A healthy program has none of them: each has a share of the time, or a number, below which it is
//! not worth a word.

mod cores;
mod messages;
mod network;
mod waits;

use super::arrows::Arrow;
use super::balance::RankTime;
use super::names::Names;
use super::states::Life;
use weft_trace::Trace;

/// Reason for which a run was slow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cause {
    /// Sentence with the culprit and the reason, and one on what to change.
    pub lines: [String; 2],
    /// True if nothing else explains its evidence. Other findings come first otherwise.
    pub is_certain: bool,
}

/// Facts that causes are found in.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// Every rank over time.
    pub lives: &'a [Life],
    /// Texts of waits and spans.
    pub names: &'a Names,
    /// Times of ranks.
    pub ranks: &'a [RankTime],
    /// Packets of which both ends are known.
    pub arrows: &'a [Arrow],
}

impl Facts<'_> {
    /// Causes of this run, those first that explain more than others.
    pub fn causes(&self) -> Vec<Cause> {
        let all = [
            self.lost_way(),
            self.slow_link(),
            self.unexpected(),
            self.false_sharing(),
            self.tiny_messages(),
            self.late_receiver(),
            self.too_few_cores(),
        ];
        all.into_iter().flatten().collect()
    }

    /// Time of all ranks together.
    fn total(&self) -> u64 {
        self.ranks.iter().map(RankTime::total).sum()
    }
}

impl Cause {
    /// A cause that nothing else explains.
    fn certain(lines: [String; 2]) -> Option<Self> {
        Some(Cause { lines, is_certain: true })
    }
}

#[cfg(test)]
mod tests;
