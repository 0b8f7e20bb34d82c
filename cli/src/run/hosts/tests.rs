use super::*;
use weft_launch::HostLayout;

#[test]
fn the_first_line_says_who_is_where_and_by_which_link() {
    let host = |name: &str, first, ranks, last| HostLayout {
        name: name.into(),
        first,
        ranks,
        cores: 2,
        interface: "eth0".into(),
        address: [10, 0, 0, last].into(),
    };
    let layout = Layout { hosts: vec![host("a", 0, 2, 1), host("b", 2, 1, 2)] };
    assert_eq!(
        first_line(&layout, Link::Auto, "irx-imc"),
        "3 ranks on 2 hosts (a: 2 on 2 cores, eth0 10.0.0.1; b: 1 on 2 cores, eth0 10.0.0.2), \
         shm within hosts, udp between (xdp is not built yet), irx-imc"
    );
    let all = first_line(&layout, Link::Udp, "irx-imc");
    assert!(all.ends_with("), udp between all ranks (asked for), irx-imc"), "{all}");
    let one = Layout { hosts: vec![host("b", 0, 1, 2)] };
    assert!(first_line(&one, Link::Auto, "nrx-imc").starts_with("1 rank on 1 host (b: 1 on"));
    assert!(first_line(&one, Link::Auto, "nrx-imc").ends_with("), shm, nrx-imc"));
}
