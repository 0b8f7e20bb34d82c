use std::io;
use std::path::PathBuf;

use crate::awari::board::{Board, NoBoard};
use crate::awari::query::signed;

/// Reason why a command gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Weft failed.
    #[error(transparent)]
    Weft(#[from] weft::Error),
    /// The shared objects failed.
    #[error(transparent)]
    Object(#[from] weft_object::Error),
    /// The ranks could not exchange what they had to.
    #[error(transparent)]
    Exchange(#[from] weft_app_common::Error),
    /// A file or a directory that cannot be used.
    #[error("cannot {doing} {}: {cause}", path.display())]
    File {
        /// Action that failed: a verb.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// Reason that the system gives.
        cause: io::Error,
    },
    /// A file that is no database, or no longer.
    #[error(
        "{} is damaged: {why}; delete it, or make all databases again: awari make --again",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Difference from a database.
        why: String,
    },
    /// A file that rank 0 has made and another rank does not see.
    #[error(
        "rank {rank} does not see {}, which rank 0 has made: all ranks need one directory, shared \
         between their hosts",
        path.display()
    )]
    NotShared {
        /// Rank that does not see it.
        rank: usize,
        /// The file.
        path: PathBuf,
    },
    /// A file that rank 0 has made and that does not have what all ranks wrote.
    #[error(
        "{} does not have what all ranks wrote: {why}; they need one directory, shared between \
         their hosts",
        path.display()
    )]
    Scattered {
        /// The file.
        path: PathBuf,
        /// Difference from the database.
        why: String,
    },
    /// A directory in which another job makes databases.
    #[error("another awari makes databases in {}: wait until it has ended", .0.display())]
    Busy(PathBuf),
    /// A database that is not there.
    #[error(
        "there is no {}: awari make --stones {stones} --directory {} makes it",
        path.display(),
        directory.display()
    )]
    Missing {
        /// The file.
        path: PathBuf,
        /// Its directory.
        directory: PathBuf,
        /// Stones of its boards.
        stones: u32,
    },
    /// A board with more stones than any database has.
    #[error(
        "a board of {0} stones is in no database, {most} are the most; awari play searches above",
        most = crate::awari::index::MOST_STONES
    )]
    ManyStones(u32),
    /// Text that is no board.
    #[error(transparent)]
    NoBoard(#[from] NoBoard),
    /// Values that contradict each other.
    #[error(
        "{} has {wrong} wrong value{}: '{board}' is worth {} there and {} by its moves; delete it, \
         and make it again",
        path.display(),
        if *wrong == 1 { "" } else { "s, the first" },
        signed(*stored),
        signed(*expected)
    )]
    Wrong {
        /// The file.
        path: PathBuf,
        /// Number of positions whose value is not that of their moves.
        wrong: u64,
        /// The first of them.
        board: Board,
        /// Its value in the file.
        stored: i8,
        /// The value that its moves give it.
        expected: i8,
    },
    /// Standard output or input that cannot be used.
    #[error(transparent)]
    Output(#[from] io::Error),
}
