//! Any process of a job is killed at any moment, be it the launcher, an agent or a rank: everybody
//! else ends, one line says who was lost, and nothing is left.
//!
//! A seed fixes the link, the program, the moment and the victim. `WEFT_KILLS` says how many seeds
//! are tried, from `WEFT_FIRST_KILL` on.

use super::ends::{Traces, kill, name_of};
use super::*;
use std::fs;
use std::io::Read;
use std::process::Stdio;
use std::time::Instant;

/// Kills in `make test`.
const KILLS: u64 = 200;
/// Programs: in the middle of messages, collective operations, misses of regions, and at the end.
const PROGRAMS: [&str; 4] = ["weft-testee", "weft-testee collect", "water", "weft-testee end"];
/// Latest moment at which somebody is killed, after the launcher was started.
const LATEST_US: u64 = 150_000;

/// Numbers that follow from a seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ mixed >> 31) % bound
    }
}

/// Kills one process of a job, and says what was left behind, if anything was.
fn kill_one(cluster: &Cluster, seed: u64) {
    let mut draw = Draw(seed);
    // Hosts take their time: most jobs are on one.
    let link = ["shm", "shm", "shm", "shm", "udp", "udp", "xdp"][draw.below(7) as usize];
    let program = PROGRAMS[draw.below(4) as usize];
    let words = match link {
        "shm" => "-n 4".to_owned(),
        link => format!("--hosts a:2,b:2 --silence 5 --link {link}"),
    };
    let traces = Traces::before(cluster, link);
    let mut command = traces.command_with(&words, program);
    let mut launcher = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // The moment is what this is about.
    std::thread::sleep(Duration::from_micros(draw.below(LATEST_US)));
    let mut processes = traces.processes();
    processes.retain(|(process, _)| is_ours(*process));
    let killed = Instant::now();
    let mut what = format!("kill {seed}: {program} over {link}, nobody");
    let (rank, is_launcher);
    if processes.is_empty() {
        // It has not begun, or is over.
        (rank, is_launcher) = (None, true);
        launcher.kill().unwrap();
    } else {
        let (process, exit) = &processes[draw.below(processes.len() as u64) as usize];
        is_launcher = process.as_raw_nonzero().get() == launcher.id().cast_signed();
        rank = rank_of(*process);
        what = format!("kill {seed}: {program} over {link}, {rank:?}, {}", name_of(*process));
        kill(exit);
    }
    // Whoever was started meanwhile.
    processes.extend(traces.processes());
    let mut errors = String::new();
    launcher.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    let status = launcher.wait().unwrap();
    traces.wait(processes, killed, &what);
    assert!(errors.lines().count() <= 1, "{what}: one clear line, not: {errors}");
    if !status.success() && !is_launcher {
        assert_eq!(errors.lines().count(), 1, "{what}: {status}, and not a word");
        let is_named = rank.is_none_or(|rank| errors.contains(&format!("rank {rank} ")));
        assert!(is_named, "{what}: {errors}");
    }
    traces.check(&what);
}

/// True unless a process is a remote shell, which may end while its agent goes on.
fn is_ours(process: rustix::process::Pid) -> bool {
    let file = fs::read_link(format!("/proc/{process}/exe")).unwrap_or_default();
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("weft") || name == "water"
}

/// The rank that a process is, if it is one and no longer on its way to be one.
fn rank_of(process: rustix::process::Pid) -> Option<u16> {
    let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    let mut all = environment.split(|byte| *byte == 0);
    let value = all.find_map(|one| one.strip_prefix(b"WEFT_RANK="))?;
    std::str::from_utf8(value).ok()?.parse().ok()
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

#[test]
fn nothing_is_left_whoever_is_killed_whenever() {
    let Some(two) = cluster(2) else { return };
    let (first, count) =
        (number("WEFT_FIRST_KILL").unwrap_or(1), number("WEFT_KILLS").unwrap_or(KILLS));
    (first..first + count).for_each(|seed| kill_one(&two, seed));
}
