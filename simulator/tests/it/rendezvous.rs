//! Messages that ask first, in virtual time: under every preset, on bad networks, and with ranks
//! that crash between request and grant.

use std::time::Duration;
use weft_model::random::Random;
use weft_simulator::scenarios::MessageStorm;
use weft_simulator::{Faults, Options, Outcome, Preset, Rank, Report, Simulation};

fn options(preset: Preset, seed: u64) -> Options {
    let mut options = Options::new(4).unwrap();
    options.settings.preset = preset;
    (options.seed, options.stack_bytes) = (seed, 1 << 20);
    options
}

/// Messages of all lengths, of which all that have more than `rendezvous_from` bytes ask first.
fn storm(options: Options, rendezvous_from: Option<u64>) -> Report<(u64, u64)> {
    let storm = MessageStorm::new(options.settings.ranks, 40, options.seed);
    let storm = MessageStorm { rendezvous_from, ..storm };
    Simulation::new(options).unwrap().run_joined(move |weft| {
        let seen =
            storm.run(weft.engine(), || weft.barrier()).map_err(|error| error.to_string())?;
        Ok((seen, weft.statistics().requests))
    })
}

fn assert_all_seen(report: Report<(u64, u64)>, rendezvous: bool, what: &str) {
    assert!(report.is_success(), "{what}: {:?} {:?}", report.ended, report.outcomes);
    let values = report.into_values().unwrap();
    assert_eq!(values.iter().map(|(seen, _)| seen).sum::<u64>(), 160, "{what}");
    assert_eq!(values.iter().any(|(_, requests)| *requests > 0), rendezvous, "{what}");
}

#[test]
fn everything_arrives_once_and_in_order_under_every_preset() {
    for preset in Preset::ALL {
        for (seed, from) in [(1, None), (2, Some(1)), (3, Some(1000)), (4, Some(20_000))] {
            let report = storm(options(preset, seed), from);
            assert_all_seen(report, from.is_some(), &format!("{preset}, from {from:?}"));
        }
    }
}

#[test]
fn everything_arrives_once_and_in_order_on_bad_networks() {
    for preset in Preset::RETRANSMITTING {
        for seed in 0..8 {
            let mut options = options(preset, seed);
            options.faults = Faults {
                loss: 0.02,
                duplication: 0.02,
                reordering: 0.05,
                held_back: Duration::from_micros(200),
                corruption: 0.01,
                ..Faults::default()
            };
            let report = storm(options, Some(500));
            assert!(report.retransmissions() > 0, "the network was good");
            assert_all_seen(report, true, &format!("{preset}, seed {seed}"));
        }
    }
}

/// A crash is told to whoever waits for an answer, or for what it has granted.
#[test]
fn survivors_of_a_crash_are_told() {
    let mut told = 0;
    for seed in 0..20 {
        let mut random = Random::part(seed, 7);
        let mut options = options(Preset::NrxImc, seed);
        options.faults.crashes = vec![(Rank(2), Duration::from_micros(random.below(8000)))];
        let report = storm(options, Some(500));
        for outcome in &report.outcomes {
            match outcome {
                Outcome::Returned(_) | Outcome::Crashed => {}
                Outcome::Victim(what) => {
                    assert!(what.contains("rank 2"), "seed {seed}: {what}");
                    told += 1;
                }
                outcome => panic!("seed {seed}: {outcome:?}"),
            }
        }
    }
    assert!(told >= 30, "only {told} ranks were in the middle of something");
}

#[test]
fn a_seed_fixes_everything() {
    let hash = |seed| storm(options(Preset::IrxImc, seed), Some(500)).trace_hash;
    assert_eq!(hash(5), hash(5));
    assert_ne!(hash(5), hash(6));
}
