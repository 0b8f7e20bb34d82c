use clap::{Parser, ValueEnum, value_parser};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;
use weft_search::{MOST_JOBS_PER_MESSAGE, Replacement, Settings};

use crate::puzzle::board::Board;
use crate::puzzle::korf::KORF;

const EXAMPLES: &str = "\
Examples:
  puzzle '4 1 2 3 5 0 6 7 8 9 10 11 12 13 14 15'
                                      a board, on one rank
  weft run -n 4 -- puzzle --korf 2    a published instance, on four ranks
  weft run -n 4 -- puzzle --korf 1-10,42 --brief
                                      eleven of them, one after the other
  weft run -n 4 -- puzzle --file korf100.csv --instances 79,12
                                      two boards of a file with the columns instance, board and,
                                      to be compared with, optimal_moves
  weft run -n 4 -- puzzle --korf 1 --table 256 --deadline 30s
                                      with a transposition table of 256 MiB a rank, for 30 s at most
  weft run -n 4 -- puzzle --korf 4 --best-first 1024
                                      A* in 1 GiB a rank, which searches each board once

A board is 16 numbers, row by row, 0 for the blank. Solved is 0 1 2 3 ... 15, with the blank first.
A solution is printed as the tiles that slide, one after the other.";

/// Solves the 15-puzzle by as few moves as there can be, on all ranks of a Weft job
///
/// IDA* with the Manhattan distance: depth-first searches with one bound after the other. Positions
/// are jobs, which ranks push to one another; without a table the nodes of all iterations but the
/// last are the same whatever the number of ranks and the options.
#[derive(Debug, Clone, Parser)]
#[command(name = "puzzle", version, after_help = EXAMPLES)]
pub struct Options {
    /// Boards, each of them 16 numbers
    #[arg(value_name = "BOARD")]
    pub boards: Vec<String>,

    /// A file with a board in each line, as CSV
    #[arg(long, value_name = "FILE.csv")]
    pub file: Option<PathBuf>,

    /// Only these instances of the file, by numbers and ranges of them
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', requires = "file",
        value_parser = numbers)]
    pub instances: Vec<RangeInclusive<u32>>,

    /// Korf's instances, by numbers from 1 to 100 and ranges of them, such as 1-10,42
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', value_parser = korf)]
    pub korf: Vec<RangeInclusive<u32>>,

    /// Jobs that are combined in a message at most
    #[arg(long, value_name = "JOBS", default_value = "64",
        value_parser = value_parser!(u16).range(1..=MOST_JOBS_PER_MESSAGE as i64))]
    pub jobs_per_message: u16,

    /// Time after which jobs leave whose message is not full
    #[arg(long, value_name = "MICROSECONDS", default_value = "100")]
    pub delay_us: u32,

    /// Transposition table of each rank; 0 for none
    #[arg(long, value_name = "MiB", default_value = "0",
        value_parser = value_parser!(u32).range(0..=1 << 20))]
    pub table: u32,

    /// Rule by which positions in the table give way
    #[arg(long, value_name = "RULE", default_value = "always", requires = "table")]
    pub replace: Replace,

    /// Moves left down to which positions go to their owners; what is below one that has no more is
    /// searched by one rank [default: 40]
    #[arg(long, value_name = "MOVES")]
    pub grain: Option<u16>,

    /// Search best-first (A*) in so many MiB at each rank, until they are full: then IDA* goes on
    #[arg(long, value_name = "MIB", value_parser = value_parser!(u32).range(1..=1 << 20))]
    pub best_first: Option<u32>,

    /// Longest time for each board, such as 5s or 2min
    #[arg(long, value_name = "TIME")]
    pub deadline: Option<humantime::Duration>,

    /// End when it is known that a solution has more moves than this
    #[arg(long, value_name = "MOVES")]
    pub most_moves: Option<u16>,

    /// Print lengths and totals only
    #[arg(long, short)]
    pub brief: bool,
}

/// Rule by which positions in the table give way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Replace {
    /// Always
    Always,
    /// To one with as many moves left, or more, and to any of the next iteration
    Deeper,
}

impl Options {
    /// Settings of the searches.
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            jobs_per_message: self.jobs_per_message.into(),
            delay: Duration::from_micros(self.delay_us.into()),
            table_bytes: (self.table as usize) << 20,
            replacement: match self.replace {
                Replace::Deeper => Replacement::DepthPreferred,
                Replace::Always => Replacement::Always,
            },
            grain: self.grain,
            deadline: self.deadline.map(Duration::from),
            most_moves: self.most_moves,
            ..Settings::default()
        }
    }

    /// Boards of the command line, but for files.
    pub(crate) fn named(
        &self,
    ) -> Result<Vec<(String, Board, Option<u16>)>, crate::puzzle::InputError> {
        let given = self.boards.iter().map(|text| (String::new(), text.as_str(), None));
        let korf = self.korf.iter().cloned().flatten().map(|number| {
            let (board, moves) = KORF[number as usize - 1];
            (format!("Korf's instance {number}"), board, Some(moves))
        });
        let parse = |(name, text, moves): (String, &str, _)| {
            let board = text.parse();
            let board =
                board.map_err(|why| crate::puzzle::InputError::Board { text: text.into(), why })?;
            Ok((name, board, moves))
        };
        given.chain(korf).map(parse).collect()
    }
}

/// Numbers from one to another, or one.
fn numbers(text: &str) -> Result<RangeInclusive<u32>, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.trim().parse::<u32>().ok();
    let range = number(first).zip(number(last)).filter(|(first, last)| first <= last);
    let range = range.map(|(first, last)| first..=last);
    range.ok_or_else(|| format!("'{text}' is neither a number nor a range such as 1-10"))
}

fn korf(text: &str) -> Result<RangeInclusive<u32>, String> {
    let all = 1..=KORF.len() as u32;
    let range = numbers(text)?;
    let is_there = all.contains(range.start()) && all.contains(range.end());
    is_there.then_some(range).ok_or_else(|| format!("Korf's instances are 1 to {}", KORF.len()))
}
