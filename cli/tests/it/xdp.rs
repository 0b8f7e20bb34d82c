//! Jobs between hosts over AF_XDP, on hosts made of network namespaces: answers are right, ends are
//! clean and leave nothing, and what cannot be had is said in one line.
//!
//! The programs are built with the workspace (`make test` does that first).

mod managed;

use std::process::Stdio;

use crate::common::{
    self, Running, asp_is_right, assert_one_line, command, has_program, is_in_group,
    no_program_remains, parent_of, run,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use weft_netns::{Cluster, Options, available};

/// The protocol number of Weft's frames.
const ETHERTYPE: u16 = 0x88B5;
const BETWEEN: &str = "xdp between (generic, copying, MTU 1500), ";

/// `None` where there can be no cluster; the reason was said then.
fn cluster(options: Options) -> Option<Cluster> {
    available().then(|| Cluster::new(2, options).unwrap())
}

fn bridged() -> Option<Cluster> {
    cluster(Options { bridge: true, ..Options::default() })
}

/// Asserts that `asp` runs over AF_XDP and gives the right answer.
fn asp(cluster: &Cluster, words: &str, ranks: u16) {
    let text = asp_is_right(cluster, &format!("-v {words}"), ranks);
    assert!(text.contains(BETWEEN), "{words}: {text}");
}

#[test]
fn asp_on_two_hosts() {
    let Some(two) = cluster(Options::default()) else { return };
    asp(&two, "--hosts a:1,b:1 --link xdp", 2);
    asp(&two, "--hosts a:2,b:2 --link xdp", 4);
    asp(&two, "--hosts a:2,b:2 --link xdp --preset hrx-imc --check", 4);
    no_program_remains(&two);
}

/// Datagrams that have left a host over UDP; a run is one.
fn datagrams_of(cluster: &Cluster) -> u64 {
    let output = cluster.host(1).command("cat").arg("/proc/net/snmp").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    // Names, and then numbers in the same order.
    let mut lines = said.lines().filter_map(|line| line.strip_prefix("Udp:"));
    let column = lines.next().unwrap().split_whitespace().position(|name| name == "OutDatagrams");
    lines.next().unwrap().split_whitespace().nth(column.unwrap()).unwrap().parse().unwrap()
}

/// All goes by frame and by connection where no datagrams pass any more.
#[test]
fn packets_of_a_few_frames_go_over_udp_while_that_passes() {
    let Some(two) = cluster(Options::default()) else { return };
    let mut job = Running::start_checked(&two, "--hosts a:1,b:1 --link xdp", 2);
    let begun = datagrams_of(&two);
    while datagrams_of(&two) < begun + 1000 {
        job.chats();
    }
    two.hosts().iter().for_each(|host| host.lose_datagrams(1.0).unwrap());
    (0..100).for_each(|_| job.chats());
    let (checked, errors) = job.end_checked();
    assert_eq!(errors, "", "{checked:?}");
}

#[test]
fn asp_that_encrypts() {
    let Some(two) = cluster(Options::default()) else { return };
    let text = common::run(&two, "--hosts a:1,b:2 --encrypt -v", "weft-testee payload");
    assert!(text.contains("MTU 1500), bulk over TCP, encrypted, pupa"), "{text}");
    assert_eq!(text.matches("hold 1424 bytes").count(), 3, "{text}");
    asp(&two, "--hosts a:1,b:2 --encrypt", 3);
}

#[test]
fn auto_takes_xdp_where_all_hosts_have_it() {
    let Some(two) = cluster(Options::default()) else { return };
    asp(&two, "--hosts a:1,b:2", 3);
    let words = format!("--hosts a:1,b:1 --interface {}", two.host(0).ipv6());
    asp(&two, &words, 2);
}

#[test]
fn the_guides_programs() {
    let Some(two) = cluster(Options::default()) else { return };
    let words = |hosts: &str| format!("--link xdp --hosts {hosts}");
    let text = run(&two, &words("a:2,b:2"), "weft-example hello");
    for rank in 1..4 {
        let line = format!("rank 0 hears from rank {rank}: good morning\n");
        assert!(text.contains(&line), "{text}");
    }
    let text = run(&two, &words("a:1,b:2"), "weft-example kv");
    assert!(text.starts_with("3 replicas of 14 pairs are equal; "), "{text}");
    let text = run(&two, &words("a:2,b:2"), "weft-example bank");
    assert!(text.starts_with("80 transfers, and the ranks have 4000 together"), "{text}");
}

#[test]
fn three_hosts_on_a_bridge_that_loses_frames() {
    if !available() {
        return;
    }
    let three = Cluster::new(3, Options { bridge: true, ..Options::default() }).unwrap();
    asp(&three, "--hosts a:2,b:2,c:2 --link xdp", 6);
    three.lose_frames(ETHERTYPE, 0.01).unwrap();
    asp(&three, "--hosts a:1,b:1,c:1 --link xdp", 3);
    asp(&three, "--hosts a:2,b:2 --link xdp", 4);
}

#[test]
fn multicasts_that_the_network_copies() {
    if !available() {
        return;
    }
    let four = Cluster::new(4, Options::default()).unwrap();
    let copied = "--multicast ethernet --link xdp";
    for (hosts, ranks) in [("a:1,b:1,c:1,d:1", 4), ("a:2,b:1,c:2", 5)] {
        asp(&four, &format!("{copied} --hosts {hosts}"), ranks);
    }
    let job = Running::start(&four, &format!("{copied} --hosts a:1,b:2,c:1"), 4);
    assert!(four.hosts()[..3].iter().all(is_in_group), "an interface accepts what is for it");
    let agents = agents(&job);
    kill_process(job.ranks[2].1, Signal::KILL).unwrap();
    job.finish();
    wait_for_ends(&agents);
    no_program_remains(&four);
    four.lose_frames(ETHERTYPE, 0.02).unwrap();
    asp(&four, &format!("{copied} --hosts a:1,b:1,c:1 --preset irx-imc"), 3);
    asp(&four, &format!("{copied} --hosts a:2,b:1,c:2"), 5);
    no_program_remains(&four);
}

#[test]
fn the_widest_frames_that_xdp_takes() {
    let Some(two) = cluster(Options { mtu: 3506, ..Options::default() }) else { return };
    let text = asp_is_right(&two, "-v --hosts a:1,b:1 --link xdp", 2);
    assert!(text.contains("xdp between (generic, copying, MTU 3506), "), "{text}");
}

#[test]
fn packets_are_as_long_as_the_job_says() {
    for (mtu_a, mtu_b, words, bytes, between) in [
        (1500, 1500, "", 1440, "MTU 1500"),
        (1500, 3000, "", 1440, "MTU 1500"),
        (3506, 3506, "", 3448, "MTU 3506"),
        (3506, 3506, "--mtu 1000", 944, "MTU 1000"),
    ] {
        let Some(two) = cluster(Options::default()) else { return };
        two.host(0).set_mtu(mtu_a).unwrap();
        two.host(1).set_mtu(mtu_b).unwrap();
        for hosts in ["a:1,b:1", "a:1,b:2", "a:2,b:2"] {
            let words = format!("-v --link xdp --hosts {hosts} {words}");
            let text = run(&two, &words, "weft-testee payload");
            let said = format!("hold {bytes} bytes");
            let of_ranks = text.lines().filter(|line| !line.starts_with("weft: "));
            assert!(of_ranks.clone().count() > 0 && text.contains(between), "{text}");
            assert!(of_ranks.clone().all(|line| line.ends_with(&said)), "{mtu_a}, {mtu_b}: {text}");
        }
    }
}

#[test]
fn an_ethernet_that_is_narrower_than_its_ends_is_said() {
    let Some(two) = bridged() else { return };
    two.set_bridge_mtu(1300).unwrap();
    let output = command(&two, "--link xdp --hosts a,b", "weft-testee payload").output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), error.lines().count()), (Some(1), 1), "{error}");
    assert!(error.contains("over Ethernet with packets of 1500 bytes: "), "{error}");
    asp_is_right(&two, "--link xdp --hosts a:1,b:1 --mtu 1200", 2);
    // Longer than the interface takes, on both hosts: either may say so first.
    let output = command(&two, "--link xdp --hosts a,b --mtu 2000", "asp").output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    let why = ": packets of 2000 bytes are more than eth0 takes, whose MTU is 1500: give what it takes with --mtu";
    assert!(error.starts_with("weft: host ") && error.contains(why), "{error}");
}

