//! Jobs that go on, whose ranks are killed.

use super::traces::{Draw, Process, ends_within, kill, marked, shared_memory, variable_of};
use super::{built, parent_if_known};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// Words of `weft run` by which a job goes on, and says which rank wrote a line.
pub const GOES_ON: &str = "--on-loss continue --label";
/// Longest that nothing but time passes between two kills.
const PAUSE_US: u64 = 5_000;

/// A job whose ranks are all there.
pub struct Mortal {
    launcher: Child,
    out: BufReader<ChildStdout>,
    /// A file, which nobody has to read for its writers to go on.
    errors: File,
    /// The folder that its processes have in their environment.
    folder: PathBuf,
    ranks: BTreeMap<u16, Process>,
    lines: Vec<String>,
    killed: BTreeSet<u16>,
    /// True if lines that a host has yet to pass on were lost with it.
    lost_lines: bool,
}

/// The end of such a job.
pub struct Ended {
    pub size: usize,
    pub lines: Vec<String>,
    pub killed: BTreeSet<u16>,
    lost_lines: bool,
    status: Option<i32>,
    errors: String,
}

impl Mortal {
    /// Starts a job whose processes have a folder in their environment, and waits for its first
    /// line: then all ranks are there.
    pub fn start(mut command: Command, folder: &Path) -> Self {
        let errors = tempfile::tempfile().unwrap();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(errors.try_clone().unwrap());
        let mut launcher = command.spawn().unwrap();
        let out = BufReader::new(launcher.stdout.take().unwrap());
        let (ranks, lines, killed, lost_lines) = Default::default();
        let folder = folder.to_owned();
        let mut job = Mortal { launcher, out, errors, folder, ranks, lines, killed, lost_lines };
        job.read_line();
        job.look_for_ranks();
        job
    }

    fn look_for_ranks(&mut self) {
        let numbered = marked(&self.folder).into_iter().filter_map(|process| {
            Some((variable_of(process.0, "WEFT_RANK")?.parse().unwrap(), process))
        });
        self.ranks.extend(numbered);
    }

    /// Waits for a rank that comes later, if it is not there, or the end of the job.
    fn await_rank(&mut self, rank: u16) {
        while !self.ranks.contains_key(&rank) && self.launcher.try_wait().unwrap().is_none() {
            self.look_for_ranks();
            std::thread::yield_now();
        }
    }

    /// Runs an example on one host, with room for more ranks, of which these are killed, and checks
    /// that nothing is left.
    pub fn run((ranks, room): (u16, u16), words: &str, victims: &[u16], draw: &mut Draw) -> Ended {
        let (folder, names) = (tempfile::tempdir().unwrap(), shared_memory());
        let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
        command.arg("run").args(GOES_ON.split(' ')).args(["-n", &ranks.to_string()]);
        command.args(["--room", &room.to_string(), "--"]);
        command.arg(built("weft-example")).args(words.split(' '));
        command.env("TMPDIR", folder.path()).current_dir(folder.path());
        let mut job = Mortal::start(command, folder.path());
        let processes = marked(folder.path());
        job.kill(victims, draw);
        let ended = job.finish(ranks.into());
        let lives = processes.iter().find(|(_, end)| !ends_within(end, 10));
        assert!(lives.is_none() && marked(folder.path()).is_empty(), "{lives:?} lives on");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "files are left");
        assert_eq!(shared_memory(), names, "something is left in /dev/shm");
        ended
    }

    /// False if there is none any more.
    fn read_line(&mut self) -> bool {
        let mut line = String::new();
        let any = self.out.read_line(&mut line).unwrap() > 0;
        self.lines.extend(any.then_some(line));
        any
    }

    /// Kills these ranks one after the other. What passes before each is drawn: lines, or time, or
    /// nothing.
    pub fn kill(&mut self, victims: &[u16], draw: &mut Draw) {
        for victim in victims {
            for _ in 0..draw.below(4) {
                self.read_line();
            }
            let until = Instant::now() + Duration::from_micros(draw.below(PAUSE_US));
            while draw.below(2) == 0 && Instant::now() < until {}
            self.await_rank(*victim);
            // It may have ended.
            if let Some((_, end)) = self.ranks.get(victim) {
                kill(end);
                self.killed.insert(*victim);
            }
        }
    }

    /// Kills the agent of the host that a rank is on, with which all ranks there are lost.
    pub fn kill_host_of(&mut self, rank: u16) {
        let parents =
            self.ranks.iter().filter_map(|(rank, one)| Some((*rank, parent_if_known(one.0)?)));
        let parents: Vec<(u16, Pid)> = parents.collect();
        // It may have ended.
        let Some((_, agent)) = parents.iter().find(|(one, _)| *one == rank) else { return };
        self.killed
            .extend(parents.iter().filter(|(_, parent)| parent == agent).map(|(one, _)| one));
        kill_process(*agent, Signal::KILL).unwrap();
        self.lost_lines = true;
    }

    /// Waits for the end of a job of so many ranks.
    pub fn finish(mut self, size: usize) -> Ended {
        while self.read_line() {}
        let status = self.launcher.wait().unwrap().code();
        let mut errors = String::new();
        self.errors.rewind().unwrap();
        self.errors.read_to_string(&mut errors).unwrap();
        let Mortal { lines, killed, lost_lines, .. } = self;
        Ended { size, lines, killed, lost_lines, status, errors }
    }
}

impl Ended {
    /// All that was said, for a person.
    pub fn said(&self, what: &str) -> String {
        format!("{what}: {:?} were killed\n{}{}", self.killed, self.lines.concat(), self.errors)
    }

    /// True if what is said last may be missing: whoever said it was on a host that is lost, which
    /// happened at the end.
    pub fn may_lack_last_line(&self) -> bool {
        self.lost_lines && self.killed.contains(&0)
    }

    /// Ranks that were lost, by what the launcher says, of a job that ended well.
    pub fn lost(&self, what: &str) -> BTreeSet<u16> {
        let said = self.said(what);
        assert_eq!(self.status, Some(0), "{said}");
        let lost = lost_by(&self.errors);
        assert!(lost.is_subset(&self.killed), "{lost:?} were lost, {said}");
        lost
    }
}

/// Ranks of which the launcher has said that they were killed, or their host was lost.
fn lost_by(errors: &str) -> BTreeSet<u16> {
    let ways = ["killed by signal 9 (SIGKILL)", "lost with its host"];
    let is_lost = |line: &&str| ways.iter().any(|way| line.contains(way));
    let ranks = errors.lines().filter(is_lost);
    let ranks = ranks.filter_map(|line| line.strip_prefix("weft: rank ")?.split_once(" of "));
    ranks.map(|(rank, _)| rank.parse().unwrap()).collect()
}

/// Seeds of a storm: as many as `WEFT_<NAME>_RUNS` says, from `WEFT_FIRST_<NAME>` on.
pub fn seeds(name: &str, usual: u64) -> Range<u64> {
    let number =
        |name: String| std::env::var(name).ok().map(|text| text.parse().expect("a number"));
    let first = number(format!("WEFT_FIRST_{name}")).unwrap_or(1);
    first..first + number(format!("WEFT_{name}_RUNS")).unwrap_or(usual)
}
