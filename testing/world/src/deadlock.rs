//! Deadlock, as Appendix A.1 defines it.

use crate::world::World;
use std::collections::VecDeque;
use std::fmt;
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
    /// Who has packets that wait.
    pub from: Rank,
    /// Who has no receive buffer for them.
    pub to: Rank,
    /// Packets in the blocked-sends queue of `from` for `to`.
    pub blocked: usize,
    /// Packets of `from` that fill the receive buffers of `to`.
    pub buffered: u16,
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
        for Wait { from, to, blocked, buffered } in &self.waits {
            write!(f, "\n  {from}->{to}: {blocked} blocked at {from}, ")?;
            write!(f, "{buffered} of {buffered} receive buffers for it full at {to}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Deadlock {}

impl World {
    /// The deadlock that this world is in: packets wait, and nothing can happen but sends. While a
    /// host does not take what it is given there is none, for it may yet (thesis A.1).
    ///
    /// # Panics
    /// If packets wait for ever without a cycle: then credits were lost.
    pub fn deadlock(&self) -> Option<Deadlock> {
        let waits = self.ranks().any(|from| self.ranks().any(|to| self.blocked(from, to) > 0));
        let hosts_drain = self.ranks().all(|rank| self.host(rank).delivered() == 0);
        if !waits || !hosts_drain || !self.possible().is_empty() {
            return None;
        }
        let cycles = self.ranks().filter_map(|start| self.shortest_cycle(start));
        // Of the shortest cycles, the one with the lowest rank, named from there.
        let cycle = cycles.min_by_key(Vec::len).expect("packets wait, but not in a cycle");
        Some(Deadlock { waits: cycle })
    }

    fn blocked(&self, from: Rank, to: Rank) -> usize {
        self.ni(from).outgoing(to).1
    }

    /// `from` waits for `to`, if the two conditions of Appendix A.1 hold: its blocked-sends queue
    /// is not empty, and all of its receive buffers there are full.
    fn wait(&self, from: Rank, to: Rank) -> Option<Wait> {
        let blocked = self.blocked(from, to);
        let (buffered, _) = self.ni(to).incoming(from);
        let waits = blocked > 0 && buffered == self.options().settings.window_packets;
        waits.then_some(Wait { from, to, blocked, buffered })
    }

    /// The shortest way from `start` back to it, by breadth-first search.
    fn shortest_cycle(&self, start: Rank) -> Option<Vec<Wait>> {
        let mut reached_by: Vec<Option<Wait>> = vec![None; self.ranks().count()];
        let mut next = VecDeque::from([start]);
        while let Some(from) = next.pop_front() {
            for wait in self.ranks().filter_map(|to| self.wait(from, to)) {
                if reached_by[wait.to.index()].is_none() {
                    reached_by[wait.to.index()] = Some(wait);
                    next.push_back(wait.to);
                }
            }
        }
        let mut cycle = vec![reached_by[start.index()]?];
        while cycle[cycle.len() - 1].from != start {
            cycle.extend(reached_by[cycle[cycle.len() - 1].from.index()]);
        }
        cycle.reverse();
        Some(cycle)
    }
}
