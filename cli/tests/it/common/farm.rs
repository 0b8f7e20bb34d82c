//! Farms (`weft-example farm`) in jobs that go on, whose ranks are killed.

use super::parent_if_known;
use super::traces::{Draw, Process, kill, marked, variable_of};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// Words of `weft run` by which a job goes on, and says which rank wrote a line.
pub const GOES_ON: &str = "--on-loss continue --label";
/// Longest that nothing but time passes between two kills.
const PAUSE_US: u64 = 5_000;

/// A farm whose ranks are all there.
pub struct Farm {
    launcher: Child,
    out: BufReader<ChildStdout>,
    /// A file, which nobody has to read for its writers to go on.
    errors: File,
    ranks: BTreeMap<u16, Process>,
    lines: Vec<String>,
    killed: BTreeSet<u16>,
}

/// The end of a farm.
pub struct Ended {
    size: usize,
    status: Option<i32>,
    lines: Vec<String>,
    errors: String,
    killed: BTreeSet<u16>,
}

impl Farm {
    /// Starts a farm whose processes have a folder in their environment, and waits for its first
    /// line: then all ranks are there.
    pub fn start(mut command: Command, folder: &Path) -> Self {
        let errors = tempfile::tempfile().unwrap();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(errors.try_clone().unwrap());
        let mut launcher = command.spawn().unwrap();
        let out = BufReader::new(launcher.stdout.take().unwrap());
        let (ranks, lines, killed) = Default::default();
        let mut farm = Farm { launcher, out, errors, ranks, lines, killed };
        farm.read_line();
        let numbered = marked(folder).into_iter().filter_map(|process| {
            Some((variable_of(process.0, "WEFT_RANK")?.parse().unwrap(), process))
        });
        farm.ranks = numbered.collect();
        farm
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
    }

    /// Waits for the end of a farm of so many ranks.
    pub fn finish(mut self, size: usize) -> Ended {
        while self.read_line() {}
        let status = self.launcher.wait().unwrap().code();
        let mut errors = String::new();
        self.errors.rewind().unwrap();
        self.errors.read_to_string(&mut errors).unwrap();
        Ended { size, status, lines: self.lines, errors, killed: self.killed }
    }
}

impl Ended {
    /// Judges what was said, of so many tasks. True if all that were killed are named as lost: else
    /// the others had come to the end.
    pub fn judge(&self, tasks: u64, what: &str) -> bool {
        let Ended { size, status, lines, errors, killed } = self;
        let said = format!("{what}: {killed:?} were killed\n{}{errors}", lines.concat());
        assert_eq!(*status, Some(0), "{said}");
        let lost = lost_by(errors, *size);
        assert!(lost.is_subset(killed), "{lost:?} were lost, {said}");
        let last: Vec<Last> = lines.iter().filter_map(|line| Last::parse(line)).collect();
        let (last, before) = last.split_last().unwrap_or_else(|| panic!("no last line, {said}"));
        assert!(last.lost.is_subset(&lost), "{:?} are named, {said}", last.lost);
        let left: BTreeSet<u16> =
            (0..*size as u16).filter(|rank| !last.lost.contains(rank)).collect();
        assert_eq!((last.tasks, last.left, last.size), (tasks, left.len(), *size), "{said}");
        assert_eq!(left.first(), Some(&last.writer), "the first that is left says it, {said}");
        // Another line is of a rank that was lost before others could know that it was there.
        assert!(before.iter().all(|line| last.lost.contains(&line.writer)), "{said}");
        last.lost == *killed
    }
}

/// Ranks of which the launcher has said that they were killed, or their host was lost.
fn lost_by(errors: &str, size: usize) -> BTreeSet<u16> {
    let (of, ways) =
        (format!(" of {size} ("), ["killed by signal 9 (SIGKILL)", "lost with its host"]);
    let is_lost = |line: &&str| ways.iter().any(|way| line.contains(way));
    let ranks = errors.lines().filter(is_lost);
    let ranks = ranks.filter_map(|line| line.strip_prefix("weft: rank ")?.split_once(&of));
    ranks.map(|(rank, _)| rank.parse().unwrap()).collect()
}

/// The last line of a farm.
struct Last {
    writer: u16,
    tasks: u64,
    left: usize,
    size: usize,
    lost: BTreeSet<u16>,
}

impl Last {
    fn parse(line: &str) -> Option<Self> {
        let (writer, line) = line.strip_prefix('[')?.split_once("] ")?;
        let (tasks, rest) = line.split_once(" tasks done by ")?;
        let (left, rest) = rest.split_once(" of ")?;
        let (size, rest) = rest.split_once(" ranks, ")?;
        let (_again, lost) = rest.split_once(" of them handed out again; ")?;
        let number = |text: &str| text.parse::<u64>().unwrap();
        let ranks = lost.split(|letter: char| !letter.is_ascii_digit());
        Some(Last {
            writer: number(writer) as u16,
            tasks: number(tasks),
            left: number(left) as usize,
            size: number(size) as usize,
            lost: ranks.filter(|rank| !rank.is_empty()).map(|rank| number(rank) as u16).collect(),
        })
    }
}
