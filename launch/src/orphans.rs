//! Processes that ranks started and left behind: adopted, reaped, and ended with the job.
//!
//! A process that leaves its rank's group (a daemon, a job of an interactive shell) is not reached
//! through the group. As its "subreaper", the launcher becomes the parent of every descendant whose
//! own parent has ended, and so finds it. Only a launcher that does nothing else may do this: in
//! another process it would end children that are not the job's.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, getpid, kill_process, pidfd_open,
    set_child_subreaper, waitid,
};

use crate::wait::is_ready;

/// Longest time that killed processes have to disappear, all of a generation together.
pub(crate) const KILL_LIMIT: Duration = Duration::from_secs(1);
/// Generations of processes that are ended one after the other, each adopted when its parents end.
const GENERATIONS_MAX: usize = 100;

/// The children that this process had before the job began, which are none of the job's.
#[derive(Debug)]
pub(crate) struct Orphans {
    others: BTreeSet<i32>,
}

impl Orphans {
    /// Adopts, from here on, whatever the ranks leave behind.
    pub fn adopt() -> io::Result<Self> {
        set_child_subreaper(Some(getpid()))?;
        Ok(Orphans { others: children()?.into_iter().map(Pid::as_raw_pid).collect() })
    }

    /// Reaps the adopted processes that have ended; `ranks` are left to those who wait for them.
    pub fn reap(&self, ranks: &BTreeSet<i32>) {
        // Most of the time ranks were all that has ended, and were reaped: looking at all processes
        // of the machine takes longer than all else that an end takes.
        if ended_child() == EndedChild::None {
            return;
        }
        for child in children().unwrap_or_default() {
            let number = child.as_raw_pid();
            if !ranks.contains(&number) && !self.others.contains(&number) {
                // Still running, or gone already: there is nothing to do in either case.
                let _ = waitid(WaitId::Pid(child), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
            }
        }
    }

    /// Ends every adopted process, and those that are adopted when it ends, and so on. The ranks
    /// have ended and been reaped. Returns those that did not disappear.
    pub fn end_all(&self) -> Vec<Pid> {
        let mut stuck = BTreeSet::new();
        for _ in 0..GENERATIONS_MAX {
            let mut adopted = children().unwrap_or_default();
            adopted.retain(|child| {
                let number = child.as_raw_pid();
                !self.others.contains(&number) && !stuck.contains(&number)
            });
            if adopted.is_empty() {
                break;
            }
            adopted.iter().for_each(|child| kill(*child));
            let by = Instant::now() + KILL_LIMIT;
            stuck.extend(adopted.into_iter().filter(|child| !end(*child, by)).map(Pid::as_raw_pid));
        }
        stuck.into_iter().filter_map(Pid::from_raw).collect()
    }
}

fn kill(child: Pid) {
    // A child that is not reaped keeps its number, so this cannot hit another process.
    let _ = kill_process(child, Signal::KILL);
}

/// Kills and reaps a child; false if it does not disappear by then.
pub(crate) fn end(child: Pid, by: Instant) -> bool {
    kill(child);
    if let Ok(exit) = pidfd_open(child, PidfdFlags::empty()) {
        let left = by.saturating_duration_since(Instant::now());
        // An error leaves it to the look below whether the process has ended.
        let _ = is_ready(&exit, PollFlags::IN, left);
    }
    let reaped = waitid(WaitId::Pid(child), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
    !matches!(reaped, Ok(None))
}

/// State of this process's children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EndedChild {
    /// There are no children.
    Childless,
    /// There are some, and none that has ended waits to be reaped.
    None,
    /// One waits.
    Some,
}

/// Finds out whether a child waits to be reaped, which costs as much for any number of processes.
fn ended_child() -> EndedChild {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match waitid(WaitId::All, options) {
        Err(Errno::CHILD) => EndedChild::Childless,
        Ok(None) => EndedChild::None,
        Ok(Some(_)) | Err(_) => EndedChild::Some,
    }
}

/// The children of this process, ended ones included.
fn children() -> io::Result<Vec<Pid>> {
    if ended_child() == EndedChild::Childless {
        return Ok(Vec::new());
    }
    let own = getpid().as_raw_pid();
    let mut children = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.parse().ok());
        let Some(process) = number.and_then(Pid::from_raw) else { continue };
        // A process that ends while we look is nobody's child any more.
        let Ok(stat) = fs::read_to_string(format!("/proc/{process}/stat")) else { continue };
        if parent(&stat) == Some(own) {
            children.push(process);
        }
    }
    Ok(children)
}

/// The parent in a line of `/proc/PID/stat`: `1234 (name, may contain anything) S 1 ...`.
fn parent(stat: &str) -> Option<i32> {
    let (_, after_name) = stat.rsplit_once(") ")?;
    after_name.split(' ').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests;
