//! Jobs on many hosts, whose agents start one another.

mod agents;
mod many;

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};

use crate::common::{Running, finish};
use agents::Agents;
use rustix::process::{Pid, Signal, kill_process};
use weft_netns::{Cluster, Options, available, write_script};

/// Hosts, four connections of each process, and so three steps: 4, 12 and 24 hosts.
const HOSTS: usize = 40;
const FAN_OUT: usize = 4;

fn cluster(hosts: usize) -> Option<Cluster> {
    available().then(|| Cluster::new(hosts, Options::default()).unwrap())
}

/// A rank on each host, these words, and what the ranks do.
fn launcher(cluster: &Cluster, words: &str) -> Command {
    launcher_of(cluster, 1, FAN_OUT, words)
}

/// So many ranks on each host, and so many connections of each process.
fn launcher_of(cluster: &Cluster, ranks: usize, fan_out: usize, words: &str) -> Command {
    let mut command = cluster.host(0).command(env!("CARGO_BIN_EXE_weft-launch-testee"));
    command.stdin(Stdio::null()).args(["launch", "--rsh"]).arg(cluster.remote_shell());
    let names: Vec<String> =
        cluster.hosts().iter().map(|host| format!("{}:{ranks}", host.name())).collect();
    command.args(["--hosts", &names.join(","), "--fan-out", &fan_out.to_string()]);
    command.args(words.split_whitespace());
    command
}

fn send(process: i32, signal: Signal) {
    kill_process(Pid::from_raw(process).unwrap(), signal).unwrap();
}

fn start(cluster: &Cluster, words: &str) -> (Running, Agents, i32) {
    let job = Running::start_command(&mut launcher(cluster, words), HOSTS);
    let process = job.launcher.id() as i32;
    let agents = Agents::of(process);
    assert_eq!(agents.0.len(), HOSTS);
    (job, agents, process)
}

#[test]
fn forty_hosts_and_nobody_has_more_than_four_connections() {
    let Some(cluster) = cluster(HOSTS) else { return };
    let (job, agents, process) = start(&cluster, "spin");
    let direct = agents.below(process);
    assert_eq!(direct.len(), FAN_OUT);
    let mut depths = [0; 4];
    let mut step: Vec<i32> = direct;
    for depth in &mut depths {
        *depth = step.len();
        assert!(step.iter().all(|agent| agents.below(*agent).len() < FAN_OUT));
        step = step.into_iter().flat_map(|agent| agents.below(agent)).collect();
    }
    assert_eq!(depths, [4, 12, 24, 0]);
    job.assert_goes_on_after_a_stop();
    agents.wait_until_gone();
    all_output_arrives_and_rank_0_reads(&cluster);
}

fn all_output_arrives_and_rank_0_reads(cluster: &Cluster) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().display();
    let job = finish(&mut launcher(cluster, &format!("--directory {path} lines=1000")));
    assert_eq!((job.status, job.err.as_str()), (0, ""), "{job:?}");
    for rank in 0..HOSTS {
        let out = fs::read(directory.path().join(format!("rank-{rank}.out"))).unwrap();
        // The first line names the process.
        let mut lines = out.split(|byte| *byte == b'\n').skip(1);
        let line = [b'a' + rank as u8; 60];
        assert_eq!(
            lines.by_ref().take_while(|written| **written == line).count(),
            1000,
            "rank {rank}"
        );
        assert_eq!(lines.next(), None, "rank {rank}");
    }
    let input = directory.path().join("input");
    fs::write(&input, "x".repeat(100_000) + "\n").unwrap();
    let mut command = launcher(cluster, "stdin");
    let job = finish(command.stdin(fs::File::open(&input).unwrap()));
    assert_eq!((job.status, job.err.as_str()), (0, ""));
    assert_eq!(job.out.matches('x').count(), 100_000);
    assert_eq!(job.out.matches("read \"\"\n").count(), HOSTS - 1);
    job.assert_gone(HOSTS);
}

