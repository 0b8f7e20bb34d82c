//! Traces of a job: its processes, and names in shared memory.

use std::collections::BTreeSet;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// A process, and a descriptor that is readable once it has ended.
pub type Process = (Pid, OwnedFd);

pub fn all_processes() -> Vec<Process> {
    let numbers = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| Pid::from_raw(entry.unwrap().file_name().to_str()?.parse().ok()?));
    numbers.filter_map(|pid| Some((pid, pidfd_open(pid, PidfdFlags::empty()).ok()?))).collect()
}

/// Processes that have the name of a folder in their environment.
pub fn marked(folder: &Path) -> Vec<Process> {
    let mark = folder.to_str().unwrap().as_bytes();
    let has_mark = |process: &Process| {
        let path = format!("/proc/{}/environ", process.0);
        let environment = fs::read(path).unwrap_or_default();
        environment.windows(mark.len()).any(|window| window == mark)
    };
    // The look comes after the descriptor, so that the number cannot have a new owner.
    all_processes().into_iter().filter(has_mark).collect()
}

/// Value of a variable in a process's environment.
pub fn variable_of(process: Pid, name: &str) -> Option<String> {
    let environment = fs::read(format!("/proc/{process}/environ")).ok()?;
    let text = String::from_utf8_lossy(&environment);
    let mut all = text.split('\0').filter_map(|one| one.split_once('='));
    Some(all.find(|(known, _)| *known == name)?.1.to_owned())
}

/// Kills a process, unless it has ended already.
pub fn kill(process: &OwnedFd) {
    let killed = pidfd_send_signal(process, Signal::KILL);
    assert!(matches!(killed, Ok(()) | Err(Errno::SRCH)), "{killed:?}");
}

/// True if the process has ended before so many seconds are over.
pub fn ends_within(end: &OwnedFd, seconds: i64) -> bool {
    let limit = Timespec { tv_sec: seconds, tv_nsec: 0 };
    poll(&mut [PollFd::new(end, PollFlags::IN)], Some(&limit)).unwrap() == 1
}

pub fn shared_memory() -> BTreeSet<String> {
    let Ok(entries) = fs::read_dir("/dev/shm") else { return BTreeSet::new() };
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

/// Numbers that follow from a seed.
pub struct Draw(pub u64);

impl Draw {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ mixed >> 31) % bound
    }

    /// So many ranks of a job, in any order.
    pub fn some(&mut self, count: usize, ranks: u16) -> Vec<u16> {
        let mut all: Vec<u16> = (0..ranks).collect();
        (0..count).map(|_| all.remove(self.below(all.len() as u64) as usize)).collect()
    }
}
