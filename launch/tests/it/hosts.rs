//! Jobs on several hosts, each a network namespace.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{Finished, Running, finish, wait_until_gone};
use rustix::process::{Pid, Signal, kill_process};
use weft_netns::{Cluster, Options, available, write_script};

/// A cluster, if there can be one.
fn cluster(hosts: usize) -> Option<Cluster> {
    available().then(|| Cluster::new(hosts, Options::default()).unwrap())
}

/// The launcher on the first host, with the cluster's remote shell and these words behind.
fn launcher(cluster: &Cluster, words: &str) -> Command {
    let mut command = cluster.host(0).command(env!("CARGO_BIN_EXE_weft-launch-testee"));
    command.stdin(Stdio::null()).args(["launch", "--rsh"]).arg(cluster.remote_shell());
    command.args(words.split_whitespace());
    command
}

fn launch(cluster: &Cluster, words: &str) -> Finished {
    finish(&mut launcher(cluster, words))
}

/// A remote shell that is this script.
fn write_shell(cluster: &Cluster, script: &str) -> PathBuf {
    let path = cluster.remote_shell().with_file_name("other-shell");
    write_script(&path, &format!("#!/bin/sh\n{script}\n")).unwrap();
    path
}

/// The last line that the launcher wrote, without the process in it.
fn last_line(err: &str) -> String {
    let line = err.lines().last().unwrap_or_default();
    let Some((before, rest)) = line.split_once("(pid ") else { return line.to_owned() };
    format!("{before}({}", rest.split_once(", ").unwrap().1)
}

/// Asserts that no process of any agent runs in the cluster any more, without any wait.
fn assert_no_agents(cluster: &Cluster) {
    let left = agents(cluster);
    assert!(left.is_empty(), "agents are left: {left:?}");
}

/// The processes of agents in the cluster.
fn agents(cluster: &Cluster) -> Vec<i32> {
    let networks: Vec<_> = cluster
        .hosts()
        .iter()
        .map(|host| host.enter(|| fs::read_link("/proc/thread-self/ns/net").unwrap()).unwrap())
        .collect();
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        entry.unwrap().file_name().to_str().and_then(|name| name.parse::<i32>().ok())
    });
    let is_agent = |process: &i32| {
        let command = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let network = fs::read_link(Path::new("/proc").join(process.to_string()).join("ns/net"));
        command.split(|byte| *byte == 0).any(|word| word == b"host-agent")
            && network.is_ok_and(|network| networks.contains(&network))
    };
    processes.filter(is_agent).collect()
}

#[test]
fn ranks_on_two_hosts_reach_one_another() {
    let Some(cluster) = cluster(2) else { return };
    let job = launch(&cluster, "--hosts a:2,b:3 network");
    assert_eq!((job.status, job.err.as_str()), (0, ""), "{job:?}");
    assert!(
        job.out.starts_with("host a: 2 from 0, eth0 10.77.0.1\nhost b: 3 from 2, eth0 10.77.0.2\n")
    );
    for rank in 0..5 {
        let (host, name, beside) = match rank {
            0 | 1 => (0, "a", "[rank 0, rank 1]"),
            _ => (1, "b", "[rank 2, rank 3, rank 4]"),
        };
        let line = format!("{rank} of 5 on host {host} ({name}), beside {beside}, heard all\n");
        assert!(job.out.contains(&line), "{line}{}", job.out);
    }
    job.assert_gone(5);
    assert_no_agents(&cluster);
}

#[test]
fn three_hosts_at_a_bridge_over_ipv6() {
    let Some(cluster) = cluster(3) else { return };
    let job = launch(&cluster, "--hosts a,b,c -n 4 --interface fd77:: network");
    assert_eq!((job.status, job.err.as_str()), (0, ""), "{job:?}");
    assert!(job.out.contains("host a: 2 from 0, eth0 fd77::1\n"), "{}", job.out);
    assert!(job.out.contains("host c: 1 from 3, eth0 fd77::3\n"), "{}", job.out);
    assert_eq!(job.out.matches("heard all").count(), 4);
    job.assert_gone(4);
}

