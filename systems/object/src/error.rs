//! Errors of objects.

use std::fmt;
use weft_endpoint::Rank;

/// Result of an operation on an object.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of objects.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Something below went wrong; a lost rank above all.
    #[error(transparent)]
    Messaging(#[from] weft_messaging::Error),
    /// Two instances of one name.
    #[error("there is an object '{0}' already")]
    Taken(String),
    /// A name that is longer than [`crate::format::NAME_MAX`] bytes.
    #[error("the name of an object has {0} bytes, 255 are the most")]
    LongName(usize),
    /// A home, or the rank of a process, that is no rank of the job.
    #[error("rank {0} can have no object and no process: the job has {1} ranks")]
    NoSuchRank(Rank, usize),
    /// A type that was not among those that all ranks were given.
    #[error("the type '{0}' is not among those that this rank was given")]
    UnknownType(String),
    /// A process type that was not among those that all ranks were given.
    #[error("the process '{0}' is not among those that this rank was given")]
    UnknownProcess(String),
    /// An object that was deleted.
    #[error("the object '{0}' was deleted")]
    Deleted(String),
    /// An object of which the only copy was on a rank that is lost.
    #[error("the object '{name}' is lost with rank {rank}, which had its only copy")]
    Lost {
        /// Its name.
        name: String,
        /// The rank.
        rank: Rank,
    },
    /// A number that no object has.
    #[error("there is no object with the number {0}")]
    NoSuchObject(u64),
    /// A process that panicked or returned an error, which ended the program.
    #[error("process '{name}' on rank {rank} failed: {what}")]
    Process {
        /// Name of its type.
        name: String,
        /// The rank on which it ran.
        rank: Rank,
        /// Its text.
        what: String,
    },
    /// A program whose processes all wait for guards, which nobody can make true any more.
    #[error("all processes wait for guards: {}", listed(.0))]
    Deadlock(Vec<Waiting>),
    /// An operation whose guards are false in a program that has failed.
    #[error("the operation waited for a guard when its program failed")]
    Ended,
    /// An instance of another type than was asked for.
    #[error("the object '{name}' is of type '{is}', not '{asked}'")]
    OtherType {
        /// Its name.
        name: String,
        /// Its type.
        is: String,
        /// The type that was asked for.
        asked: String,
    },
    /// A state that its type cannot be made from.
    #[error("the first state of the object '{0}' is none of its type")]
    BadState(String),
    /// An operation that the type does not have.
    #[error("the type '{kind}' of the object '{name}' has no operation {operation}")]
    NoSuchOperation {
        /// Name of the object.
        name: String,
        /// Name of its type.
        kind: String,
        /// The number.
        operation: u16,
    },
    /// Arguments that the operation cannot read: the ranks run different programs.
    #[error(
        "operation {operation} of the type '{kind}' cannot read its arguments for the object '{name}'"
    )]
    Malformed {
        /// Name of the object.
        name: String,
        /// Name of its type.
        kind: String,
        /// The number.
        operation: u16,
    },
    /// A copy that could not be made.
    #[error("the rank that should have a copy of the object '{0}' could not make one of its state")]
    NoCopy(String),
    /// An argument whose `Serialize` fails.
    #[error("an argument of an operation cannot be written: {0}")]
    Unwritable(String),
    /// A result that cannot be read: the ranks run different programs.
    #[error("the result of an operation cannot be read: the ranks run different programs")]
    Unreadable,
    /// An operation that panicked: what it left behind is not used any more.
    #[error("an operation on the object '{0}' panicked, so that it cannot be used any more")]
    Broken(String),
}

impl Error {
    /// The rank that was lost, if that is the reason.
    pub fn lost_rank(&self) -> Option<Rank> {
        match self {
            Error::Lost { rank, .. } => Some(*rank),
            Error::Messaging(error) => error.lost_rank(),
            _ => None,
        }
    }
}

/// A process that waits for a guard: part of [`Error::Deadlock`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// Name of the process's type.
    pub process: String,
    /// The rank on which it runs.
    pub rank: Rank,
    /// Name of the object.
    pub object: String,
    /// The operation on it.
    pub operation: String,
}

impl fmt::Display for Waiting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Waiting { process, rank, object, operation } = self;
        write!(formatter, "'{process}' on rank {rank} in {operation} on '{object}'")
    }
}

/// The processes of a deadlock, as text.
fn listed(all: &[Waiting]) -> String {
    all.iter().map(Waiting::to_string).collect::<Vec<_>>().join("; ")
}

/// End of a process.
pub(crate) type Ended = std::result::Result<(), ProcessError>;

/// Reason why a process has failed: text, which anything that is text or an error becomes by `?`.
#[derive(Debug)]
pub struct ProcessError(pub(crate) String);

impl<E: fmt::Display> From<E> for ProcessError {
    fn from(error: E) -> Self {
        ProcessError(error.to_string())
    }
}
