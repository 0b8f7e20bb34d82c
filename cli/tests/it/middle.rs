//! Jobs whose hosts meet at a man in the middle, who changes, repeats, drops, delays and invents
//! frames: nothing is delivered that was not sent, and no job ends.
//!
//! `WEFT_FRAMES` says how many frames there are to be, and `WEFT_SEED` which. The programs are
//! built with the workspace (`make test` does that first).

use std::io::Read;
use std::process::Stdio;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::common::{Running, built, command};
use weft_netns::adversary::{Act, Middle, Plan};
use weft_netns::{Cluster, Host, INTERFACE, Options, available, write_script};

/// Frames of the test of all acts, where `WEFT_FRAMES` does not say.
const FRAMES: u64 = 1_000_000;

/// Hosts, and the man between them, who is as fast as one thread is: tests take turns. `None` where
/// there can be no cluster; the reason was said then.
fn hosts(count: usize) -> Option<(Cluster, Middle, MutexGuard<'static, ()>)> {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let cluster = available()
        .then(|| Cluster::new(count, Options { bridge: true, ..Options::default() }).unwrap())?;
    let wires = cluster.unplug(weft_netns::adversary::open).unwrap().unwrap();
    let plan = Plan { seed: number("WEFT_SEED", 1), acts: Vec::new(), share: 0.0 };
    Some((cluster, Middle::start(wires, plan).unwrap(), turn))
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |value| value.parse().unwrap())
}

/// All acts after which a job is to go on.
fn all_acts() -> Vec<Act> {
    Act::INVENTED.into_iter().chain(Act::TAKEN).collect()
}

/// Waits until so many frames more have passed.
fn await_frames(middle: &Middle, job: &mut Running, frames: u64) {
    let end = middle.frames() + frames;
    while middle.frames() < end {
        job.chats();
    }
}

/// Over a connected socket, where the kernel says what it hears, and over others.
#[test]
fn what_the_network_says_of_datagrams_ends_no_job_and_loses_nothing() {
    for (words, ranks) in [
        ("--hosts a:1,b:1", 2),
        ("--hosts a:1,b:1 --preset irx-imc", 2),
        ("--hosts a:1,b:1 --interface fd77::", 2),
        ("--hosts a:1,b:1,c:1", 3),
    ] {
        let Some((cluster, middle, _turn)) = hosts(3) else { return };
        let words = format!("--link udp --silence 2 {words}");
        middle.set(&[Act::Icmp], 1.0);
        let mut job = Running::start_checked(&cluster, &words, ranks);
        await_frames(&middle, &mut job, 10_000);
        let (_, errors) = job.end_checked();
        assert_eq!(errors, "", "{words}");
    }
}

#[test]
fn a_man_in_the_middle_delivers_nothing_that_was_not_sent_and_ends_nothing() {
    let frames = number("WEFT_FRAMES", FRAMES);
    let cases = [
        "--link udp --hosts a:1,b:1",
        "--link xdp --hosts a:1,b:1",
        "--link udp --hosts a:1,b:1 --preset irx-imc",
        "--link udp --hosts a:1,b:1,c:1 --interface fd77::",
    ];
    // Bodies of long packets are left to who carries them if nobody says otherwise.
    let ways = [("--authenticate", "checked"), ("", "checked-short")];
    for (words, (more, which)) in cases.iter().flat_map(|words| ways.map(|way| (words, way))) {
        let Some((cluster, middle, _turn)) = hosts(3) else { return };
        let (ranks, words) = (words.matches(":1").count(), format!("{words} {more} --silence 5"));
        let mut job = Running::start_checking(&cluster, &words, which, ranks);
        middle.set(&all_acts(), 0.5);
        let start = Instant::now();
        await_frames(&middle, &mut job, frames / (cases.len() * ways.len()) as u64);
        let took = start.elapsed();
        middle.set(&[], 0.0);
        let (checked, errors) = job.end_checked();
        println!("{words}: {checked:?} messages in {took:?}; {}", middle.end().unwrap());
        assert_eq!(errors, "", "{words}");
    }
}

