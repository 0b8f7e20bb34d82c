//! Trees of multicast packets: their forwarding, and their deadlocks (thesis 2.7, 4.2, 4.3,
//! Appendix A).
//!
//! Whether worlds deadlock is tried in two ways: on the simulated cluster, whose run ends stuck,
//! and in `testing/world`, which steps NIs in random orders and names the cycle.

use super::broadcast::{Senders, blast, latency};
use super::inbox::{Arrivals, Receive};
use crate::claim::Claim;
use crate::cluster::{Setup, now};
use crate::experiment::Experiment;
use crate::fit;
use crate::results::{Results, listed, short};
use anyhow::{Context, Result};
use weft_endpoint::Rank;
use weft_protocol::tree::{MulticastGroup, Shape};
use weft_protocol::{Preset, Recovery, Settings};
use weft_simulator::RunEnd;
use weft_wire::GroupId;
use weft_world::{Options, Step, World, run, seeded};

const RANKS: [u16; 5] = [4, 8, 16, 32, 64];
const LARGE_BYTES: usize = 64 << 10;
const MESSAGES: usize = 8;
/// Orders of events that are tried of each world.
const SEEDS: u64 = 16;

/// The experiment.
pub struct Trees;

impl Experiment for Trees {
    fn name(&self) -> &'static str {
        "trees"
    }

    fn title(&self) -> &'static str {
        "Trees, forwarding and deadlock (2.7, 4.2, 4.3, appendix A)"
    }

    fn claims(&self) -> &'static [Claim] {
        const {
            &[
                Claim::statement("S2.7-treelog"),
                Claim::statement("S4.2.1-path"),
                Claim::statement("S4.2.2-deep"),
                Claim::statement("S4.2.6-deadlock"),
                Claim::statement("S4.2.6-nocycle"),
                Claim::statement("S4.3-chainbest"),
                Claim::statement("S5.3.2-truedeadlock"),
                Claim::statement("A.1-chain"),
                Claim::statement("A.1-cycle"),
                Claim::statement("A.1-condition"),
                Claim::statement("A.1-binary"),
                Claim::statement("A.1-binomial-pow2"),
                Claim::statement("A.1-binomial-order"),
                Claim::statement("A.1-binomial"),
                Claim::statement("A.1-ecube"),
                Claim::statement("A.2-overlap"),
            ]
        }
    }

    fn run(&self, results: &mut Results) -> Result<()> {
        growth(results)?;
        forwarding(results)?;
        shapes(results)?;
        simulated_deadlocks(results)?;
        distances(results)?;
        worlds(results)
    }
}

/// A tree's latency grows with the logarithm of the receivers, repeated sends with their number.
fn growth(results: &mut Results) -> Result<()> {
    const STRAIGHT: f64 = 0.98;
    let (mut tree, mut repeated) = (Vec::new(), Vec::new());
    for ranks in RANKS {
        let time = |shape| latency(&Setup { shape, ..Setup::lfc(ranks) }, 0);
        tree.push((f64::from(ranks).log2(), time(Shape::Binary)? / 1e3));
        repeated.push((f64::from(ranks), time(Shape::Flat)? / 1e3));
    }
    let logarithmic = fit::line(&tree).context("one number of ranks")?;
    let linear = fit::line(&repeated).context("one number of ranks")?;
    let evidence = format!(
        "binary tree {} us for each doubling (R² {:.3}), repeated sends {} us for each rank (R² {:.3})",
        short(logarithmic.slope),
        logarithmic.determination,
        short(linear.slope),
        linear.determination
    );
    let holds = logarithmic.determination.min(linear.determination) > STRAIGHT;
    results.statement("S2.7-treelog", holds, evidence);
    Ok(())
}

