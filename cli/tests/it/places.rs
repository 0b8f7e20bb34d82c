//! Places where people run: hosts that are containers, and networks of every kind, made of
//! namespaces. `docs/guide/places.md` lists them.
//!
//! The programs are built with the workspace (`make test` does that first).

mod containers;
mod managed;

use crate::common::{ASP, Running, asp_is_right, command, text};
use weft_netns::{Cluster, Options, available};

const UDP: &str = "udp between (asked for), bulk over TCP, pupa";
const XDP: &str = "xdp between (generic, copying, MTU 1500), bulk over TCP, pupa";

/// `None` where there can be no cluster; the reason was said then.
fn cluster(hosts: usize) -> Option<Cluster> {
    available().then(|| Cluster::new(hosts, Options::default()).unwrap())
}

/// Gives `ip` orders on each host, in which `{}` is the host's number from 1.
fn configure(cluster: &Cluster, orders: &str) {
    for (number, host) in (1..).zip(cluster.hosts()) {
        host.configure(&orders.replace("{}", &format!("{number}"))).unwrap();
    }
}

/// Sets up a packet filter on a host.
fn filter(cluster: &Cluster, host: usize, rules: &str) {
    let set = cluster.host(host).command("nft").arg(rules).status().unwrap();
    assert!(set.success(), "{rules}");
}

/// Asserts that a job of three ranks on two hosts gives the right answer, and that the first line
/// has these words.
fn asp(cluster: &Cluster, words: &str, first_line: &[&str]) {
    let text = asp_is_right(cluster, &format!("-v --hosts a:1,b:2 {words}"), 3);
    let line = text.lines().find(|line| line.starts_with("weft: 3 ranks on 2 hosts ")).unwrap();
    assert!(first_line.iter().all(|words| line.contains(words)), "{words}: {line}");
}

/// The line that says why a job does not start.
fn refusal(cluster: &Cluster, words: &str) -> String {
    let output = command(cluster, words, ASP).output().unwrap();
    let said = text(&output);
    assert_eq!((output.status.code(), said.lines().count()), (Some(1), 1), "{words}: {said}");
    said
}

#[test]
fn hosts_without_ipv4() {
    let Some(two) = cluster(2) else { return };
    configure(&two, "addr flush dev eth0\naddr add fd77::{}/64 dev eth0 nodad");
    let addresses = ["eth0 fd77::1", "eth0 fd77::2"];
    asp(&two, "--link udp", &[&addresses[..], &[UDP]].concat());
    asp(&two, "", &[&addresses[..], &[XDP]].concat());
}

#[test]
fn hosts_with_several_interfaces() {
    let Some(two) = cluster(2) else { return };
    two.add_wire("ens5").unwrap();
    // The second has another name for what the first calls ens5, whose network is found first.
    two.host(1)
        .configure("link set ens5 down\nlink set ens5 name data0\nlink set data0 up")
        .unwrap();
    two.host(0).configure("addr add 10.88.0.1/24 dev ens5").unwrap();
    two.host(1).configure("addr add 10.88.0.2/24 dev data0").unwrap();
    asp(&two, "--link udp", &["a: 1 on", "eth0 10.77.0.1;", UDP]);
    let second = ["ens5 10.88.0.1;", "data0 10.88.0.2)"];
    asp(&two, "--link udp --interface 10.88.0.0", &[&second[..], &[UDP]].concat());
    asp(&two, "--interface 10.88.0.0", &[&second[..], &[XDP]].concat());
    let line = refusal(&two, "--hosts a,b --interface ens5");
    let why = "host b: it has no interface or network \"ens5\"; it has eth0 (10.77.0.2), data0 (10.88.0.2), ";
    assert!(line.contains(why), "{line}");
    // Only one network has both.
    configure(&two, "addr flush dev eth0\naddr add 10.66.{}.1/24 dev eth0");
    asp(&two, "--link udp", &[&second[..], &[UDP]].concat());
}

#[test]
fn interfaces_with_any_name() {
    let Some(two) = cluster(2) else { return };
    let renamed = "link set eth0 down\nlink set eth0 name enp3s0f1np1.x\naddr replace 10.77.0.{}/24 dev enp3s0f1np1.x\n\
                   link set enp3s0f1np1.x up";
    configure(&two, renamed);
    let named = ["enp3s0f1np1.x 10.77.0.1;", "enp3s0f1np1.x 10.77.0.2)"];
    asp(&two, "--link udp", &[&named[..], &[UDP]].concat());
    asp(&two, "--interface enp3s0f1np1.x", &[&named[..], &[XDP]].concat());
}

/// Bridges of containers or virtual machines, bonds and VLANs are all this: an interface on another
/// one, with the address.
#[test]
fn interfaces_on_top_of_others() {
    for (name, kind) in [("br0", "bridge"), ("eth0.5", "link eth0 macvlan")] {
        let Some(two) = cluster(2) else { return };
        let (below, kind) = kind.rsplit_once(' ').unwrap_or(("", kind));
        let port =
            if kind == "bridge" { format!("link set eth0 master {name}\n") } else { String::new() };
        let made = format!(
            "link add {below} name {name} type {kind}\n{port}addr flush dev eth0\naddr add 10.77.0.{{}}/24 dev {name}\n\
             link set {name} up"
        );
        configure(&two, &made);
        let named = format!("{name} 10.77.0.2)");
        asp(&two, "--link udp", &[&named, UDP]);
        asp(
            &two,
            "",
            &[&named, "udp between (no xdp: host ", &format!("the driver of {name} knows no XDP")],
        );
        asp(
            &two,
            "--link xdp",
            &[&named, "xdp between (generic, copying, MTU 1500), bulk over TCP, pupa"],
        );
    }
}

