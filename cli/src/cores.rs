//! Cores of this host, and who else wants them: what decides how ranks wait, as far as it is known
//! before they run.

use std::fs;
use std::thread;
use std::time::Duration;

use rustix::thread::sched_getaffinity;

/// Cores, as this process finds them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cores {
    /// Number that this process may run on.
    pub count: usize,
    /// Number whose time its control groups may use, if that is limited.
    pub quota: Option<f64>,
    /// Other processes of this host that want a core now.
    pub others: usize,
}

/// Looks at who runs, of which the one with the fewest counts: many run for a moment only.
const LOOKS: usize = 3;
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);

/// Manner in which ranks wait that have a core each.
pub const WAITS_ALONE: &str = "waiting spins";

impl Cores {
    /// Looks at them, which takes a few milliseconds.
    pub fn look() -> Self {
        let allowed = sched_getaffinity(None).map_or(1, |allowed| allowed.count() as usize);
        let look = |number| {
            if number > 0 {
                thread::sleep(BETWEEN_LOOKS);
            }
            running(&fs::read_to_string("/proc/stat").ok()?)
        };
        // The thread that asks runs itself.
        let others = (0..LOOKS).filter_map(look).min().unwrap_or(1).saturating_sub(1);
        Cores { count: allowed.max(1), quota: weft::quota(), others }
    }

    /// Manner in which so many ranks wait, if not as those that have a core each, and its reason.
    pub fn waiting(&self, ranks: usize) -> Option<String> {
        let Cores { count, quota, others } = *self;
        let rationed = quota.filter(|quota| *quota < ranks.min(count) as f64);
        match (rationed, others) {
            (Some(quota), _) => Some(format!("a quota of {quota:.1} cores: waiting sleeps soon")),
            (None, _) if ranks > count => Some("waiting yields".into()),
            (None, 1..) if ranks + others > count => {
                Some(format!("{}: waiting yields", wanting(others)))
            }
            (None, _) => None,
        }
    }
}

/// `3 other processes want cores`.
pub fn wanting(others: usize) -> String {
    match others {
        1 => "another process wants a core".into(),
        _ => format!("{others} other processes want cores"),
    }
}

/// Processes and threads that run or are ready to, by `/proc/stat`.
fn running(stat: &str) -> Option<usize> {
    stat.lines().find_map(|line| line.strip_prefix("procs_running ")?.trim().parse().ok())
}

#[cfg(test)]
mod tests;
