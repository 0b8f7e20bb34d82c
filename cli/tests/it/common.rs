//! Jobs of `weft run` on hosts that are network namespaces.

pub mod farm;
pub mod mortal;
pub mod mpi;
pub mod survivors;
pub mod tickets;
pub mod traces;

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Output, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use weft_netns::{Cluster, Host, INTERFACE};

pub const ASP: &str = "asp --sample 300 --check 40 --to JFK";

pub fn built(program: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_weft")).with_file_name(program);
    assert!(path.exists(), "{} is not built: cargo build --workspace", path.display());
    path
}

/// `weft run` with these words, on the first host. Unless they say `--silence`, nobody is lost
/// because the machine stood still.
pub fn command(cluster: &Cluster, words: &str, program: &str) -> Command {
    let mut command = cluster.host(0).command(env!("CARGO_BIN_EXE_weft"));
    command.env("WEFT_RSH", cluster.remote_shell()).stdin(Stdio::null());
    let mut program = program.split_whitespace();
    command.arg("run").args(words.split_whitespace());
    let is_network = ["--hosts", "--link"].iter().any(|option| words.contains(option));
    if is_network && !words.contains("--silence") {
        command.args(["--silence", "10"]);
    }
    command.arg("--");
    command.arg(built(program.next().unwrap())).args(program);
    command
}

/// The command that has MPICH's hydra run a program on the first host and the others, `per_host`
/// ranks on each in turn.
pub fn hydra(cluster: &Cluster, per_host: usize, ranks: usize, program: &str) -> Command {
    let names: Vec<&str> = cluster.hosts().iter().map(Host::name).collect();
    let mut command = cluster.host(0).command("mpiexec.hydra");
    command.args(["-launcher", "rsh", "-launcher-exec"]).arg(cluster.remote_shell());
    command.args(["-iface", INTERFACE, "-hosts", &names.join(",")]);
    command.args(["-ppn", &per_host.to_string(), "-n", &ranks.to_string()]);
    let mut program = program.split_whitespace();
    command.arg(built(program.next().unwrap())).args(program).stdin(Stdio::null());
    command
}