#[test]
fn jumbo_frames_on_one_side() {
    let Some(two) = cluster(2) else { return };
    two.host(1).set_mtu(9000).unwrap();
    asp(&two, "--link udp", &[UDP]);
    // A driver that such frames keep from XDP, or the MTU itself.
    asp(&two, "", &["udp between (no xdp: host "]);
    two.host(1).set_mtu(3506).unwrap();
    asp(&two, "", &[XDP]);
}

/// A host that another one hides behind its own address.
#[test]
fn a_host_behind_a_translator_is_refused() {
    let Some(three) = cluster(3) else { return };
    hide_behind_c(&three);
    let line = refusal(&three, "--link udp --hosts a:1,b:1");
    let begin = "weft: host b (192.168.77.2) comes to host a as 10.77.0.3: something between them translates addresses (NAT), ";
    assert!(line.starts_with(begin), "{line}");
}

/// Has the third host translate what the second sends, whose network the first does not know.
fn hide_behind_c(three: &Cluster) {
    configure(three, "addr flush dev eth0\naddr add 10.77.0.{}/24 dev eth0");
    three.host(2).configure("addr add 192.168.77.1/24 dev eth0").unwrap();
    let inside = "addr flush dev eth0\naddr add 192.168.77.2/24 dev eth0\nroute add default via 192.168.77.1";
    three.host(1).configure(inside).unwrap();
    let forwards = three.host(2).enter(|| std::fs::write("/proc/sys/net/ipv4/ip_forward", "1"));
    forwards.unwrap().unwrap();
    let rules = "table ip nat { chain out { type nat hook postrouting priority 100; ip saddr 192.168.77.0/24 \
                 ip daddr 10.77.0.0/24 masquerade; }; }";
    filter(three, 2, rules);
}

/// Machines behind translators of their own, as some desktops make them.
#[test]
fn hosts_that_all_have_the_same_address_are_refused() {
    let Some(two) = cluster(2) else { return };
    configure(&two, "addr flush dev eth0\naddr add 10.0.2.15/24 dev eth0");
    let line = refusal(&two, "--hosts a,b");
    let why = "weft: host a: other hosts have the same addresses as it, eth0 (10.0.2.15), as machines behind translators (NAT) do";
    assert!(line.starts_with(why), "{line}");
}

const DROP: &str =
    "table inet wall { chain in { type filter hook input priority 0; meta l4proto udp drop; }; }";
const DROP_SENT: &str =
    "table inet wall { chain out { type filter hook output priority 0; meta l4proto udp drop; }; }";

/// `host`, and the port that follows in a line.
fn port_behind(line: &str, words: &str) -> u16 {
    let (_, rest) = line.split_once(words).unwrap_or_else(|| panic!("no {words:?}: {line}"));
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("no port: {line}"))
}

#[test]
fn a_firewall_that_drops_is_named_with_the_port() {
    for (at, rules, words, end) in [
        (
            0,
            DROP,
            "host b (10.77.0.2) does not reach UDP port ",
            " of host a (10.77.0.1), though it is reached from there: ",
        ),
        (
            1,
            DROP,
            "host a (10.77.0.1) does not reach UDP port ",
            " of host b (10.77.0.2), though it is reached from there: ",
        ),
        (
            1,
            DROP_SENT,
            "host b (10.77.0.2) does not reach UDP port ",
            " of host a (10.77.0.1), though it is reached from there: ",
        ),
    ] {
        let Some(two) = cluster(2) else { return };
        filter(&two, at, rules);
        let line = refusal(&two, "--link udp --hosts a:1,b:1");
        let port = port_behind(&line, &format!("weft: {words}"));
        assert!(port > 1024 && line.contains(&format!("{words}{port}{end}")), "{line}");
    }
}

/// Nobody looks at UDP's ports where all is AF_XDP.
#[test]
fn a_firewall_for_ip_stops_no_ethernet() {
    let Some(two) = cluster(2) else { return };
    filter(&two, 1, DROP);
    asp(&two, "", &[XDP]);
}

#[test]
fn a_firewall_that_begins_to_drop_is_named_with_the_port() {
    let Some(two) = cluster(2) else { return };
    let mut job = Running::start(&two, "--link udp --hosts a:1,b:1 --silence 1", 2);
    job.chats();
    filter(&two, 1, DROP);
    let (errors, status) = job.finish();
    assert!(status != Some(0) && errors.lines().count() == 1, "{errors}");
    // Either may be the first to miss the other.
    let host = if errors.contains("(10.77.0.1, UDP port ") { 1 } else { 2 };
    let words = format!("could not be reached for 1.0 s (10.77.0.{host}, UDP port ");
    assert!(port_behind(&errors, &words) > 1024, "{errors}");
}
