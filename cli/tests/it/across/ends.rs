//! Whatever ends a job of two hosts, nothing of it remains: no process, file, socket or XDP
//! program, and no network namespace once its cluster is gone.
//!
//! Each end is tried a few times over each link; `WEFT_END_RUNS` says how often, and has times
//! judged.

use super::*;
use crate::common::traces::{Process, all_processes, ends_within, kill, marked, shared_memory};
use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::time::Instant;
use weft_netns::Host;

/// Runs of each end in `make test`.
const RUNS: u32 = 3;
/// Longest time that anything may stay when the times are judged, as on a machine with nothing else
/// to do.
const WITHIN: Duration = Duration::from_secs(1);
/// Longest time that sockets may stay of a process that nobody has seen.
const SOCKETS_LINGER: Duration = Duration::from_secs(10);
const HOSTS: &str = "--hosts a:2,b:2";

/// Cause of a job's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// All ranks return.
    Success,
    /// One exits with 3.
    Error,
    /// One is killed.
    Rank,
    /// The agent of the second host is.
    Agent,
    /// The launcher is.
    Launcher,
    /// Every process of the job is, in no order.
    All,
    /// The second host cannot be reached any more.
    Network,
}

/// Traces that a job could leave, and those that were there before.
pub struct Traces<'a> {
    cluster: &'a Cluster,
    link: &'a str,
    /// Its folder for temporary files, and its processes' working directory; they all have its name
    /// in their environment.
    folder: TempDir,
    shared_memory: BTreeSet<String>,
    sockets: Vec<String>,
}

impl<'a> Traces<'a> {
    pub fn before(cluster: &'a Cluster, link: &'a str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (shared_memory, sockets) = (shared_memory(), sockets_of(cluster));
        Traces { cluster, link, folder, shared_memory, sockets }
    }

    fn testee(&self, mode: &str) -> Command {
        // Times are judged with the usual silence.
        let silence = if runs_asked().is_some() { "--silence 0.8" } else { "--silence 2" };
        let words = format!("{HOSTS} --link {} {silence}", self.link);
        self.command(common::command(self.cluster, &words, &format!("weft-testee {mode}")))
    }

    /// The command that starts a job, which leaves its traces here.
    pub fn command(&self, mut command: Command) -> Command {
        command.env("TMPDIR", self.folder.path()).current_dir(self.folder.path());
        command
    }

