//! The one error type that a program meets.

/// Errors of a program that uses Weft.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Communication failed; most often because a rank was lost.
    #[error(transparent)]
    Messaging(#[from] weft_messaging::Error),
    /// The process could not take its place in the job.
    #[error(transparent)]
    Join(#[from] weft_launch::JoinError),
    /// The memory of the job could not be attached.
    #[error(transparent)]
    Attach(#[from] weft_link_shm::AttachError),
    /// No provider of libfabric could be used.
    #[error("cannot start: {0}")]
    Fabric(#[from] weft_fabric::FabricError),
    /// An option of the job that makes no sense.
    #[error("option {name} = '{value}' of this job: {what}")]
    Option {
        /// The option.
        name: &'static str,
        /// Value that it was set to.
        value: String,
        /// Reason why it is wrong.
        what: String,
    },
    /// Arguments or a result that cannot be encoded.
    #[error("{what}: a value cannot be encoded: {error}")]
    Encoding {
        /// The method or service.
        what: &'static str,
        /// Reason.
        error: postcard::Error,
    },
    /// Bytes that are not what the method's signature says.
    #[error("{what}: what rank {rank} sent cannot be decoded: {error}")]
    Decoding {
        /// Rank that sent them.
        rank: weft_endpoint::Rank,
        /// The method or service.
        what: &'static str,
        /// Reason.
        error: postcard::Error,
    },
    /// The system refused something.
    #[error("cannot start: {0}{advice}", advice = weft_launch::advice(.0))]
    System(#[from] std::io::Error),
}

impl Error {
    /// The rank that was lost, if that is the reason: others of the job may go on.
    pub fn lost_rank(&self) -> Option<weft_endpoint::Rank> {
        match self {
            Error::Messaging(error) => error.lost_rank(),
            _ => None,
        }
    }

    /// Number of ranks that there is room for, if the job was to have more.
    pub fn room_left(&self) -> Option<usize> {
        match self {
            Error::Messaging(weft_messaging::Error::JobIsFull { left, .. }) => Some((*left).into()),
            _ => None,
        }
    }

    /// Says on standard error why this process could not join, unless one rank has said it for all.
    pub fn say(&self) {
        if !matches!(self, Error::Join(error) if error.is_reported()) {
            eprintln!("weft: {self}");
        }
    }
}

impl From<weft_endpoint::Error> for Error {
    fn from(error: weft_endpoint::Error) -> Self {
        Error::Messaging(error.into())
    }
}

/// A result with the [`enum@Error`] of this crate.
pub type Result<T> = std::result::Result<T, Error>;