/// The agents of a job's hosts, which have their interfaces.
fn agents(job: &Running) -> Vec<(Pid, std::os::fd::OwnedFd)> {
    let mut all: Vec<Pid> = job.ranks.iter().map(|(_, rank, _)| parent_of(*rank)).collect();
    all.dedup();
    all.into_iter().map(|pid| (pid, pidfd_open(pid, PidfdFlags::empty()).unwrap())).collect()
}

fn wait_for_ends(agents: &[(Pid, std::os::fd::OwnedFd)]) {
    for (pid, exit) in agents {
        let limit = Timespec { tv_sec: 10, tv_nsec: 0 };
        let ended = poll(&mut [PollFd::new(exit, PollFlags::IN)], Some(&limit)).unwrap();
        assert_eq!(ended, 1, "agent {pid:?} lives on");
    }
}

#[test]
fn nothing_remains_whoever_is_killed() {
    let Some(two) = cluster(Options::default()) else { return };
    let start = || Running::start(&two, "--link xdp --hosts a:2,b:2", 4);

    let job = start();
    let agents_of_rank = agents(&job);
    assert!(two.hosts().iter().all(has_program));
    kill_process(job.ranks[3].1, Signal::KILL).unwrap();
    let (errors, status) = job.finish();
    assert_one_line(&errors, &["weft: rank 3 of 4 (pid ", "SIGKILL"]);
    assert_eq!(status, Some(128 + 9));
    wait_for_ends(&agents_of_rank);
    no_program_remains(&two);

    let job = start();
    let agents_of_host = agents(&job);
    kill_process(agents_of_host[1].0, Signal::KILL).unwrap();
    let (errors, _) = job.finish();
    assert_one_line(&errors, &["weft: rank 2 of 4 ", "was lost with its host"]);
    wait_for_ends(&agents_of_host);
    no_program_remains(&two);

    let mut job = start();
    let agents_of_launcher = agents(&job);
    job.launcher.kill().unwrap();
    let (errors, status) = job.finish();
    assert_eq!((errors.as_str(), status), ("", None));
    wait_for_ends(&agents_of_launcher);
    no_program_remains(&two);
    asp(&two, "--hosts a:1,b:1 --link xdp", 2);
}

