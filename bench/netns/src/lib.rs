//! Hosts made of network namespaces, for tests and benchmarks: each has its own interfaces,
//! addresses and host name, and shares processor, memory and files with the others.
//!
//! A [`Cluster`] of two is one veth pair, as short a wire as there is; more hosts meet at a bridge
//! in a namespace of its own, or at two with a narrow [`Trunk`] between them. Uses `ip`, `tc`,
//! `nft`, `nsenter` and `setpriv`, which `make setup` installs. [`write_script`] makes the scripts
//! that stand in for other programs there. [`adversary`] sits on a wire between two of them.
//!
//! What it keeps:
//! - **Nothing is left behind.** A namespace has no name in the file system. It lives as long as
//!   this process holds its descriptor, or a process runs in it; those are killed when the cluster
//!   is dropped, and what [`Host::command`] starts dies with the thread that started it. So there
//!   is nothing to sweep up even after SIGKILL.
//! - **No test is skipped in silence.** [`available`] says why not, and in CI it fails.

#![forbid(unsafe_code)]

pub mod adversary;
mod cluster;
mod host;
mod namespace;
mod script;
mod trunk;

use std::sync::OnceLock;

pub use cluster::{Cluster, HOSTS_MAX, Options};
pub use host::{Host, INTERFACE};
pub use namespace::SetupError;
pub use script::write_script;
pub use trunk::{Passed, Trunk};

/// Checks that this process may make clusters.
///
/// # Errors
/// Why not, in one line for a person.
pub fn permitted() -> Result<(), String> {
    static TRIED: OnceLock<Result<(), String>> = OnceLock::new();
    let attempt =
        || Cluster::new(2, Options::default()).map(drop).map_err(|error| error.to_string());
    TRIED.get_or_init(attempt).clone()
}

/// True if a test that needs a cluster can run. If not, it says why and the test should return.
///
/// # Panics
/// If clusters are not permitted where they must be: in CI, which sets the variable `CI`.
pub fn available() -> bool {
    let Err(why) = permitted() else { return true };
    let required = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
    assert!(!required, "network namespaces must work in CI: {why}");
    eprintln!("SKIPPED, because network namespaces do not work here: {why}");
    false
}
