//! Puzzles on ranks that are threads: shortest solutions, and the nodes of a sequential search.

use crate::common::*;
use std::time::Duration;
use weft_search::{Puzzle, Replacement, Search, SearchAnswer, Settings, Solved};

/// Bounds and nodes of the iterations that found nothing.
fn unsolved(solved: &Solved) -> Vec<(u16, u64)> {
    let all = solved.iterations.iter().map(|iteration| (iteration.bound, iteration.nodes));
    all.take(solved.iterations.len() - 1).collect()
}

/// Checks that moves lead to the goal.
fn length(start: &Stack, solved: &Solved) -> u16 {
    let SearchAnswer::Moves(moves) = &solved.answer else { panic!("{solved:?}") };
    let end = moves.iter().fold(*start, |stack, by| stack.play(*by));
    assert!(end.is_goal(), "{moves:?} does not sort {start:?}");
    moves.len() as u16
}

#[test]
fn nodes_are_those_of_a_sequential_search_whatever_the_ranks_and_settings() {
    let start = Stack::random(3);
    let (expected, moves) = deepen(start);
    let expected = &expected[..expected.len() - 1];
    let nodes: u64 = expected.iter().map(|(_, nodes)| nodes).sum();
    assert!(nodes > 10_000, "the search is no trifle: {nodes} nodes");
    let usual = Settings::default();
    for (ranks, settings) in [
        (1, usual),
        (2, usual),
        (4, Settings { grain: Some(0), ..usual }),
        (3, Settings { grain: Some(0), jobs_per_message: 1, ..usual }),
        (3, Settings { grain: Some(2), jobs_per_message: 7, delay: Duration::ZERO, ..usual }),
        // Every rank searches whole what it takes up, or has no room.
        (4, Settings { grain: Some(0), stack_jobs: 0, ..usual }),
        (4, Settings { grain: Some(0), stack_jobs: 3, jobs_per_message: 2, ..usual }),
        (2, Settings { grain: Some(100), poll_nodes: 1, ..usual }),
    ] {
        let all = on_threads(ranks, settings, |search, _| search.solve(&start, |_| {}).unwrap());
        for solved in &all {
            assert_eq!(unsolved(solved), expected, "{ranks} ranks, {settings:?}");
            assert_eq!(length(&start, solved), moves);
            assert_eq!(solved, &all[0], "all ranks get one answer");
        }
    }
}

#[test]
fn a_table_saves_nodes_and_finds_solutions_as_short() {
    let usual = Settings { grain: Some(1), table_bytes: 1 << 20, ..Settings::default() };
    for seed in 0..6 {
        let start = Stack::random(seed);
        let (expected, moves) = deepen(start);
        let ranks = 1 + seed as u16 % 3;
        for settings in [
            usual,
            Settings { replacement: Replacement::DepthPreferred, ..usual },
            // So small that entries give way all the time.
            Settings { table_bytes: 64, ..usual },
        ] {
            let all =
                on_threads(ranks, settings, |search, _| search.solve(&start, |_| {}).unwrap());
            let solved = &all[0];
            assert_eq!(length(&start, solved), moves, "seed {seed}, {settings:?}");
            let bounds: Vec<u16> = solved.iterations.iter().map(|it| it.bound).collect();
            assert!(bounds.is_sorted() && bounds.ends_with(&[moves]), "{bounds:?}");
            let hits: u64 = solved.iterations.iter().map(|it| it.hits).sum();
            let fewer = |(one, (_, nodes)): (&(u16, u64), &(u16, u64))| one.1 < *nodes;
            if settings.table_bytes == 1 << 20 && moves > 6 {
                assert!(hits > 0);
                let last = unsolved(solved);
                assert!(last.last().into_iter().zip(expected.iter().nth_back(1)).all(fewer));
            }
        }
    }
}

#[test]
fn searches_follow_one_another() {
    let seeds = 20..32;
    let expected: Vec<u16> = seeds.clone().map(|seed| deepen(Stack::random(seed)).1).collect();
    let settings = Settings { grain: Some(0), jobs_per_message: 3, ..Settings::default() };
    let found = on_threads(3, settings, |search, _| {
        let mut solve = |seed| {
            let start = Stack::random(seed);
            length(&start, &search.solve(&start, |_| {}).unwrap())
        };
        seeds.clone().map(&mut solve).collect::<Vec<_>>()
    });
    assert_eq!(found, vec![expected; 3]);
}

#[test]
fn only_rank_0_says_what_is_to_be_solved_and_hears_of_iterations() {
    let start = Stack::random(5);
    let heard = on_threads(2, Settings::default(), |search, engine| {
        let mut heard = 0;
        let is_first = engine.packets().rank() == 0;
        let own = if is_first { start } else { Stack::random(0) };
        let solved = search.solve(&own, |_| heard += 1).unwrap();
        assert_eq!(length(&start, &solved), deepen(start).1);
        (heard, solved.iterations.len())
    });
    assert_eq!((heard[0].0, heard[1].0), (heard[0].1, 0));
}

#[test]
fn what_is_solved_takes_no_move() {
    let sorted = Stack(std::array::from_fn(|place| place as u8));
    let all =
        on_threads(2, Settings::default(), |search, _| search.solve(&sorted, |_| {}).unwrap());
    for solved in all {
        assert_eq!((solved.answer, solved.iterations.len()), (SearchAnswer::Moves(vec![]), 0));
    }
}