#[test]
fn with_an_agent_all_behind_it_are_lost_and_the_others_told() {
    let Some(cluster) = cluster(HOSTS) else { return };
    // Its connection ends, or stays as it is.
    lose(&cluster, 1, Signal::KILL, "10000", "");
    lose(&cluster, 1, Signal::STOP, "1500", "nothing has been heard of it for 1.5 s");
    lose(&cluster, 2, Signal::STOP, "1500", "nothing has been heard of it for 1.5 s");
    lose(&cluster, 3, Signal::KILL, "10000", "");
}

/// Has the signal end or stop an agent so many steps from the launcher.
fn lose(cluster: &Cluster, steps: u32, signal: Signal, silence: &str, why: &str) {
    let words = format!("--silence-ms {silence} --grace-ms 60000 survivor");
    let (mut job, agents, process) = start(cluster, &words);
    let victim = (0..steps).fold(process, |agent, _| agents.inner(agent));
    let lost = agents.subtree(victim).len();
    send(victim, signal);
    let heard: BTreeSet<String> = (lost..HOSTS).map(|_| job.line()).collect();
    // All say the same of the same rank.
    assert_eq!(heard.len(), 1, "{heard:?}");
    let line = heard.first().unwrap();
    let rank: usize = line.split(' ').nth(3).unwrap().parse().unwrap();
    assert_eq!(*line, format!("heard that rank {rank} was killed by signal 9 (SIGKILL)\n"));
    let (status, err) = job.wait();
    assert_eq!((status, err.lines().count()), (1, 1), "{err}");
    let said = err.split_once("(pid ").unwrap().1.split_once(", ").unwrap().1;
    let host = cluster.host(rank).name();
    assert!(said.starts_with(&format!("host {host}) was lost with its host: {why}")), "{said}");
    let behind = match lost - 1 {
        0 => String::new(),
        count => format!(" (and {count} hosts behind it)"),
    };
    assert!(said.ends_with(&format!("{behind}; the other 39 ranks ended\n")), "{said}");
    job.wait_for_ranks();
    agents.wait_until_gone();
}

#[test]
fn a_job_goes_on_without_an_agent_and_all_behind_it() {
    let Some(cluster) = cluster(12) else { return };
    let words = "--silence-ms 10000 --on-loss continue goes-on";
    let mut job = Running::start_command(&mut launcher_of(&cluster, 1, 3, words), 12);
    let agents = Agents::of(job.launcher.id() as i32);
    let victim = agents.inner(job.launcher.id() as i32);
    let lost = agents.subtree(victim).len();
    assert!((2..11).contains(&lost), "{agents:?}");
    send(victim, Signal::KILL);
    (lost..12).for_each(|_| assert!(job.line().starts_with("heard that rank ")));
    let (status, err) = job.wait();
    assert_eq!((status, err.lines().count()), (0, lost), "{err}");
    let goes_on = format!("; the job goes on with {}", 12 - lost);
    let behind =
        |line: &str| line.contains(" was lost with its host: ") && line.ends_with(&goes_on);
    assert!(err.lines().all(behind), "{err}");
    job.wait_for_ranks();
    agents.wait_until_gone();
}

#[test]
fn hosts_that_do_not_let_one_another_in_are_named_with_the_way_out() {
    let Some(cluster) = cluster(6) else { return };
    let shell = cluster.remote_shell().with_file_name("other-shell");
    let script = format!(
        "#!/bin/sh\nif [ \"$(uname -n)\" != a ]; then echo 'Permission denied (publickey).' >&2; exit 255; fi\n\
         exec {} \"$@\"\n",
        cluster.remote_shell().display()
    );
    write_script(&shell, &script).unwrap();
    let words = |more: &str| format!("--rsh {} {more}", shell.display());
    // Below a, the launcher's own host, whose shell does let it in: e; below b: f.
    let job = finish(&mut launcher(&cluster, &words("--fan-out 3 leave")));
    let line = "weft: host f: the remote shell cannot get there: Permission denied (publickey). (seen from b, \
                which was to start it; --fan-out 256 has all started from where you are)\n";
    assert_eq!((job.status, job.err.as_str()), (2, line));
    let job = finish(&mut launcher(&cluster, &words("--fan-out 256 leave")));
    assert_eq!((job.status, job.err.as_str()), (0, ""));
    job.assert_gone(6);
}
