//! Totally-ordered broadcasts on simulated networks, good and bad, and with ranks that die: all
//! members see one order, or prefixes of one.

use std::sync::{Arc, Mutex};
use std::time::Duration;
use weft::Weft;
use weft_protocol::Recovery;
use weft_simulator::scenarios::{OrderJudge, OrderStorm, Random};
use weft_simulator::{Faults, Options, Outcome, Preset, Rank, Report, RunEnd, Shape, Simulation};

fn options(storm: &OrderStorm, preset: Preset, seed: u64) -> Options {
    let mut options = Options::new(storm.ranks).unwrap();
    options.settings.preset = preset;
    options.seed = seed;
    options.stuck_after = Duration::from_secs(1);
    options
}

fn run(storm: &OrderStorm, options: Options) -> (Report<()>, Arc<OrderJudge>) {
    let judge = Arc::new(OrderJudge::new());
    let (storm, judged) = (storm.clone(), Arc::clone(&judge));
    let report = Simulation::new(options).unwrap().run(move |weft| {
        let kept = storm.run(weft.engine(), &judged, || Ok(()))?;
        weft.barrier()?;
        drop(kept);
        weft::Result::Ok(())
    });
    (report, judge)
}

fn assert_weathered(storm: &OrderStorm, options: Options) -> Report<()> {
    let (preset, seed) = (options.settings.preset, options.seed);
    let (report, judge) = run(storm, options);
    assert!(report.is_success(), "{preset} {seed}: {:?} {:?}", report.ended, report.outcomes);
    let seen = storm.verdict(&judge).map(|messages| messages as u64);
    assert_eq!(seen, Ok(storm.total()), "{preset} {seed}");
    report
}

fn bad() -> Faults {
    Faults {
        loss: 0.03,
        duplication: 0.03,
        reordering: 0.1,
        held_back: Duration::from_micros(200),
        corruption: 0.01,
        ..Faults::default()
    }
}

fn members(ranks: &[u16]) -> Vec<Rank> {
    ranks.iter().copied().map(Rank).collect()
}

#[test]
fn every_preset_keeps_one_order_on_a_good_network() {
    for preset in Preset::ALL {
        for ranks in [1, 2, 5, 12] {
            let storm = OrderStorm::new(ranks, 12, 3);
            assert_weathered(&storm, options(&storm, preset, 1));
        }
    }
}

#[test]
fn retransmitting_presets_keep_it_on_a_bad_one() {
    for preset in Preset::RETRANSMITTING {
        for seed in 0..3 {
            let storm = OrderStorm::new(5, 12, seed);
            let report = assert_weathered(
                &storm,
                Options { faults: bad(), ..options(&storm, preset, seed) },
            );
            assert!(report.injected.lost > 0 && report.injected.delayed > 0, "{preset}");
        }
    }
}

#[test]
fn messages_of_all_sizes() {
    for preset in Preset::ALL {
        let storm = OrderStorm { most_bytes: 64 << 10, ..OrderStorm::new(4, 6, 8) };
        assert_weathered(&storm, options(&storm, preset, 1));
    }
}

#[test]
fn thirty_two_ranks() {
    for preset in Preset::ALL {
        let storm = OrderStorm::new(32, 4, 9);
        assert_weathered(&storm, options(&storm, preset, 1));
    }
}

/// Groups that do not overlap are safe on trees that meet Appendix A's condition, and any groups
/// are on flat trees: nobody forwards.
#[test]
fn several_orders_at_once() {
    for preset in Preset::ALL {
        let apart = vec![members(&[0, 2, 4, 5]), members(&[1, 3])];
        let storm = OrderStorm { orders: apart, ..OrderStorm::new(6, 15, 4) };
        assert_weathered(&storm, options(&storm, preset, 1));
        let same = vec![members(&[0, 1, 2, 3, 4, 5]); 8];
        let storm = OrderStorm { orders: same, ..OrderStorm::new(6, 4, 4) };
        assert_weathered(&storm, options(&storm, preset, 1));
        let storm = OrderStorm { orders: overlapping(), ..OrderStorm::new(9, 8, 4) };
        let mut flat = options(&storm, preset, 1);
        flat.settings.shape = Shape::Flat;
        assert_weathered(&storm, flat);
    }
}

/// The groups of Appendix A.2, and one of all ranks.
fn overlapping() -> Vec<Vec<Rank>> {
    vec![
        members(&[0, 3, 4, 5, 6]),
        members(&[0, 3, 6, 7, 8]),
        members(&[0, 1, 2, 3, 6]),
        members(&[0, 1, 2, 3, 4, 5, 6, 7, 8]),
    ]
}

#[test]
fn overlapping_groups_with_recovery() {
    for preset in Preset::CAREFUL {
        for seed in 0..4 {
            let storm = OrderStorm { orders: overlapping(), ..OrderStorm::new(9, 8, seed) };
            let mut options = options(&storm, preset, seed);
            options.settings.window_packets = 2;
            options.settings.recovery = Recovery::After(50_000);
            assert_weathered(&storm, options);
        }
    }
}

