use super::*;

const NAMES: [&str; 3] = ["a", "b", "c"];

fn address(host: usize) -> SocketAddr {
    format!("10.0.0.{}:{}", host + 1, 4000 + host).parse().unwrap()
}

/// Line about hosts with these findings.
fn said(unmet: &[&[Unmet]], translated: &[&[(u16, SocketAddr)]], own: &[Candidate]) -> String {
    let found: Vec<Reached> = (0..unmet.len())
        .map(|host| Reached {
            unmet: unmet[host].to_vec(),
            translated: translated.get(host).copied().unwrap_or_default().to_vec(),
        })
        .collect();
    let all: Vec<_> = (0..found.len())
        .map(|host| Findings {
            name: NAMES[host],
            address: address(host),
            own,
            found: &found[host],
        })
        .collect();
    judge(&all, Mtu::USUAL).map_or_else(|error| error.to_string(), |()| String::new())
}

fn without(host: u16, short: bool, heard: bool) -> [Unmet; 1] {
    [Unmet { host, short, heard }]
}

#[test]
fn all_is_well_if_all_have_met() {
    assert_eq!(said(&[&[], &[], &[]], &[], &[]), "");
}

#[test]
fn the_port_is_named_where_packets_are_dropped() {
    let end = "let UDP through (firewall, routes), or name another network with --interface";
    let (deaf, hears) = (without(0, false, false), without(0, false, true));
    for (at_a, at_b, begin) in [
        (
            without(1, false, true),
            deaf,
            "host a (10.0.0.1) does not reach UDP port 4001 of host b (10.0.0.2), though it is reached from there: ",
        ),
        (
            without(1, false, false),
            hears,
            "host b (10.0.0.2) does not reach UDP port 4000 of host a (10.0.0.1), though it is reached from there: ",
        ),
        (
            without(1, false, false),
            deaf,
            "host a (10.0.0.1) does not reach UDP port 4001 of host b (10.0.0.2), nor the other way round port 4000: ",
        ),
    ] {
        assert_eq!(said(&[&at_a, &at_b], &[], &[]), format!("{begin}{end}"));
    }
    // The other has not asked it, or has met it: its answers may be lost, or never made.
    let line = said(&[&[], &[], &without(1, false, false)], &[], &[]);
    let begin = "host c (10.0.0.3) does not reach UDP port 4001 of host b (10.0.0.2): ";
    assert_eq!(line, format!("{begin}{end}"));
}

#[test]
fn what_only_short_packets_reach_is_narrow() {
    let line = said(&[&without(1, true, true), &[]], &[], &[]);
    assert!(line.starts_with("packets of 1500 bytes do not get from host a to host b"), "{line}");
}

#[test]
fn a_host_behind_a_translator_is_named_before_all_else() {
    let seen: SocketAddr = "192.0.2.1:77".parse().unwrap();
    let unmet = [&without(1, false, true)[..], &without(0, false, false)];
    let line = said(&unmet, &[&[(1, seen)]], &[]);
    assert!(line.starts_with("host b (10.0.0.2) comes to host a as 192.0.2.1: "), "{line}");
}

/// A host with several addresses may send from another one than it was given.
#[test]
fn another_address_of_the_same_host_is_no_translation() {
    let own = [Candidate {
        interface: "eth0".into(),
        address: "10.0.0.9".parse().unwrap(),
        prefix_bits: 24,
        mtu: Mtu::USUAL,
    }];
    let from = |port: u16| -> SocketAddr {
        ("10.0.0.9".parse::<std::net::IpAddr>().unwrap(), port).into()
    };
    assert_eq!(said(&[&[], &[]], &[&[(1, from(4001))]], &own), "");
    assert_ne!(said(&[&[], &[]], &[&[(1, from(4002))]], &own), "");
}