/// A command as it is given there, where the first host is.
pub fn on_first_host(cluster: &Cluster, there: &Command) -> Command {
    let mut command = cluster.host(0).command(there.get_program());
    command.args(there.get_args()).stdin(Stdio::null());
    for (name, value) in there.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

pub fn text(output: &Output) -> String {
    [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat()
}

/// Runs a program that must succeed, and returns what was written.
pub fn run(cluster: &Cluster, words: &str, program: &str) -> String {
    let output = command(cluster, words, program).output().unwrap();
    let text = text(&output);
    assert!(output.status.success(), "{words} {program}: {text}");
    text
}

/// Asserts that `asp` gives the right answer, and returns what was written.
pub fn asp_is_right(cluster: &Cluster, words: &str, ranks: u16) -> String {
    let text = run(cluster, words, ASP);
    assert!(text.contains("AMS -> JFK   5,848 km"), "{words}: {text}");
    assert!(text.contains("verified against Dijkstra from 40 sources"), "{words}: {text}");
    assert!(text.contains(&format!("\n{ranks} ranks, ")), "{words}: {text}");
    text
}

/// A job whose ranks have all said who they are.
pub struct Running {
    pub launcher: Child,
    pub out: BufReader<ChildStdout>,
    pub errors: BufReader<ChildStderr>,
    pub ranks: Vec<(usize, Pid, OwnedFd)>,
    /// Lines of other kinds that came between those by which the ranks said who they are: what
    /// different ranks write comes in no order.
    pub passed_over: Vec<String>,
}

impl Running {
    pub fn start(cluster: &Cluster, words: &str, ranks: usize) -> Self {
        Self::start_this(command(cluster, words, "weft-testee"), ranks)
    }

    /// Ranks that check what they get, until [`Self::end_checked`].
    pub fn start_checked(cluster: &Cluster, words: &str, ranks: usize) -> Self {
        Self::start_checking(cluster, words, "checked", ranks)
    }

    /// Starts ranks that check "checked" or "checked-short" messages.
    pub fn start_checking(cluster: &Cluster, words: &str, which: &str, ranks: usize) -> Self {
        let mut command = command(cluster, words, &format!("weft-testee {which}"));
        command.stdin(Stdio::piped());
        Self::start_this(command, ranks)
    }

    pub fn start_this(mut command: Command, ranks: usize) -> Self {
        let mut launcher = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(launcher.stdout.take().unwrap());
        let errors = BufReader::new(launcher.stderr.take().unwrap());
        let (ranks_found, passed_over) = Default::default();
        let mut job = Running { launcher, out, errors, ranks: ranks_found, passed_over };
        while job.ranks.len() < ranks {
            let line = job.line();
            if let ["rank", rank, "is", "process", process] =
                line.split_whitespace().collect::<Vec<_>>()[..]
            {
                let pid = Pid::from_raw(process.parse().unwrap()).unwrap();
                job.ranks.push((rank.parse().unwrap(), pid, exit_of(pid)));
            } else {
                job.passed_over.push(line);
            }
        }
        job.ranks.sort_by_key(|(rank, ..)| *rank);
        job
    }

    pub fn line(&mut self) -> String {
        let mut line = String::new();
        if self.out.read_line(&mut line).unwrap() == 0 {
            let mut errors = String::new();
            self.errors.read_to_string(&mut errors).unwrap();
            panic!("the job has ended: {errors}");
        }
        line
    }

    /// Waits until rank 1 is further than it was.
    pub fn chats(&mut self) {
        while self.line() != "rank 1 chats\n" {}
    }

    /// Waits for a line on standard error in which these words are, and returns it.
    pub fn hears(&mut self, words: &str) -> String {
        loop {
            let mut line = String::new();
            let read = self.errors.read_line(&mut line).unwrap();
            assert_ne!(read, 0, "the job has ended, and nobody said {words:?}");
            if line.contains(words) {
                return line;
            }
        }
    }

    /// Ends a job of ranks that check what they get; returns how many messages each has checked,
    /// and what is left on standard error.
    pub fn end_checked(mut self) -> (Vec<u64>, String) {
        drop(self.launcher.stdin.take());
        let (mut out, mut errors) = (String::new(), String::new());
        self.out.read_to_string(&mut out).unwrap();
        self.errors.read_to_string(&mut errors).unwrap();
        let status = self.launcher.wait().unwrap();
        assert!(status.success(), "{status}: {errors}{out}");
        let counts = out.lines().filter_map(|line| {
            let (_, rest) = line.split_once(" checked ")?;
            rest.split_once(" messages")?.0.parse().ok()
        });
        let counts: Vec<u64> = counts.collect();
        assert_eq!(counts.len(), self.ranks.len(), "{out}");
        (counts, errors)
    }

    /// Waits until all have ended; returns what was written, and the status.
    pub fn finish(mut self) -> (String, Option<i32>) {
        for (rank, _, exit) in &self.ranks {
            let limit = Timespec { tv_sec: 10, tv_nsec: 0 };
            let ended = poll(&mut [PollFd::new(exit, PollFlags::IN)], Some(&limit)).unwrap();
            assert_eq!(ended, 1, "rank {rank} lives on");
        }
        let mut errors = String::new();
        std::io::copy(&mut self.out, &mut std::io::sink()).unwrap();
        self.errors.read_to_string(&mut errors).unwrap();
        (errors, self.launcher.wait().unwrap().code())
    }
}

/// A descriptor that is readable once a process has ended.
fn exit_of(pid: Pid) -> OwnedFd {
    match pidfd_open(pid, PidfdFlags::empty()) {
        // It has ended since it said its number; this is always readable.
        Err(Errno::SRCH) => File::open("/dev/null").unwrap().into(),
        opened => opened.unwrap(),
    }
}

/// One line says why a job has ended.
pub fn assert_one_line(errors: &str, words: &[&str]) {
    assert_eq!(errors.lines().count(), 1, "one clear line, not: {errors}");
    assert!(words.iter().all(|words| errors.contains(words)), "{errors}");
}

/// The agent of a host, which is the parent of its ranks.
pub fn parent_of(process: Pid) -> Pid {
    parent_if_known(process).unwrap()
}

/// The parent of a process; `None` if that is gone.
pub fn parent_if_known(process: Pid) -> Option<Pid> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, after_name) = stat.rsplit_once(") ")?;
    Pid::from_raw(after_name.split_whitespace().nth(1)?.parse().ok()?)
}

/// True if there is an XDP program on the host's interface.
pub fn has_program(host: &Host) -> bool {
    let output = host.command("ip").args(["link", "show", INTERFACE]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).contains("xdp")
}

/// True if an interface of a host accepts frames to a group of a job.
pub fn is_in_group(host: &Host) -> bool {
    let output = host.command("cat").arg("/proc/net/dev_mcast").output().unwrap();
    let all = String::from_utf8(output.stdout).unwrap();
    // Those of IP begin with other bytes.
    all.lines()
        .filter_map(|line| line.split_whitespace().last())
        .any(|group| group.starts_with("03"))
}

/// Nor does a group: the kernel gives both up some time after the last who had them has ended.
pub fn no_program_remains(cluster: &Cluster) {
    for host in cluster.hosts() {
        let gone = (0..1000).any(|_| !has_program(host) && !is_in_group(host));
        assert!(gone, "{} has an XDP program, or is in a group", host.name());
    }
}
