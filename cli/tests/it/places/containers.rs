//! Hosts that are containers: processes, files, users and names of their own, entered by clients
//! that start programs and know no shell, as those of Docker, Podman, Kubernetes and systemd.

use super::*;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use tempfile::TempDir;
use weft_netns::write_script;

/// Folder of the commands in containers.
const FOLDER: &str = "/tmp/opt";

/// Three hosts: the clients are on the first, and the others are containers, without privileges.
struct Containers {
    hosts: Cluster,
    clients: TempDir,
}

impl Containers {
    fn new() -> Option<Self> {
        let hosts = cluster(3)?;
        let clients = tempfile::tempdir().unwrap();
        let all = Containers { hosts, clients };
        let cases = all.hosts.hosts().iter().skip(1);
        let cases: String =
            cases.map(|host| format!("{}) words='{}' ;;\n", host.name(), host.words())).collect();
        let built = Path::new(env!("CARGO_BIN_EXE_weft")).parent().unwrap().display();
        // A container has its own processes and temporary files, another user, no home, and little
        // environment; what is to run there is somewhere else. The working directory names it,
        // because it may be below the folder that is covered first.
        let enter = format!(
            "name=$1; shift\ncase $name in\n{cases}*) echo \"No such container: $name\" >&2; exit 1 ;;\nesac\n\
             exec $words -- unshare --mount --pid --fork sh -c '\n\
             cd {built} && mount -t proc proc /proc && mount -t tmpfs none /tmp && mkdir {FOLDER} && \
             mount --no-canonicalize --bind . {FOLDER} && cd / || exit 1\n\
             exec setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs env -i PATH=/usr/bin:/bin \"$@\"\n\
             ' sh \"$@\""
        );
        all.client("enter", &enter);
        // Those of Docker and Podman take the name of a container and then the command.
        let docker = "[ $1 = exec ] && shift || exit 64\n[ $1 = -i ] && shift || exec </dev/null\n";
        all.client("docker", &format!("{docker}exec {} \"$@\"", all.path("enter")));
        let kubectl = "[ $1 = exec ] && shift || exit 64\n[ $1 = -i ] && shift || exec </dev/null\n\
                       pod=$1; [ \"$2\" = -- ] || { echo 'error: exec [POD] -- [COMMAND]' >&2; exit 1; }\nshift 2\n";
        all.client("kubectl", &format!("{kubectl}exec {} $pod \"$@\"", all.path("enter")));
        let systemd = "machine=; pipe=\nwhile :; do case $1 in --machine=*) machine=${1#*=} ;; --pipe) pipe=yes ;; \
                       --wait | --quiet | --collect) ;; *) break ;; esac; shift; done\n\
                       [ $pipe ] || exec </dev/null >/dev/null\n";
        all.client("systemd-run", &format!("{systemd}exec {} $machine \"$@\"", all.path("enter")));
        Some(all)
    }

    fn client(&self, name: &str, script: &str) {
        write_script(Path::new(&self.path(name)), &format!("#!/bin/sh\n{script}\n")).unwrap();
    }

    fn path(&self, name: &str) -> String {
        self.clients.path().join(name).display().to_string()
    }

    /// `weft run` with these words on the first host, from a folder that all have. The first word
    /// of `shell` is a client.
    fn command(&self, shell: &str, words: &str, program: &str) -> std::process::Command {
        let mut words = format!("--silence 10 {words}");
        if !words.contains("--remote-weft") {
            words += &format!(" --remote-weft {FOLDER}/weft");
        }
        let mut command = self.hosts.host(0).command(env!("CARGO_BIN_EXE_weft"));
        command.args(["run", "--rsh"]).arg(self.path(shell)).args(words.split_whitespace());
        command.arg("--").args(program.split_whitespace()).current_dir("/").stdin(Stdio::null());
        command
    }

    /// A job whose ranks have all said who they are.
    fn start(&self) -> Job {
        let words = "--hosts b:1,c:2 --link udp";
        let mut command = self.command("docker exec -i", words, "weft-testee");
        let mut launcher = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(launcher.stdout.take().unwrap());
        for _ in 0..3 {
            let mut line = String::new();
            while !line.contains(" is process ") {
                line.clear();
                assert_ne!(out.read_line(&mut line).unwrap(), 0, "the job has ended");
            }
        }
        Job { launcher, out }
    }

