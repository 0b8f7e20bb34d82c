//! Deadlock, as Appendix A.1 defines it.

use crate::world::World;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use weft_protocol::Recovery;
use weft_wire::Rank;

/// A cycle of NIs in which each waits for the next to free a receive buffer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deadlock {
    /// The cycle, from its lowest rank on.
    pub waits: Vec<Wait>,
}

/// Two NIs of the cycle, `from` (the thesis's S) and its successor `to` (R).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wait {
    /// Rank that has packets that wait.
    pub from: Rank,
    /// Rank that has no receive buffer for them.
    pub to: Rank,
    /// Packets in the blocked-sends queue of `from` for `to`.
    pub blocked: usize,
    /// Packets of `from` that fill the receive buffers of `to`.
    pub buffered: u16,
    /// The other receive buffers: free, but `from` will not be told.
    pub owed: u16,
}

impl Deadlock {
    /// The ranks of the cycle.
    pub fn cycle(&self) -> Vec<Rank> {
        self.waits.iter().map(|wait| wait.from).collect()
    }
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("deadlock ")?;
        for wait in &self.waits {
            write!(f, "{}->", wait.from)?;
        }
        write!(f, "{}", self.waits[0].from)?;
        for Wait { from, to, blocked, buffered, owed } in &self.waits {
            let window = buffered + owed;
            write!(f, "\n  {from}->{to}: {blocked} blocked at {from}, ")?;
            write!(f, "{buffered} of {window} receive buffers for it full at {to}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Deadlock {}

impl World {
    /// The deadlock that this world is in: a cycle of NIs that satisfies the conditions of Appendix
    /// A.1. Hosts are not involved: every packet in a receive buffer of the cycle waits to be
    /// forwarded to a rank all of whose buffers are full for the same reason. So nothing that may
    /// yet happen ends it; but if nothing happens by itself any more, hosts are taken to send
    /// nothing more either, which might take a credit along.
    pub fn deadlock(&self) -> Option<Deadlock> {
        self.deadlock_if(self.possible().is_empty())
    }

    /// Deadlock, if the world is `at_rest`: nothing will happen any more, sends included. With
    /// recovery (thesis 4.3) no cycle is known to last before that, nor where a window may grow.
    pub(crate) fn deadlock_if(&self, at_rest: bool) -> Option<Deadlock> {
        let settings = &self.options().settings;
        if !at_rest && (settings.recovery != Recovery::Off || settings.adaptive.is_some()) {
            return None;
        }
        let waits = self.waits_for_ever(at_rest);
        let cycles = waits.iter().filter_map(|first| shortest_cycle(first.from, &waits));
        // Of the shortest cycles, the one with the lowest rank, named from there.
        Some(Deadlock { waits: cycles.min_by_key(Vec::len)? })
    }

    /// All waits that nothing will end: what fills the receive buffers waits in the same way.
    fn waits_for_ever(&self, at_rest: bool) -> Vec<Wait> {
        let waits = |from| self.ranks().filter_map(move |to| self.wait(from, to, at_rest));
        let mut waits: Vec<Wait> = self.ranks().flat_map(waits).collect();
        loop {
            let lasting: Vec<Wait> =
                waits.iter().filter(|wait| self.lasts(wait, &waits)).copied().collect();
            if lasting.len() == waits.len() {
                return waits;
            }
            waits = lasting;
        }
    }

    /// `from` waits for `to`, if the two conditions of Appendix A.1 hold: its blocked-sends queue
    /// is not empty, and all of its receive buffers there are full.
    ///
    /// At rest, a buffer is as good as full that is free while its credit waits until half a window
    /// of them is owed, or for a packet to take it along.
    fn wait(&self, from: Rank, to: Rank, at_rest: bool) -> Option<Wait> {
        let (_, blocked) = self.ni(from).observe().outgoing(to);
        let (buffered, owed) = self.ni(to).observe().incoming(from);
        let owed = if at_rest { owed } else { 0 };
        let waits = blocked > 0 && buffered + owed == self.ni(to).observe().promised(from);
        waits.then_some(Wait { from, to, blocked, buffered, owed })
    }

    /// True if `wait` lasts as long as all of `waits` do.
    fn lasts(&self, wait: &Wait, waits: &[Wait]) -> bool {
        let blocks = |next: &Rank| waits.iter().any(|w| (w.from, w.to) == (wait.to, *next));
        let mut pool = self.ledger.received(wait.to).filter(|b| b.from == Some(wait.from));
        pool.all(|buffer| buffer.due.iter().any(blocks))
    }
}

/// The shortest way along `waits` from `start` back to it, by breadth-first search.
fn shortest_cycle(start: Rank, waits: &[Wait]) -> Option<Vec<Wait>> {
    let mut reached_by: BTreeMap<Rank, Wait> = BTreeMap::new();
    let mut next = VecDeque::from([start]);
    while let Some(from) = next.pop_front() {
        for wait in waits.iter().filter(|wait| wait.from == from) {
            if let Entry::Vacant(first) = reached_by.entry(wait.to) {
                first.insert(*wait);
                next.push_back(wait.to);
            }
        }
    }
    let mut cycle = vec![*reached_by.get(&start)?];
    while let Some(wait) = cycle.last().filter(|wait| wait.from != start) {
        cycle.push(reached_by[&wait.from]);
    }
    cycle.reverse();
    Some(cycle)
}