/// A packet passes a rank that computes: on the way if its NI forwards, after it has polled if its
/// host does. The difference besides is two transfers between host and NI.
fn forwarding(results: &mut Results) -> Result<()> {
    let ni = passes(Preset::NrxImc, BUSY_OPERATIONS)?;
    let host = passes(Preset::NrxHmc, BUSY_OPERATIONS)?;
    let (idle_ni, idle_host) = (passes(Preset::NrxImc, 0)?, passes(Preset::NrxHmc, 0)?);
    let busy = BUSY_OPERATIONS as f64 * 0.02;
    let holds = ni < busy && host > busy && idle_host > idle_ni;
    let evidence = format!(
        "1 Kbyte over a rank that polls: {} us; over one that computes for {busy} us: {} us",
        listed(&[("NI", idle_ni), ("host", idle_host)]),
        listed(&[("NI", ni), ("host", host)])
    );
    results.statement("S4.2.1-path", holds, evidence);
    Ok(())
}

/// Operations of 20 ns: a millisecond.
const BUSY_OPERATIONS: u64 = 50_000;

/// Microseconds from rank 0 over rank 1, which computes before it polls, to rank 2.
fn passes(preset: Preset, busy: u64) -> Result<f64> {
    let setup = Setup { shape: Shape::Chain, ..Setup::version(preset, 3) };
    let times = setup.run(move |packets| {
        let arrivals = Arrivals::note(packets, Receive::NoTouch);
        if packets.rank() == 0 {
            let start = now(packets);
            let mut packet = packets.packet()?;
            packet.put(&[7; 1024])?;
            packet.broadcast()?;
            return Ok(start);
        }
        if packets.rank() == 1 {
            packets.work(busy);
        }
        arrivals.wait(1)?;
        Ok(arrivals.times()[0])
    })?;
    Ok((times.values[2] - times.values[0]) as f64 / 1e3)
}

/// Deep trees against shallow ones, on 16 ranks with one sender.
fn shapes(results: &mut Results) -> Result<()> {
    let setup = |shape| Setup { shape, ..Setup::lfc(16) };
    let rate = |shape| -> Result<f64> {
        Ok(blast(&setup(shape), LARGE_BYTES, MESSAGES, Senders::One)?.rate / 1e6)
    };
    let time = |shape| -> Result<f64> { Ok(latency(&setup(shape), 0)? / 1e3) };
    let rates = [
        ("flat", rate(Shape::Flat)?),
        ("binomial", rate(Shape::Binomial)?),
        ("binary", rate(Shape::Binary)?),
        ("chain", rate(Shape::Chain)?),
    ];
    let times = [("chain", time(Shape::Chain)?), ("binary", time(Shape::Binary)?)];
    let best = rates.windows(2).all(|pair| pair[0].1 < pair[1].1);
    let evidence = format!("MB/s {}; null latency in us {}", listed(&rates), listed(&times));
    results.statement("S4.2.2-deep", best && times[0].1 > times[1].1, evidence);
    let stuck = all_broadcast(Shape::Chain, 16, 4)?;
    let evidence = format!("MB/s {}; when all broadcast on chains, {}", listed(&rates), stuck.1);
    results.statement("S4.3-chainbest", best && stuck.0, evidence);
    Ok(())
}

/// True if a job in which all broadcast many packets at once gets stuck; and evidence in words.
fn all_broadcast(shape: Shape, ranks: u16, window_packets: u16) -> Result<(bool, &'static str)> {
    const PACKETS: usize = 64;
    let setup = Setup { shape, window_packets, recovery: Recovery::Off, ..Setup::lfc(ranks) };
    let ended = setup.end(|packets| {
        let arrivals = Arrivals::note(packets, Receive::NoTouch);
        for _ in 0..PACKETS {
            let mut packet = packets.packet()?;
            packet.put(&[7; 16])?;
            packet.broadcast()?;
        }
        arrivals.wait(PACKETS * (packets.size() - 1))
    })?;
    Ok(match ended {
        RunEnd::Finished => (false, "everything arrives"),
        RunEnd::Stuck(_) | RunEnd::Limit => (true, "nothing moves any more"),
    })
}

