//! Hosts reach one another as they should, and nothing of them remains.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::{IpAddr, UdpSocket};
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use weft_netns::{Cluster, Host, INTERFACE, Options, available};

/// Ends a test that waits for a datagram for ever.
const LIMIT: Duration = Duration::from_secs(20);

fn bind(host: &Host, address: IpAddr) -> UdpSocket {
    let socket = host.enter(|| UdpSocket::bind((address, 0)).unwrap()).unwrap();
    socket.set_read_timeout(Some(LIMIT)).unwrap();
    socket
}

/// Every host sends every other a datagram, and gets an answer.
fn all_reach_all(cluster: &Cluster, address: fn(&Host) -> IpAddr) {
    for from in cluster.hosts() {
        for to in cluster.hosts().iter().filter(|to| to.name() != from.name()) {
            let (here, there) = (bind(from, address(from)), bind(to, address(to)));
            let question = format!("{} to {}", from.name(), to.name());
            here.send_to(question.as_bytes(), there.local_addr().unwrap()).unwrap();
            let mut bytes = [0; 100];
            let (length, sender) = there.recv_from(&mut bytes).unwrap();
            assert_eq!(&bytes[..length], question.as_bytes());
            assert_eq!(sender, here.local_addr().unwrap());
            there.send_to(b"yes", sender).unwrap();
            assert_eq!(here.recv(&mut bytes).unwrap(), 3);
        }
    }
}

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The number of the network that the file leads to.
fn network(path: &str) -> Option<u64> {
    fs::metadata(path).map(|file| file.ino()).ok()
}

/// The number of a host's network.
fn network_of(host: &Host) -> u64 {
    host.enter(|| network("/proc/thread-self/ns/net").unwrap()).unwrap()
}

/// True if any process runs in this network or holds it.
fn is_held(network_number: u64) -> bool {
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        name.parse::<u32>().ok()
    });
    processes.into_iter().any(|process| {
        let own = network(&format!("/proc/{process}/ns/net")) == Some(network_number);
        let files = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten();
        let wanted = format!("net:[{network_number}]");
        own || files.flatten().any(|file| {
            fs::read_link(file.path()).is_ok_and(|link| link.as_os_str() == wanted.as_str())
        })
    })
}

#[test]
fn two_hosts_reach_each_other() {
    if !available() {
        return;
    }
    let cluster = Cluster::new(2, Options::default()).unwrap();
    all_reach_all(&cluster, Host::ipv4);
    all_reach_all(&cluster, Host::ipv6);
}

#[test]
fn four_hosts_meet_at_a_bridge() {
    if !available() {
        return;
    }
    let cluster = Cluster::new(4, Options { mtu: 3506, bridge: false }).unwrap();
    all_reach_all(&cluster, Host::ipv4);
    all_reach_all(&cluster, Host::ipv6);
    for host in cluster.hosts() {
        let shown = output(host.command("ip").args(["link", "show", INTERFACE]));
        assert!(shown.contains("mtu 3506 "), "{shown}");
    }
    // A datagram as long as the wire is wide, in one piece.
    let (from, to) = (cluster.host(0), cluster.host(3));
    let (here, there) = (bind(from, from.ipv4()), bind(to, to.ipv4()));
    here.send_to(&[7; 3478], there.local_addr().unwrap()).unwrap();
    assert_eq!(there.recv(&mut [0; 4000]).unwrap(), 3478);
}

#[test]
fn commands_run_on_their_host_as_the_process_that_was_started() {
    if !available() {
        return;
    }
    let cluster = Cluster::new(2, Options { bridge: true, ..Options::default() }).unwrap();
    let own = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    assert_eq!(output(cluster.host(1).command("hostname").arg("--short")), "b\n");
    assert_eq!(fs::read_to_string("/proc/sys/kernel/hostname").unwrap(), own);
    let mut shell = cluster.host(0).command("sh");
    let child = shell.args(["-c", "echo $$"]).stdout(Stdio::piped()).spawn().unwrap();
    let process = child.id();
    let said = child.wait_with_output().unwrap().stdout;
    assert_eq!(String::from_utf8(said).unwrap(), format!("{process}\n"));
}

