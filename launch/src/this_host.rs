//! This host: its name, and its cores.

use std::num::NonZero;
use std::thread::available_parallelism;

/// The name that it gives itself.
pub(crate) fn name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Number of cores that this process may use.
pub(crate) fn cores() -> usize {
    available_parallelism().map_or(1, NonZero::get)
}
