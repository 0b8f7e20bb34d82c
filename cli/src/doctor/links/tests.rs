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
fn links_to_come_are_named_as_such() {
    let link = &all(&[])[3];
    assert_eq!((link.name, link.status), ("fabric", Status::NotBuilt));
    assert!(link.detail.ends_with("not built yet in this version"));
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
    assert_eq!(ranks, [2, 8, 64]);
    for Memory { ranks, bytes_per_rank, bytes } in memory {
        assert_eq!(bytes, bytes_per_rank * u64::from(ranks));
        assert_eq!(bytes_per_rank, Settings::new(ranks).segment_bytes() as u64);
    }
}
