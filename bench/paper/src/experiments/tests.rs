//! Tests of what does not depend on a machine's costs: that programs end and count, that claims are
//! claims.

use super::events::{Cluster, jacobi};
use super::*;
use crate::claim::Expected;
use crate::cluster::Setup;
use crate::conditions::machine;
use crate::fit;
use crate::suite;
use crate::targets::{Role, Target, Targets};
use std::collections::BTreeSet;
use weft_events::Protocol;
use weft_simulator::Shape;

#[test]
fn every_target_is_claimed_once_and_none_is_a_setting() {
    let targets = Targets::read().unwrap();
    let mut claimed = BTreeSet::new();
    for experiment in all() {
        for claim in experiment.claims() {
            let target = targets.get(claim.id).unwrap_or_else(|| panic!("no target {}", claim.id));
            assert!(claimed.insert(claim.id), "{} is claimed twice", claim.id);
            assert_ne!(target.role, Role::Setting, "{}", claim.id);
            let statement = claim.expected == Expected::Holds;
            assert_eq!(statement, target.number().is_none(), "{}: {}", claim.id, target.value);
        }
    }
}

/// Rows whose reason is a count, and cannot be turned by what a machine or a program costs.
const COUNTED: [&str; 2] = ["S8.2.4-irx-W", "S8.2.4-irx-2K"];

#[test]
fn every_miss_of_the_simulator_has_a_counter_experiment() {
    for experiment in all().iter().filter(|experiment| !experiment.alone()) {
        let claims = experiment.claims().iter().filter(|claim| claim.miss.is_some());
        let missing: BTreeSet<&str> = claims.map(|claim| claim.id).collect();
        let counters = experiment.counters().iter().flat_map(|counter| counter.ids);
        let turned: BTreeSet<&str> = counters.copied().chain(COUNTED).collect();
        let not: Vec<_> = missing.difference(&turned).collect();
        assert!(not.is_empty(), "{}: {not:?} miss, and nothing is turned", experiment.name());
    }
}

/// Counter-experiments run by `make paper` only; that their machines are machines is seen here.
#[test]
fn counters_change_machines_that_there_are() {
    for experiment in all() {
        for counter in experiment.counters() {
            let machines = experiment.machines().iter();
            let made = |name: &&&str| counter.conditions.hold(|| machine(name)).is_ok();
            assert!(machines.filter(made).count() > 0, "{}: {}", experiment.name(), counter.turned);
        }
    }
}

/// Of the paper's times on one node the slope over points is iterations times what a point takes,
/// and what is left at no point is iterations times what one costs besides, as far as two digits
/// of the smallest tell.
#[test]
fn jacobis_iterations_are_those_of_its_times_on_one_node() {
    let targets = Targets::read().unwrap();
    let sizes = [8, 16, 32, 64];
    let points = |size: usize| (size * size) as f64;
    let paper = sizes.map(|size| {
        let id = format!("CP-T4-P1-{size}x{size}");
        (points(size), targets.get(&id).and_then(Target::number).unwrap() * 1e9)
    });
    let one = Cluster { nodes: 1, protocol: Protocol::Careful };
    let here = sizes.map(|size| (points(size), jacobi::iteration(one, size).unwrap()));
    let [paper, here] = [paper, here].map(|times| fit::line(&times).unwrap());
    let near = |a: f64, b: f64, off| assert!((a / b - 1.0).abs() < off, "{a}, {b}");
    near(jacobi::TOLD, paper.slope / here.slope, 0.01);
    near(jacobi::TOLD * here.intercept, paper.intercept, 0.05);
}

#[test]
fn settings_are_used_as_printed() {
    let targets = Targets::read().unwrap();
    for experiment in all() {
        for setting in experiment.settings() {
            let target =
                targets.get(setting.0).unwrap_or_else(|| panic!("no target {}", setting.0));
            assert_eq!((target.role, &*target.value), (Role::Setting, setting.1), "{}", setting.0);
        }
    }
}

#[test]
fn names_of_experiments_are_unique() {
    let names: BTreeSet<&str> = all().iter().map(|experiment| experiment.name()).collect();
    assert_eq!(names.len(), all().len());
}

#[test]
fn unicast_programs_end_and_their_parts_add_up() {
    let found = unicast::loggp(&Setup::lfc(2)).unwrap();
    assert!(found.gap > 0.0 && found.send_overhead > 0.0 && found.receive_overhead > 0.0);
    let sum = found.send_overhead + found.latency + found.receive_overhead;
    assert_eq!(found.sum(), sum);
    let time = unicast::one_way(&Setup::lfc(2), 1024, inbox::Receive::Copy).unwrap();
    assert!(time > 0.0);
}

