use crate::barnes::tree::OnePlace;

/// Reason why a run gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The regions failed.
    #[error(transparent)]
    Regions(#[from] weft_region::Error),
    /// Bodies that no tree tells apart.
    #[error(transparent)]
    OnePlace(#[from] OnePlace),
    /// A wrong result.
    #[error("the result is wrong: {0}")]
    Wrong(String),
    /// The report could not be written.
    #[error(transparent)]
    Output(#[from] std::io::Error),
}