#[test]
fn best_first_solutions_are_as_short_and_take_fewer_nodes() {
    for seed in 0..8 {
        let start = Stack::random(seed);
        let (expected, moves) = deepen(start);
        for (ranks, settings) in [
            (1, Settings::default()),
            (3, Settings { jobs_per_message: 3, ..Settings::default() }),
            // Everything waits until there is nothing else to do.
            (4, Settings { stack_jobs: 0, ..Settings::default() }),
        ] {
            let all = on_threads(ranks, settings, |search, engine| {
                let solved = search.best_first(&start, 1 << 24, |_| {}).unwrap();
                assert_eq!(engine.statistics().packets_unread, 0);
                solved
            });
            let solved = &all[0];
            assert_eq!((length(&start, solved), solved.full_at), (moves, None), "seed {seed}");
            assert!(all.iter().all(|other| other == solved), "all ranks get one answer");
            let bounds: Vec<u16> = solved.iterations.iter().map(|it| it.bound).collect();
            assert!(expected.iter().map(|one| one.0).eq(bounds), "bounds are those of IDA*");
            let nodes = |all: &[(u16, u64)]| all.iter().map(|one| one.1).sum::<u64>();
            let before = nodes(&expected[..expected.len() - 1]);
            assert!(before < 10_000 || nodes(&unsolved(solved)) < before, "{solved:?}");
        }
    }
}

#[test]
fn without_memory_a_best_first_search_goes_on_by_ida() {
    let start = Stack::random(3);
    let (expected, moves) = deepen(start);
    for bytes in [0, 1000, 20_000] {
        let all = on_threads(2, Settings::default(), |search, _| {
            search.best_first(&start, bytes, |_| {}).unwrap()
        });
        let solved = &all[0];
        assert_eq!(length(&start, solved), moves);
        let full_at = solved.full_at.unwrap();
        // Iterations of IDA* follow those that have found nothing in memory.
        let by_ida = expected.iter().filter(|one| one.0 >= full_at).count();
        assert!(solved.iterations.len() > by_ida, "{solved:?}");
    }
    let late = Settings { deadline: Some(Duration::ZERO), ..Settings::default() };
    let all = on_threads(2, late, |search, _| search.best_first(&start, 1 << 20, |_| {}).unwrap());
    assert!(all.iter().all(|solved| matches!(solved.answer, SearchAnswer::Late { .. })));
}

/// A number, from which 2 or 3 are taken away until nothing is left.
#[derive(Clone, Copy)]
struct Number(u8);

impl Puzzle for Number {
    type Moves = std::ops::RangeInclusive<u8>;

    const BYTES: usize = 1;
    const MOVE_BITS: usize = 2;
    const GRAIN: u16 = 0;

    fn moves(&self, _: Option<u8>) -> Self::Moves {
        2..=self.0.min(3)
    }

    fn play(&self, by: u8) -> Self {
        Number(self.0 - by)
    }

    fn lower_bound(&self) -> u16 {
        u16::from(self.0 > 0)
    }

    fn is_goal(&self) -> bool {
        self.0 == 0
    }

    fn hash(&self) -> u64 {
        u64::from(self.0).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    fn encode(&self, into: &mut [u8]) {
        into[0] = self.0;
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        Some(Number(bytes[0]))
    }
}

#[test]
fn what_cannot_be_solved_ends_once_all_has_been_searched() {
    let answers = |start: u8| {
        let solve = |search: &mut Search| search.solve(&Number(start), |_| {}).unwrap().answer;
        on_threads(2, Settings::default(), move |search, _| solve(search))
    };
    assert_eq!(answers(1), [SearchAnswer::Unsolvable, SearchAnswer::Unsolvable]);
    assert_eq!(answers(6), [SearchAnswer::Moves(vec![3, 3]), SearchAnswer::Moves(vec![3, 3])]);
    let SearchAnswer::Moves(moves) = &answers(20)[0] else { panic!("20 can be taken away") };
    assert_eq!((moves.len(), moves.iter().sum::<u8>()), (7, 20));
    let solve = |search: &mut Search| search.best_first(&Number(1), 1000, |_| {}).unwrap().answer;
    let none = on_threads(2, Settings::default(), |search, _| solve(search));
    assert_eq!(none, [SearchAnswer::Unsolvable, SearchAnswer::Unsolvable]);
}

#[test]
fn a_deadline_ends_a_search_and_leaves_nothing_behind() {
    let start = Stack::random(3);
    let at_least = Stack::half_gaps(&start.0);
    let late = Settings { deadline: Some(Duration::ZERO), grain: Some(0), ..Settings::default() };
    on_threads(3, late, |search, engine| {
        for _ in 0..3 {
            let solved = search.solve(&start, |_| {}).unwrap();
            assert_eq!(solved.answer, SearchAnswer::Late { at_least });
        }
        assert_eq!(engine.statistics().packets_unread, 0);
    });
}

#[test]
fn settings_that_cannot_be_are_refused() {
    let usual = Settings::default();
    let said = |settings| {
        with_team(1, |team, engine| {
            let search = Search::new(engine, team, "search", settings);
            search.err().unwrap().to_string()
        })
        .concat()
    };
    let none = said(Settings { jobs_per_message: 0, ..usual });
    assert_eq!(none, "jobs per message cannot be 0: a message has one job at least");
    let many = said(Settings { jobs_per_message: 1025, ..usual });
    assert_eq!(many, "jobs per message cannot be 1025: 1,024 are the most");
    let idle = said(Settings { poll_nodes: 0, ..usual });
    assert_eq!(idle, "nodes between two polls cannot be 0: a search gets on");
}