    /// The processes in the containers, with their commands.
    fn processes(&self) -> Vec<(Pid, OwnedFd, String)> {
        let network = || fs::metadata("/proc/thread-self/ns/net").unwrap().ino();
        let containers = &self.hosts.hosts()[1..];
        let networks: Vec<u64> =
            containers.iter().map(|host| host.enter(network).unwrap()).collect();
        let mut all = Vec::new();
        for entry in fs::read_dir("/proc").unwrap() {
            let name = entry.unwrap().file_name();
            let number = name.to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw);
            let Some(process) = number else { continue };
            // The look comes after the descriptor, so that the number cannot have a new owner.
            let Ok(end) = pidfd_open(process, PidfdFlags::empty()) else { continue };
            let network = fs::metadata(format!("/proc/{process}/ns/net"));
            if network.is_ok_and(|network| networks.contains(&network.ino())) {
                let words = fs::read_to_string(format!("/proc/{process}/cmdline"));
                all.push((process, end, words.unwrap_or_default().replace('\0', " ")));
            }
        }
        all
    }

    /// Waits until nothing is left in the containers.
    fn await_ends(&self) {
        loop {
            let all = self.processes();
            if all.is_empty() {
                return;
            }
            for (process, end, words) in all {
                let limit = Timespec { tv_sec: 10, tv_nsec: 0 };
                let ended = poll(&mut [PollFd::new(&end, PollFlags::IN)], Some(&limit)).unwrap();
                assert_eq!(ended, 1, "{process} lives on: {words}");
            }
        }
    }
}

/// A job of three ranks in two containers.
struct Job {
    launcher: Child,
    out: BufReader<std::process::ChildStdout>,
}

impl Job {
    /// Waits for its end; returns what was written on standard error.
    fn finish(mut self) -> String {
        let mut errors = String::new();
        std::io::copy(&mut self.out, &mut std::io::sink()).unwrap();
        self.launcher.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        self.launcher.wait().unwrap();
        errors
    }
}

#[test]
fn containers_by_docker_podman_kubernetes_and_systemd() {
    let Some(containers) = Containers::new() else { return };
    for shell in [
        "docker exec -i",
        "kubectl exec -i {} --",
        "systemd-run --machine={} --pipe --wait --quiet --collect",
    ] {
        let words = "-v --hosts b:1,c:2 --link udp";
        let said = text(&containers.command(shell, words, ASP).output().unwrap());
        let line = "(b: 1 on ";
        assert!(said.contains(line) && said.contains(UDP), "{shell}: {said}");
        assert!(said.contains("verified against Dijkstra from 40 sources"), "{shell}: {said}");
        containers.await_ends();
    }
}

#[test]
fn what_clients_of_containers_are_not_told_is_said() {
    let Some(containers) = Containers::new() else { return };
    let no_input = "the remote shell passes on no standard input there: docker exec, podman exec and kubectl exec \
                    take -i for that, systemd-run --pipe\n";
    for (shell, words, why) in [
        ("docker exec", "--hosts b", no_input),
        ("kubectl exec {} --", "--hosts b", no_input),
        (
            "kubectl exec -i",
            "--hosts b",
            "its agent ended with status 1: error: exec [POD] -- [COMMAND]\n",
        ),
        (
            "docker exec -i",
            "--hosts b --remote-weft /opt/weft",
            "weft cannot be run there as /opt/weft: ",
        ),
        (
            "docker exec -i",
            "--hosts nowhere",
            "its agent ended with status 1: No such container: nowhere\n",
        ),
    ] {
        let said = text(&containers.command(shell, words, "asp").output().unwrap());
        let host = words.split(' ').nth(1).unwrap();
        assert!(said.starts_with(&format!("weft: host {host}: {why}")), "{shell} {words}: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        containers.await_ends();
    }
}

#[test]
fn nothing_remains_in_a_container() {
    let Some(containers) = Containers::new() else { return };
    let mut job = containers.start();
    assert!(containers.processes().len() >= 5, "agents and ranks");
    job.launcher.kill().unwrap();
    job.finish();
    containers.await_ends();

    let job = containers.start();
    // What a client starts is the first process of its container, with which the others end.
    let is_agent = |words: &str| words.starts_with(FOLDER) && words.contains(" host-agent");
    let agents = containers.processes().into_iter().filter(|(_, _, words)| is_agent(words));
    let agents: Vec<_> = agents.collect();
    assert_eq!(agents.len(), 2, "{agents:?}");
    kill_process(agents[0].0, Signal::KILL).unwrap();
    let errors = job.finish();
    assert!(errors.contains("was lost with its host"), "{errors}");
    containers.await_ends();
}
