use super::*;
use weft_launch::Mtu;

#[test]
fn shm_works_if_all_that_it_needs_is_there() {
    let fine = || Finding::ok("pidfd", "");
    let links = all(&[fine(), fine()]);
    assert_eq!((links[0].name, links[0].status), ("shm", Status::Ok));
    assert!(links[0].detail.contains("; long MPI messages take "), "{:?}", links[0]);
    let links = all(&[fine(), Finding::problem("membarrier", "", "")]);
    assert_eq!(links[0].status, Status::Problem);
    assert!(links[0].detail.ends_with("in the way: membarrier"), "{:?}", links[0]);
}

#[test]
fn fabric_says_of_each_provider_why_it_is_taken_or_not() {
    let provider = |name: &str, standing| Provider {
        name: name.into(),
        domains: vec!["eth0".into(), "lo".into()],
        standing,
    };
    let tcp = provider("tcp;ofi_rxm", Standing::Ordinary);
    let verbs = provider("verbs;ofi_rxm", Standing::Hardware);
    let found = fabric(Ok(("2.1".into(), vec![tcp.clone(), verbs])));
    assert_eq!(found.status, Status::Ok);
    let said = "libfabric 2.1: tcp;ofi_rxm on eth0, lo (an ordinary network: taken if named";
    assert!(found.detail.contains(said), "{found:?}");
    assert!(found.detail.ends_with("verbs;ofi_rxm on eth0, lo (hardware of its own: taken)"));
    let ordinary = fabric(Ok(("2.1".into(), vec![tcp])));
    assert_eq!((ordinary.status, ordinary.advice), (Status::Absent, Some(NAME_ONE.into())));
    let none = fabric(Err(FabricError::NoLibrary("no such file".into())));
    assert_eq!((none.status, none.advice), (Status::Absent, Some(INSTALL.into())));
    assert!(none.detail.contains("libfabric cannot be loaded: no such file"), "{}", none.detail);
}

#[test]
fn udp_names_interfaces_and_addresses() {
    let candidate = |interface: &str| Candidate {
        interface: interface.into(),
        address: [10, 0, 0, 1].into(),
        prefix_bits: 24,
        mtu: Mtu::USUAL,
    };
    let found = udp(&Ok(vec![candidate("eth0"), candidate("eth1")]));
    let said = "over any network: eth0 10.0.0.1 (MTU 1500), eth1 10.0.0.1 (MTU 1500); whether";
    assert!(found.status == Status::Ok && found.detail.contains(said), "{found:?}");
    let nothing = udp(&Ok(Vec::new()));
    assert_eq!((nothing.status, nothing.advice), (Status::Absent, Some(BRING_UP.into())));
    assert_eq!(udp(&Err(io::ErrorKind::PermissionDenied.into())).status, Status::Problem);
}

#[test]
fn memory_is_a_function_of_the_ranks() {
    let memory = memory();
    let ranks: Vec<_> = memory.iter().map(|memory| memory.ranks).collect();
    assert_eq!(ranks, [2, 8, 64, 256, 1024]);
    for Memory { ranks, window_packets, rings_bytes, bytes_per_rank, bytes } in memory {
        // A slot has 128 bytes, and a ring two windows of them: in all no more than with 64 ranks.
        assert_eq!(rings_bytes, u64::from(ranks) * 2 * u64::from(window_packets) * 128);
        assert!(rings_bytes <= 1 << 20 && rings_bytes <= bytes_per_rank / 2);
        assert_eq!(bytes, bytes_per_rank * u64::from(ranks));
        assert_eq!(bytes_per_rank, Settings::new(ranks).rank_bytes() as u64);
    }
}
