//! Lines of play, counted by several ranks.

use crate::common::*;
use weft_search::Settings;

/// Games of noughts and crosses after so many moves: all 255,168 have 5 moves or more.
const LINES: [u64; 10] = [1, 9, 72, 504, 3024, 15120, 54720, 148_176, 200_448, 127_872];

#[test]
fn lines_of_noughts_and_crosses_are_the_known_ones_on_any_number_of_ranks() {
    let usual = Settings::default();
    for (ranks, settings) in [
        (1, usual),
        (2, usual),
        (4, Settings { grain: Some(0), jobs_per_message: 5, ..usual }),
        (3, Settings { grain: Some(2), stack_jobs: 1, jobs_per_message: 1, ..usual }),
    ] {
        let counted = on_threads(ranks, settings, |search, _| {
            let depths = 0..LINES.len() as u16;
            depths.map(|depth| search.perft(&Noughts::FIRST, depth).unwrap()).collect::<Vec<_>>()
        });
        for counted in counted {
            let lines: Vec<_> = counted.iter().map(|counted| counted.lines.unwrap()).collect();
            assert_eq!(lines, LINES, "{ranks} ranks, {settings:?}");
            let nodes = counted.last().unwrap().work.nodes;
            assert_eq!(nodes, LINES[1..].iter().sum::<u64>(), "each is made once");
        }
    }
}

#[test]
fn a_deadline_ends_it() {
    let late = Settings { deadline: Some(std::time::Duration::ZERO), ..Settings::default() };
    let counted = on_threads(2, late, |search, _| search.perft(&Noughts::FIRST, 9).unwrap());
    assert!(counted.iter().all(|counted| counted.lines.is_none()), "{counted:?}");
}
