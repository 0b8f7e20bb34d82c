//! Boards of the command line and of files.

use std::fs::File;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::puzzle::board::{Board, NoBoard};
use crate::puzzle::options::Options;

/// A board that is to be solved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instance {
    /// Name, or nothing.
    pub name: String,
    /// Board.
    pub board: Board,
    /// Length of its shortest solution, if it is known.
    pub moves: Option<u16>,
}

/// Input that is none.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// Nothing to solve.
    #[error("no board is given: write 16 numbers, --korf or --file (puzzle --help shows examples)")]
    Nothing,
    /// An argument that is no board.
    #[error("'{text}': {why}")]
    Board {
        /// The argument.
        text: String,
        /// Reason why it is none.
        why: NoBoard,
    },
    /// A file that cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        error: std::io::Error,
    },
    /// A file that is no CSV.
    #[error("{}: {error}", path.display())]
    Csv {
        /// The file.
        path: PathBuf,
        /// Error of its reader.
        error: csv::Error,
    },
    /// A file without such a column.
    #[error("{}: there is no column '{column}' in its first line", path.display())]
    Column {
        /// The file.
        path: PathBuf,
        /// Name of the column.
        column: &'static str,
    },
    /// A line of a file that is no instance.
    #[error("{}:{line}: {why}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line.
        line: u64,
        /// Reason why it is none.
        why: String,
    },
    /// A number that no instance of the file has.
    #[error("{}: there is no instance {number}", path.display())]
    Absent {
        /// The file.
        path: PathBuf,
        /// Number of the instance.
        number: u32,
    },
}

/// All instances that are asked for.
///
/// # Errors
/// [`InputError`].
pub(crate) fn instances(options: &Options) -> Result<Vec<Instance>, InputError> {
    let named = options.named()?.into_iter();
    let mut all: Vec<_> =
        named.map(|(name, board, moves)| Instance { name, board, moves }).collect();
    if let Some(path) = &options.file {
        all.extend(read(path, &options.instances)?);
    }
    if all.is_empty() { Err(InputError::Nothing) } else { Ok(all) }
}

/// Instances of a file, in its order; with `numbers`, only those.
fn read(path: &Path, numbers: &[RangeInclusive<u32>]) -> Result<Vec<Instance>, InputError> {
    let file = File::open(path).map_err(|error| InputError::Read { path: path.into(), error })?;
    let failed = |error| InputError::Csv { path: path.into(), error };
    let mut reader = csv::Reader::from_reader(file);
    let names = reader.headers().map_err(failed)?.clone();
    let column = |name| names.iter().position(|column| column.trim() == name);
    let need = |name| column(name).ok_or(InputError::Column { path: path.into(), column: name });
    let (instance, board, moves) = (need("instance")?, need("board")?, column("optimal_moves"));
    let mut found = Vec::new();
    for record in reader.records() {
        let record = record.map_err(failed)?;
        let line = record.position().map_or(0, csv::Position::line);
        let wrong = |why: String| InputError::Line { path: path.into(), line, why };
        let field = |index: usize| record.get(index).unwrap_or("").trim();
        let number = |index: usize| {
            let text = field(index);
            text.parse().map_err(|_| wrong(format!("'{text}' is no number")))
        };
        let instance: u32 = number(instance)?;
        if !numbers.is_empty() && !numbers.iter().any(|range| range.contains(&instance)) {
            continue;
        }
        let board = field(board).parse().map_err(|why: NoBoard| wrong(why.to_string()))?;
        let moves = moves.filter(|index| !field(*index).is_empty());
        let moves = moves.map(number).transpose()?.map(|moves| moves as u16);
        found.push((instance, Instance { name: format!("instance {instance}"), board, moves }));
    }
    let mut wanted = numbers.iter().cloned().flatten();
    match wanted.find(|number| !found.iter().any(|(there, _)| there == number)) {
        Some(number) => Err(InputError::Absent { path: path.into(), number }),
        None => Ok(found.into_iter().map(|(_, instance)| instance).collect()),
    }
}

#[cfg(test)]
mod tests;
