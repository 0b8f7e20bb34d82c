//! `weft-game play`: a game between a person and the ranks, or of the ranks with themselves.
//!
//! Rank 0 reads and writes. The others wait until it says that they are to think.

use std::io::{self, BufRead};
use std::ops::ControlFlow;
use std::time::Duration;

use weft::prelude::*;
use weft_app_common::{agree, write_out};
use weft_search::{Deepened, Judged, Plan, Search};

use crate::games::board::{Board, PLAYERS, Played};
use crate::games::error::Error;
use crate::games::options::PlayOptions;
use crate::games::search::{search, tell, work};

/// Time of thinking from which on each depth is told.
const LONG: Duration = Duration::from_millis(500);

/// Word by which the others are to think.
const THINK: u8 = 1;

/// Word by which the game is over.
const END: u8 = 0;

pub(crate) fn play<B: Board>(weft: &Weft, first: B, options: &PlayOptions) -> Result<(), Error> {
    let played = agree(weft, Played::after(first, &options.moves).map_err(Error::from))?;
    let mut search = search(weft, options.search.settings(Some(options.deadline)))?;
    let plan = Plan { depth: options.depth, strategy: options.search.strategy() };
    if weft.rank() != 0 {
        let nothing = |_: &Deepened| ControlFlow::Continue(());
        while told(weft, END)? == THINK {
            search.best_move(&played.position, plan, nothing)?;
        }
        return Ok(());
    }
    let mut game = Game { weft, options, plan, search: &mut search, played };
    let result = game.run();
    // The others wait for a word even if reading or writing has failed, but not for a rank lost.
    if !matches!(result, Err(Error::Search(_) | Error::Weft(_))) {
        told(weft, END)?;
    }
    result
}

/// Word of rank 0, told to all.
fn told(weft: &Weft, word: u8) -> Result<u8, Error> {
    let mut word = [word];
    weft.everyone().broadcast(0, &mut word).map_err(weft_search::Error::from)?;
    Ok(word[0])
}

/// A game, at rank 0.
struct Game<'a, B> {
    weft: &'a Weft,
    options: &'a PlayOptions,
    plan: Plan,
    search: &'a mut Search,
    played: Played<B>,
}

/// Input of a person.
enum Said {
    Move(u8),
    Quit,
}

impl<B: Board> Game<'_, B> {
    fn run(&mut self) -> Result<(), Error> {
        let person = match (self.options.both, self.options.second) {
            (true, _) => None,
            (_, second) => Some(usize::from(second)),
        };
        while !self.played.is_over() {
            write_out(format!("\n{}", self.played.draw()))?;
            let player = self.played.player();
            let by = if person == Some(player) {
                match self.ask()? {
                    Said::Move(by) => by,
                    Said::Quit => return Ok(write_out("the game is not over\n".to_owned())?),
                }
            } else {
                self.think()?
            };
            self.played.play(by);
        }
        let value = self.played.position.value();
        write_out(format!("\n{}{}\n", self.played.draw(), self.played.say(value, true)))?;
        Ok(())
    }

    /// The move of a person, who is asked until it is one.
    fn ask(&self) -> Result<Said, Error> {
        let mut line = String::new();
        loop {
            write_out(format!("{}, your move: ", PLAYERS[self.played.player()]))?;
            line.clear();
            if io::stdin().lock().read_line(&mut line)? == 0 {
                write_out("\n".to_owned())?;
                return Ok(Said::Quit);
            }
            match line.trim() {
                "" => {}
                "quit" | "exit" => return Ok(Said::Quit),
                text => match self.played.read(text) {
                    Ok(by) => return Ok(Said::Move(by)),
                    Err(why) => write_out(format!("{why}; 'quit' ends the game\n"))?,
                },
            }
        }
    }

    /// The move of the ranks.
    fn think(&mut self) -> Result<u8, Error> {
        told(self.weft, THINK)?;
        let Game { weft, played, .. } = self;
        let began = weft.now();
        let after = |one: &Deepened| {
            if weft.now() - began >= LONG {
                tell(played, one);
            }
            match played.position.outcome(one.value, false) {
                Some(_) => ControlFlow::Break(()),
                None => ControlFlow::Continue(()),
            }
        };
        let judged = self.search.best_move(&played.position, self.plan, after)?;
        let Some(best) = judged.best() else { unreachable!("a game that goes on has a move") };
        write_out(self.describe(best, &judged))?;
        Ok(best)
    }

    fn describe(&self, best: u8, judged: &Judged) -> String {
        let Game { played, .. } = self;
        format!(
            "{} plays {}   {} moves ahead: {}\n  line {}\n  {}\n",
            PLAYERS[played.player()],
            B::write_move(best),
            judged.depth,
            played.say(judged.value, judged.is_exact),
            Played::<B>::write(&judged.line),
            work(judged)
        )
    }
}
