//! The links that there are, and the memory that the default one takes.

use std::collections::BTreeSet;
use std::io;

use weft_fabric::{FabricError, FoundProvider as Provider, Standing, library_version, providers};
use weft_launch::{Candidate, candidates};
use weft_link_shm::{MAX_RANKS, Settings};
use weft_xdp::{Interface, is_pair, permitted, runs_programs};

use super::finding::{Finding, Memory, Status};

/// Advice where no other host can reach this one.
const BRING_UP: &str = "bring an interface up: ip link set NAME up";

/// Advice where there is no libfabric, or no provider.
const INSTALL: &str = "install libfabric1, or the one of the network's vendor";

/// Advice where all providers are for ordinary networks.
const NAME_ONE: &str = "to use one all the same: --link fabric --provider NAME";

/// One host alone cannot find it out.
const COPIES: &str =
    "whether Ethernet copies multicasts is tried when a job starts on three or more";

/// One host alone cannot find that out either.
const BULK: &str = "whether long packets go over TCP, between hosts that let it through, too";

/// All links, the default first.
pub(super) fn all(needs: &[Finding]) -> Vec<Finding> {
    let found = candidates();
    vec![
        shm(needs),
        udp(&found),
        xdp(found.as_deref().unwrap_or_default()),
        fabric(library_version().and_then(|version| Ok((version, providers()?)))),
    ]
}

/// UDP, with the interfaces and addresses by which other hosts may reach this one.
fn udp(found: &io::Result<Vec<Candidate>>) -> Finding {
    let what = "ranks on several hosts, over any network";
    match found {
        Ok(all) if all.is_empty() => {
            Finding::absent("udp", format!("{what}; no address but this host's own"), BRING_UP)
        }
        Ok(all) => {
            let all = all
                .iter()
                .map(|one| format!("{} {} (MTU {})", one.interface, one.address, one.mtu));
            let all = all.collect::<Vec<_>>().join(", ");
            Finding::ok("udp", format!("{what}: {all}; {COPIES}; {BULK}"))
        }
        Err(error) => Finding::problem("udp", error.to_string(), "allow netlink sockets"),
    }
}

/// AF_XDP, with the interfaces that it could take, or why it could take none.
fn xdp(found: &[Candidate]) -> Finding {
    let what = "ranks on several hosts, over Ethernet without the kernel's stack";
    let absent = |why: &dyn std::fmt::Display| Finding {
        name: "xdp",
        status: Status::Absent,
        detail: format!("{what}; {why}"),
        advice: None,
    };
    if let Err(error) = permitted() {
        return absent(&error);
    }
    let names: BTreeSet<&str> = found.iter().map(|one| one.interface.as_str()).collect();
    let looked: Vec<_> = names.into_iter().map(|name| (name, Interface::find(name))).collect();
    let usable: Vec<String> = looked
        .iter()
        .filter_map(|(name, found)| Some((name, found.as_ref().ok()?)))
        .map(|(name, interface)| format!("{name} (MTU {}, {})", interface.mtu(), driver(interface)))
        .collect();
    match looked.into_iter().find_map(|(_, found)| found.err()) {
        _ if !usable.is_empty() => {
            Finding::ok("xdp", format!("{what}: {}; {COPIES}", usable.join(", ")))
        }
        Some(error) => absent(&error),
        None => Finding::absent("xdp", format!("{what}; there is no interface"), BRING_UP),
    }
}

/// The place where the driver of an interface would run an XDP program.
fn driver(interface: &Interface) -> &'static str {
    match runs_programs(interface) {
        _ if is_pair(interface) => "generic: an end of a pair in memory",
        Some(true) => "native: the driver knows XDP",
        Some(false) => "generic: the driver knows no XDP, so that auto takes udp",
        None => "whether its driver knows XDP this kernel does not say",
    }
}

fn shm(needs: &[Finding]) -> Finding {
    let what = "ranks on one host, through shared memory; the default";
    let problems: Vec<_> =
        needs.iter().filter(|need| need.status == Status::Problem).map(|need| need.name).collect();
    if problems.is_empty() {
        let copies = match weft_link_shm::cross_memory_restriction() {
            None => "long MPI messages take one copy where ranks share cores".to_string(),
            Some(why) => {
                format!("long MPI messages take two copies also where ranks share cores: {why}")
            }
        };
        return Finding::ok("shm", format!("{what}; {copies}"));
    }
    let detail = format!("{what}; in the way: {}", problems.join(", "));
    Finding::problem("shm", detail, "see what it needs, below")
}

/// Providers of libfabric, each with the reason for which it is taken without being named, or not.
fn fabric(found: Result<(String, Vec<Provider>), FabricError>) -> Finding {
    let what = "ranks on several hosts, over a provider of libfabric";
    let (version, all) = match found {
        Ok(found) => found,
        Err(error) => return Finding::absent("fabric", format!("{what}; {error}"), INSTALL),
    };
    let describe = |one: &Provider| {
        format!("{} on {} ({})", one.name, one.domains.join(", "), one.standing.why())
    };
    let text: Vec<String> = all.iter().map(describe).collect();
    let detail = format!("{what}, here libfabric {version}: {}", text.join("; "));
    match all.iter().any(|one| one.standing == Standing::Hardware) {
        true => Finding::ok("fabric", detail),
        false => Finding::absent("fabric", detail, NAME_ONE),
    }
}

/// Memory of jobs of some sizes with the usual settings.
pub(super) fn memory() -> Vec<Memory> {
    let of = |ranks| {
        let settings = Settings::new(ranks);
        let bytes_per_rank = settings.rank_bytes() as u64;
        let (window_packets, rings_bytes) =
            (settings.window_packets, settings.rings_bytes() as u64);
        Memory {
            ranks,
            window_packets,
            rings_bytes,
            bytes_per_rank,
            bytes: bytes_per_rank * u64::from(ranks),
        }
    };
    [2, 8, 64, 256, MAX_RANKS].map(of).into()
}

#[cfg(test)]
mod tests;
