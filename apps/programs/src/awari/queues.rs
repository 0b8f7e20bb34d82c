//! Updates on their way: a queue for each destination, which is sent in one call when it is full,
//! or when there is nothing else to do (thesis 8.5.3).

use crate::awari::partition::{Partition, PartitionOperations};
use std::collections::VecDeque;
use weft_object::{Handle, Pending, Result};

/// Calls under way to each destination, at most, on average, unless something else is asked for.
const UNDER_WAY: usize = 2;

/// Counters of a rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sent {
    /// Updates of positions, of other ranks and here.
    pub updates: u64,
    /// Updates that went to other ranks.
    pub remote: u64,
    /// Calls that they went in.
    pub batches: u64,
}

/// Queues of one rank to all partitions.
pub struct Queues<'a> {
    partitions: &'a [Handle<Partition>],
    own: usize,
    /// Updates of a full queue.
    capacity: usize,
    /// Calls under way, at most.
    most: usize,
    queues: Vec<Vec<u32>>,
    under_way: VecDeque<Pending<Partition, u32>>,
    /// Positions that became known by what was sent since the last [`Self::flush`].
    learnt: u64,
    sent: Sent,
}

impl<'a> Queues<'a> {
    /// Empty queues of `capacity` updates from rank `own`, of which so many calls are under way at
    /// most, or as many as are good.
    pub fn new(
        partitions: &'a [Handle<Partition>],
        own: usize,
        capacity: usize,
        most: Option<usize>,
    ) -> Self {
        let most = most.unwrap_or(UNDER_WAY * partitions.len());
        let queues = partitions.iter().map(|_| Vec::with_capacity(capacity)).collect();
        let (under_way, learnt, sent) = (VecDeque::new(), 0, Sent::default());
        Queues { partitions, own, capacity, most, queues, under_way, learnt, sent }
    }

    /// Counters since the beginning.
    pub fn sent(&self) -> Sent {
        self.sent
    }

    /// Puts an update into the queue to rank `to`, and sends that if it is full.
    pub fn push(&mut self, to: usize, update: u32, threshold: i8, round: u32) -> Result<()> {
        self.queues[to].push(update);
        if self.queues[to].len() < self.capacity {
            return Ok(());
        }
        self.send(to, threshold, round)
    }

    /// Sends what is in the queues, and waits until everything is applied. Returns how many
    /// positions, of all ranks, became known by what was pushed since the last time.
    pub fn flush(&mut self, threshold: i8, round: u32) -> Result<u64> {
        // Each begins with another destination, so that not all call one.
        for to in (self.own + 1..self.partitions.len()).chain(0..=self.own) {
            self.send(to, threshold, round)?;
        }
        while self.wait_for_first()? {}
        Ok(std::mem::take(&mut self.learnt))
    }

    fn send(&mut self, to: usize, threshold: i8, round: u32) -> Result<()> {
        let queue = &self.queues[to];
        if queue.is_empty() {
            return Ok(());
        }
        self.sent.updates += queue.len() as u64;
        if to == self.own {
            self.learnt += u64::from(self.partitions[to].apply(queue, threshold, round)?);
        } else {
            self.sent.remote += queue.len() as u64;
            self.sent.batches += 1;
            let begun = self.partitions[to].begin_apply(queue, threshold, round)?;
            self.under_way.push_back(begun);
        }
        self.queues[to].clear();
        if self.under_way.len() >= self.most {
            self.wait_for_first()?;
        }
        Ok(())
    }

    /// Waits for the first call under way. False if there is none.
    fn wait_for_first(&mut self) -> Result<bool> {
        let Some(first) = self.under_way.pop_front() else { return Ok(false) };
        self.learnt += u64::from(first.wait()?);
        Ok(true)
    }
}
