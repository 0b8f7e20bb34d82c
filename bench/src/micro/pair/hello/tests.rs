use super::*;
use weft_launch::Mtu;

#[test]
fn an_interface_is_meant_by_its_name_or_its_network() {
    let candidate = |address: &str, prefix_bits| Candidate {
        interface: "eth1".into(),
        address: address.parse().unwrap(),
        prefix_bits,
        mtu: Mtu::USUAL,
    };
    let four = candidate("10.1.2.3", 16);
    for wish in ["eth1", "10.1.2.3", "10.1.0.0", "10.1.255.255"] {
        assert!(fits(&four, wish), "{wish}");
    }
    for wish in ["eth0", "10.2.0.0", "fd77::1"] {
        assert!(!fits(&four, wish), "{wish}");
    }
    let six = candidate("fd77::1", 64);
    assert!(fits(&six, "fd77::") && !fits(&six, "fd78::") && !fits(&six, "10.1.2.3"));
}

#[test]
fn what_is_no_place_is_an_error() {
    for place in ["", "port", "80", "80 here"] {
        assert!(reach(place).is_err(), "{place:?}");
    }
}
