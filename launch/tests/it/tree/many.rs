//! Start, end and memory of 1,024 ranks on 256 hosts, all on this machine: printed, not judged.
//!
//! `make soak` runs this; by hand it is
//! `cargo test -p weft-launch --test it -- tree:: --ignored --nocapture`.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use weft_netns::{Cluster, HOSTS_MAX, Options, available};

use super::agents::Agents;
use super::{launcher_of, send};
use crate::common::{Running, processes_of};

/// Ranks of each host.
const RANKS: usize = 4;
/// Connections of each process.
const FAN_OUT: usize = 16;
/// Hosts that are stuck at the end.
const STUCK: usize = 10;
const ATTEMPTS: u32 = 5;

/// Kilobytes of a process that are its own, and its part of those that it shares.
fn memory_kib(process: i32) -> (u64, u64) {
    let rollup = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).unwrap_or_default();
    let of = |name: &str| -> u64 {
        let lines = rollup.lines().filter_map(|line| line.strip_prefix(name));
        lines.filter_map(|line| line.trim_end_matches(" kB").trim().parse::<u64>().ok()).sum()
    };
    (of("Private_Dirty:") + of("Private_Clean:"), of("Pss:"))
}

fn print_memory(who: &str, processes: &[i32]) {
    let all: Vec<(u64, u64)> = processes.iter().map(|process| memory_kib(*process)).collect();
    let mean = |of: fn(&(u64, u64)) -> u64| all.iter().map(of).sum::<u64>() / all.len() as u64;
    let most = all.iter().map(|(own, _)| own).max().unwrap_or(&0);
    let (own, shared) = (mean(|(own, _)| *own), mean(|(_, shared)| *shared));
    println!(
        "memory of {who:<22} {own:>6} KiB of its own ({most} at most), {shared:>6} KiB with its part of what is shared; {} of them",
        all.len()
    );
}

/// A job of as many ranks as there can be, of which all have joined, and how long that took. One
/// machine in place of all hosts may leave an agent without a processor for so long that it counts
/// as lost: then it is tried again.
fn start(cluster: &Cluster) -> (Running, Duration) {
    let words = "--silence-ms 800 --join-limit-ms 60000 dummy";
    for _ in 0..ATTEMPTS {
        let mut command = launcher_of(cluster, RANKS, FAN_OUT, words);
        let began = Instant::now();
        match Running::try_start(&mut command, RANKS * HOSTS_MAX) {
            Ok(job) => return (job, began.elapsed()),
            Err(early) => println!("again, because this machine is too slow: {early}"),
        }
    }
    panic!("the job did not start");
}

#[test]
#[ignore = "takes a minute, and the machine for itself"]
fn many_hosts() {
    if !available() {
        return;
    }
    let cluster = Cluster::new(HOSTS_MAX, Options::default()).unwrap();
    for stuck in [0, STUCK, STUCK] {
        let (mut job, took) = start(&cluster);
        let launcher = job.launcher.id() as i32;
        let agents = Agents::of(launcher);
        println!(
            "start of {} ranks on {HOSTS_MAX} hosts: {:.2} s",
            RANKS * HOSTS_MAX,
            took.as_secs_f64()
        );
        let (inner, leaves): (Vec<i32>, Vec<i32>) =
            agents.0.keys().partition(|agent| !agents.below(**agent).is_empty());
        let of_agents = inner.iter().map(|agent| agents.below(*agent).len() + 1).max().unwrap();
        let of_launcher = agents.below(launcher).len();
        println!("connections: {of_launcher} of the launcher, {of_agents} of an agent at most");
        assert!(of_launcher.max(of_agents) <= FAN_OUT);
        print_memory("the launcher", &[launcher]);
        print_memory("an agent with others", &inner);
        print_memory("another agent", &leaves);
        print_memory("a rank", &processes_of(&job));
        leaves.iter().take(stuck).for_each(|agent| send(*agent, Signal::STOP));
        let asked = Instant::now();
        job.signal(Signal::TERM);
        let (status, err) = job.wait();
        let ended = asked.elapsed().as_secs_f64();
        println!("exit with {stuck} hosts stuck: {ended:.2} s, status {status}, {}", err.trim());
        job.wait_for_ranks();
        agents.wait_until_gone();
        println!("nothing is left {:.2} s after the wish to end", asked.elapsed().as_secs_f64());
    }
}
