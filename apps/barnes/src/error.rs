use crate::tree::OnePlace;

/// Why a run gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The regions failed.
    #[error(transparent)]
    Regions(#[from] weft_region::Error),
    /// Bodies that no tree tells apart.
    #[error(transparent)]
    OnePlace(#[from] OnePlace),
    /// What came out is not what should have.
    #[error("the result is wrong: {0}")]
    Wrong(String),
    /// The report could not be written.
    #[error("standard output: {0}")]
    Output(#[from] std::io::Error),
}
