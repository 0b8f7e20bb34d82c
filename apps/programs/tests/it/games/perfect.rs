//! Connect Four on five columns of four, solved, and played without a mistake.

use super::common::*;
use std::ops::ControlFlow;
use weft_apps::games::{Board, ConnectFour5x4};
use weft_messaging::{Barrier, Engine};
use weft_search::{Game, Plan, Search, Settings};
use weft_threads::Job;

/// Games against an opponent of random moves.
const GAMES: u64 = 60;

/// Moves that are made at random before: from there on nobody gives anything away.
const OPENING: usize = 6;

fn searching<T: Send>(ranks: u16, program: impl Fn(&mut Search) -> T + Sync) -> Vec<T> {
    let settings = Settings { table_bytes: 1 << 22, ..settings() };
    Job::new(ranks).packets(|packets| {
        let engine = Engine::new(packets);
        let barrier = Barrier::new(&engine).unwrap();
        let mut search = Search::new(&engine, barrier.team(), "game", settings).unwrap();
        let result = program(&mut search);
        barrier.leave().unwrap();
        result
    })
}

/// The move of the search, and who it says wins.
fn think(search: &mut Search, position: &ConnectFour5x4) -> (u8, i8) {
    let decided = |one: &weft_search::Deepened| match position.outcome(one.value, false) {
        Some(_) => ControlFlow::Break(()),
        None => ControlFlow::Continue(()),
    };
    let judged = search.best_move(position, Plan::to_end(), decided).unwrap();
    let is_solved = judged.is_exact || position.outcome(judged.value, false).is_some();
    assert!(is_solved, "{judged:?}");
    (judged.best().unwrap(), judged.value.signum() as i8)
}

#[test]
fn whoever_plays_no_game_gives_its_value_away() {
    let mut solver = Solver::default();
    let games =
        searching(2, |search| (0..GAMES).map(|seed| one_game(search, seed)).collect::<Vec<_>>());
    assert_eq!(games[0], games[1], "both ranks have played the same games");
    let (mut won, mut drawn) = (0, 0);
    for (moves, claims) in &games[0] {
        let starts = solver.outcome(&mut columns(&moves[..OPENING]));
        for (number, claim) in claims {
            let outcome = solver.outcome(&mut columns(&moves[..*number]));
            assert_eq!(*claim, outcome, "the value after {:?}", &moves[..*number]);
        }
        // Against any opponent the player who begins gets at least what was there for it.
        let end = moves.iter().fold(ConnectFour5x4::FIRST, |position, by| position.play(*by));
        let loser = moves.len() % 2;
        let result = if end.value() == 0 { 0 } else { [-1, 1][loser] };
        assert!(result >= starts, "{moves:?} came to {result}, and began with {starts}");
        won += usize::from(result == 1);
        drawn += usize::from(result == 0);
    }
    assert!(won > 10 && won + drawn > 30, "{won} won, {drawn} drawn");
}

/// Moves of a game in which the search plays first, and what it said before each of its moves.
fn one_game(search: &mut Search, seed: u64) -> (Vec<u8>, Vec<(usize, i8)>) {
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut position, mut moves, mut claims) = (ConnectFour5x4::FIRST, Vec::new(), Vec::new());
    loop {
        let legal = moves_of(&position);
        if legal.is_empty() {
            return (moves, claims);
        }
        let is_its_turn = moves.len() % 2 == 0 && moves.len() >= OPENING;
        let by = if is_its_turn {
            let (by, claim) = think(search, &position);
            claims.push((moves.len(), claim));
            by
        } else {
            random.choice(legal).unwrap()
        };
        position = position.play(by);
        moves.push(by);
    }
}

#[test]
fn played_by_both_sides_it_is_a_draw() {
    let played = searching(1, |search| {
        let (mut position, mut moves) = (ConnectFour5x4::FIRST, vec![2, 2, 2, 2]);
        position = moves.iter().fold(position, |position, by| position.play(*by));
        while !moves_of(&position).is_empty() {
            let (by, claim) = think(search, &position);
            assert_eq!(claim, 0, "after {moves:?}");
            position = position.play(by);
            moves.push(by);
        }
        (position.value(), moves.len())
    });
    assert_eq!(played, [(0, 20)]);
}