fn simulated_deadlocks(results: &mut Results) -> Result<()> {
    let (stuck, what) = all_broadcast(Shape::Chain, 4, 1)?;
    let evidence = format!("four ranks on chains, one credit: {what}");
    results.statement("S4.2.6-deadlock", stuck, evidence);
    let mut safe = true;
    for ranks in 3..=12 {
        safe &= !all_broadcast(Shape::Binary, ranks, 1)?.0;
    }
    let evidence = "3 to 12 ranks on binary trees, one credit, all broadcast";
    results.statement("S4.2.6-nocycle", safe, evidence);
    let (chain, what) = all_broadcast(Shape::Chain, 8, 4)?;
    results.statement("A.1-chain", chain, format!("eight ranks, four credits: {what}"));
    let (chain, of_chain) = all_broadcast(Shape::Chain, 64, 8)?;
    let (binary, of_binary) = all_broadcast(Shape::Binary, 64, 8)?;
    let evidence = format!("64 ranks, recovery off: chain: {of_chain}; binary: {of_binary}");
    results.statement("S5.3.2-truedeadlock", chain && !binary, evidence);
    Ok(())
}

/// A group of the first `ranks` ranks.
fn group(shape: Shape, ranks: u16) -> Result<MulticastGroup> {
    let members: Vec<Rank> = (0..ranks).map(Rank).collect();
    Ok(MulticastGroup::new(&members, shape, usize::from(ranks))?)
}

/// Distances along the ring of members: from the parent and to the children, of each rank that
/// forwards in the tree of `root`.
fn forwarders(group: &MulticastGroup, root: Rank) -> Vec<(usize, Vec<usize>)> {
    let members = group.members();
    let away = |from: Rank, to: Rank| (to.index() + members.len() - from.index()) % members.len();
    let distances = |&member: &Rank| {
        let parent = group.parent(root, member)?;
        let children: Vec<usize> =
            group.children(root, member).map(|child| away(member, child)).collect();
        (!children.is_empty()).then(|| (away(parent, member), children))
    };
    members.iter().filter_map(distances).collect()
}

/// Distances of Appendix A, for up to 64 ranks and all roots.
fn distances(results: &mut Results) -> Result<()> {
    let (mut binary, mut binomial, mut powers, mut forwards) = (true, true, true, 0);
    for ranks in 2..=64 {
        for root in (0..ranks).map(Rank) {
            for (parent, children) in forwarders(&group(Shape::Binary, ranks)?, root) {
                binary &= children.iter().all(|child| parent < *child);
                forwards += 1;
            }
            for (parent, children) in forwarders(&group(Shape::Binomial, ranks)?, root) {
                binomial &= children.iter().all(|child| parent > *child);
                powers &= parent.is_power_of_two();
                powers &= children.iter().all(|child| child.is_power_of_two());
                forwards += 1;
            }
        }
    }
    let evidence = format!("2 to 64 ranks, all roots: {forwards} forwarders");
    results.statement("A.1-binary", binary && safe(Shape::Binary)?.0, evidence.as_str());
    results.statement("A.1-binomial-pow2", powers, evidence.as_str());
    results.statement("A.1-binomial-order", binomial, evidence.as_str());
    let (safe, what) = safe(Shape::Binomial)?;
    results.statement("A.1-binomial", binomial && safe, what);
    let tree = group(Shape::Binomial, 16)?;
    let cube = |root: &Rank| {
        let edge = |member: &Rank| match tree.parent(*root, *member) {
            Some(parent) => (parent.0 ^ member.0).is_power_of_two(),
            None => true,
        };
        tree.members().iter().all(edge)
    };
    let like: Vec<String> =
        tree.members().iter().filter(|root| cube(root)).map(ToString::to_string).collect();
    let holds = cube(&Rank(0)) && like.len() < tree.members().len();
    results.statement("A.1-ecube", holds, format!("of 16 roots: {}", like.join(", ")));
    Ok(())
}

fn options(ranks: u16, window_packets: u16, shape: Shape) -> Options {
    let settings = Settings { shape, ..Settings::new(ranks, window_packets) };
    Options { settings, send_buffers: 4, groups: vec![], late_groups: false, hosts: None }
}

