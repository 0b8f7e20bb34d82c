//! Program that the integration tests run, as launcher and as ranks.
//!
//! ```text
//! testee launch [-n RANKS] [--label] [--bind] [--directory DIR] [--join-limit-ms MS]
//!     [--grace-ms MS] [--on-loss REACTION] [--program NAME] [--option NAME VALUE]
//!     [--sockets] [--hosts LIST] [--rsh SHELL] [--remote-weft PATH]
//!     [--interface NAME] [--patience-ms MS] [--fan-out N] [--] ARGUMENTS
//! ```
//!
//! runs a job like `weft run`; the program is this one unless another is named.
//!
//! `testee BEHAVIOUR...` is a rank: rank `i` behaves as the `i`-th says, or the last.

#![allow(clippy::unwrap_used)] // A part of the tests in all but name.

use std::collections::{BTreeSet, VecDeque};
use std::io::{BufRead, BufReader, Write, stderr, stdout};
use std::net::UdpSocket;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio, exit};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::{sleep, yield_now};
use std::time::Duration;

use rustix::io::{pread, pwrite};
use rustix::process::{Signal, getpid, kill_process};
use weft_launch::{
    Binding, FarLink, HostLayout, HostsSpec, JobSpec, Membership, OnLoss, PEER_LOST, RankLayout,
    Settings, parse_hosts, run, run_on_hosts, start_if_asked,
};
use weft_link::Link;
use weft_link::bell::Loss;
use weft_link_shm::Shm;
use weft_wire::Rank;

fn main() -> ExitCode {
    if let Some(code) = start_if_asked(None) {
        return code;
    }
    let mut arguments: VecDeque<String> = std::env::args().skip(1).collect();
    if arguments.front().is_some_and(|first| first == "launch") {
        arguments.pop_front();
        return launch(arguments);
    }
    be_a_rank(arguments.into());
    ExitCode::SUCCESS
}

fn launch(mut arguments: VecDeque<String>) -> ExitCode {
    let mut spec = JobSpec::new(Settings::new(1), std::env::current_exe().unwrap());
    spec.dedicated = true;
    // Longer than processors of machines that are shared stand still.
    let mut silence = Duration::from_secs(10);
    let mut hosts = HostsSpec::new(Vec::new());
    hosts.far = FarLink::Udp;
    while arguments.front().is_some_and(|first| first.starts_with('-')) {
        let flag = arguments.pop_front().unwrap();
        let mut value = || arguments.pop_front().unwrap();
        match flag.as_str() {
            "--" => break,
            "-n" => {
                spec.settings = Settings::new(value().parse().unwrap());
                hosts.ranks = Some(spec.settings.ranks);
            }
            "--hosts" => hosts.hosts = parse_hosts(&value()).unwrap(),
            "--rsh" => hosts.remote_shell = value().parse().unwrap(),
            "--remote-weft" => hosts.remote_weft = Some(value().into()),
            "--interface" => hosts.interface = Some(value()),
            "--patience-ms" => hosts.patience = Duration::from_millis(value().parse().unwrap()),
            "--silence-ms" => silence = Duration::from_millis(value().parse().unwrap()),
            "--fan-out" => hosts.fan_out = value().parse().unwrap(),
            "--label" => spec.output.label = true,
            "--bind" => spec.binding = Binding::Core,
            "--directory" => spec.output.directory = Some(PathBuf::from(value())),
            "--join-limit-ms" => {
                spec.join_limit = Some(Duration::from_millis(value().parse().unwrap()));
            }
            "--grace-ms" => {
                spec.set_grace(Duration::from_millis(value().parse().unwrap()));
            }
            "--on-loss" => spec.set_on_loss(value().parse().unwrap()),
            "--program" => spec.program = value().into(),
            "--sockets" => spec.sockets = true,
            "--option" => drop(spec.options.insert(value(), value())),
            other => panic!("what is {other}?"),
        }
    }
    spec.arguments = arguments.into_iter().map(Into::into).collect();
    let outcome = match hosts.hosts.is_empty() {
        true => run(&spec, || {}),
        false => {
            spec.set_silence(silence);
            run_on_hosts(&spec, &hosts, print_layout)
        }
    };
    match outcome {
        Ok(outcome) => {
            if !outcome.is_silent() {
                eprintln!("weft: {outcome}");
            }
            ExitCode::from(outcome.status())
        }
        Err(error) => {
            eprintln!("weft: {error}");
            ExitCode::from(2)
        }
    }
}

