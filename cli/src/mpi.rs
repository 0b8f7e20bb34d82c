//! The MPI libraries that are installed here, Weft's libfabric provider, and its collectives: what
//! `weft mpirun` and `weft doctor --mpi` have to find.

mod linked;
mod loader;
mod preloaded;
mod provider;
mod stack;

pub use linked::{Linked, libraries_of};
pub use preloaded::{COLLECTIVES, Preloaded, PreloadedError, TRACE};
pub use provider::{FILE, Provider, has_provider, listed_folders};
pub use stack::{Launcher, Stack, Wanted};

/// Variable that names the folders of libfabric's providers, with colons between them.
pub const PROVIDER_PATH: &str = "FI_PROVIDER_PATH";
/// The only providers that libfabric is to use, or with `^` those that it is not to use.
pub const PROVIDER: &str = "FI_PROVIDER";
/// The name of Weft's provider.
pub const NAME: &str = "weft";
