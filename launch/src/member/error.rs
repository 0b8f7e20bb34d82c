//! Errors of joining a job.

use std::io;

use super::inherited::InheritError;
use crate::channel::ReceiveError;
use crate::error::advice;
use crate::managed::ManagedError;
use crate::messages::{BadMessage, NoDoor};

/// Reason why a rank could not join its job.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The socket to the launcher could not be taken over.
    #[error("cannot join the job: {0}")]
    Inherit(#[from] InheritError),
    /// The launcher ended before it answered.
    #[error("cannot join the job: the launcher is gone")]
    LauncherGone,
    /// There is no such door.
    #[error("cannot join the job: {0}")]
    NoDoor(#[from] NoDoor),
    /// Nobody is at the door.
    #[error("cannot join the job: {}", at_door(.0))]
    Door(io::Error),
    /// The process was not let in.
    #[error("cannot join the job: it does not let this process in: {0}")]
    Refused(String),
    /// The job ended while the process was at its door.
    #[error("cannot join the job: it has ended, and its program has not let this process in")]
    NotAdmitted,
    /// Bytes from the launcher that are not a message.
    #[error("cannot join the job: the launcher's message is unusable: {0}")]
    Bad(#[from] BadMessage),
    /// The process manager that started this process, or the ranks that it started, do not have it
    /// join.
    #[error(transparent)]
    Managed(#[from] ManagedError),
    /// The system refused.
    #[error("cannot join the job: {0}{advice}", advice = advice(.0))]
    System(#[from] io::Error),
}

/// Reason why a rank did not get more ranks started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The job cannot have as many as were asked for.
    #[error(
        "there is no room for {asked} more ranks, but for {left}: `weft run --room` says how many a job has at most"
    )]
    NoRoom {
        /// Number of ranks asked for.
        asked: u16,
        /// Number of ranks that there is room for.
        left: u16,
    },
    /// The job has no door for visitors.
    #[error("the job has no door: `weft run --room P --door FILE` opens one")]
    NoDoor,
    /// The launcher did not answer.
    #[error(transparent)]
    Launcher(#[from] JoinError),
}

fn at_door(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            "nobody is at this door: the job has ended, or runs on other hosts than this one".into()
        }
        io::ErrorKind::PermissionDenied => "another user is at this door".into(),
        _ => error.to_string(),
    }
}

impl JoinError {
    /// True if it was said on standard error, for all ranks.
    pub fn is_reported(&self) -> bool {
        matches!(self, JoinError::Managed(ManagedError::FoundByAll(_)))
    }
}

impl From<ReceiveError> for JoinError {
    fn from(error: ReceiveError) -> Self {
        match error {
            ReceiveError::Closed => JoinError::LauncherGone,
            ReceiveError::Bad(bad) => bad.into(),
            ReceiveError::System(error) => JoinError::System(error.into()),
        }
    }
}