fn print_layout(layout: &RankLayout) {
    for HostLayout { name, first, ranks, interface, address, .. } in &layout.hosts {
        println!("host {name}: {ranks} from {first}, {interface} {address}");
    }
}

fn be_a_rank(behaviours: Vec<String>) {
    let number = std::env::var("WEFT_RANK").ok().and_then(|rank| rank.parse().ok());
    let number: usize = number.unwrap_or_default();
    let behaviour = behaviours.get(number).or(behaviours.last()).expect("a behaviour");
    let (name, value) = behaviour.split_once('=').unwrap_or((behaviour, ""));
    match name {
        "absent" => exit(value.parse().unwrap()),
        "absent-named" => absent_named(),
        "absent-descriptors" => return print_descriptors(),
        _ => {}
    }
    let mut membership = match Membership::find(OnLoss::End) {
        Ok(Some(membership)) => membership,
        Ok(None) => {
            println!("alone");
            return;
        }
        Err(error) => {
            eprintln!("{error}");
            exit(1);
        }
    };
    let memory = membership.take_memory().unwrap();
    let socket = membership.take_socket();
    membership.joined().unwrap();
    if name == "deaf" {
        signal_hook::flag::register(15, Arc::new(AtomicBool::new(false))).unwrap();
    }
    println!("pid {}", std::process::id());
    if name != "dummy" {
        meet(&membership, &memory);
    }
    match (name, socket) {
        ("network", Some(socket)) => greet_all(&membership, &socket),
        _ => behave(name, value, &membership, &memory),
    }
    membership.leaving().unwrap();
}

fn behave(name: &str, value: &str, membership: &Membership, memory: &OwnedFd) {
    match name {
        "leave" => {}
        "early" => exit(0),
        "exit" => {
            eprintln!("about to exit");
            exit(value.parse().unwrap());
        }
        "kill" => kill_self(value.parse().unwrap()),
        "panic" => panic!("row 17 is out of range"),
        "spin" => spin(),
        "deaf" => spin(),
        "dummy" => sleep(Duration::from_secs(3600)),
        "survivor" => survive(membership, memory),
        "goes-on" => drop(hear_of_loss(membership, memory)),
        "kill-next" => {
            hear_of_loss(membership, memory);
            kill_self(value.parse().unwrap());
        }
        "lines" => print_lines(value.parse().unwrap(), membership.rank().0),
        "bar" => say(b"10%\r20%\r\n"),
        "partial" => {
            say(b"no end");
            stderr().write_all(b"nor here").unwrap();
        }
        "options" => println!("{} {:?}", membership.rank(), membership.options()),
        "cores" => println!("cores {}", rustix::thread::sched_getaffinity(None).unwrap().count()),
        "descriptors" => print_descriptors(),
        "child" => drop(Command::new(std::env::current_exe().unwrap()).arg("leave").status()),
        "again" => println!("{}", Membership::find(OnLoss::End).unwrap_err()),
        "daemon" => start_daemon(),
        "stdin" => {
            let mut text = String::new();
            std::io::stdin().read_line(&mut text).unwrap();
            println!("read {text:?}");
        }
        other => panic!("what is {other}?"),
    }
}

/// Waits until every rank is here, with a byte at the end of each one's part of the memory.
fn meet(membership: &Membership, memory: &OwnedFd) {
    let last = |rank: u16| membership.settings().owned_part(Rank(rank)).end as u64 - 1;
    let here = membership.ranks_here();
    let index = here.iter().position(|rank| *rank == membership.rank()).unwrap();
    pwrite(memory, &[1], last(index as u16)).unwrap();
    for rank in 0..membership.settings().ranks {
        let mut here = [0];
        while here == [0] {
            pread(memory, &mut here, last(rank)).unwrap();
            yield_now();
        }
    }
}