#[test]
fn output_options_and_directories_are_as_on_one_host() {
    let Some(cluster) = cluster(2) else { return };
    let job = launch(&cluster, "--hosts a:1,b:1 --label --option tree flat options");
    assert_eq!((job.status, job.err.as_str()), (0, ""), "{job:?}");
    for rank in 0..2 {
        assert!(job.out.contains(&format!("[{rank}] {rank} {{\"cores\": ")), "{}", job.out);
    }
    let directory = tempfile::tempdir().unwrap();
    let words = format!("--hosts a:1,b:1 --directory {} lines=3000", directory.path().display());
    let job = launch(&cluster, &words);
    assert_eq!(job.status, 0, "{job:?}");
    for (rank, letter) in ["a", "b"].into_iter().enumerate() {
        let out = fs::read_to_string(directory.path().join(format!("rank-{rank}.out"))).unwrap();
        // The first line names the process.
        assert_eq!(out.lines().skip(1).filter(|line| **line == letter.repeat(60)).count(), 3000);
    }
}

#[test]
fn rank_0_reads_what_the_launcher_is_given() {
    let Some(cluster) = cluster(2) else { return };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("input");
    fs::write(&path, "x".repeat(100_000) + "\n").unwrap();
    // Rank 0 on another host than the launcher.
    let mut command = launcher(&cluster, "--hosts b:1,a:1 stdin");
    let job = finish(command.stdin(fs::File::open(&path).unwrap()));
    assert_eq!((job.status, job.err.as_str()), (0, ""));
    assert!(job.out.contains("read \"\"\n"), "rank 1 reads nothing");
    // So long a line is passed on in pieces, and lines of rank 1 may be between two of them.
    assert_eq!(job.out.matches('x').count(), 100_000);
    assert!(job.out.contains("read \"x") && job.out.contains("x\\n\"\n"), "a line, and its end");
}

#[test]
fn a_rank_that_is_killed_is_named_with_its_host() {
    let Some(cluster) = cluster(2) else { return };
    let job =
        launch(&cluster, "--hosts a:2,b:2 --grace-ms 60000 survivor survivor survivor kill=9");
    let heard = "heard that rank 3 was killed by signal 9 (SIGKILL)\n";
    assert_eq!(job.out.matches(heard).count(), 3, "{job:?}");
    assert_eq!(job.status, 137);
    let line = "weft: rank 3 of 4 (host b) was killed by signal 9 (SIGKILL); its last words: \"about to die\"; \
                the other 3 ranks ended";
    assert_eq!(last_line(&job.err), line);
    job.assert_gone(4);
    assert_no_agents(&cluster);
}

#[test]
fn a_rank_whose_number_is_that_of_a_seat_elsewhere_is_announced_there() {
    let Some(cluster) = cluster(2) else { return };
    // Rank 0 is lost; on host b the first seat is rank 1's.
    let job = launch(&cluster, "--hosts a:1,b:2 --grace-ms 60000 exit=3 survivor survivor");
    assert_eq!(
        job.out.matches("heard that rank 0 exited with status 3 before the job was over\n").count(),
        2,
        "{job:?}"
    );
    assert_eq!(job.status, 3);
    job.assert_gone(3);
}

#[test]
fn a_wish_to_stop_reaches_every_host() {
    let Some(cluster) = cluster(2) else { return };
    for signal in [Signal::INT, Signal::TERM] {
        let mut job = Running::start_command(&mut launcher(&cluster, "--hosts a:1,b:2 spin"), 3);
        job.signal(signal);
        let (status, err) = job.wait();
        assert_eq!(status, 128 + signal.as_raw());
        assert!(err.starts_with("weft: the job was ended by signal"), "{err}");
        job.assert_ranks_gone();
        assert_no_agents(&cluster);
    }
}

