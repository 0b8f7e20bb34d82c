//! Floyd and Warshall's algorithm on rows that are spread over ranks (thesis 8.5.2).
//!
//! The owner of the next pivots broadcasts their rows one after the other, each as soon as it is
//! final and without waiting for anyone; everybody relaxes their own rows with them, batch by
//! batch. A batch is up to [`BATCH`] pivots of one owner. Two things keep the ranks from waiting:
//!
//! - an owner relaxes the rows of its *next* batch first and sends them off before the rest of its
//!   rows, so that they travel and wait at the receivers while everybody still computes;
//! - the owner after it does the same as soon as it has the last batch of its predecessor.
//!
//! Row `k` is broadcast after all pivots before `k` were applied to it: the invariant of the
//! algorithm. Applying a pivot again does no harm: it can only find the length of a way that
//! exists.

use std::ops::Range;

use weft_app_common::{Blocks, Error, Exchange};

use crate::rows::{BATCH, Pivots, Rows};

/// Division of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Pivots in a batch, at most; up to [`BATCH`].
    pub batch: usize,
    /// True if a rank looks for messages after each row that it has relaxed.
    pub polls: bool,
}

impl Default for Pace {
    fn default() -> Self {
        Pace { batch: BATCH, polls: false }
    }
}

/// Turns `rows`, the edges that leave this rank's nodes, into shortest distances. Collective: every
/// rank of `exchange` calls it with its block of `blocks`. `progress` hears how many pivots are
/// done.
pub fn solve(
    rows: &mut Rows,
    blocks: Blocks,
    pace: Pace,
    exchange: &mut impl Exchange,
    mut progress: impl FnMut(usize),
) -> Result<(), Error> {
    let nodes = blocks.rows();
    assert_eq!(rows.owned(), blocks.of(exchange.rank()), "a rank solves its own block");
    let (mut current, mut next) = (Pivots::new(nodes), Pivots::new(nodes));
    let first = batch_at(0, blocks, pace);
    if rows.owned().contains(&0) {
        publish(rows, first, &mut current, exchange)?;
    } else {
        receive(first, blocks, &mut current, exchange)?;
    }
    loop {
        let done = current.range().end;
        let after = if done < nodes { batch_at(done, blocks, pace) } else { nodes..nodes };
        let mine = rows.owned();
        if !after.is_empty() && mine.contains(&after.start) {
            relax(rows, after.clone(), &current, pace, exchange)?;
            publish(rows, after.clone(), &mut next, exchange)?;
            relax(rows, mine.start..after.start, &current, pace, exchange)?;
            relax(rows, after.end..mine.end, &current, pace, exchange)?;
        } else {
            relax(rows, mine, &current, pace, exchange)?;
            receive(after.clone(), blocks, &mut next, exchange)?;
        }
        progress(done);
        if after.is_empty() {
            return Ok(());
        }
        std::mem::swap(&mut current, &mut next);
    }
}

/// Lets the rows `which` try the ways through `pivots`.
fn relax(
    rows: &mut Rows,
    which: Range<usize>,
    pivots: &Pivots,
    pace: Pace,
    exchange: &mut impl Exchange,
) -> Result<(), Error> {
    let step = if pace.polls { 1 } else { which.len().max(1) };
    for first in which.clone().step_by(step) {
        let part = first..which.end.min(first + step);
        exchange.work(part.len() * pivots.range().len() * rows.nodes());
        rows.relax(part, pivots);
        if pace.polls {
            exchange.poll()?;
        }
    }
    Ok(())
}

/// The batch that starts with `pivot`: as many pivots as go into one, all of one owner.
fn batch_at(pivot: usize, blocks: Blocks, pace: Pace) -> Range<usize> {
    let block = blocks.of(blocks.owner(pivot));
    pivot..block.end.min(pivot + pace.batch)
}

/// Makes the rows of `batch` final, one after the other, and broadcasts each.
fn publish(
    rows: &mut Rows,
    batch: Range<usize>,
    pivots: &mut Pivots,
    exchange: &mut impl Exchange,
) -> Result<(), Error> {
    pivots.restart(batch.start);
    for _ in batch {
        exchange.work(pivots.range().len() * rows.nodes());
        exchange.broadcast(bytemuck::cast_slice(pivots.push_final(rows)))?;
    }
    Ok(())
}

/// Receives the rows of `batch` from their owner.
fn receive(
    batch: Range<usize>,
    blocks: Blocks,
    pivots: &mut Pivots,
    exchange: &mut impl Exchange,
) -> Result<(), Error> {
    pivots.restart(batch.start);
    for pivot in batch {
        let row = pivots.push_blank();
        exchange.receive(blocks.owner(pivot), bytemuck::cast_slice_mut(row))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