#[test]
fn the_remote_shell_takes_commands_to_hosts_by_name() {
    if !available() {
        return;
    }
    let cluster = Cluster::new(2, Options::default()).unwrap();
    let ask = |host: &str| {
        Command::new(cluster.remote_shell()).args([host, "hostname; exit 7"]).output().unwrap()
    };
    let answer = ask("b");
    assert_eq!((answer.status.code(), answer.stdout.as_slice()), (Some(7), b"b\n".as_slice()));
    assert_eq!(ask("e").status.code(), Some(255));
}

#[test]
fn datagrams_are_lost_as_told_and_interfaces_go_and_come() {
    if !available() {
        return;
    }
    let cluster = Cluster::new(2, Options::default()).unwrap();
    let (a, b) = (cluster.host(0), cluster.host(1));
    let (here, there) = (bind(a, a.ipv4()), bind(b, b.ipv4()));
    let to = there.local_addr().unwrap();
    let arrived = || {
        // A thousand would not fit into the socket's buffer.
        let one = || drop(here.send_to(b"x", to));
        there.set_nonblocking(true).unwrap();
        let batch = || {
            (0..100).for_each(|_| one());
            // On a veth pair a datagram has arrived, or never will, when it has been sent.
            std::iter::from_fn(|| there.recv(&mut [0; 8]).ok()).count()
        };
        (0..10).map(|_| batch()).sum::<usize>()
    };
    b.lose_datagrams(1.0).unwrap();
    assert_eq!(arrived(), 0);
    b.lose_datagrams(0.5).unwrap();
    assert!((300..=700).contains(&arrived()));
    b.lose_datagrams(0.0).unwrap();
    b.set_link(false).unwrap();
    assert_eq!(arrived(), 0);
    b.set_link(true).unwrap();
    all_reach_all(&cluster, Host::ipv4);
    all_reach_all(&cluster, Host::ipv6);
}

#[test]
fn a_cluster_that_is_dropped_leaves_nothing() {
    if !available() {
        return;
    }
    let cluster = Cluster::new(3, Options::default()).unwrap();
    let networks: Vec<u64> = cluster.hosts().iter().map(network_of).collect();
    assert!(networks.iter().all(|&network| is_held(network)));
    // A daemon of its own session, which no signal to a group and no end of a parent reaches.
    let shell = Command::new(cluster.remote_shell()).args(["c", "setsid -f sleep 1000"]).status();
    assert!(shell.unwrap().success());
    drop(cluster);
    assert!(!networks.iter().any(|&network| is_held(network)));
}

/// Set where this program is what the next test runs and kills.
const HOLDS: &str = "WEFT_NETNS_HOLDS";

/// Has a cluster with a process in it, and says so, until standard input ends.
fn hold_a_cluster() {
    let cluster = Cluster::new(2, Options::default()).unwrap();
    let mut sleeper = cluster.host(0).command("sleep").arg("1000").spawn().unwrap();
    let networks: Vec<String> =
        cluster.hosts().iter().map(|host| network_of(host).to_string()).collect();
    println!("\nnetworks {}", networks.join(" "));
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    sleeper.wait().unwrap();
}

#[test]
fn a_killed_process_leaves_nothing() {
    if std::env::var_os(HOLDS).is_some() {
        return hold_a_cluster();
    }
    if !available() {
        return;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "a_killed_process_leaves_nothing", "--nocapture"]).env(HOLDS, "yes");
    let mut holder = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(holder.stdout.take().unwrap()).lines().map(Result::unwrap);
    let line = lines.into_iter().find_map(|line| Some(line.strip_prefix("networks ")?.to_owned()));
    let networks: Vec<u64> = line.unwrap().split(' ').map(|word| word.parse().unwrap()).collect();
    assert!(networks.iter().all(|&network| is_held(network)));
    holder.kill().unwrap();
    holder.wait().unwrap();
    // The sleeper has been told by now; to end takes it a moment.
    while networks.iter().any(|&network| is_held(network)) {
        std::thread::yield_now();
    }
}
