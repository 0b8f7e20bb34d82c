//! Reasons why there is no link.

use std::io;

/// Reason why a fabric cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FabricError {
    /// The library cannot be loaded.
    #[error(
        "libfabric cannot be loaded: {0} (install libfabric1, or name its file in WEFT_LIBFABRIC)"
    )]
    NoLibrary(String),
    /// No provider has this name, or may be taken under it.
    #[error(
        "libfabric has no provider {0} with reliable datagrams in order here; weft doctor lists those it has"
    )]
    NoProvider(String),
    /// None of the providers is one for a network with hardware of its own.
    #[error(
        "libfabric has no provider here but those of ordinary networks; name one with --provider to use it all the same"
    )]
    OnlyOrdinary,
    /// A function of the library has failed.
    #[error("{0}")]
    Call(#[from] LibfabricError),
    /// Its messages are too short.
    #[error("provider {provider} carries {bytes} bytes in a message, and packets need more")]
    Short {
        /// Name of the provider.
        provider: String,
        /// Bytes of its longest message.
        bytes: usize,
    },
    /// Some ranks did not say where they are.
    #[error("{0} did not say within {1} s where on the fabric it is")]
    Missed(String, u64),
    /// A rank uses another provider, or says nothing that is an address.
    #[error("{0} has no address on {1}: do all hosts have the same libfabric?")]
    Stranger(String, String),
    /// The system refused.
    #[error(transparent)]
    System(#[from] io::Error),
}

/// Error of a function of libfabric.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{call}: {text} ({code})")]
pub struct LibfabricError {
    /// Name of the function.
    pub call: &'static str,
    /// Number of the error.
    pub code: i32,
    /// Its description by the library.
    pub text: String,
}
