//! Cores that ranks of several hosts are bound to, where these hosts are one machine: containers,
//! or namespaces.
//!
//! A process manager takes each of them for a machine of its own, and binds the first rank of each
//! to the first core. The ranks then take turns, in time slices of milliseconds, unless they yield
//! whenever they wait.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use weft_wire::Rank;

use super::card::cores_of_all;
use super::facts::{Cards, Facts};

/// Number of cores that the ranks of a host, which are `here`, have for themselves: without those
/// that bound ranks of other hosts are on, and their part of those that ranks of other hosts may
/// use as well. `all` are the facts about all ranks, and `cards` those of this host at least.
pub(super) fn own_cores(all: &[Facts], here: &[Rank], cards: &Cards) -> usize {
    let host = here.iter().map(|rank| &cards[rank]);
    let shared = shared(all);
    let is_here = |(first, other): &&(Rank, Rank)| here.contains(first) || here.contains(other);
    let taken = shared.values().filter(is_here).count();
    let left = cores_of_all(host).saturating_sub(taken);
    let every = here.len() + guests(all, here);
    if every <= left { left } else { left * here.len() / every }
}

/// Number of ranks of other hosts that may use the cores of those `here`: on the same machine, and
/// not bound, with the same set of cores as one of them.
fn guests(all: &[Facts], here: &[Rank]) -> usize {
    let place = |facts: &Facts| (facts.machine, facts.cores);
    let own = here.iter().map(|rank| &all[rank.index()]).filter(|own| own.only_core.is_none());
    let (hosts, places): (BTreeSet<_>, BTreeSet<_>) = own.map(|own| (own.host, place(own))).unzip();
    let others = all.iter().filter(|other| !hosts.contains(&other.host));
    others.filter(|other| places.contains(&place(other))).count()
}

/// Number of a rank among all that may use the same cores of its machine, and how many they are.
pub(super) fn among_same_cores(own: Rank, all: &[Facts]) -> (usize, usize) {
    let place = |facts: &Facts| (facts.machine, facts.cores);
    let is_same = |other: &&Facts| place(other) == place(&all[own.index()]);
    let count = |some: &[Facts]| some.iter().filter(is_same).count();
    (count(&all[..own.index()]), count(all))
}

/// Warns, if this is rank 0, of a core that ranks of several hosts are bound to.
pub(super) fn warn(own: Rank, all: &[Facts]) {
    if let Some(warning) = warning(all).filter(|_| own == Rank(0)) {
        // Without a standard error there is nobody to tell.
        let _ = writeln!(io::stderr(), "weft: {warning}");
    }
}

/// Warning about the first core that ranks of several hosts are bound to, if there is one.
fn warning(all: &[Facts]) -> Option<String> {
    let ((_, core), (first, other)) = shared(all).into_iter().next()?;
    let node = |rank: Rank| &all[rank.index()].node;
    Some(format!(
        "rank {first} on host {} and rank {other} on host {} are bound to core {core} of one machine, so that a \
         message takes until the other leaves it: bind no ranks (mpirun --bind-to none, srun --cpu-bind=none), or \
         give each host cores of its own",
        node(first),
        node(other)
    ))
}

/// The cores, by machine and number, that are the only ones of ranks of several hosts; with the
/// first such rank, and the first of another host.
fn shared(all: &[Facts]) -> BTreeMap<(u128, u16), (Rank, Rank)> {
    let mut bound: BTreeMap<(u128, u16), Vec<Rank>> = BTreeMap::new();
    for (rank, facts) in (0..).map(Rank).zip(all) {
        if let Some(core) = facts.only_core {
            bound.entry((facts.machine, core)).or_default().push(rank);
        }
    }
    let of_several = |ranks: Vec<Rank>| {
        let first = *ranks.first()?;
        let host = |rank: Rank| all[rank.index()].host;
        let other = ranks.into_iter().find(|rank| host(*rank) != host(first))?;
        Some((first, other))
    };
    bound.into_iter().filter_map(|(core, ranks)| Some((core, of_several(ranks)?))).collect()
}

#[cfg(test)]
mod tests;