/// One over AF_XDP, one over UDP, by ranks of somebody else; frames of each reach the other.
#[test]
fn two_jobs_of_two_users_on_one_wire_stay_apart() {
    let Some((cluster, middle, _turn)) = hosts(2) else { return };
    let folder = tempfile::tempdir_in(built("weft").parent().unwrap()).unwrap();
    // The folder is the tester's alone otherwise.
    rustix::fs::chmod(folder.path(), rustix::fs::Mode::from_raw_mode(0o755)).unwrap();
    let program = folder.path().join("as-nobody");
    let testee = built("weft-testee");
    let testee = testee.display();
    let text = format!(
        "#!/bin/sh\nexec setpriv --reuid 65534 --regid 65534 --clear-groups {testee} checked\n"
    );
    write_script(&program, &text).unwrap();
    let words = "--hosts a:1,b:1 --silence 5 --authenticate";
    let mut one = Running::start_checked(&cluster, &format!("--link xdp {words}"), 2);
    let mut command = command(&cluster, &format!("--link udp {words}"), program.to_str().unwrap());
    command.stdin(Stdio::piped());
    let mut other = Running::start_this(command, 2);
    middle.set(&all_acts(), 0.5);
    let end = middle.frames() + number("WEFT_FRAMES", FRAMES) / 10;
    while middle.frames() < end {
        one.chats();
        other.chats();
    }
    middle.set(&[], 0.0);
    for job in [one, other] {
        let (checked, errors) = job.end_checked();
        println!("{checked:?} messages");
        assert_eq!(errors, "");
    }
    println!("{}", middle.end().unwrap());
}

/// Goodput of a job beside hostile frames, as a share of that beside as many that are nobody's.
/// Only said: other things go on where tests run.
#[test]
fn goodput_beside_hostile_frames() {
    let chats = number("WEFT_FRAMES", FRAMES) / 100_000;
    for link in ["udp", "xdp"] {
        let Some((cluster, middle, _turn)) = hosts(2) else { return };
        let words = format!("--link {link} --hosts a:1,b:1 --silence 5 --authenticate");
        let mut job = Running::start_checked(&cluster, &words, 2);
        let mut took = [0.0, 0.0];
        for _ in 0..4 {
            for (acts, took) in [&[Act::Unrelated][..], &Act::INVENTED].into_iter().zip(&mut took) {
                middle.set(acts, 0.5);
                job.chats();
                let start = Instant::now();
                (0..chats).for_each(|_| job.chats());
                *took += start.elapsed().as_secs_f64();
            }
        }
        middle.set(&[], 0.0);
        let (_, errors) = job.end_checked();
        println!("{link}: goodput {:.2} of that beside unrelated frames", took[0] / took[1]);
        assert_eq!(errors, "");
    }
}

/// Neighbours that were set by hand are not to be talked into anything.
#[test]
fn forged_answers_of_arp_do_nothing_where_neighbours_are_permanent() {
    for network in ["10.77.0.0", "fd77::"] {
        let Some((cluster, middle, _turn)) = hosts(2) else { return };
        for (host, other) in [(0, 1), (1, 0)].map(|(a, b)| (cluster.host(a), cluster.host(b))) {
            for address in [other.ipv4(), other.ipv6()] {
                let mac = ethernet_address(other);
                let words =
                    format!("neigh replace {address} lladdr {mac} dev {INTERFACE} nud permanent");
                let set = host.command("ip").args(words.split(' ')).status().unwrap();
                assert!(set.success());
            }
        }
        let words = format!("--link udp --hosts a:1,b:1 --interface {network} --silence 2");
        let mut job = Running::start_checked(&cluster, &words, 2);
        middle.set(&[Act::Arp], 0.5);
        await_frames(&middle, &mut job, 10_000);
        let (_, errors) = job.end_checked();
        assert_eq!(errors, "", "{network}");
    }
}

fn ethernet_address(host: &Host) -> String {
    let output = host.command("ip").args(["-oneline", "link", "show", INTERFACE]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (_, rest) = text.split_once("link/ether ").unwrap();
    rest.split(' ').next().unwrap().to_owned()
}

/// Elsewhere they stop what is sent, as if somebody had cut the wire.
#[test]
fn forged_answers_of_arp_deliver_nothing_and_end_a_job_in_one_line() {
    let Some((cluster, middle, _turn)) = hosts(2) else { return };
    let mut job = Running::start_checked(&cluster, "--link udp --hosts a:1,b:1 --silence 1", 2);
    job.chats();
    middle.set(&[Act::Arp], 1.0);
    let mut errors = String::new();
    job.errors.read_to_string(&mut errors).unwrap();
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.contains("could not be reached for 1.0 s"), "{errors}");
    assert_eq!(job.launcher.wait().unwrap().code(), Some(77));
}
