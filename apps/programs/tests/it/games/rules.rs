//! Rules as text beside those written in Rust, and on several ranks.

use std::collections::BTreeMap;
use std::sync::Mutex;
use weft_apps::awari::Board as Awari;
use weft_apps::games::{ConnectFour, Othello};
use weft_apps::puzzle::{Board, KORF};
use weft_rules::{GameVisitor, Library, PuzzleVisitor, Source, Written};
use weft_search::{Counted, Game, Puzzle, Search, SearchAnswer, Settings, Solved};
use weft_simulator::{Options, Simulation};

fn library(name: &str) -> Library {
    Source::named(&format!("{name}.rules")).unwrap().load().unwrap()
}

/// Result of a search on simulated ranks, by each of them.
fn search<T: Send + 'static>(
    ranks: u16,
    settings: Settings,
    run: impl Fn(&mut Search) -> weft_search::Result<T> + Send + Sync + 'static,
) -> Vec<T> {
    let options = Options::new(ranks).unwrap();
    let report = Simulation::new(options).unwrap().run_joined(move |weft| {
        let search = Search::new(weft.engine(), weft.everyone(), "game", settings);
        search.and_then(|mut search| run(&mut search)).map_err(|error| error.to_string())
    });
    report.into_values().unwrap()
}

/// Counting of lines on simulated ranks.
struct OnRanks {
    ranks: u16,
    settings: Settings,
    depth: u16,
}

impl GameVisitor for OnRanks {
    type Output = Vec<Option<u64>>;

    fn visit<G: Game + Written>(self, first: G) -> Vec<Option<u64>> {
        let first = Mutex::new(first);
        let counted: Vec<Counted> = search(self.ranks, self.settings, move |search| {
            let first = *first.lock().unwrap();
            search.perft(&first, self.depth)
        });
        counted.into_iter().map(|counted| counted.lines).collect()
    }
}

#[test]
fn lines_are_the_same_on_any_number_of_ranks() {
    // Of the 15-puzzle: the walks of the blank on a grid of 4 x 4, from a corner.
    let games: [(&str, u16, u64); 6] = [
        ("othello", 7, 55_092),
        ("connect-four", 5, 16_807),
        ("checkers", 6, 36_768),
        ("awari", 5, 5_219),
        ("fifteen", 10, 65_946),
        ("solitaire", 5, 2_960),
    ];
    for (name, depth, lines) in games {
        for (ranks, grain) in [(1, None), (2, Some(2)), (4, Some(1))] {
            let settings = Settings { grain, jobs_per_message: 16, ..Settings::default() };
            let counted = library(name).game(OnRanks { ranks, settings, depth });
            assert_eq!(counted, vec![Some(lines); ranks.into()], "{name} on {ranks} ranks");
        }
    }
}

/// Random games of a text beside one in Rust.
struct Beside<R> {
    rust: R,
    games: u64,
    /// The move in Rust that a move of the text is.
    same: fn(u8) -> u8,
}

impl<R: Game> GameVisitor for Beside<R> {
    type Output = u64;

    fn visit<G: Game + Written>(self, first: G) -> u64 {
        let mut random = fastrand::Rng::with_seed(26);
        let mut positions = 0;
        for _ in 0..self.games {
            let (mut text, mut rust) = (first, self.rust);
            loop {
                let moves: BTreeMap<u8, u8> =
                    text.moves().map(|by| ((self.same)(by), by)).collect();
                let mut others: Vec<u8> = rust.moves().collect();
                others.sort_unstable();
                assert!(moves.keys().eq(&others), "{}", text.text());
                assert_eq!(text.count_moves(), others.len() as u64);
                positions += 1;
                if others.is_empty() {
                    assert_eq!(text.value().signum(), rust.value().signum(), "{}", text.text());
                    break;
                }
                let by = others[random.usize(..others.len())];
                (text, rust) = (text.play(moves[&by]), rust.play(by));
            }
        }
        positions
    }
}

#[test]
fn random_games_have_the_moves_that_they_have_in_rust() {
    let othello = Beside { rust: Othello::FIRST, games: 50, same: |by| by };
    assert!(library("othello").game(othello) > 2_500);
    let four = Beside { rust: ConnectFour::FIRST, games: 200, same: |cell| cell % 7 };
    assert!(library("connect-four").game(four) > 2_500);
}

