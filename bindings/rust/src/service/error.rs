//! Errors of calls of a method that can fail.

/// Reason why a call has no result: the method said so, or it went wrong on the way.
#[derive(Debug, thiserror::Error)]
pub enum CallError<E> {
    /// Error that the method returned.
    #[error("{0}")]
    Service(E),
    /// The call was not made, or its reply did not come.
    #[error(transparent)]
    Weft(#[from] crate::Error),
}
