//! Values of positions on ranks that are threads: those of minimax, written down a second time.

use crate::common::*;
use std::ops::ControlFlow;
use std::time::Duration;
use weft_search::{Error, Game, Judged, Plan, Replacement, Search, Settings, Strategy};

const GO_ON: fn(&weft_search::Deepened) -> ControlFlow<()> = |_| ControlFlow::Continue(());

/// Searches of many kinds: ranks and settings.
fn kinds() -> Vec<(u16, Settings)> {
    let usual = Settings { table_bytes: 1 << 16, poll_nodes: 64, ..Settings::default() };
    vec![
        (1, usual),
        (2, Settings { table_bytes: 0, grain: Some(1), ..usual }),
        (4, Settings { grain: Some(0), ..usual }),
        (3, Settings { grain: Some(0), jobs_per_message: 1, delay: Duration::ZERO, ..usual }),
        // Entries give way all the time.
        (4, Settings { grain: Some(1), table_bytes: 64, jobs_per_message: 3, ..usual }),
        (2, Settings { grain: Some(1), replacement: Replacement::DepthPreferred, ..usual }),
        // Every rank searches alone what it takes up, or nearly so.
        (4, Settings { grain: Some(0), stack_jobs: 0, ..usual }),
        (4, Settings { grain: Some(0), stack_jobs: 2, poll_nodes: 1, ..usual }),
    ]
}

/// Checks what a search says of a position against minimax.
pub fn check<G: Game + PartialEq + std::fmt::Debug>(start: &G, depth: u16, judged: &Judged) {
    assert_eq!(judged.value, minimax(start, depth), "{start:?} to {depth}: {judged:?}");
    if start.moves().next().is_none() {
        assert_eq!((judged.best(), judged.is_exact), (None, true));
        return;
    }
    // A proof needs to look no further.
    let is_far = judged.depth == depth.min(start.longest());
    assert!(is_far || judged.depth < depth && judged.is_exact, "{judged:?} from {start:?}");
    let depth = depth.min(judged.depth);
    let values: Vec<i16> = judged.depths.iter().map(|one| one.value).collect();
    let expected: Vec<i16> = (1..=judged.depth).map(|depth| minimax(start, depth)).collect();
    assert_eq!(values, expected, "{start:?}");
    let mut end = *start;
    for (number, by) in judged.line.iter().enumerate() {
        assert!(end.moves().any(|legal| legal == *by), "{by} in {judged:?} from {start:?}");
        end = end.play(*by);
        let left = depth - 1 - number as u16;
        let sign = if number % 2 == 0 { -1 } else { 1 };
        assert_eq!(sign * minimax(&end, left), judged.value, "{judged:?} from {start:?}");
    }
    let is_at_end = judged.line.len() == usize::from(judged.depth) || end.moves().next().is_none();
    assert!(is_at_end, "the line of {judged:?} from {start:?} ends early");
}

#[test]
fn values_are_those_of_minimax_whatever_the_ranks_and_settings() {
    for (ranks, settings) in kinds() {
        let all = on_threads(ranks, settings, |search, engine| {
            let mut all = Vec::new();
            for seed in 0..12 {
                let strategy = [Strategy::MtdF, Strategy::AlphaBeta][seed as usize % 2];
                let start = Noughts::random(seed, 2 + seed as usize % 6);
                let plan = Plan { depth: 4, strategy };
                let judged = search.best_move(&start, plan, GO_ON).unwrap();
                let tree = Tree::random(seed);
                let plan = Plan { depth: 5, strategy };
                all.push((start, judged, tree, search.best_move(&tree, plan, GO_ON).unwrap()));
            }
            assert_eq!(engine.statistics().packets_unread, 0);
            all
        });
        for (start, judged, tree, of_tree) in &all[0] {
            check(start, 4, judged);
            check(tree, 5, of_tree);
        }
        assert!(all.iter().all(|other| *other == all[0]), "all ranks get one answer");
    }
}

#[test]
fn the_table_is_kept_for_the_next_search_of_the_game_until_it_is_forgotten() {
    for replacement in [Replacement::Always, Replacement::DepthPreferred] {
        let usual = Settings { grain: Some(2), table_bytes: 1 << 20, ..Settings::default() };
        let settings = Settings { replacement, ..usual };
        let all = on_threads(1, settings, |search, _| {
            let judge = |search: &mut Search| {
                let plan = Plan::to_depth(7);
                let judged = search.best_move(&Noughts::FIRST, plan, GO_ON).unwrap();
                check(&Noughts::FIRST, 7, &judged);
                judged.work.nodes
            };
            let (first, again) = (judge(search), judge(search));
            // Another game has another table.
            let tree = Tree::random(5);
            let judged = search.best_move(&tree, Plan::to_depth(5), GO_ON).unwrap();
            check(&tree, 5, &judged);
            let after_another = judge(search);
            search.forget();
            (first, again, after_another, judge(search))
        });
        let (first, again, after_another, after_all) = all[0];
        assert!(again * 2 < first, "{first} nodes, then {again}");
        assert_eq!((after_another, after_all), (first, first));
    }
}

