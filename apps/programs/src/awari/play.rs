//! A game against a person at the terminal.

use std::collections::BTreeSet;
use std::io::{BufRead, Write};

use weft_app_common::write_to;

use crate::awari::advice::Adviser;
use crate::awari::board::{Board, Played};
use crate::awari::database::Databases;
use crate::awari::draw::draw;
use crate::awari::error::Error;
use crate::awari::file::Files;
use crate::awari::options::PlayOptions;
use crate::awari::query::signed;
use crate::awari::search::search;

/// Plays a game with whoever writes `input`, a move a line, and reads `output`. Ends with the game,
/// with the word `quit`, or with the input.
///
/// # Errors
/// [`Error::Missing`] if there is no database at all, [`Error::Damaged`], or a file, the input or
/// the output that cannot be used.
pub fn play(options: &PlayOptions, input: impl BufRead, output: impl Write) -> Result<(), Error> {
    let files = Files::new(&options.directory);
    files.need(0)?;
    let known = files.read_all()?;
    let mut game = Game {
        known: &known,
        adviser: Adviser::new(&known),
        depth: options.depth,
        board: options.board,
        is_persons: !options.second,
        taken: [0; 2],
        seen: BTreeSet::new(),
        input,
        output,
    };
    let most = known.len() - 1;
    game.say(&format!("I know all boards of up to {most} stones. Your pits are below.\n"))?;
    game.run()
}

/// A game, and the person.
struct Game<'a, I, O> {
    known: &'a Databases,
    adviser: Adviser<'a>,
    depth: u32,
    /// Board as its mover sees it.
    board: Board,
    /// True if the person is to move.
    is_persons: bool,
    /// Stones captured: by the program, by the person.
    taken: [u32; 2],
    seen: BTreeSet<(Board, bool)>,
    input: I,
    output: O,
}

/// A person's answer.
enum Answer {
    Move(usize, Played),
    Quit,
}

impl<I: BufRead, O: Write> Game<'_, I, O> {
    fn run(&mut self) -> Result<(), Error> {
        self.show()?;
        while self.seen.insert((self.board, self.is_persons)) {
            if self.board.moves().next().is_none() {
                return self.end();
            }
            let (pit, played) = match self.is_persons {
                true => match self.ask()? {
                    Answer::Move(pit, played) => (pit, played),
                    Answer::Quit => return self.say("The game is not over.\n"),
                },
                false => self.answer()?,
            };
            self.tell(pit, played)?;
            self.taken[usize::from(self.is_persons)] += u32::from(played.captured);
            (self.board, self.is_persons) = (played.board, !self.is_persons);
            self.show()?;
        }
        self.say("This board was there before: the stones that are left go to nobody.\n")?;
        self.judge()
    }

    /// The person's move.
    fn ask(&mut self) -> Result<Answer, Error> {
        loop {
            self.say("Your move: ")?;
            let mut line = String::new();
            if self.input.read_line(&mut line)? == 0 {
                self.say("\n")?;
                return Ok(Answer::Quit);
            }
            let word = line.trim();
            if matches!(word, "quit" | "q") {
                return Ok(Answer::Quit);
            }
            let pit = word.parse::<usize>().ok().and_then(|pit| pit.checked_sub(1));
            if let Some((pit, played)) = pit.and_then(|pit| Some((pit, self.board.play(pit)?))) {
                return Ok(Answer::Move(pit, played));
            }
            let legal: Vec<_> = self.board.moves().map(|(pit, _)| (pit + 1).to_string()).collect();
            let legal = legal.join(", ");
            self.say(&format!("'{word}' is no legal move: write {legal}, or quit.\n"))?;
        }
    }

    /// The program's move.
    fn answer(&mut self) -> Result<(usize, Played), Error> {
        let (choice, how) = match self.adviser.knows(&self.board) {
            true => {
                let choice = self.adviser.best(&self.board);
                (choice.map(|choice| choice.pit), choice.map(|choice| signed(choice.value)))
            }
            false => (search(&self.board, self.depth, self.known).map(|(pit, _)| pit), None),
        };
        let played = choice.and_then(|pit| Some((pit, self.board.play(pit)?)));
        let played = played.expect("there is a move, because the game is not over");
        if let Some(value) = how {
            self.say(&format!("I know this board: it is worth {value} to me.\n"))?;
        }
        Ok(played)
    }

    fn tell(&mut self, pit: usize, played: Played) -> Result<(), Error> {
        let who = if self.is_persons { "You play" } else { "I play" };
        let captures = match played.captured {
            0 => String::new(),
            captured => format!(", and capture {captured}"),
        };
        self.say(&format!("{who} {}{captures}.\n", pit + 1))
    }

    /// Draws the board as the person sees it.
    fn show(&mut self) -> Result<(), Error> {
        let board = if self.is_persons { self.board } else { self.board.turned() };
        let [program, person] = self.taken;
        let text =
            draw(&board, &format!("you, {person} captured"), &format!("I, {program} captured"));
        self.say(&format!("\n{text}\n"))
    }

    /// No move is left: each side takes the stones in its pits.
    fn end(&mut self) -> Result<(), Error> {
        let mover = usize::from(self.is_persons);
        let (stones, lead) = (self.board.stones() as i32, i32::from(self.board.lead()));
        self.taken[mover] += ((stones + lead) / 2) as u32;
        self.taken[1 - mover] += ((stones - lead) / 2) as u32;
        self.say("No move is left: each side takes the stones in its pits.\n")?;
        self.judge()
    }

    fn judge(&mut self) -> Result<(), Error> {
        let [program, person] = self.taken;
        let who = match person.cmp(&program) {
            std::cmp::Ordering::Less => "I win",
            std::cmp::Ordering::Equal => "Nobody wins",
            std::cmp::Ordering::Greater => "You win",
        };
        self.say(&format!("{who}: you have {person} stones, I have {program}.\n"))
    }

    fn say(&mut self, text: &str) -> Result<(), Error> {
        Ok(write_to(&mut self.output, text)?)
    }
}

#[cfg(test)]
mod tests;
