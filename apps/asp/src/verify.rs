//! Comparing what the ranks computed with Dijkstra's algorithm, which shares no code with them.

use crate::dijkstra;
use crate::graph::{Decametres, Graph};
use crate::rows::Rows;

/// Two answers for one distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Difference {
    /// The node the path starts from.
    pub from: usize,
    /// The node it leads to.
    pub to: usize,
    /// Distance that the ranks computed.
    pub computed: Decametres,
    /// Distance that Dijkstra's algorithm finds.
    pub expected: Decametres,
}

/// Verdict of one rank, or of all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Verdict {
    /// Sources whose whole row was compared.
    pub sources: usize,
    /// Distances that differ.
    pub differences: usize,
    /// The first of them.
    pub first: Option<Difference>,
}

/// A verdict as the values that cross between ranks.
pub type Packed = [u64; 6];

impl Verdict {
    /// Packs the verdict into values to send.
    pub fn pack(&self) -> Packed {
        let first = self.first.map_or([0; 4], |first| {
            [first.from as u64, first.to as u64, first.computed.into(), first.expected.into()]
        });
        let [from, to, computed, expected] = first;
        [self.sources as u64, self.differences as u64, from, to, computed, expected]
    }

    /// From values received.
    pub fn unpack([sources, differences, from, to, computed, expected]: Packed) -> Self {
        let first = (differences > 0).then_some(Difference {
            from: from as usize,
            to: to as usize,
            computed: computed as Decametres,
            expected: expected as Decametres,
        });
        Self { sources: sources as usize, differences: differences as usize, first }
    }

    /// The verdicts of all ranks as one.
    pub fn join(verdicts: impl IntoIterator<Item = Self>) -> Self {
        verdicts.into_iter().fold(Self::default(), |all, one| Self {
            sources: all.sources + one.sources,
            differences: all.differences + one.differences,
            first: all.first.or(one.first),
        })
    }
}

/// `count` sources spread evenly over the nodes, `from` among them; all nodes if there are no more.
pub fn sources(nodes: usize, from: usize, count: usize) -> Vec<usize> {
    let count = count.min(nodes);
    (0..count).map(|index| (from + index * nodes / count) % nodes).collect()
}

/// Compares the whole rows of those `sources` that are owned here.
pub fn check(rows: &Rows, graph: &Graph, sources: &[usize]) -> Verdict {
    let owned = sources.iter().copied().filter(|source| rows.owned().contains(source));
    Verdict::join(
        owned.map(|from| compare(from, rows.row(from), &dijkstra::distances(graph, from))),
    )
}

fn compare(from: usize, computed: &[Decametres], expected: &[Decametres]) -> Verdict {
    let mut verdict = Verdict { sources: 1, ..Verdict::default() };
    for (to, (&computed, &expected)) in computed.iter().zip(expected).enumerate() {
        if computed != expected {
            verdict.differences += 1;
            verdict.first.get_or_insert(Difference { from, to, computed, expected });
        }
    }
    verdict
}

#[cfg(test)]
mod tests;
