use super::*;
use weft_netns::{Cluster, Options, available};

#[test]
fn only_what_a_job_can_have_is_an_mtu() {
    for good in ["576", "1500", "9000"] {
        assert_eq!(good.parse::<Mtu>().unwrap().to_string(), good);
    }
    for bad in ["575", "9001", "70000", "-1", "", "many"] {
        assert_eq!(bad.parse::<Mtu>(), Err(NoMtu), "{bad}");
    }
    assert_eq!(NoMtu.to_string(), "an MTU is a number from 576 to 9000");
}

#[test]
fn neighbours_are_in_the_same_network() {
    let of = |address: &str, prefix_bits| -> Vec<String> {
        neighbours(address.parse().unwrap(), prefix_bits).map(|one| one.to_string()).collect()
    };
    assert_eq!(of("10.0.0.5", 24), ["10.0.0.4", "10.0.0.7", "10.0.0.6"]);
    assert_eq!(of("10.0.0.5", 31), ["10.0.0.4"]);
    assert_eq!(of("10.0.0.5", 32), [""; 0]);
    assert_eq!(of("fd00::1", 64), ["fd00::", "fd00::3", "fd00::2"]);
}

#[test]
fn an_interfaces_mtu_is_found_by_each_of_its_addresses() {
    if !available() {
        return;
    }
    for (given, found) in [(1280, 1280), (1500, 1500), (9000, 9000), (20_000, 9000)] {
        let cluster = Cluster::new(2, Options { mtu: given, bridge: false }).unwrap();
        for host in cluster.hosts() {
            for (address, prefix_bits) in [(host.ipv4(), 24), (host.ipv6(), 64)] {
                let mtu = host.enter(|| Mtu::of_interface(address, prefix_bits)).unwrap();
                assert_eq!(mtu, Mtu(found), "{address}");
            }
        }
    }
    // Nobody has this address.
    assert_eq!(Mtu::of_interface("192.0.2.1".parse().unwrap(), 24), Mtu::USUAL);
}
