//! Errors of an agent.

use std::io;

use crate::error::LaunchError;
use crate::messages::BadMessage;

/// Reason why an agent ends before its work is done.
#[derive(Debug, thiserror::Error)]
pub(super) enum AgentError {
    /// The launcher is gone, or wants nothing more.
    #[error("the launcher is gone")]
    Gone,
    #[error("the launcher's message is unusable: {0}")]
    Bad(#[from] BadMessage),
    /// This host cannot take part.
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    System(#[from] io::Error),
}

impl From<LaunchError> for AgentError {
    fn from(error: LaunchError) -> Self {
        AgentError::Refused(error.to_string())
    }
}

impl AgentError {
    /// A message came that is not expected now.
    pub fn out_of_order() -> Self {
        BadMessage::Range("order").into()
    }
}
