//! Faults to inject, as people write them.

use super::arguments::{Arguments, time};
use anyhow::{Result, anyhow};
use std::time::Duration;
use weft_simulator::{Faults, Partition};
use weft_wire::Rank;

impl Arguments {
    /// The faults that were asked for.
    ///
    /// # Errors
    /// What is wrong with them, and how they are written. Whether they fit the job is checked
    /// later.
    pub fn faults(&self) -> Result<Faults> {
        Ok(Faults {
            loss: self.loss,
            duplication: self.duplicate,
            reordering: self.reorder,
            held_back: self.hold_back,
            corruption: self.corrupt,
            partitions: parsed(&self.partition, partition)?,
            slow: parsed(&self.slow_rank, slow_rank)?,
            crashes: parsed(&self.crash, crash)?,
        })
    }
}

fn parsed<T>(texts: &[String], parse: impl Fn(&str) -> Result<T>) -> Result<Vec<T>> {
    texts.iter().map(|text| parse(text)).collect()
}

fn partition(text: &str) -> Result<Partition> {
    let wrong = || anyhow!("--partition {text}: write ranks and times, such as 0-3,7@10ms..25ms");
    let (ranks, times) = text.split_once('@').ok_or_else(wrong)?;
    let (from, until) = times.split_once("..").ok_or_else(wrong)?;
    let ranks = ranks.split(',').map(span).collect::<Option<Vec<_>>>().ok_or_else(wrong)?;
    let ranks = ranks.into_iter().flatten().map(Rank).collect();
    Ok(Partition { ranks, from: parse_time(from)?, until: parse_time(until)? })
}

fn slow_rank(text: &str) -> Result<(Rank, f64)> {
    let parts = text.split_once('x');
    let parsed = parts.and_then(|(rank, times)| Some((rank.parse().ok()?, times.parse().ok()?)));
    let (rank, times) =
        parsed.ok_or_else(|| anyhow!("--slow-rank {text}: write a rank and a factor: 3x10"))?;
    Ok((Rank(rank), times))
}

fn crash(text: &str) -> Result<(Rank, Duration)> {
    let wrong = || anyhow!("--crash {text}: write a rank and a time, such as 5@12ms");
    let (rank, at) = text.split_once('@').ok_or_else(wrong)?;
    Ok((Rank(rank.parse().map_err(|_| wrong())?), parse_time(at)?))
}

/// One rank, or a first and a last.
fn span(text: &str) -> Option<std::ops::RangeInclusive<u16>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let ranks = first.parse().ok()?..=last.parse().ok()?;
    (!ranks.is_empty()).then_some(ranks)
}

fn parse_time(text: &str) -> Result<Duration> {
    time(text).map_err(|wrong| anyhow!("'{text}': {wrong}"))
}
