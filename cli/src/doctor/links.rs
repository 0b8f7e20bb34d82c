//! Which links there are, and the memory that the default one takes.

use weft_link_shm::Settings;

use super::{Finding, Memory, Status};

/// All links, the default first.
pub(super) fn all(needs: &[Finding]) -> Vec<Finding> {
    vec![
        shm(needs),
        Finding::ok("udp", "ranks on several hosts, over any network"),
        not_built("xdp", "ranks on several hosts, over Ethernet without the kernel's stack"),
        not_built("fabric", "ranks on several hosts, over networks with RDMA"),
    ]
}

fn shm(needs: &[Finding]) -> Finding {
    let what = "ranks on one host, through shared memory; the default";
    let problems: Vec<_> =
        needs.iter().filter(|need| need.status == Status::Problem).map(|need| need.name).collect();
    if problems.is_empty() {
        return Finding::ok("shm", what);
    }
    let detail = format!("{what}; in the way: {}", problems.join(", "));
    Finding::problem("shm", detail, "see what it needs, below")
}

fn not_built(name: &'static str, what: &str) -> Finding {
    let detail = format!("{what}; not built yet in this version");
    Finding { name, status: Status::NotBuilt, detail, advice: None }
}

/// What jobs of some sizes take with the usual settings.
pub(super) fn memory() -> Vec<Memory> {
    let of = |ranks| {
        let bytes_per_rank = Settings::new(ranks).segment_bytes() as u64;
        Memory { ranks, bytes_per_rank, bytes: bytes_per_rank * u64::from(ranks) }
    };
    [2, 8, 64].map(of).into()
}

#[cfg(test)]
mod tests;
