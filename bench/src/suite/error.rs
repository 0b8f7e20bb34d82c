/// Reason why an application gave no outcome.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The words that state its problem do not make sense to it.
    #[error(transparent)]
    Words(#[from] clap::Error),
    /// A rank was lost, or Weft failed in another way.
    #[error(transparent)]
    Weft(#[from] weft::Error),
    /// The ranks could not exchange what they had to.
    #[error(transparent)]
    Exchange(#[from] weft_app_common::Error),
    /// The ranks could not share regions.
    #[error(transparent)]
    Regions(#[from] weft_region::Error),
    /// Rank 0 cannot make a folder for files.
    #[error("cannot make a folder for databases: {0}")]
    Folder(#[source] std::io::Error),
    /// All-pairs shortest paths failed.
    #[error(transparent)]
    Asp(#[from] weft_asp::Error),
    /// Awari failed.
    #[error(transparent)]
    Awari(#[from] weft_apps::awari::Error),
    /// A value that bare threads have made of a position.
    #[error("the value of board {index} of {stones} stones is not the best of its moves")]
    Position {
        /// Number of its stones.
        stones: u32,
        /// Its number among those with as many.
        index: u32,
    },
    /// Barnes-Hut failed.
    #[error(transparent)]
    Barnes(#[from] weft_apps::barnes::Error),
    /// The transform failed.
    #[error(transparent)]
    Fft(#[from] weft_apps::fft::Error),
    /// The linear equations failed.
    #[error(transparent)]
    Leq(#[from] weft_apps::leq::Error),
    /// The puzzle failed.
    #[error(transparent)]
    Puzzle(#[from] weft_apps::puzzle::Error),
    /// The factorization failed.
    #[error(transparent)]
    Qr(#[from] weft_apps::qr::Error),
    /// The sort failed.
    #[error(transparent)]
    Radix(#[from] weft_apps::radix::Error),
    /// Overrelaxation failed.
    #[error(transparent)]
    Sor(#[from] weft_apps::sor::Error),
}

/// Result of what may fail so.
pub type Result<T> = std::result::Result<T, Error>;