/// Runs a job that cannot have AF_XDP: who insists is told why in one line, and nobody gets
/// anything else in silence.
fn without_xdp(cluster: &Cluster, wrap: &[&str], why: &str) {
    let output = |words: &str| {
        let words = format!("--hosts a:1,b:1 {words}");
        let run = command(cluster, &words, "weft-example hello");
        let mut wrapped = cluster.host(0).command(wrap.first().unwrap_or(&"env"));
        wrapped.args(wrap.iter().skip(1)).arg(run.get_program()).args(run.get_args());
        wrapped.env("WEFT_RSH", cluster.remote_shell()).stdin(Stdio::null());
        wrapped.output().unwrap()
    };
    let insisted = output("-v --link xdp");
    let error = String::from_utf8(insisted.stderr).unwrap();
    assert_eq!((insisted.status.code(), error.lines().count()), (Some(1), 1), "{error}");
    assert!(error.starts_with("weft: host ") && error.contains(why), "{error}");
    assert!(insisted.stdout.is_empty());
    let quiet = output("");
    let only = String::from_utf8(quiet.stderr).unwrap();
    assert_eq!((quiet.status.code(), only.lines().count()), (Some(0), 1), "{only}");
    let said = only.starts_with("weft: udp between hosts, not xdp: host ");
    assert!(said && only.contains(why), "{only}");
    let either = output("-v");
    let first = String::from_utf8(either.stderr).unwrap();
    assert!(either.status.success(), "{first}");
    assert!(first.contains("udp between (no xdp: host ") && first.contains(why), "{first}");
    no_program_remains(cluster);
}