/// Number of the orders tried that end in a deadlock when all broadcast, and true if every one that
/// stopped had a cycle as the thesis describes it.
fn deadlocks(ranks: u16, window_packets: u16, shape: Shape) -> (usize, bool) {
    let (mut count, mut described) = (0, true);
    for seed in 0..SEEDS {
        let mut world = World::new(options(ranks, window_packets, shape));
        let everybody: Vec<Step> =
            world.ranks().map(|from| Step::Multicast { from, group: GroupId::ALL }).collect();
        let sends = everybody.repeat(2 * usize::from(window_packets));
        let mut seed = seeded(seed);
        if let Err(deadlock) = run(&mut world, &sends, &mut seed) {
            count += 1;
            let full = |wait: &weft_world::Wait| {
                let (_, blocked) = world.ni(wait.from).observe().outgoing(wait.to);
                let (buffered, owed) = world.ni(wait.to).observe().incoming(wait.from);
                blocked > 0 && buffered + owed == window_packets
            };
            let closed = deadlock.waits.last().map(|wait| wait.to) == Some(deadlock.waits[0].from);
            described &= closed && deadlock.waits.iter().all(full);
        }
    }
    (count, described)
}

/// True if `shape` never deadlocks in small worlds.
fn safe(shape: Shape) -> Result<(bool, String)> {
    let count: usize = (2..=8).map(|ranks| deadlocks(ranks, 1, shape).0).sum();
    Ok((count == 0, format!("2 to 8 ranks, {SEEDS} orders each: {count} deadlocks")))
}

fn worlds(results: &mut Results) -> Result<()> {
    let (mut count, mut described) = (0, true);
    for window in 1..=3 {
        let (deadlocks, cycles) = deadlocks(5, window, Shape::Chain);
        count += deadlocks;
        described &= cycles;
    }
    let evidence =
        format!("{count} of {} orders on chains deadlock, all in such a cycle", 3 * SEEDS);
    results.statement("A.1-cycle", described && count > 0, evidence);
    let (mut holds, mut with, mut without) = (true, 0, 0);
    for shape in Shape::ALL {
        for ranks in 3..=8 {
            let (count, _) = deadlocks(ranks, 1, shape);
            if group(shape, ranks)?.satisfies_distance_condition() {
                holds &= count == 0;
                with += 1;
            } else {
                without += usize::from(count > 0);
            }
        }
    }
    let evidence =
        format!("{with} worlds satisfy it: no deadlock; {without} of the others deadlock");
    results.statement("A.1-condition", holds && without > 0, evidence);
    overlap(results);
    Ok(())
}

/// Three groups of the thesis's example, each on binary trees, multicast at once.
fn overlap(results: &mut Results) {
    let groups: Vec<Vec<Rank>> = [[0, 3, 4, 5, 6], [0, 3, 6, 7, 8], [0, 1, 2, 3, 6]]
        .map(|members| members.map(Rank).to_vec())
        .to_vec();
    let sends: Vec<Step> = [(0, 1), (3, 2), (6, 3)]
        .map(|(from, group)| Step::Multicast { from: Rank(from), group: GroupId(group) })
        .to_vec();
    let count = |groups: &[Vec<Rank>], sends: &[Step]| {
        let deadlocks = |seed: &u64| {
            let options = Options { groups: groups.to_vec(), ..options(9, 1, Shape::Binary) };
            let mut seed = seeded(*seed);
            run(&mut World::new(options), &sends.repeat(4), &mut seed).is_err()
        };
        (0..4 * SEEDS).filter(deadlocks).count()
    };
    let together = count(&groups, &sends);
    let alone: usize = sends.iter().map(|send| count(&groups, &[*send])).sum();
    let evidence = format!(
        "{together} of {} orders deadlock with three groups, {alone} with one at a time",
        4 * SEEDS
    );
    results.statement("A.2-overlap", together > 0 && alone == 0, evidence);
}
