//! Weft's programs under process managers that know nothing of Weft: MPICH's hydra, Open MPI's
//! `mpirun`, and Slurm, of which the test runs one of its own on this machine.
//!
//! `setup` installs them; the programs are built with the workspace (`make test` does both).

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

mod slurm;

use crate::common::mpi::open_mpis;
use slurm::Slurm;

/// Words before a program's name that run it on four ranks, and the environment for it.
#[derive(Clone)]
struct Manager {
    words: String,
    variables: Vec<(&'static str, String)>,
}

fn manager(words: &str) -> Manager {
    Manager { words: words.into(), variables: Vec::new() }
}

fn hydra() -> Manager {
    manager("mpiexec.hydra -n 4")
}

fn open_mpi() -> Manager {
    let name = open_mpis("mpirun");
    manager(&format!("{name} --oversubscribe --allow-run-as-root -n 4"))
}

impl Manager {
    fn with(mut self, name: &'static str, value: &str) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    /// The command that runs a program of this workspace and its arguments.
    fn command(&self, program: &str) -> Command {
        let mut words = self.words.split_whitespace();
        let mut command = Command::new(words.next().unwrap());
        command.args(words);
        let mut program = program.split_whitespace();
        let weft = Path::new(env!("CARGO_BIN_EXE_weft"));
        let path = weft.with_file_name(program.next().unwrap());
        assert!(path.exists(), "{} is not built: cargo build --workspace", path.display());
        command.arg(path).args(program).stdin(Stdio::null());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs a program that must succeed, and returns what it wrote.
    fn run(&self, program: &str) -> String {
        let output = self.command(program).output().unwrap_or_else(|error| {
            panic!("{}: {error}; ./setup installs what is missing", self.words)
        });
        let text = String::from_utf8(output.stdout).unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{} {program}: {text}{errors}", self.words);
        text
    }

    /// Words of a program that fails. Now and then hydra ends without a word, not even its own,
    /// when its ranks end as soon as they have begun.
    fn fail(&self, program: &str) -> String {
        let said = || {
            let output = self.command(program).output().unwrap();
            let both = [output.stdout, output.stderr].concat();
            let text = String::from_utf8_lossy(&both).into_owned();
            assert!(!output.status.success(), "{} {program}: {text}", self.words);
            text
        };
        (0..3).map(|_| said()).find(|text| !text.is_empty()).unwrap_or_default()
    }

    fn gives_the_right_answers(&self) {
        let text = self.run("asp --sample 300 --check 40 --to JFK");
        assert!(text.contains("AMS -> JFK   5,848 km"), "{}: {text}", self.words);
        assert!(
            text.contains("verified against Dijkstra from 40 sources"),
            "{}: {text}",
            self.words
        );
        assert!(text.contains("\n4 ranks, "), "{}: {text}", self.words);
        let text = self.run("weft-example hello");
        for rank in 1..4 {
            let line = format!("rank 0 hears from rank {rank}: good morning\n");
            assert!(text.contains(&line), "{}: {text}", self.words);
        }
    }

    /// Kills a rank. The others end, the status is not 0, and somebody says which rank it was:
    /// Weft, or the process manager if it was so fast in ending the ranks that none of them could.
    fn tells_of_a_killed_rank(&self, own_words: impl Fn(u64, Pid) -> String) {
        const VICTIM: u64 = 2;
        let job = Running::start(self);
        let victim = job.ranks[&VICTIM].0;
        kill_process(victim, Signal::KILL).unwrap();
        let (text, success) = job.finish();
        let wefts = format!("weft: rank 2 of 4 (pid {victim}, host ");
        let told = text.contains(&wefts)
            && text.contains(") was killed by signal 9 (SIGKILL); the others end");
        assert!(told || text.contains(&own_words(VICTIM, victim)), "{}: {text}", self.words);
        assert_eq!(
            text.matches("weft: rank ").count(),
            usize::from(told),
            "{}: {text}",
            self.words
        );
        assert!(!success, "{}: {text}", self.words);
    }
}

/// A job whose ranks have all said who they are.
struct Running {
    launcher: Child,
    out: BufReader<ChildStdout>,
    ranks: BTreeMap<u64, (Pid, OwnedFd)>,
}

impl Running {
    fn start(manager: &Manager) -> Self {
        let mut command = manager.command("weft-testee");
        let mut launcher = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(launcher.stdout.take().unwrap());
        let mut job = Running { launcher, out, ranks: BTreeMap::new() };
        while job.ranks.len() < 4 {
            let mut line = String::new();
            assert_ne!(job.out.read_line(&mut line).unwrap(), 0, "all ranks say who they are");
            if let ["rank", rank, "is", "process", process] =
                line.split_whitespace().collect::<Vec<_>>()[..]
            {
                let pid = Pid::from_raw(process.parse().unwrap()).unwrap();
                let exit = pidfd_open(pid, PidfdFlags::empty()).unwrap();
                job.ranks.insert(rank.parse().unwrap(), (pid, exit));
            }
        }
        job
    }

    /// Waits until all ranks have ended, and returns what was written, and whether that is called a
    /// success.
    fn finish(mut self) -> (String, bool) {
        let mut errors = self.launcher.stderr.take().unwrap();
        let read_errors = std::thread::spawn(move || {
            let mut text = Vec::new();
            errors.read_to_end(&mut text).unwrap();
            text
        });
        let mut text = Vec::new();
        self.out.read_to_end(&mut text).unwrap();
        text.extend(read_errors.join().unwrap());
        for (pid, exit) in self.ranks.values() {
            wait_for_end(*pid, exit);
        }
        let success = self.launcher.wait().unwrap().success();
        (String::from_utf8_lossy(&text).into_owned(), success)
    }
}

/// Waits until a process has ended; fails the test after ten seconds.
fn wait_for_end(pid: Pid, exit: &OwnedFd) {
    let limit = Timespec { tv_sec: 10, tv_nsec: 0 };
    let ended = poll(&mut [PollFd::new(exit, PollFlags::IN)], Some(&limit)).unwrap();
    assert_eq!(ended, 1, "process {pid} lives on");
}

/// It does not say which process was the first.
fn hydras_words(_: u64, _: Pid) -> String {
    "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)".into()
}

fn open_mpis_words(rank: u64, _: Pid) -> String {
    format!("process rank {rank} with PID ")
}

#[test]
fn hydra_starts_weft() {
    hydra().gives_the_right_answers();
}

#[test]
fn hydra_speaks_pmi_2_too_and_over_a_connection() {
    hydra().with("WEFT_PMI", "pmi2").gives_the_right_answers();
    manager("mpiexec.hydra -pmi-port -n 4").gives_the_right_answers();
}

#[test]
fn open_mpi_starts_weft() {
    open_mpi().gives_the_right_answers();
}

#[test]
fn a_killed_rank_ends_the_job_under_hydra() {
    hydra().tells_of_a_killed_rank(hydras_words);
}

#[test]
fn a_killed_rank_ends_the_job_under_open_mpi() {
    open_mpi().tells_of_a_killed_rank(open_mpis_words);
}

#[test]
fn ranks_end_with_their_process_manager() {
    for manager in [hydra(), open_mpi()] {
        let mut job = Running::start(&manager);
        job.launcher.kill().unwrap();
        let (_, success) = job.finish();
        assert!(!success);
    }
}

#[test]
fn slurm_starts_weft_and_ends_it() {
    let slurm = Slurm::start();
    let srun = |words: &str| {
        manager(&format!("srun {words} -n4")).with("SLURM_CONF", &slurm.configuration())
    };
    srun("--mpi=pmi2 -N2").gives_the_right_answers();
    srun("--mpi=pmi2 -N2").with("WEFT_PMI", "pmi1").gives_the_right_answers();
    srun("--mpi=pmix -N2").gives_the_right_answers();
    // The second node has ranks 2 and 3.
    srun("--mpi=pmi2 -N2").tells_of_a_killed_rank(|_, _| "srun: error: two: task".into());
    let text = srun("--mpi=none -N2").fail("asp --sample 30");
    assert!(
        text.contains("Slurm started 4 tasks without a way to find each other: say srun --mpi="),
        "{text}"
    );
    let text =
        srun("--mpi=none -N2").with("WEFT_PMI", "none").run("asp --sample 300 --check 3 --to JFK");
    assert_eq!(text.matches("\n1 rank, ").count(), 4, "{text}");
}

#[test]
fn options_come_from_the_environment() {
    let text = hydra().with("WEFT_PRESET", "irx-imc").fail("asp --sample 30");
    assert!(
        text.contains("option preset = 'irx-imc' of this job: shared memory loses nothing"),
        "{text}"
    );
    let text = hydra().with("WEFT_PMI", "pmi3").fail("asp --sample 30");
    assert!(text.contains("WEFT_PMI is \"pmi3\", which makes no sense"), "{text}");
    hydra().with("WEFT_TREE", "binary").gives_the_right_answers();
    let text = hydra().with("WEFT_LINK", "xdp").fail("asp --sample 30");
    let line = "WEFT_LINK is \"xdp\", but the ranks that were started over PMI-1 (";
    assert!(text.contains(line) && text.contains(" are on one host, and share memory"), "{text}");
    hydra().with("WEFT_LINK", "shm").gives_the_right_answers();
}
