/// Reason why a run gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The regions failed.
    #[error(transparent)]
    Regions(#[from] weft_region::Error),
    /// A cut-off that reaches a molecule's own image.
    #[error(
        "--cutoff {cutoff} is more than half the side of the space that {molecules} molecules take, {side:.3}: \
         take more molecules or a shorter cut-off"
    )]
    Cutoff {
        /// Cut-off that was asked for, in nanometres.
        cutoff: f64,
        /// For how many molecules.
        molecules: usize,
        /// The side of their space.
        side: f64,
    },
    /// A wrong result.
    #[error("the result is wrong: {0}")]
    Wrong(String),
    /// The report could not be written.
    #[error(transparent)]
    Output(#[from] std::io::Error),
}
