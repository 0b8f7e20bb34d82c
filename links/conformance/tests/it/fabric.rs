//! The suite over libfabric, with providers for ordinary hosts that Debian's has.
//!
//! Not with `shm`: there an endpoint that is closed takes memory away from others of the same
//! process, which may crash. Ranks that are processes are tested over it in
//! `cli/tests/it/fabric.rs`.

use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::os::fd::AsFd;
use std::ptr::NonNull;
use std::time::{Duration, Instant};
use weft_datagram::seal::{Keys, Protection, Secret};
use weft_fabric::{
    Card, Chosen, DatagramTransport, Endpoint, Fabric, FabricSettings, Faulty, Meeting,
    TransportFaults, meet,
};
use weft_link::bell::{Cause, Loss};
use weft_link::memory::{LentMemory, Posted};
use weft_link::{Link, Paths, Payload};
use weft_wire::{Header, Rank, Tag, TreeId};

/// Endpoints of all ranks over one provider, which know each other's addresses.
fn endpoints(ranks: u16, provider: &str) -> Vec<Chosen> {
    let at = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let open = |own| {
        let name = format!("weft-conformance-{own}");
        Chosen::open(Some(provider), at, ranks, 1024, &name).unwrap()
    };
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
fn fabric<T: DatagramTransport>(
    ranks: u16,
    provider: &str,
    protection: Protection,
    wrap: impl Fn(Endpoint) -> T,
) -> Vec<Fabric<T>> {
    let attach = |(own, chosen)| attach(Rank(own), ranks, chosen, protection, &wrap, None);
    (0..).zip(endpoints(ranks, provider)).map(attach).collect()
}

fn attach<T: DatagramTransport>(
    own: Rank,
    ranks: u16,
    chosen: Chosen,
    protection: Protection,
    wrap: impl Fn(Endpoint) -> T,
    meeting: Option<Meeting>,
) -> Fabric<T> {
    let arrivals = chosen.endpoint.arrivals();
    let arrivals = arrivals.map(|arrivals| arrivals.as_fd().try_clone_to_owned().unwrap());
    weft_fabric::attach(FabricSettings {
        arrivals,
        keys: Keys::new(Secret::new([3; 16]), 1, own, protection),
        ranks,
        datagram_bytes: chosen.datagram_bytes,
        frames: 32,
        receive_frames: 128,
        posted: chosen.posted,
        meeting,
        heartbeats: None,
        announce_by: None,
        transport: wrap(chosen.endpoint),
    })
    .unwrap()
}

/// Links of two ranks that have met over sockets, too.
fn pair_that_met(provider: &str) -> [Fabric; 2] {
    let bind = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let sockets = [bind(), bind()];
    let peers = sockets.each_ref().map(|socket| socket.local_addr().unwrap());
    let chosen: [Chosen; 2] = endpoints(2, provider).try_into().ok().unwrap();
    let addresses = chosen.each_ref().map(|chosen| chosen.endpoint.address().to_vec());
    let meet = |own: Rank, socket| {
        let keys = Keys::new(Secret::new([4; 16]), 1, own, Protection::Tagged);
        let card = Card { provider: provider.into(), address: addresses[own.index()].clone() };
        meet(socket, peers.to_vec(), keys, card, Duration::from_secs(60)).unwrap().1
    };
    let [first, second] = sockets;
    let meetings = std::thread::scope(|scope| {
        let other = scope.spawn(|| meet(Rank(1), second));
        [meet(Rank(0), first), other.join().unwrap()]
    });
    let [first, second] = chosen;
    let [with, other] = meetings.map(Some);
    let tagged = Protection::Tagged;
    let wrap = |endpoint| endpoint;
    [attach(Rank(0), 2, first, tagged, wrap, with), attach(Rank(1), 2, second, tagged, wrap, other)]
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

/// `tcp` has had reliable datagrams of its own since 2.0.
#[cfg(feature = "pypi")]
#[test]
fn tcp_of_todays_libfabric() {
    let version = weft_fabric::library_version().unwrap();
    assert!(version.starts_with("2."), "WEFT_LIBFABRIC names {version}: make test-mpi sets it");
    suite("tcp", Protection::Tagged);
    suite("tcp", Protection::Encrypted);
    carries(fabric(2, "tcp", Protection::Headers, |endpoint| endpoint), &LENGTHS);
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

/// Two links of one thread, that of the second with memory posted for a piece of the first's.
struct Carrying<T: DatagramTransport> {
    links: Vec<Fabric<T>>,
    into: Vec<u8>,
}

impl<T: DatagramTransport> Carrying<T> {
    fn new(links: Vec<Fabric<T>>, bytes: usize) -> Self {
        Carrying { links, into: vec![0; bytes] }
    }

    /// Posts the memory under this head, as often as it takes.
    fn post(&mut self, head: u8) {
        let start = NonNull::from(&mut self.into[..]).cast();
        let posted = Posted { head: [head; 16], start, bytes: self.into.len(), there: 0 };
        let until = Instant::now() + LONGEST;
        while !self.links[1].zero_copy().unwrap().post(Rank(0), posted) {
            assert!(Instant::now() < until, "it is never posted");
        }
    }

    /// Has both work until `done` says so.
    fn work_until(&mut self, done: impl Fn(&mut [Fabric<T>]) -> bool) {
        let until = Instant::now() + LONGEST;
        while !done(&mut self.links) {
            assert!(Instant::now() < until, "it takes too long");
            for link in &mut self.links {
                link.flush();
                assert!(!link.has_arrivals(), "no packet was sent");
            }
        }
    }
}

const LONGEST: Duration = Duration::from_secs(30);

fn lent(bytes: &[u8]) -> LentMemory {
    LentMemory { start: NonNull::from(bytes).cast(), bytes: bytes.len() }
}

fn carries<T: DatagramTransport>(links: Vec<Fabric<T>>, lengths: &[usize]) {
    let mut carrying = Carrying::new(links, 0);
    for (head, length) in (1..).zip(lengths) {
        let bytes: Vec<u8> = (0..*length).map(|at| (at % 251) as u8).collect();
        carrying.into = vec![0; *length];
        carrying.post(head);
        assert!(carrying.links[0].zero_copy().unwrap().send(Rank(1), &[head; 16], lent(&bytes)));
        carrying.work_until(|links| {
            let there = links[1].posting().unwrap().posted(Rank(0), &[head; 16]);
            assert!(there == 0 || there == *length, "all is there, or nothing");
            there > 0 && !links[0].lending().unwrap().has_lent(lent(&bytes))
        });
        assert_eq!(carrying.links[1].posting().unwrap().unpost(Rank(0), &[head; 16]), *length);
        assert!(carrying.into == bytes, "{length} bytes came as they were sent");
    }
}

const LENGTHS: [usize; 5] = [1, 4096, 100_000, 1 << 20, 9_000_001];

#[test]
fn memory_travels_in_one_piece() {
    for provider in ["tcp;ofi_rxm", "sockets", "udp;ofi_rxd"] {
        carries(fabric(2, provider, Protection::Headers, |endpoint| endpoint), &LENGTHS);
    }
}

#[test]
fn memory_travels_in_one_piece_over_a_provider_with_faults() {
    let faults = TransportFaults { seed: 1, full: 0.5, late: 0.5, failed: 0.0 };
    let wrap = |endpoint| Faulty::new(endpoint, faults);
    carries(fabric(2, "tcp;ofi_rxm", Protection::Headers, wrap), &LENGTHS);
}

#[test]
fn bytes_that_have_a_tag_of_their_own_go_by_packets() {
    for protection in [Protection::Tagged, Protection::Encrypted] {
        let mut links = fabric(2, "tcp;ofi_rxm", protection, |endpoint| endpoint);
        assert!(!links[0].zero_copy().unwrap().reaches(Rank(1)));
        assert!(!links[0].zero_copy().unwrap().send(Rank(1), &[1; 16], lent(&[1; 8])));
    }
}

#[test]
fn memory_that_is_given_up_is_not_written_and_others_is() {
    let links = fabric(2, "tcp;ofi_rxm", Protection::Headers, |endpoint| endpoint);
    let mut carrying = Carrying::new(links, 200_000);
    carrying.post(1);
    assert_eq!(carrying.links[1].posting().unwrap().unpost(Rank(0), &[1; 16]), 0);
    carrying.post(2);
    let bytes = vec![7; 200_000];
    assert!(carrying.links[0].zero_copy().unwrap().send(Rank(1), &[2; 16], lent(&bytes)));
    carrying.work_until(|links| links[1].posting().unwrap().posted(Rank(0), &[2; 16]) > 0);
    assert!(carrying.into == bytes);
    assert_eq!(carrying.links[1].posting().unwrap().unpost(Rank(0), &[2; 16]), 200_000);
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
    assert_eq!(links[0].device().carried().failed, 1);
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

/// Sends from one of two links to the other.
fn send(links: &mut [Fabric], from: u16, to: u16) -> Header {
    let header = Header::new(Tag::Credit, Rank(from), TreeId::unicast(Rank(from)), 0);
    links[usize::from(from)].transmit(Rank(to), &header, Payload::Empty);
    links[usize::from(from)].flush();
    header
}

fn a_rank_has_ended_in_good_order(provider: &str) {
    let [first, second] = pair_that_met(provider);
    let mut links = vec![first, second];
    let header = send(&mut links, 1, 0);
    while !links[0].has_arrivals() {
        links[1].flush();
    }
    assert_eq!(links[0].receive().unwrap().unwrap().header, header);
    // Nobody answers, so that it ends without that.
    drop(links.pop());
    // Until the connection is seen to be closed.
    for now in (1..10_000).map(|second| second * 1_000_000_000) {
        send(&mut links, 0, 1);
        links[0].has_arrivals();
        links[0].tend(now);
    }
    assert_eq!(links[0].bells().loss(), None);
}

#[test]
fn a_rank_that_has_ended_in_good_order_misses_nothing() {
    a_rank_has_ended_in_good_order("tcp;ofi_rxm");
    #[cfg(feature = "pypi")]
    a_rank_has_ended_in_good_order("tcp");
}

/// Providers over connections may throw away what has arrived, if something was sent there after
/// the other end was closed.
fn last_words_are_read(provider: &str) {
    let [first, second] = pair_that_met(provider);
    let mut links = vec![first, second];
    send(&mut links, 0, 1);
    while !links[1].has_arrivals() {
        links[0].flush();
    }
    links[1].receive().unwrap().unwrap();
    let last: Vec<Header> = (0..8).map(|_| send(&mut links, 1, 0)).collect();
    let ending = links.pop().unwrap();
    let ends = std::thread::spawn(move || drop(ending));
    while !ends.is_finished() {
        send(&mut links, 0, 1);
        links[0].has_arrivals();
    }
    ends.join().unwrap();
    for header in last {
        assert_eq!(links[0].receive().unwrap().unwrap().header, header);
    }
    assert_eq!(links[0].receive().unwrap(), None);
}

#[test]
fn what_a_rank_has_sent_is_read_after_its_end() {
    last_words_are_read("tcp;ofi_rxm");
    #[cfg(feature = "pypi")]
    last_words_are_read("tcp");
}
