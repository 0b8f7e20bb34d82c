//! Limits of this host that a job may meet: how many files may be open, and memory.

use std::fs;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors that a launcher or an agent holds for each rank: its end, its connection, two pipes,
/// and up to three of its way to a network. A launcher has as many for a host.
const DESCRIPTORS_PER_RANK: u64 = 7;
/// Descriptors that a rank of a process manager holds for each other one of its host: its end and
/// a connection.
const DESCRIPTORS_PER_PEER: u64 = 2;
/// Descriptors that launcher and ranks hold besides.
const DESCRIPTORS_BESIDES: u64 = 32;

/// Number of ranks for which so many descriptors are enough.
pub fn ranks_within(descriptors: u64) -> u64 {
    descriptors.saturating_sub(DESCRIPTORS_BESIDES) / DESCRIPTORS_PER_RANK
}

/// Lets this process, and what it starts, open files for so many ranks, or hosts, as far as the
/// hard limit allows. An open beyond that fails, as the system says.
pub(crate) fn allow_descriptors(ranks: usize) {
    allow(DESCRIPTORS_PER_RANK * ranks as u64);
}

/// Lets this process, a rank of a process manager, meet so many on its host, in the same way.
pub(crate) fn allow_peers(ranks: usize) {
    allow(DESCRIPTORS_PER_PEER * ranks as u64);
}

fn allow(descriptors: u64) {
    let needed = descriptors + DESCRIPTORS_BESIDES;
    let limits = getrlimit(Resource::Nofile);
    let wanted = limits.maximum.map_or(needed, |most| most.min(needed));
    if limits.current.is_some_and(|current| current < wanted) {
        // A soft limit may be anything up to the hard one.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..limits });
    }
}

/// Number of processes that the system has killed because memory was full, its own or that of a
/// cgroup; `None` if it does not say.
pub(crate) fn killed_for_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/vmstat").ok()?;
    text.lines().find_map(|line| line.strip_prefix("oom_kill "))?.parse().ok()
}
