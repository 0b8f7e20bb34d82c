//! Errors of joining a job.

use std::io;

use super::inherited::InheritError;
use crate::channel::ReceiveError;
use crate::error::advice;
use crate::managed::ManagedError;
use crate::messages::BadMessage;

/// Reason why a rank could not join its job.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The socket to the launcher could not be taken over.
    #[error("cannot join the job: {0}")]
    Inherit(#[from] InheritError),
    /// The launcher ended before it answered.
    #[error("cannot join the job: the launcher is gone")]
    LauncherGone,
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
    /// The launcher did not answer.
    #[error(transparent)]
    Launcher(#[from] JoinError),
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