#[test]
fn a_stopped_job_goes_on_when_it_is_told_to() {
    let Some(cluster) = cluster(2) else { return };
    let job = Running::start_command(&mut launcher(&cluster, "--hosts a:1,b:1 spin"), 2);
    job.assert_goes_on_after_a_stop();
}

#[test]
fn a_killed_launcher_leaves_nothing_on_any_host() {
    let Some(cluster) = cluster(2) else { return };
    let mut job = Running::start_command(&mut launcher(&cluster, "--hosts a:2,b:2 deaf"), 4);
    job.signal(Signal::KILL);
    assert_eq!(job.wait().0, -9);
    job.wait_for_ranks();
    for agent in agents(&cluster) {
        wait_until_gone(agent);
    }
}

#[test]
fn a_killed_agent_is_a_lost_host() {
    let Some(cluster) = cluster(2) else { return };
    let words = "--hosts a:1,b:2 --grace-ms 60000 survivor spin";
    let mut job = Running::start_command(&mut launcher(&cluster, words), 3);
    kill_agents(&cluster, 1);
    assert_eq!(job.line(), "heard that rank 1 was killed by signal 9 (SIGKILL)\n");
    let (status, err) = job.wait();
    assert_eq!(status, 1, "{err}");
    let line = last_line(&err);
    assert!(line.starts_with("weft: rank 1 of 3 (host b) was lost with its host: "), "{line}");
    job.wait_for_ranks();
    for agent in agents(&cluster) {
        wait_until_gone(agent);
    }
}

/// Kills the agents on a host, and their shells.
fn kill_agents(cluster: &Cluster, host: usize) {
    let network = || fs::read_link("/proc/thread-self/ns/net").unwrap();
    let network = cluster.host(host).enter(network).unwrap();
    let is_there =
        |agent: &i32| fs::read_link(format!("/proc/{agent}/ns/net")).is_ok_and(|it| it == network);
    for agent in agents(cluster).into_iter().filter(is_there) {
        // Its shell may have ended with the agent that was killed before.
        let _ = kill_process(Pid::from_raw(agent).unwrap(), Signal::KILL);
    }
}

#[test]
fn a_job_goes_on_after_the_loss_of_a_rank_elsewhere() {
    let Some(cluster) = cluster(2) else { return };
    for (lost, host, behaviours) in
        [(3, "b", "goes-on goes-on goes-on kill=9"), (0, "a", "kill=9 goes-on")]
    {
        let job = launch(&cluster, &format!("--on-loss continue --hosts a:2,b:2 {behaviours}"));
        assert_eq!(job.status, 0, "{job:?}");
        let heard = format!("heard that rank {lost} was killed by signal 9 (SIGKILL)\n");
        assert_eq!(job.out.matches(&heard).count(), 3, "{job:?}");
        let line = format!(
            "weft: rank {lost} of 4 (host {host}) was killed by signal 9 (SIGKILL); \
             its last words: \"about to die\"; the job goes on with 3"
        );
        assert_eq!(last_line(&job.err), line, "{job:?}");
        job.assert_gone(4);
        assert_no_agents(&cluster);
    }
}

#[test]
fn a_job_goes_on_after_the_loss_of_a_host() {
    let Some(cluster) = cluster(3) else { return };
    for lost in [1, 0] {
        // The ranks there spin; in the list of hosts the lost one is where its number says.
        let ranks =
            ["spin spin goes-on goes-on goes-on", "goes-on spin spin goes-on goes-on"][lost];
        let hosts = ["a:2,b:1,c:2", "a:1,b:2,c:2"][lost];
        let words = format!("--on-loss continue --hosts {hosts} {ranks}");
        let mut job = Running::start_command(&mut launcher(&cluster, &words), 5);
        kill_agents(&cluster, lost);
        let first = lost as u16;
        for _ in 0..3 {
            let line = format!("heard that rank {first} was killed by signal 9 (SIGKILL)\n");
            assert_eq!(job.line(), line);
        }
        let (status, err) = job.wait();
        let lines: Vec<_> = err.lines().map(last_line).collect();
        assert_eq!((status, lines.len()), (0, 2), "{err}");
        for (rank, line) in (first..).zip(lines) {
            let host = cluster.host(lost).name();
            let begins = format!("weft: rank {rank} of 5 (host {host}) was lost with its host: ");
            assert!(line.starts_with(&begins), "{line}");
            assert!(line.ends_with("; the job goes on with 3"), "{line}");
        }
        job.wait_for_ranks();
        for agent in agents(&cluster) {
            wait_until_gone(agent);
        }
    }
}

