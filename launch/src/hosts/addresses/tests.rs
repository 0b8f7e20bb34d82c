use super::*;

fn one(interface: &str, address: &str, prefix_bits: u8) -> Candidate {
    let (interface, address) = (interface.into(), address.parse().unwrap());
    Candidate { interface, address, prefix_bits, mtu: Mtu::USUAL }
}

fn chosen(hosts: &[Vec<Candidate>], wish: Option<&str>) -> Vec<String> {
    let chosen = choose(hosts, wish).unwrap();
    chosen.iter().map(|candidate| candidate.address.to_string()).collect()
}

/// Two hosts with a bridge of their own, a common network for management, and one for data.
fn two() -> Vec<Vec<Candidate>> {
    vec![
        vec![
            one("docker0", "172.17.0.1", 16),
            one("eth0", "192.168.1.10", 24),
            one("eth1", "10.0.0.1", 8),
            one("eth1", "fd00::1", 64),
        ],
        vec![
            one("docker0", "172.17.0.1", 16),
            one("eno1", "192.168.1.11", 24),
            one("eth1", "10.9.0.2", 8),
            one("eth1", "fd00::2", 64),
        ],
    ]
}

#[test]
fn hosts_meet_in_the_first_network_that_they_share() {
    assert_eq!(chosen(&two(), None), ["192.168.1.10", "192.168.1.11"]);
}

#[test]
fn an_interface_or_any_address_of_a_network_can_be_wished_for() {
    assert_eq!(chosen(&two(), Some("eth1")), ["10.0.0.1", "10.9.0.2"]);
    assert_eq!(chosen(&two(), Some("10.1.2.3")), ["10.0.0.1", "10.9.0.2"]);
    assert_eq!(chosen(&two(), Some("10.0.0.0/8")), ["10.0.0.1", "10.9.0.2"]);
    assert_eq!(chosen(&two(), Some("fd00::")), ["fd00::1", "fd00::2"]);
    let (host, what) = choose(&two(), Some("eno1")).unwrap_err();
    assert_eq!(host, 0);
    assert!(
        what.contains("no interface or network \"eno1\"; it has docker0 (172.17.0.1), eth0"),
        "{what}"
    );
}

#[test]
fn hosts_without_a_common_network_meet_by_a_common_kind() {
    let hosts = vec![
        vec![one("eth0", "10.0.1.1", 24), one("eth0", "fd00::1", 64)],
        vec![one("eth0", "10.0.2.1", 24)],
        vec![one("eth0", "fd01::1", 64), one("eth1", "10.0.3.1", 24)],
    ];
    assert_eq!(chosen(&hosts, None), ["10.0.1.1", "10.0.2.1", "10.0.3.1"]);
    let mixed = vec![hosts[1].clone(), vec![one("eth0", "fd01::1", 64)]];
    assert_eq!(choose(&mixed, None).unwrap_err().0, 1);
}

#[test]
fn hosts_without_an_address_are_named() {
    let (host, what) = choose(&[two().remove(0), vec![]], None).unwrap_err();
    assert_eq!((host, what.contains("no address")), (1, true));
}

#[test]
fn this_host_has_no_loopback_candidates() {
    let all = candidates().unwrap();
    assert!(all.iter().all(|one| !one.address.is_loopback() && one.prefix_bits > 0), "{all:?}");
}

#[test]
fn hosts_of_which_each_has_the_same_address_are_told_so() {
    let all = [vec![one("eth0", "10.0.2.15", 24)], vec![one("enp0s3", "10.0.2.15", 24)]];
    let (host, what) = choose(&all, None).unwrap_err();
    let begin = "other hosts have the same addresses as it, eth0 (10.0.2.15), as machines behind";
    assert!(host == 0 && what.starts_with(begin), "{host}: {what}");
}