/// Sends a datagram to every other rank until each has sent one, and says who is where.
fn greet_all(membership: &Membership, socket: &UdpSocket) {
    let network = membership.network().unwrap();
    let rank = membership.rank();
    let (local, told) = (socket.local_addr().unwrap(), network.addresses[rank.index()]);
    assert_eq!(local.port(), told.port());
    // A socket that has one address does not hear a group.
    assert!(local.ip() == told.ip() || local.ip().is_unspecified(), "{local} for {told}");
    assert_ne!(network.secret.expose(), &[0; 16]);
    let greeting = |rank: u16| format!("{} {rank}", network.job);
    let mut silent: BTreeSet<u16> =
        (0..membership.ranks()).filter(|other| rank != *other).collect();
    let mut lingers = 0;
    socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    // A rank that has heard everybody goes on for a while: somebody may not have heard it.
    while !silent.is_empty() || lingers < 10 {
        lingers += u32::from(silent.is_empty());
        for (other, address) in (0..).zip(&network.addresses) {
            if rank != other {
                // A rank that has left hears no more.
                let _ = socket.send_to(greeting(rank.0).as_bytes(), address);
            }
        }
        let mut bytes = [0; 100];
        while let Ok((length, from)) = socket.recv_from(&mut bytes) {
            let sender = network.addresses.iter().position(|address| *address == from).unwrap();
            assert_eq!(&bytes[..length], greeting(sender as u16).as_bytes());
            silent.remove(&(sender as u16));
        }
    }
    let node = rustix::system::uname().nodename().to_string_lossy().into_owned();
    println!(
        "{rank} of {} on host {} ({node}), beside {:?}, heard all",
        membership.ranks(),
        network.hosts[rank.index()],
        membership.ranks_here()
    );
}

/// Waits for the news of a loss, reports it, and ends as a victim does.
fn survive(membership: &Membership, memory: &OwnedFd) -> ! {
    membership.report_loss(hear_of_loss(membership, memory)).unwrap();
    exit(PEER_LOST.into());
}

/// Waits for the news of a loss, and says it.
fn hear_of_loss(membership: &Membership, memory: &OwnedFd) -> Loss {
    let here = membership.ranks_here();
    let index = here.iter().position(|rank| *rank == membership.rank()).unwrap();
    let link = Shm::attach(Rank(index as u16), *membership.settings(), memory).unwrap();
    let bells = link.bells();
    let loss = loop {
        if let Some(loss) = bells.loss() {
            break loss;
        }
        yield_now();
    };
    println!("heard that rank {} {}", loss.rank, loss.cause);
    loss
}

fn kill_self(signal: i32) -> ! {
    eprintln!("about to die");
    kill_process(getpid(), Signal::from_named_raw(signal).unwrap()).unwrap();
    spin()
}

fn spin() -> ! {
    loop {
        yield_now();
    }
}

/// Says which process it is without joining, as a program that is not Weft's might, and stays.
fn absent_named() -> ! {
    println!("pid {}", std::process::id());
    spin()
}

fn say(bytes: &[u8]) {
    stdout().write_all(bytes).unwrap();
    stdout().flush().unwrap();
}

/// Lines of one letter, written in parts so that mixing them would show.
fn print_lines(count: usize, rank: u16) {
    let letter = b'a' + rank as u8;
    for _ in 0..count {
        say(&[letter; 30]);
        say(&[letter; 30]);
        say(b"\n");
    }
}

fn print_descriptors() {
    let numbers = std::fs::read_dir("/proc/self/fd").unwrap().map(|entry| entry.unwrap().path());
    let mut targets: Vec<_> = numbers.filter_map(|path| std::fs::read_link(path).ok()).collect();
    targets.sort();
    println!("descriptors {targets:?}");
}

/// Starts a process that is in no group of this job, and waits until it has said who it is.
fn start_daemon() {
    let mut daemon = Command::new("setsid");
    daemon.arg("-f").arg(std::env::current_exe().unwrap()).arg("absent-named");
    let mut daemon = daemon.stdout(Stdio::piped()).spawn().unwrap();
    daemon.wait().unwrap();
    let mut line = String::new();
    BufReader::new(daemon.stdout.take().unwrap()).read_line(&mut line).unwrap();
    print!("{line}");
}