#[test]
fn frames_that_are_too_long_are_said() {
    let Some(jumbo) = cluster(Options { mtu: 9000, ..Options::default() }) else { return };
    let why = "the MTU of eth0 is 9000, and XDP takes 3506 at most: `ip link set eth0 mtu 3506` on all hosts";
    without_xdp(&jumbo, &[], why);
}

#[test]
fn a_missing_capability_is_said() {
    let Some(two) = cluster(Options::default()) else { return };
    let net = common::built("weft-net");
    let why = format!(
        "AF_XDP needs CAP_NET_RAW, which {0} does not have: as root, `setcap \
         cap_net_raw,cap_bpf,cap_net_admin+ep {0}`, or use --link udp",
        net.display()
    );
    without_xdp(&two, &["setpriv", "--bounding-set=-net_raw", "--"], &why);
}

#[test]
fn hosts_that_only_ip_joins_are_said() {
    let Some(two) = bridged() else { return };
    two.lose_frames(ETHERTYPE, 1.0).unwrap();
    let why = "a (eth0) does not reach host b (eth0) over Ethernet with packets of 1500 bytes: for --link xdp they \
               must be on one Ethernet, without routers, that lets protocol 0x88B5 through; or use --link udp";
    without_xdp(&two, &[], why);
}

#[test]
fn a_driver_without_xdp_is_said_and_used_by_who_insists() {
    let Some(two) = bridged() else { return };
    two.keep_xdp_out_of_drivers().unwrap();
    let text = asp_is_right(&two, "-v --hosts a:1,b:2", 3);
    assert!(
        text.contains("udp between (no xdp: host a: the driver of eth0 knows no XDP, "),
        "{text}"
    );
    let text = asp_is_right(&two, "-v --hosts a:1,b:2 --link xdp", 3);
    assert!(text.contains("xdp between (generic, copying, MTU 1500), "), "{text}");
    no_program_remains(&two);
}

#[test]
fn an_interface_that_another_job_has_is_said() {
    let Some(two) = cluster(Options::default()) else { return };
    let first = Running::start(&two, "--link xdp --hosts a:1,b:1", 2);
    let agents = agents(&first);
    let output = command(&two, "-v --hosts a:1,b:1", "weft-example hello").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    let why = "udp between (no xdp: host a: eth0 has an XDP program already, of another job";
    assert!(said.contains(why), "{said}");
    assert!(two.hosts().iter().all(has_program), "the first job's are still there");
    kill_process(first.ranks[0].1, Signal::KILL).unwrap();
    first.finish();
    wait_for_ends(&agents);
    no_program_remains(&two);
}

#[test]
fn what_xdp_is_not_for_is_said() {
    let Some(two) = cluster(Options::default()) else { return };
    for (words, why) in [
        ("--link xdp -n 2", "an interface does not hear itself; name other hosts with --hosts"),
        (
            "--link xdp --hosts a:2",
            "an interface does not hear itself, so that --link xdp takes two",
        ),
        (
            "--link xdp --hosts a:1,b:1 --interface eth7",
            "host a: it has no interface or network \"eth7\"",
        ),
    ] {
        let output = command(&two, words, "weft-example hello").output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && output.stdout.is_empty());
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(error.starts_with("weft: ") && error.contains(why), "{error}");
    }
}