#[test]
fn a_game_is_played_with_one_table_by_the_values_of_minimax() {
    let settings = Settings { grain: Some(1), table_bytes: 1 << 12, ..Settings::default() };
    on_threads(2, settings, |search, _| {
        let mut position = Noughts::random(2, 2);
        while position.moves().next().is_some() {
            let judged = search.best_move(&position, Plan::to_depth(5), GO_ON).unwrap();
            check(&position, 5, &judged);
            position = position.play(judged.best().unwrap());
        }
    });
}

#[test]
fn noughts_and_crosses_is_a_draw() {
    let settings = Settings { grain: Some(2), table_bytes: 1 << 20, ..Settings::default() };
    let all = on_threads(3, settings, |search, _| {
        search.best_move(&Noughts::FIRST, Plan::to_end(), GO_ON).unwrap()
    });
    for judged in all {
        assert_eq!((judged.value, judged.depth, judged.is_exact), (0, 9, true));
        assert_eq!((judged.line.len(), judged.depths.len()), (9, 9));
        assert!(judged.work.jobs > 0 && judged.work.messages > 0 && judged.work.hits > 0);
    }
}

#[test]
fn a_depth_to_which_all_games_end_is_a_proof_without_a_longest_game() {
    for strategy in [Strategy::MtdF, Strategy::AlphaBeta] {
        for (ranks, settings) in kinds() {
            let plan = Plan { depth: u16::MAX, strategy };
            let all = on_threads(ranks, settings, |search, _| {
                let start = Within::<{ u16::MAX }>(Noughts::random(1, 3));
                search.best_move(&start, plan, GO_ON).unwrap()
            });
            let start = Noughts::random(1, 3);
            for judged in all {
                assert!(judged.is_exact && judged.depth <= 6, "{judged:?}");
                assert_eq!(judged.value, minimax(&start, 6));
            }
        }
    }
}

#[test]
fn a_game_that_is_longer_than_it_says_is_an_error_on_all_ranks() {
    let settings = Settings { grain: Some(1), ..Settings::default() };
    let all = on_threads(2, settings, |search, _| {
        let start = Within::<3>(Noughts::FIRST);
        let longer = search.best_move(&start, Plan::to_end(), GO_ON).err();
        // The ranks go on together.
        (longer, search.best_move(&Noughts::FIRST, Plan::to_depth(2), GO_ON).unwrap().depth)
    });
    assert_eq!(all, [(); 2].map(|()| (Some(Error::Longer { moves: 3 }), 2)));
}

#[test]
fn a_game_that_is_over_has_its_outcome_and_no_move() {
    let lost = [0, 3, 1, 4, 2].iter().fold(Noughts::FIRST, |position, by| position.play(*by));
    let all = on_threads(2, Settings::default(), |search, _| {
        search.best_move(&lost, Plan::to_end(), GO_ON).unwrap()
    });
    for judged in all {
        assert_eq!((judged.value, judged.best(), judged.is_exact), (-5, None, true));
    }
}

#[test]
fn a_deadline_gives_a_legal_move_and_leaves_nothing_behind() {
    let usual = Settings { grain: Some(0), table_bytes: 1 << 20, ..Settings::default() };
    for deadline in [Duration::ZERO, Duration::from_micros(300), Duration::from_millis(5)] {
        let settings = Settings { deadline: Some(deadline), ..usual };
        on_threads(3, settings, |search, engine| {
            for seed in 0..4 {
                let tree = Tree::random(seed);
                let judged = search.best_move(&tree, Plan::to_end(), GO_ON).unwrap();
                // A quick machine may be done before.
                assert_ne!(judged.is_late, judged.is_exact, "{judged:?}");
                assert!(judged.is_late || !deadline.is_zero(), "{judged:?}");
                let best = judged.best().unwrap();
                assert!(tree.moves().any(|legal| legal == best), "{judged:?}");
                let known = judged.depths.last().map_or(tree.value(), |last| last.value);
                assert_eq!(judged.value, known);
                assert_eq!(engine.statistics().packets_unread, 0);
            }
        });
    }
}

#[test]
fn whoever_calls_it_may_end_it() {
    on_threads(2, Settings { grain: Some(1), ..Settings::default() }, |search, _| {
        let tree = Tree::random(1);
        let third = |one: &weft_search::Deepened| match one.depth {
            3 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        let judged = search.best_move(&tree, Plan::to_depth(40), third).unwrap();
        assert_eq!((judged.depth, judged.is_late), (3, true));
        let stopper = search.stopper();
        let stop = |one: &weft_search::Deepened| {
            if one.depth == 4 {
                stopper.stop();
            }
            ControlFlow::Continue(())
        };
        let judged = search.best_move(&tree, Plan::to_depth(40), stop).unwrap();
        assert_eq!((judged.depth, judged.is_late), (4, true));
        let judged = search.best_move(&tree, Plan::to_depth(2), GO_ON).unwrap();
        assert_eq!((judged.depth, judged.is_late), (2, false), "a word to stop holds once");
    });
}
