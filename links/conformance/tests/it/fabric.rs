//! The suite over libfabric, with providers for ordinary hosts that Debian's has.
//!
//! Not with `shm`: there an endpoint that is closed takes memory away from others of the same
//! process, which may crash. Ranks that are processes are tested over it in `cli/tests/fabric.rs`.

use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::AsFd;
use weft_fabric::{Chosen, Endpoint, Fabric, FabricSettings, Faulty, Transport, TransportFaults};
use weft_link::bell::{Cause, Loss};
use weft_link::{Link, Payload};
use weft_seal::{Keys, Protection, Secret};
use weft_wire::{Header, Rank, Tag, TreeId};

/// Endpoints of all ranks over one provider, which know each other's addresses.
fn endpoints(ranks: u16, provider: &str) -> Vec<Chosen> {
    let at = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let open = |_| Chosen::open(Some(provider), at, ranks, 1024).unwrap();
    let mut all: Vec<Chosen> = (0..ranks).map(open).collect();
    let addresses: Vec<Vec<u8>> =
        all.iter().map(|chosen| chosen.endpoint.address().to_vec()).collect();
    for chosen in &mut all {
        for (rank, address) in (0..).map(Rank).zip(&addresses) {
            assert!(chosen.endpoint.set_peer(rank, address), "{rank:?} has no address");
        }
    }
    all
}

/// Links of all ranks, over what `wrap` makes of their endpoints.
fn fabric<T: Transport>(
    ranks: u16,
    provider: &str,
    protection: Protection,
    wrap: impl Fn(Endpoint) -> T,
) -> Vec<Fabric<T>> {
    let attach = |(own, chosen): (u16, Chosen)| {
        let arrivals = chosen.endpoint.arrivals();
        let arrivals = arrivals.map(|arrivals| arrivals.as_fd().try_clone_to_owned().unwrap());
        Fabric::attach(FabricSettings {
            arrivals,
            keys: Keys::new(Secret::new([3; 16]), 1, Rank(own), protection),
            ranks,
            datagram_bytes: chosen.datagram_bytes,
            frames: 32,
            receive_frames: 128,
            posted: chosen.posted,
            meeting: None,
            heartbeats: None,
            announce_by: None,
            transport: wrap(chosen.endpoint),
        })
        .unwrap()
    };
    (0..).zip(endpoints(ranks, provider)).map(attach).collect()
}

fn suite(provider: &str, protection: Protection) {
    weft_link_conformance::all(|ranks| fabric(ranks, provider, protection, |endpoint| endpoint));
}

#[test]
fn tcp_rxm() {
    suite("tcp;ofi_rxm", Protection::Tagged);
}

#[test]
fn tcp_rxm_encrypted() {
    suite("tcp;ofi_rxm", Protection::Encrypted);
}

#[test]
fn udp_rxd() {
    suite("udp;ofi_rxd", Protection::Tagged);
}

/// Its threads send, one for each endpoint.
#[test]
fn sockets() {
    weft_link_conformance::all_but_turns(|ranks| {
        fabric(ranks, "sockets", Protection::Tagged, |endpoint| endpoint)
    });
}

#[test]
fn with_a_provider_that_is_full_and_completes_late_and_in_another_order() {
    let faults = TransportFaults { seed: 1, full: 0.2, late: 0.5, failed: 0.0 };
    let wrap = |endpoint| Faulty::new(endpoint, faults);
    weft_link_conformance::all_but_turns(|ranks| {
        fabric(ranks, "tcp;ofi_rxm", Protection::Tagged, wrap)
    });
}

/// Two ranks, of which the first has lost a datagram to the second.
fn with_a_loss() -> Vec<Fabric<Faulty<Endpoint>>> {
    let faults = TransportFaults { seed: 1, full: 0.0, late: 0.0, failed: 1.0 };
    let wrap = |endpoint| Faulty::new(endpoint, faults);
    let mut links = fabric(2, "tcp;ofi_rxm", Protection::Tagged, wrap);
    let header = Header::new(Tag::Credit, Rank(0), TreeId::unicast(Rank(0)), 0);
    links[0].transmit(Rank(1), &header, Payload::Empty);
    links[0].flush();
    links[0].tend(1_000_000_000);
    assert_eq!(links[0].counters().carried.failed, 1);
    assert_eq!(links[0].bells().loss(), None, "the other may have said that it ends");
    links
}

#[test]
fn a_datagram_that_is_lost_is_told_with_the_rank_that_missed_it() {
    let mut links = with_a_loss();
    links[0].tend(1_600_000_000);
    let loss = Loss { rank: Rank(1), cause: Cause::Unreachable(6) };
    assert_eq!(links[0].bells().loss(), Some(loss));
}

#[test]
fn a_rank_that_has_ended_in_good_order_misses_nothing() {
    let ends = |endpoint| endpoint;
    let mut links = fabric(2, "tcp;ofi_rxm", Protection::Tagged, ends);
    let header = Header::new(Tag::Credit, Rank(1), TreeId::unicast(Rank(1)), 0);
    links[1].transmit(Rank(0), &header, Payload::Empty);
    links[1].flush();
    while !links[0].has_arrivals() {
        links[1].flush();
    }
    assert_eq!(links[0].receive().unwrap().unwrap().header, header);
    drop(links.pop());
    let header = Header::new(Tag::Credit, Rank(0), TreeId::unicast(Rank(0)), 0);
    // Until the connection is seen to be closed.
    for now in (1..10_000).map(|second| second * 1_000_000_000) {
        links[0].transmit(Rank(1), &header, Payload::Empty);
        links[0].flush();
        links[0].has_arrivals();
        links[0].tend(now);
    }
    assert_eq!(links[0].bells().loss(), None);
}