#[test]
fn a_job_of_which_every_host_is_lost_has_failed() {
    let Some(cluster) = cluster(2) else { return };
    let words = "--on-loss continue --hosts a:1,b:1 spin";
    let mut job = Running::start_command(&mut launcher(&cluster, words), 2);
    kill_agents(&cluster, 1);
    let line = last_line(&job.error_line());
    assert!(line.ends_with("; the job goes on with 1"), "{line}");
    kill_agents(&cluster, 0);
    let (status, err) = job.wait();
    assert_eq!((status, err.lines().count()), (1, 1), "{err}");
    assert!(last_line(&err).starts_with("weft: rank 0 of 2 (host a) was lost with its host: "));
    job.wait_for_ranks();
}

#[test]
fn a_host_that_falls_silent_is_lost() {
    let Some(cluster) = cluster(2) else { return };
    let words = "--silence-ms 800 --hosts a:1,b:1 --grace-ms 60000 survivor spin";
    let mut job = Running::start_command(&mut launcher(&cluster, words), 2);
    let silent = agents(&cluster);
    // Both hosts' agents stop: whichever is missed first, the job ends.
    for &agent in &silent {
        rustix::process::kill_process(rustix::process::Pid::from_raw(agent).unwrap(), Signal::STOP)
            .unwrap();
    }
    let (status, err) = job.wait();
    assert_eq!(status, 1, "{err}");
    assert!(err.contains("nothing has been heard of it for 0.8 s"), "{err}");
    job.wait_for_ranks();
}

#[test]
fn hosts_that_cannot_take_part_are_named_in_one_line() {
    let Some(cluster) = cluster(2) else { return };
    let shell = cluster.remote_shell();
    let noisy = format!("echo Welcome to host $1\nexec {} \"$@\"", shell.display());
    let noisy = format!("--rsh {} --hosts a:1,b:1 leave", write_shell(&cluster, &noisy).display());
    for (words, line) in [
        (
            "--hosts a:1,z:1 leave",
            "weft: host z: the remote shell cannot get there: Could not resolve hostname z\n",
        ),
        (
            "--rsh no-such-shell --hosts a:1,b:1 leave",
            "weft: host b: cannot start the remote shell \"no-such-shell\": No such file or directory (os error 2) (--rsh names another)\n",
        ),
        (
            "--remote-weft /no/weft --hosts a:1,b:1 leave",
            "weft: host b: weft cannot be run there as /no/weft: sh: 1: /no/weft: not found (install it there, or say where it is with --remote-weft)\n",
        ),
        (
            "--interface eth7 --hosts a:1,b:1 leave",
            "weft: host a: it has no interface or network \"eth7\"; it has eth0 (10.77.0.1), eth0 (fd77::1)\n",
        ),
        (
            "--hosts a:1,b:1 -n 3 leave",
            "weft: 3 ranks were asked for, and the list of hosts has 2\n",
        ),
        (
            noisy.as_str(),
            "weft: host b: what comes from there is not from weft: does a start-up file of its shell write something? make it silent\n",
        ),
    ] {
        let job = launch(&cluster, words);
        assert_eq!(job.status, 2, "{words}: {job:?}");
        assert_eq!(job.err, line, "{words}");
        // They end with the connection, and nobody waits for those that never were of the job.
        agents(&cluster).into_iter().for_each(wait_until_gone);
    }
}