/// The simulator's part of it: no wall clock gets into a page, nor which thread was first.
#[test]
fn experiments_give_the_same_report_on_any_number_of_threads() {
    let targets = Targets::read().unwrap();
    let ended = std::sync::Mutex::new(Vec::new());
    let run = |threads| {
        let experiments: Vec<Box<dyn Experiment>> =
            vec![Box::new(fetch_add::FetchAdd), Box::new(unicast::Unicast)];
        let report = suite::run(&targets, &experiments, threads, |run, count, all| {
            ended.lock().unwrap().push((threads, count, all, run.to_string()));
        });
        let report = report.unwrap();
        (report.text(), report.pages())
    };
    let (one, three) = (run(1), run(3));
    assert_eq!(one, three);
    assert!(one.0.contains("T8.5-nrx") && one.0.contains("T5.1-os"), "{}", one.0);
    let ended = ended.into_inner().unwrap();
    let turned = fetch_add::FetchAdd.counters()[0].turned;
    let names = ["fetch-add".to_owned(), format!("fetch-add, {turned}"), "unicast".to_owned()];
    let alone: Vec<_> = (1..).zip(names).map(|(count, name)| (1, count, 3, name)).collect();
    assert_eq!(ended[..3], alone);
    assert_eq!(ended.len(), 6);
    assert!(one.0.contains(turned), "{}", one.0);
}

#[test]
fn fetch_and_add_counts_every_rank_but_the_home() {
    assert!(fetch_add::latency(&Setup::lfc(4), |rank| rank.0 != 0).unwrap() > 0.0);
    assert!(fetch_add::latency(&Setup::lfc(2), |rank| rank.0 == 0).unwrap() > 0.0);
}

#[test]
fn broadcasts_reach_everybody() {
    assert!(broadcast::latency(&Setup::lfc(4), 1024).unwrap() > 0.0);
    assert!(broadcast::multicast_gap(3).unwrap() > 0.0);
}

#[test]
fn blasts_count_their_packets() {
    use broadcast::{Senders, blast};
    let one = blast(&Setup::lfc(4), 2500, 3, Senders::One).unwrap();
    let delivered: u64 = one.statistics.iter().map(|rank| rank.protocol.packets_delivered).sum();
    // Three packets a message; three receivers, of whom each acknowledges once.
    assert_eq!((one.multicasts, delivered), (9, 3 * 9 + 3));
    let all = blast(&Setup::lfc(4), 2500, 2, Senders::All).unwrap();
    let delivered: u64 = all.statistics.iter().map(|rank| rank.protocol.packets_delivered).sum();
    assert_eq!((all.multicasts, delivered), (4 * 6, 4 * 3 * 6));
    assert!(one.rate > 0.0 && all.rate > 0.0);
}

/// Table 5.2: a binary tree of 64 uses distances 1 to 32, a chain distance 1.
#[test]
fn links_used_are_those_of_the_trees() {
    let used = |shape| recovery::links_used(shape, 64).unwrap() * 63.0;
    assert_eq!(used(Shape::Binary), 32.0);
    assert_eq!(used(Shape::Chain), 1.0);
    assert_eq!(used(Shape::Flat), 63.0);
}

#[test]
fn recoveries_are_counted_for_each_packet_broadcast() {
    let rank = |recoveries, recovery_packets| weft_endpoint::Statistics {
        protocol: weft_protocol::Counters {
            recoveries,
            recovery_packets,
            ..weft_protocol::Counters::default()
        },
        ..weft_endpoint::Statistics::default()
    };
    let blast = |statistics| broadcast::Blast { rate: 1.0, multicasts: 8, statistics };
    let tally = recovery::Tally::new(&blast(vec![rank(3, 5), rank(1, 4)]));
    assert_eq!((tally.recoveries, tally.packets, tally.subtree()), (0.5, 2.25, 3.25));
    let quiet = recovery::Tally::new(&blast(vec![rank(0, 0)]));
    assert_eq!((quiet.recoveries, quiet.subtree()), (0.0, 1.0));
}

#[test]
fn a_gap_leaves_out_the_start() {
    let times = [0, 1, 2, 100, 110, 120, 130, 140];
    assert_eq!(inbox::gap(&times), (140 - 2) as f64 / 5.0);
    assert!(inbox::gap(&[]).is_nan());
}
