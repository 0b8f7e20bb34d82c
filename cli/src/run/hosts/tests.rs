use super::*;
use weft_launch::Mtu;
use weft_xdp::Attached;

#[test]
fn the_first_line_says_who_is_where_and_by_which_link() {
    let host = |name: &str, first, ranks, last| HostLayout {
        name: name.into(),
        first,
        ranks,
        vacant: Vec::new(),
        cores: 2,
        interface: "eth0".into(),
        address: [10, 0, 0, last].into(),
    };
    let hosts = vec![host("a", 0, 2, 1), host("b", 2, 1, 2)];
    let mtu = Mtu::USUAL;
    let layout = |between| RankLayout {
        hosts: hosts.clone(),
        between,
        copies: Copies::Ranks(None),
        bulk: LongPackets::Datagrams(None),
        mtu,
        protection: Protection::Headers,
    };
    let line = |between| first_line(&layout(between), None, "pupa");
    let native = Mode { attached: Attached::Native, zero_copy: false };
    assert_eq!(
        line(Between::Xdp(vec![native; 2])),
        "3 ranks on 2 hosts (a: 2 on 2 cores, eth0 10.0.0.1; b: 1 on 2 cores, eth0 10.0.0.2), \
         shm within hosts, xdp between (native, copying, MTU 1500), pupa"
    );
    let generic = Mode { attached: Attached::Generic, ..native };
    let mixed = line(Between::Xdp(vec![native, generic]));
    let modes = "xdp between (a: native, copying; b: generic, copying, MTU 1500), pupa";
    assert!(mixed.ends_with(modes), "{mixed}");
    let fall_back = |between| fall_back(&layout(between));
    assert_eq!((fall_back(Between::Udp(None)), fall_back(Between::Xdp(vec![]))), (None, None));
    let asked = line(Between::Udp(None));
    assert!(asked.ends_with("), shm within hosts, udp between (asked for), pupa"), "{asked}");
    let without = line(Between::Udp(Some("host b: AF_XDP needs CAP_BPF".into())));
    assert!(
        without.ends_with("udp between (no xdp: host b: AF_XDP needs CAP_BPF), pupa"),
        "{without}"
    );
    let bulk = |bulk| first_line(&RankLayout { bulk, ..layout(Between::Udp(None)) }, None, "pupa");
    let over_tcp = bulk(LongPackets::Tcp);
    assert!(over_tcp.ends_with("udp between (asked for), bulk over TCP, pupa"), "{over_tcp}");
    let cut = bulk(LongPackets::Datagrams(Some("so".into())));
    assert!(cut.ends_with("(asked for), bulk over datagrams (so), pupa"), "{cut}");
    let copies = Copies::Ranks(Some("so".into()));
    let protection = Protection::Encrypted;
    let encrypted = RankLayout { copies, protection, ..layout(Between::Udp(None)) };
    let said = first_line(&encrypted, None, "pupa");
    let wanted = "udp between (asked for), encrypted, multicasts copied by ranks (so), pupa";
    assert!(said.ends_with(wanted), "{said}");
    let authenticated = RankLayout { protection: Protection::Tagged, ..layout(Between::Udp(None)) };
    let said = first_line(&authenticated, None, "pupa");
    assert!(said.ends_with("udp between (asked for), authenticated, pupa"), "{said}");
    let alone =
        RankLayout { hosts: vec![host("b", 0, 1, 2)], protection, ..layout(Between::Nothing) };
    assert!(first_line(&alone, None, "nrx-imc").starts_with("1 rank on 1 host (b: 1 on"));
    assert!(first_line(&alone, None, "nrx-imc").ends_with("), shm, nrx-imc"));
    let taken = Some("verbs;ofi_rxm, with hardware of its own");
    let fabric = first_line(&layout(Between::Udp(None)), taken, "nrx-imc");
    let why = "shm within hosts, fabric between (verbs;ofi_rxm, with hardware of its own), nrx-imc";
    assert!(fabric.ends_with(why), "{fabric}");
}
