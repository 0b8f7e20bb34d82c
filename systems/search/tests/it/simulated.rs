//! Searches on simulated ranks: many of them, every preset, bad networks, and a function of the
//! seed.

use crate::common::*;
use std::ops::ControlFlow;
use std::time::Duration;
use weft_search::{Judged, Plan, Search, SearchAnswer, Settings, Solved};
use weft_simulator::{Faults, MachineModel, Options, Preset, Rank, Report, Simulation};

fn simulate(options: Options, settings: Settings, start: Stack) -> Report<Solved> {
    Simulation::new(options).unwrap().run_joined(move |weft| {
        let search = Search::new(weft.engine(), weft.everyone(), "search", settings);
        let solved = search.and_then(|mut search| search.solve(&start, |_| {}));
        solved.map_err(|error| error.to_string())
    })
}

fn options(ranks: u16, preset: Preset, faults: Faults) -> Options {
    let mut options = Options::with_preset(MachineModel::myrinet().unwrap(), ranks, preset);
    options.faults = faults;
    options
}

/// Solutions of all ranks, which are one, with the nodes of a sequential search.
fn succeeds(options: Options, settings: Settings, start: Stack) -> (Solved, Duration) {
    let (expected, moves) = deepen(start);
    let (ranks, preset) = (options.settings.ranks, options.settings.preset);
    let report = simulate(options, settings, start);
    assert!(report.is_success(), "{ranks} ranks, {preset}: {:?}", report.outcomes);
    let time = report.virtual_time;
    let solved: Vec<Solved> = report.into_values().unwrap();
    assert_eq!(solved.len(), usize::from(ranks));
    assert!(solved.iter().all(|other| *other == solved[0]));
    let SearchAnswer::Moves(found) = &solved[0].answer else { panic!("{:?}", solved[0]) };
    assert_eq!(found.len(), usize::from(moves));
    let nodes = solved[0].iterations.iter().map(|it| (it.bound, it.nodes));
    assert!(nodes.take(expected.len() - 1).eq(expected[..expected.len() - 1].iter().copied()));
    (solved[0].clone(), time)
}

#[test]
fn on_1_to_64_ranks() {
    let settings = Settings { grain: Some(2), jobs_per_message: 4, ..Settings::default() };
    for ranks in [1, 2, 3, 7, 64] {
        succeeds(options(ranks, Preset::NrxImc, Faults::default()), settings, Stack::random(3));
    }
}

#[test]
fn under_every_preset_and_on_networks_that_lose_double_and_reorder() {
    let settings = Settings { grain: Some(1), ..Settings::default() };
    for preset in Preset::ALL {
        succeeds(options(4, preset, Faults::default()), settings, Stack::random(1));
    }
    for preset in Preset::RETRANSMITTING {
        succeeds(options(4, preset, Faults::unreliable()), settings, Stack::random(1));
    }
}

#[test]
fn a_search_is_a_function_of_its_seed() {
    let settings = Settings { grain: Some(0), jobs_per_message: 2, ..Settings::default() };
    let run = |seed| {
        let mut options = options(5, Preset::HrxHmc, Faults::unreliable());
        options.seed = seed;
        succeeds(options, settings, Stack::random(4))
    };
    let first = run(7);
    assert_eq!(first, run(7));
    assert_ne!(first.1, run(8).1, "another seed, another network");
}

#[test]
fn a_deadline_is_in_virtual_time() {
    let deadline = Some(Duration::from_millis(2));
    let settings = Settings { deadline, grain: Some(0), ..Settings::default() };
    let start = Stack::random(3);
    let report = simulate(options(4, Preset::NrxImc, Faults::default()), settings, start);
    let at_least = |solved: &Solved| match solved.answer {
        SearchAnswer::Late { at_least } => at_least,
        _ => panic!("{solved:?}"),
    };
    let all: Vec<u16> = report.into_values().unwrap().iter().map(at_least).collect();
    assert_eq!(all, [all[0]; 4]);
    assert!(all[0] > Stack::half_gaps(&start.0), "some iterations were over before");
}

#[test]
fn a_rank_that_dies_stops_the_others_with_an_error() {
    let settings = Settings { grain: Some(0), ..Settings::default() };
    let crashes = vec![(Rank(1), Duration::from_millis(2))];
    let faults = Faults { crashes, ..Faults::default() };
    let report = simulate(options(4, Preset::NrxImc, faults), settings, Stack::random(3));
    assert_eq!(report.all_tell_of(Rank(1)), Ok(()));
}

/// Values of some positions on simulated ranks.
fn judge(options: Options, settings: Settings) -> Report<Vec<Judged>> {
    Simulation::new(options).unwrap().run_joined(move |weft| {
        let search = Search::new(weft.engine(), weft.everyone(), "search", settings);
        let judged = search.and_then(|mut search| {
            let plan = Plan::to_depth(6);
            let of =
                |seed| search.best_move(&Tree::random(seed), plan, |_| ControlFlow::Continue(()));
            (0..4).map(of).collect::<weft_search::Result<Vec<_>>>()
        });
        judged.map_err(|error| error.to_string())
    })
}

/// Values that all ranks say, which are those of minimax, and the time.
fn judges(options: Options, settings: Settings) -> (Vec<Judged>, Duration) {
    let (ranks, preset) = (options.settings.ranks, options.settings.preset);
    let report = judge(options, settings);
    assert!(report.is_success(), "{ranks} ranks, {preset}: {:?}", report.outcomes);
    let time = report.virtual_time;
    let all = report.into_values().unwrap();
    for (seed, judged) in (0..).zip(&all[0]) {
        crate::values::check(&Tree::random(seed), 6, judged);
    }
    assert!(all.iter().all(|other| *other == all[0]));
    (all[0].clone(), time)
}

/// Settings by which ranks ask each other much.
fn asking() -> Settings {
    Settings { grain: Some(0), jobs_per_message: 4, table_bytes: 1 << 14, ..Settings::default() }
}

#[test]
fn values_are_those_of_minimax_on_many_ranks_and_bad_networks() {
    for ranks in [1, 2, 7, 64] {
        judges(options(ranks, Preset::NrxImc, Faults::default()), asking());
    }
    for preset in Preset::ALL {
        judges(options(4, preset, Faults::default()), asking());
    }
    for preset in Preset::RETRANSMITTING {
        judges(options(4, preset, Faults::unreliable()), asking());
    }
}

#[test]
fn a_search_for_values_is_a_function_of_its_seed() {
    let run = |seed| {
        let mut options = options(5, Preset::HrxHmc, Faults::unreliable());
        options.seed = seed;
        judges(options, asking())
    };
    let first = run(7);
    assert_eq!(first, run(7), "nodes, messages and times");
    assert_ne!(first.1, run(8).1, "another seed, another network");
}

#[test]
fn a_rank_that_dies_stops_a_search_for_values() {
    let crashes = vec![(Rank(1), Duration::from_micros(700))];
    let faults = Faults { crashes, ..Faults::default() };
    let report = judge(options(4, Preset::NrxImc, faults), asking());
    assert_eq!(report.all_tell_of(Rank(1)), Ok(()));
}