#[test]
fn a_program_or_a_directory_that_a_host_lacks_is_named() {
    let Some(cluster) = cluster(2) else { return };
    let job = launch(&cluster, "--hosts a:1,b:1 --program no-such-program");
    assert_eq!(job.status, 2);
    assert!(
        job.err.contains(": cannot find the program \"no-such-program\": looked beside weft"),
        "{}",
        job.err
    );
    let parent = tempfile::tempdir().unwrap();
    let directory = parent.path().join("only-on-a");
    fs::create_dir(&directory).unwrap();
    // A remote shell behind which other files are mounted where the directory's parent is.
    let mut script = format!("mount -t tmpfs none {}\n", parent.path().display());
    script += &format!("exec {} \"$@\"", cluster.remote_shell().display());
    let shell = write_shell(&cluster, &format!("exec unshare --mount sh -c '{script}' sh \"$@\""));
    let mut command = launcher(&cluster, "--hosts a:1,b:1");
    let job = finish(command.arg("--rsh").arg(shell).arg("leave").current_dir(&directory));
    let line = format!(
        "weft: host b: cannot work in {}: No such file or directory (os error 2) (make it there, or name \
         one that every host has with --chdir)\n",
        directory.display()
    );
    assert_eq!((job.status, job.err), (2, line));
}

#[test]
fn a_weft_of_another_release_is_named() {
    let Some(cluster) = cluster(2) else { return };
    // What an agent of version 999 would say first, and an agent that dies with a last word.
    let old =
        write_shell(&cluster, "printf '\\010\\000\\000\\000weft\\347\\003\\100\\000'; sleep 1000");
    let job = launch(&cluster, &format!("--rsh {} --hosts a:1,b:1 leave", old.display()));
    assert_eq!(job.status, 2);
    let line = "weft: host b: the weft there is of another release (--remote-weft names another): it speaks version 999 ";
    assert!(job.err.starts_with(line), "{}", job.err);
    let dying = write_shell(&cluster, "echo some noise >&2; echo the reason >&2; exit 3");
    let job = launch(&cluster, &format!("--rsh {} --hosts a:1,b:1 leave", dying.display()));
    assert_eq!(job.err, "weft: host b: its agent ended with status 3: the reason\n");
    let silent = write_shell(&cluster, "sleep 1000");
    let job = launch(
        &cluster,
        &format!("--patience-ms 300 --rsh {} --hosts a:1,b:1 leave", silent.display()),
    );
    assert_eq!(job.err, "weft: host b: it has not answered within 0.3 s\n");
    assert_no_agents(&cluster);
}

#[test]
fn agents_hear_of_a_launcher_that_waits_for_others() {
    let Some(cluster) = cluster(2) else { return };
    // Two signs of life, before anything else.
    let shell = write_shell(&cluster, "head -c 24 >/dev/null; exit 3");
    let words = format!("--patience-ms 20000 --rsh {} --hosts a:1,b:1 leave", shell.display());
    let job = launch(&cluster, &words);
    assert_eq!(job.err, "weft: host b: its agent ended with status 3\n");
}

#[test]
fn hosts_that_do_not_reach_each_other_are_named() {
    let Some(cluster) = cluster(2) else { return };
    cluster.host(1).lose_datagrams(1.0).unwrap();
    let job = launch(&cluster, "--hosts a:1,b:1 leave");
    assert_eq!(job.status, 2);
    let before = "weft: host a (10.77.0.1) does not reach UDP port ";
    let behind = " of host b (10.77.0.2), though it is reached from there: let UDP through (firewall, routes), or name \
                  another network with --interface\n";
    let port = job.err.strip_prefix(before).and_then(|rest| rest.strip_suffix(behind));
    assert!(port.is_some_and(|port| port.parse::<u16>().is_ok()), "{}", job.err);
    assert_eq!(job.out, "");
    assert_no_agents(&cluster);
}

#[test]
fn a_program_that_is_not_wefts_is_recognised() {
    let Some(cluster) = cluster(2) else { return };
    let job = launch(&cluster, "--hosts a:1,b:1 --program true");
    assert_eq!(job.status, 1);
    assert_eq!(job.err, "weft: true exited without joining the job: is it a Weft program?\n");
}
