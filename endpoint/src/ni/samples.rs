//! Samples of the system's counters: what a rank learns about the cores beside its own waits.

use crate::presence::contention::{Fared, Limits};
use std::cell::RefCell;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use weft_link::clock::Nanoseconds;

/// Scheduling of one thread since it was started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Schedstat {
    /// Time for which it was ready to run and did not, as others had its core.
    pub run_delay: Nanoseconds,
    /// Number of times that it was given a core.
    pub slices: u64,
}

/// Statistics of this thread, and what they were last.
struct OfThread {
    file: Option<File>,
    last: Option<(Nanoseconds, Schedstat)>,
}

thread_local! {
    static OF_THREAD: RefCell<OfThread> = RefCell::new(OfThread {
        file: File::open("/proc/thread-self/schedstat").ok(),
        last: None,
    });
}

/// Report about this thread since it last asked; `None` at first, and where the system does not
/// say. The caller adds its own.
pub(crate) fn fared(now: Nanoseconds) -> Option<Fared> {
    OF_THREAD.with_borrow_mut(|thread| {
        let mut text = [0; 80];
        let schedstat = parse_schedstat(read(thread.file.as_ref()?, &mut text)?)?;
        let (then, before) = thread.last.replace((now, schedstat))?;
        Some(Fared {
            time: now.saturating_sub(then),
            run_delay: schedstat.run_delay.saturating_sub(before.run_delay),
            slices: schedstat.slices.saturating_sub(before.slices),
            ..Fared::default()
        })
    })
}

/// Three numbers: time on a core, time in the queue of one, and how often it got one.
fn parse_schedstat(text: &str) -> Option<Schedstat> {
    let mut numbers = text.split_ascii_whitespace().skip(1).map(|word| word.parse().ok());
    Some(Schedstat { run_delay: numbers.next()??, slices: numbers.next()?? })
}

/// Files that say how time on the cores is limited.
#[derive(Debug, Default)]
pub(crate) struct LimitFiles {
    /// Of the control groups with a quota that this process is in.
    groups: Vec<File>,
    stat: Option<File>,
    cores: u64,
}

impl LimitFiles {
    pub fn open() -> Self {
        let groups = groups_with_quota().into_iter();
        let groups = groups.filter_map(|group| File::open(group.folder.join("cpu.stat")).ok());
        let stat = File::open("/proc/stat").ok();
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
        LimitFiles { groups: groups.collect(), stat, cores }
    }

    /// Reads them.
    pub fn sample(&self) -> Limits {
        let mut text = [0; 1024];
        let throttled = self.groups.iter().filter_map(|file| throttled(read(file, &mut text)?));
        let throttled = throttled.sum();
        let stolen = self.stat.as_ref().and_then(|file| stolen(read(file, &mut text)?));
        Limits { throttled, stolen: stolen.unwrap_or(0) / self.cores.max(1) }
    }
}

/// The beginning of a file, as far as there is room; whole lines only.
fn read<'a>(file: &File, into: &'a mut [u8]) -> Option<&'a str> {
    let bytes = file.read_at(into, 0).ok()?;
    std::str::from_utf8(&into[..bytes]).ok()
}

/// Number of times that a control group has used its quota up, by its `cpu.stat`.
fn throttled(stat: &str) -> Option<u64> {
    stat.lines().find_map(|line| line.strip_prefix("nr_throttled ")?.trim().parse().ok())
}

/// Time of all cores that the machine below gave to others, by `/proc/stat`.
fn stolen(stat: &str) -> Option<Nanoseconds> {
    let ticks: u64 = stat.lines().next()?.split_ascii_whitespace().nth(8)?.parse().ok()?;
    Some(ticks * (1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)))
}

/// A control group with a quota.
#[derive(Debug, PartialEq)]
struct LimitedGroup {
    folder: PathBuf,
    cores: f64,
}

/// Cores whose time the control groups of this process may use; `None` if there is no quota.
pub fn quota() -> Option<f64> {
    groups_with_quota().into_iter().map(|group| group.cores).reduce(f64::min)
}

fn groups_with_quota() -> Vec<LimitedGroup> {
    let membership = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let folders = membership.lines().filter_map(folder_of_group);
    let limited = |folder: &Path| {
        let cores = quota_in(folder)?;
        Some(LimitedGroup { folder: folder.to_owned(), cores })
    };
    // Groups above limit, too.
    folders
        .flat_map(|(root, path)| {
            let groups =
                path.ancestors().map(|path| root.join(path.strip_prefix("/").unwrap_or(path)));
            groups.filter_map(|folder| limited(&folder)).collect::<Vec<_>>()
        })
        .collect()
}

/// Folder in which the controller of the cores is mounted, and the path of a group below that, by a
/// line of `/proc/self/cgroup`: `0::/path` of version 2, `4:cpu,cpuacct:/path` of version 1.
fn folder_of_group(line: &str) -> Option<(PathBuf, PathBuf)> {
    let (_, line) = line.split_once(':')?;
    let (controllers, path) = line.split_once(':')?;
    let root = match controllers {
        "" => "/sys/fs/cgroup",
        all if all.split(',').any(|name| name == "cpu") => "/sys/fs/cgroup/cpu",
        _ => return None,
    };
    Some((root.into(), path.into()))
}

fn quota_in(folder: &Path) -> Option<f64> {
    let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
    match read("cpu.max") {
        Some(text) => parse_quota(&text),
        None => {
            parse_quota(&format!("{} {}", read("cpu.cfs_quota_us")?, read("cpu.cfs_period_us")?))
        }
    }
}

/// Quota in cores: microseconds in a period. `max`, or -1 in version 1, is none.
fn parse_quota(text: &str) -> Option<f64> {
    let mut numbers = text.split_ascii_whitespace().map(|word| word.parse::<f64>().ok());
    let (quota, period) = (numbers.next()??, numbers.next()??);
    (quota > 0.0 && period > 0.0).then_some(quota / period)
}

#[cfg(test)]
mod tests;