/// Random games of Awari, beside the rules by which its databases are made.
struct BesideAwari;

impl GameVisitor for BesideAwari {
    type Output = u64;

    fn visit<G: Game + Written>(self, first: G) -> u64 {
        let mut random = fastrand::Rng::with_seed(8);
        let mut positions = 0;
        for _ in 0..60 {
            let (mut text, mut board, mut stores) = (first, Awari::first(), [0, 0]);
            for _ in 0..120 {
                let moves: Vec<(usize, weft_apps::awari::Played)> = board.moves().collect();
                let pits: Vec<u8> = moves.iter().map(|(pit, _)| *pit as u8).collect();
                assert_eq!(text.moves().collect::<Vec<_>>(), pits, "{board}");
                let [own, other] = stores;
                let picture = format!("{board} own store {own} other store {other}");
                assert_eq!(words(&text.text()), words(&picture));
                positions += 1;
                if moves.is_empty() {
                    let lead = i16::from(board.lead()) + own - other;
                    assert_eq!(text.value(), lead, "{picture}");
                    break;
                }
                let (pit, played) = moves[random.usize(..moves.len())];
                text = text.play(pit as u8);
                (board, stores) = (played.board, [other, own + i16::from(played.captured)]);
            }
        }
        positions
    }
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[test]
fn awari_has_the_moves_of_its_databases() {
    assert!(library("awari").game(BesideAwari) > 2_000);
}

/// A search for the shortest solution of a board, on simulated ranks.
struct Solve {
    board: &'static str,
    ranks: u16,
}

impl PuzzleVisitor for Solve {
    type Output = Solved;

    fn visit<P: Puzzle + Written>(self, first: P) -> Solved {
        solve(self.ranks, first.read(self.board).unwrap())
    }
}

fn solve<P: Puzzle>(ranks: u16, board: P) -> Solved {
    let board = Mutex::new(board);
    let settings = Settings { grain: Some(36), ..Settings::default() };
    let solved = search(ranks, settings, move |search| {
        let board = *board.lock().unwrap();
        search.solve(&board, |_| ())
    });
    solved.into_iter().next().unwrap()
}

#[test]
fn a_published_15_puzzle_takes_the_nodes_that_it_takes_in_rust() {
    let (board, length) = KORF[8];
    let rust = solve(1, board.parse::<Board>().unwrap());
    for ranks in [1, 2] {
        let text = library("fifteen").puzzle(Solve { board, ranks }).unwrap();
        let SearchAnswer::Moves(found) = &text.answer else { panic!("{text:?}") };
        assert_eq!(found.len(), usize::from(length));
        // The last iteration ends as soon as some rank has found a solution.
        let compared = rust.iterations.len() - usize::from(ranks > 1);
        let nodes = |solved: &Solved| -> Vec<(u16, u64)> {
            let all = solved.iterations.iter().map(|one| (one.bound, one.nodes));
            all.take(compared).collect()
        };
        assert_eq!(nodes(&text), nodes(&rust));
    }
}

#[test]
fn a_late_position_of_solitaire_is_solved() {
    let board = "# # . . . # # \
                 # # . o . # # \
                 . . o o o . . \
                 . . . o . . . \
                 . . . o . . . \
                 # # . . . # # \
                 # # . . . # #";
    let board = Box::leak(board.to_owned().into_boxed_str());
    let solved = library("solitaire").puzzle(Solve { board, ranks: 2 }).unwrap();
    assert!(matches!(&solved.answer, SearchAnswer::Moves(moves) if moves.len() == 5), "{solved:?}");
}

#[test]
fn rules_that_differ_are_an_error_that_names_the_rank() {
    let options = Options::new(4).unwrap();
    let report = Simulation::new(options).unwrap().run_joined(move |weft| {
        let name = if weft.rank() == 2 { "solitaire" } else { "awari" };
        weft_apps::games::load(&weft, name).map(|_| ()).map_err(|error| error.to_string())
    });
    let error = report.into_values().unwrap_err().to_string();
    let said = "awari.rules is not the same on all ranks: rank 2 has other rules than rank 0";
    assert!(error.contains(said), "{error}");
}
