//! `puzzle` on simulated ranks: solutions of published length, and nodes of a sequential search.

use crate::puzzle::sequential::deepen;
use clap::Parser;
use weft_apps::puzzle::{Board, Options, run};
use weft_search::{Search, SearchAnswer, Settings, Solved};
use weft_simulator::{MachineModel, Preset, Simulation};

/// Korf's instance 55, whose shortest solution has 41 moves: the least of all.
pub const EASY: &str = "13 8 14 3 9 1 0 7 15 5 4 10 12 2 6 11";

fn solve(ranks: u16, settings: Settings, board: Board) -> Solved {
    let options = weft_simulator::Options::with_preset(
        MachineModel::myrinet().unwrap(),
        ranks,
        Preset::default(),
    );
    let report = Simulation::new(options).unwrap().run_joined(move |weft| {
        let search = Search::new(weft.engine(), weft.everyone(), "puzzle", settings);
        let solved = search.and_then(|mut search| search.solve(&board, |_| {}));
        solved.map_err(|error| error.to_string())
    });
    report.into_values().unwrap().remove(0)
}

#[test]
fn nodes_are_those_of_a_sequential_search() {
    let (expected, moves) = deepen(EASY);
    let usual = Settings::default();
    for (ranks, settings) in [
        (1, usual),
        (4, Settings { grain: Some(20), jobs_per_message: 4, ..usual }),
        (16, Settings { grain: Some(15), ..usual }),
    ] {
        let solved = solve(ranks, settings, EASY.parse().unwrap());
        let nodes: Vec<_> = solved.iterations.iter().map(|it| (it.bound, it.nodes)).collect();
        assert_eq!(nodes[..expected.len()], expected, "{ranks} ranks");
        let SearchAnswer::Moves(found) = solved.answer else { panic!("{solved:?}") };
        assert_eq!((found.len(), nodes.len()), (moves.into(), expected.len() + 1));
    }
}

#[test]
fn a_table_saves_nodes() {
    let (expected, moves) = deepen(EASY);
    let settings = Settings { table_bytes: 1 << 20, grain: Some(20), ..Settings::default() };
    let solved = solve(4, settings, EASY.parse().unwrap());
    let (_, alone) = expected[expected.len() - 1];
    let with_table = solved.iterations[expected.len() - 1];
    assert!(with_table.nodes < alone, "{with_table:?} instead of {alone}");
    assert!(with_table.hits > 0);
    assert!(
        matches!(solved.answer, SearchAnswer::Moves(found) if found.len() == usize::from(moves))
    );
}

#[test]
fn the_program_runs_on_simulated_ranks() {
    let words = ["puzzle", EASY, "--grain", "25", "--jobs-per-message", "4"];
    let program = Options::try_parse_from(words).unwrap();
    let options = weft_simulator::Options::new(4).unwrap();
    let report = Simulation::new(options).unwrap().run(move |weft| run(&weft, &program));
    assert!(report.is_success(), "{:?}", report.outcomes);
}
