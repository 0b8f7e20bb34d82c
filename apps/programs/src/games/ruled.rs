//! Games and puzzles whose rules were loaded.

use weft::prelude::*;
use weft_app_common::{agree, seconds, thousands, write_out};
use weft_rules::{GameVisitor, Library, PuzzleVisitor, Written};
use weft_search::{Game, Iteration, Puzzle, SearchAnswer, Solved};

use crate::games::board::Board;
use crate::games::error::Error;
use crate::games::options::{Command, SolveOptions};
use crate::games::run::run_game;
use crate::games::search::search;

/// Runs a command that is about what these rules are of.
pub(crate) fn run(weft: &Weft, library: Library, command: &Command) -> Result<(), Error> {
    match command {
        Command::Perft(_) | Command::Rules(_) => {}
        _ if library.players() == 2 => {}
        Command::Solve(options) => {
            let solved = library.puzzle(Solving { weft, options, name: library.name() });
            return solved.unwrap_or_else(|| unreachable!("it is for one player"));
        }
        _ => return agree(weft, Err(Error::Puzzle(library.name().into()))),
    }
    library.game(Running { weft, command })
}

struct Running<'a> {
    weft: &'a Weft,
    command: &'a Command,
}

impl GameVisitor for Running<'_> {
    type Output = Result<(), Error>;

    fn visit<G: Game + Written>(self, first: G) -> Result<(), Error> {
        let Running { weft, command } = self;
        let first = match command {
            Command::Solve(options) => agree(weft, placed(first, options))?,
            _ => first,
        };
        run_game(weft, Ruled(first), command)
    }
}

/// A position of a game whose rules were loaded. Its moves are written as their numbers.
#[derive(Clone, Copy)]
struct Ruled<G>(G);

impl<G: Game> Game for Ruled<G> {
    type Moves = G::Moves;

    const BYTES: usize = G::BYTES;
    const GRAIN: u16 = G::GRAIN;
    const VALUE_GRAIN: u16 = G::VALUE_GRAIN;
    const MOST: i16 = G::MOST;

    #[inline]
    fn moves(&self) -> G::Moves {
        self.0.moves()
    }

    #[inline]
    fn count_moves(&self) -> u64 {
        self.0.count_moves()
    }

    #[inline]
    fn play(&self, by: u8) -> Self {
        Ruled(self.0.play(by))
    }

    #[inline]
    fn value(&self) -> i16 {
        self.0.value()
    }

    fn longest(&self) -> u16 {
        self.0.longest()
    }

    #[inline]
    fn hash(&self) -> u64 {
        self.0.hash()
    }

    fn encode(&self, into: &mut [u8]) {
        self.0.encode(into);
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        G::decode(bytes).map(Ruled)
    }
}

impl<G: Game + Written> Board for Ruled<G> {
    const MOVES: &'static str = "its number by the rules";

    fn draw(&self, is_first: bool) -> String {
        let player = if is_first { "first" } else { "second" };
        let numbers: Vec<String> = self.moves().map(Self::write_move).collect();
        let board = self.0.text();
        let moves = numbers.join(" ");
        format!("{}\nas the {player} player, to move, sees it; moves {moves}\n", board.trim_end())
    }

    fn write_move(by: u8) -> String {
        by.to_string()
    }

    fn outcome(&self, value: i16, is_exact: bool) -> Option<(i16, String)> {
        let is_won = value.abs() == Self::MOST;
        let how = if is_won { String::new() } else { format!(" by {}", value.abs()) };
        (is_won || is_exact).then_some((value, how))
    }
}

struct Solving<'a> {
    weft: &'a Weft,
    options: &'a SolveOptions,
    name: &'static str,
}

impl PuzzleVisitor for Solving<'_> {
    type Output = Result<(), Error>;

    fn visit<P: Puzzle + Written>(self, first: P) -> Result<(), Error> {
        let Solving { weft, options, name } = self;
        let start =
            agree(weft, placed(first, options).and_then(|first| after(first, &options.moves)))?;
        let mut search = search(weft, options.search.settings(options.deadline))?;
        let solved = search.solve(&start, |iteration| tell(weft, iteration))?;
        if weft.rank() != 0 {
            return Ok(());
        }
        match (&solved.answer, options.deadline) {
            (SearchAnswer::Moves(moves), _) => Ok(write_out(report(&start, moves, &solved))?),
            (SearchAnswer::Late { at_least }, Some(limit)) => {
                let known = format!("a solution has at least {at_least} moves");
                Err(Error::Unsolved { limit, known })
            }
            _ => Err(Error::Unsolvable(name.into())),
        }
    }
}

/// The position that is given, or else the first one.
fn placed<P: Written>(first: P, options: &SolveOptions) -> Result<P, Error> {
    let Some(text) = &options.position else { return Ok(first) };
    first.read(text).ok_or_else(|| Error::Position { text: text.clone(), like: first.text() })
}

/// The position after moves that are given by their numbers.
fn after<P: Puzzle>(first: P, moves: &[String]) -> Result<P, Error> {
    let words =
        moves.iter().flat_map(|text| text.split([' ', ','])).filter(|text| !text.is_empty());
    words.into_iter().try_fold(first, |position, text| {
        let by = text.parse().ok().filter(|by| position.moves(None).any(|legal| legal == *by));
        let legal = || position.moves(None).map(|by| by.to_string()).collect::<Vec<_>>().join(" ");
        let by = by.ok_or_else(|| Error::Move { text: text.into(), legal: legal() })?;
        Ok(position.play(by))
    })
}

/// Tells of an iteration that took long.
fn tell(weft: &Weft, iteration: &Iteration) {
    if weft.rank() == 0 && iteration.time.as_secs() >= 1 {
        let (nodes, time) = (thousands(iteration.nodes), seconds(iteration.time));
        eprintln!("weft-game: up to {} moves: {nodes} nodes in {time}", iteration.bound);
    }
}

fn report<P: Puzzle + Written>(start: &P, moves: &[u8], solved: &Solved) -> String {
    let line: Vec<String> = moves.iter().map(u8::to_string).collect();
    let end = moves.iter().fold(*start, |position, by| position.play(*by));
    let nodes = solved.iterations.iter().map(|iteration| iteration.nodes).sum();
    format!(
        "{}\n{} moves   {}\n{}\n{} nodes, {}\n",
        start.text().trim_end(),
        moves.len(),
        line.join(" "),
        end.text().trim_end(),
        thousands(nodes),
        seconds(solved.time)
    )
}