/// A member that consumes slowly stalls the senders: nobody has more than a window of each.
#[test]
fn slow_receivers_stall_senders_and_nothing_else() {
    for preset in Preset::ALL {
        let storm = OrderStorm {
            slow: Some((Rank(1), 20_000)),
            answers_per_mille: 300,
            ..OrderStorm::new(4, 30, 5)
        };
        let mut options = options(&storm, preset, 1);
        options.faults.slow = vec![(Rank(2), 4.0)];
        assert_weathered(&storm, options);
    }
}

#[test]
fn one_seed_one_trace() {
    let storm = OrderStorm::new(5, 10, 4);
    let trace = |seed| {
        let options = Options { faults: bad(), ..options(&storm, Preset::IrxImc, seed) };
        let report = assert_weathered(&storm, options);
        (report.trace_hash, report.virtual_time)
    };
    assert_eq!(trace(7), trace(7));
    assert_ne!(trace(7), trace(8));
}

/// Whenever a rank dies, all others have seen prefixes of one order, they are told, and they end.
#[test]
fn survivors_of_a_crash_have_seen_prefixes_of_one_order() {
    let (mut cut_short, mut whole) = (0, 0);
    for seed in 0..240 {
        let mut random = Random::new(seed);
        let preset = *random.choose(&Preset::ALL);
        let ranks = 2 + random.below(6) as u16;
        let orders = vec![(0..ranks).map(Rank).collect(); 1 + random.below(3) as usize];
        let storm = OrderStorm { orders, most_bytes: 6000, ..OrderStorm::new(ranks, 30, seed) };
        let mut options = options(&storm, preset, seed);
        if preset.retransmits() && random.happens(500) {
            options.faults = bad();
        }
        let victim = Rank(random.below(ranks.into()) as u16);
        options.faults.crashes = vec![(victim, Duration::from_micros(random.below(8000)))];
        let (report, judge) = run(&storm, options);
        assert_eq!(judge.prefixes(), Ok(()), "{preset} {seed}");
        assert_eq!(report.ended, RunEnd::Finished, "{preset} {seed}: {:?}", report.outcomes);
        for (rank, outcome) in report.outcomes.iter().enumerate() {
            match outcome {
                Outcome::Crashed => assert_eq!(rank, victim.index(), "{seed}"),
                Outcome::Victim(what) => {
                    assert!(what.contains(&format!("rank {victim} was killed")), "{seed}: {what}");
                }
                // It was done before the crash.
                Outcome::Returned(()) => {}
                other => panic!("{preset} {seed}: rank {rank} {other:?}"),
            }
        }
        let complete = storm.verdict(&judge).is_ok();
        cut_short += u32::from(!complete);
        whole += u32::from(complete);
    }
    assert!(cut_short > 150, "{cut_short} storms were cut short and {whole} were not");
}

/// Handlers that wait, on all networks: everybody sees one order, one message at a time; if a rank
/// dies, the others have seen prefixes of it, and are told.
#[test]
fn handlers_that_wait_keep_the_order() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let preset = *random.choose(&Preset::ALL);
        let storm = OrderStorm::new(4, 0, seed);
        let mut options = options(&storm, preset, seed);
        if preset.retransmits() {
            options.faults = bad();
        }
        let crashes = random.happens(500);
        if crashes {
            let time = Duration::from_micros(random.below(3000));
            options.faults.crashes = vec![(Rank(2), time)];
        }
        let all: Arc<Mutex<Vec<Vec<u64>>>> = Arc::default();
        let told = Arc::clone(&all);
        let report = Simulation::new(options).unwrap().run(move |weft: Weft| {
            let seen: Arc<Mutex<Vec<u64>>> = Arc::default();
            let slow = weft.clone();
            let saw = Arc::clone(&seen);
            let order = weft.order_async("slow", move |mut message| {
                let (nap, saw) = (slow.sleep(Duration::from_micros(20)), Arc::clone(&saw));
                async move {
                    let Ok(bytes) = message.bytes().await else { return };
                    if bytes[0] % 3 == 0 {
                        nap.await;
                    }
                    saw.lock().unwrap().push(message.number() << 8 | u64::from(bytes[0]));
                }
            })?;
            let outcome = (0..20u8).try_for_each(|n| {
                order.broadcast(&vec![n * 4 + weft.rank().0 as u8; 10 + usize::from(n) * 200])?;
                weft::Result::Ok(())
            });
            let outcome =
                outcome.and_then(|()| weft.poll_until(|| seen.lock().unwrap().len() == 80));
            told.lock().unwrap().push(seen.lock().unwrap().clone());
            outcome?;
            weft.barrier()?;
            drop(order);
            weft::Result::Ok(())
        });
        assert_eq!(report.ended, RunEnd::Finished, "{preset} {seed}: {:?}", report.outcomes);
        let seen = all.lock().unwrap();
        let longest = seen.iter().max_by_key(|seen| seen.len()).unwrap();
        assert!(longest.iter().map(|line| line >> 8).eq(0..longest.len() as u64), "{longest:?}");
        assert!(seen.iter().all(|other| longest.starts_with(other)), "{preset} {seed}");
        assert!(crashes || (report.is_success() && seen.iter().all(|s| s.len() == 80)), "{seed}");
    }
}