    /// The job's processes: whoever has its folder in the environment.
    pub fn processes(&self) -> Vec<Process> {
        marked(self.folder())
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Waits until these processes have ended, and those that they have started; returns how long
    /// after `since` that was. A process that ends loses its environment before its sockets.
    pub fn wait(&self, known: &[Process], since: Instant, what: &str) -> Duration {
        self.wait_for(known, |_| true, what);
        since.elapsed()
    }

    /// Waits until those of these processes have ended that are meant, and of those that they have
    /// started.
    pub fn wait_for(&self, known: &[Process], is_meant: impl Fn(&Process) -> bool, what: &str) {
        let await_meant = |all: &[Process]| {
            let meant = all.iter().filter(|one| is_meant(one));
            meant.map(|one| await_end(one, what)).count() > 0
        };
        await_meant(known);
        while await_meant(&self.processes()) {}
    }

    pub fn check(&self, what: &str) {
        let files: Vec<_> = fs::read_dir(self.folder.path()).unwrap().collect();
        assert!(files.is_empty(), "{what}: {files:?} are left");
        assert_eq!(shared_memory(), self.shared_memory, "{what}: /dev/shm");
        // A process that was never seen, as it was started after the last look and is ending, has
        // its sockets for a moment longer than its environment.
        let until = Instant::now() + SOCKETS_LINGER;
        while sockets_of(self.cluster) != self.sockets && Instant::now() < until {
            std::thread::yield_now();
        }
        assert_eq!(sockets_of(self.cluster), self.sockets, "{what}: sockets");
        common::no_program_remains(self.cluster);
    }
}

/// Waits for the end of a process, whose descriptor this is.
pub fn await_end((process, end): &Process, what: &str) {
    assert!(ends_within(end, 10), "{what}: {process} lives on, {}", name_of(*process));
}

pub fn name_of(process: Pid) -> String {
    fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default().replace('\0', " ")
}

/// The sockets on each host: those of UDP, of TCP that listen or talk, and of local ones the names.
fn sockets_of(cluster: &Cluster) -> Vec<String> {
    cluster.hosts().iter().flat_map(|host| host.enter(sockets_here).unwrap()).collect()
}

fn sockets_here() -> Vec<String> {
    let table = |name| fs::read_to_string(format!("/proc/thread-self/net/{name}")).unwrap();
    let mut sockets: Vec<String> = ["udp", "udp6", "raw", "packet"]
        .into_iter()
        .flat_map(|name| table(name).lines().skip(1).map(str::to_owned).collect::<Vec<_>>())
        .collect();
    // Connections that no process has (without an inode) wait for stragglers, or for the last
    // segment of the other end, which is the kernel's affair.
    let lives = |line: &&str| line.split_whitespace().nth(9) != Some("0");
    for name in ["tcp", "tcp6"] {
        sockets.extend(table(name).lines().skip(1).filter(lives).map(str::to_owned));
    }
    let unix = table("unix");
    sockets.extend(
        unix.lines().skip(1).filter_map(|line| line.split_whitespace().nth(7)).map(String::from),
    );
    sockets
}

fn network_of(host: &Host) -> u64 {
    host.enter(|| fs::metadata("/proc/thread-self/ns/net").unwrap().ino()).unwrap()
}

/// Brings a job to that end, and returns how long its processes stayed after that.
fn try_end(cluster: &Cluster, link: &str, end: End, run: u32) -> Duration {
    let traces = Traces::before(cluster, link);
    let what = format!("{end:?} over {link}, run {run}");
    let mode = match end {
        End::Success => "end",
        End::Error => "fail",
        _ => "",
    };
    let mut job = Running::start_this(traces.testee(mode), 4);
    let (victim, mut processes) = (run as usize % 4, traces.processes());
    let start = Instant::now();
    match end {
        End::Success | End::Error => {}
        End::Rank => kill(&job.ranks[victim].2),
        End::Agent => kill_process(parent_of(job.ranks[3].1), Signal::KILL).unwrap(),
        End::Launcher => job.launcher.kill().unwrap(),
        End::All => {
            assert!(processes.len() >= 7, "{what}: launcher, agents and ranks");
            let count = processes.len();
            processes.rotate_left(run as usize % count);
            processes.iter().for_each(|(_, process)| kill(process));
        }
        End::Network => cluster.host(1).set_link(false).unwrap(),
    }
    let mut said = Vec::new();
    job.out.read_to_end(&mut said).unwrap();
    let mut errors = String::new();
    job.errors.read_to_string(&mut errors).unwrap();
    let status = job.launcher.wait().unwrap();
    let stayed = traces.wait(&processes, start, &what);
    match end {
        End::Success => assert_eq!(status.code(), Some(0), "{what}: {errors}"),
        End::Error => assert_eq!(status.code(), Some(3), "{what}: {errors}"),
        End::Launcher => assert_eq!(status.code(), None, "{what}: {errors}"),
        // The launcher may have seen another's death before its own.
        End::All => assert!(!status.success(), "{what}: {errors}"),
        End::Rank | End::Agent | End::Network => {
            assert!(!status.success(), "{what}: {errors}");
            assert_eq!(errors.lines().count(), 1, "{what}: one clear line, not: {errors}");
        }
    }
    if end == End::Network {
        cluster.host(1).set_link(true).unwrap();
    }
    traces.check(&what);
    stayed
}

fn runs_asked() -> Option<u32> {
    std::env::var("WEFT_END_RUNS").ok().map(|text| text.parse().unwrap())
}

/// Tries an end again and again, and at last that the hosts can go.
fn nothing_remains_after(end: End) {
    let Some(two) = cluster(2) else { return };
    let asked = runs_asked();
    let runs = (0..asked.unwrap_or(RUNS)).flat_map(|run| [("udp", run), ("xdp", run)]);
    // Over a fabric nobody misses a host that lives and is cut off (docs/internals/fabric.md).
    let fabric = (end != End::Network).then_some(("fabric --provider tcp;ofi_rxm", 0));
    let runs = runs.chain(fabric);
    let longest = runs.map(|(link, run)| try_end(&two, link, end, run)).max().unwrap_or_default();
    println!("{end:?}: the last process stayed for {longest:?} at most");
    let long_enough = [End::Success, End::Error].contains(&end) || longest < WITHIN;
    assert!(asked.is_none() || long_enough, "{end:?}: {longest:?}");
    let networks: Vec<u64> = two.hosts().iter().map(network_of).collect();
    drop(two);
    for (process, _) in all_processes() {
        let network = fs::metadata(format!("/proc/{process}/ns/net"));
        let inside = network.is_ok_and(|network| networks.contains(&network.ino()));
        assert!(!inside, "{end:?}: {} keeps a network", name_of(process));
    }
}

macro_rules! ends {
    ($($name:ident: $end:expr;)*) => { $( #[test] fn $name() { nothing_remains_after($end); } )* };
}

ends! {
    after_success: End::Success;
    after_an_error: End::Error;
    after_a_rank_was_killed: End::Rank;
    after_an_agent_was_killed: End::Agent;
    after_the_launcher_was_killed: End::Launcher;
    after_everybody_was_killed: End::All;
    after_a_host_was_cut_off: End::Network;
}
