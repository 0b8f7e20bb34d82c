//! Properties of this machine that cost performance now, each in one line with what to do.

use std::collections::BTreeSet;
use std::fs;

use rustix::thread::{CpuSet, sched_getaffinity};

use super::finding::{Finding, Status};

const CPUS: &str = "/sys/devices/system/cpu";
const HUGE_PAGES: &str = "/sys/kernel/mm/transparent_hugepage/shmem_enabled";
/// Part of the time of all cores that others have taken which is worth a word, in percent.
const STOLEN: f64 = 1.0;

/// Times of all cores since the machine was started, by `/proc/stat`, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ticks {
    all: u64,
    stolen: u64,
}

impl Ticks {
    pub fn now() -> Self {
        fs::read_to_string("/proc/stat").ok().and_then(|stat| ticks(&stat)).unwrap_or_default()
    }
}

/// All properties; `before` are the times when the doctor began.
pub(super) fn all(before: Ticks) -> Vec<Finding> {
    let allowed = sched_getaffinity(None).ok();
    let is_allowed = |core: &usize| allowed.is_none_or(|allowed| allowed.is_set(*core));
    let cores: Vec<usize> = (0..CpuSet::MAX_CPU).filter(is_allowed).collect();
    let siblings = cores.iter().filter_map(|core| {
        fs::read_to_string(format!("{CPUS}/cpu{core}/topology/thread_siblings_list")).ok()
    });
    let first = cores.first().copied().unwrap_or_default();
    let of_first = |name| fs::read_to_string(format!("{CPUS}/cpu{first}/cpufreq/{name}")).ok();
    vec![
        hyperthreads(&cores, &siblings.collect::<Vec<_>>()),
        huge_pages(fs::read_to_string(HUGE_PAGES).ok().as_deref()),
        frequency(
            of_first("scaling_governor").as_deref(),
            of_first("scaling_max_freq").as_deref().and_then(khz),
            of_first("cpuinfo_max_freq").as_deref().and_then(khz),
        ),
        steal(before, Ticks::now()),
    ]
}

fn costs(name: &'static str, detail: impl Into<String>, advice: impl Into<String>) -> Finding {
    let (detail, advice) = (detail.into(), Some(advice.into().into()));
    Finding { name, status: Status::Costs, detail, advice }
}

/// Cores of which each says which threads are of the same one.
fn hyperthreads(cores: &[usize], siblings: &[String]) -> Finding {
    const NAME: &str = "hyperthreads";
    let own: BTreeSet<&str> = siblings.iter().map(|list| list.trim()).collect();
    if siblings.is_empty() {
        return Finding::ok(NAME, "the system does not say which cores share one");
    }
    if own.len() >= siblings.len() {
        return Finding::ok(NAME, format!("none: each of {} is one by itself", many(cores.len())));
    }
    costs(
        NAME,
        format!(
            "the {} are threads of {}, and two share its units",
            many(cores.len()),
            many(own.len())
        ),
        format!("run a rank for each core, not for each thread: -n {}", own.len()),
    )
}

fn many(cores: usize) -> String {
    if cores == 1 { "1 core".into() } else { format!("{cores} cores") }
}

/// The setting of huge pages in shared memory, which is in brackets among all that there are.
fn huge_pages(setting: Option<&str>) -> Finding {
    const NAME: &str = "huge pages";
    let chosen = setting.and_then(|all| Some(all.split_once('[')?.1.split_once(']')?.0));
    match chosen {
        Some(chosen @ ("always" | "within_size" | "force")) => {
            Finding::ok(NAME, format!("shared memory has them (shmem_enabled is {chosen})"))
        }
        Some(chosen) => costs(
            NAME,
            format!("none in shared memory (shmem_enabled is {chosen}): more misses of the TLB"),
            format!("as root: echo within_size > {HUGE_PAGES}"),
        ),
        None => costs(
            NAME,
            "the kernel has none for shared memory: more misses of the TLB",
            "use a kernel with CONFIG_TRANSPARENT_HUGEPAGE",
        ),
    }
}

/// Governor of the first core, its frequency at most as it is set, and as it could be.
fn frequency(governor: Option<&str>, most_khz: Option<u64>, could_khz: Option<u64>) -> Finding {
    const NAME: &str = "frequency";
    let Some(governor) = governor.map(str::trim) else {
        return Finding::ok(NAME, "the system does not change it, or does not say so");
    };
    let gigahertz = |khz: u64| khz as f64 / 1e6;
    if let (Some(most), Some(could)) = (most_khz, could_khz)
        && most < could
    {
        let (most, could) = (gigahertz(most), gigahertz(could));
        return costs(
            NAME,
            format!("limited to {most:.1} GHz of {could:.1}"),
            "as root: cpupower frequency-set --max, with the larger one",
        );
    }
    match governor {
        "performance" | "schedutil" => Finding::ok(NAME, format!("governor {governor}")),
        _ => costs(
            NAME,
            format!("governor {governor}: a core that waited is slow at first"),
            "as root: cpupower frequency-set --governor performance",
        ),
    }
}

/// Time that other virtual machines have had, while the doctor looked.
fn steal(before: Ticks, now: Ticks) -> Finding {
    const NAME: &str = "steal";
    let all = now.all.saturating_sub(before.all);
    let part = 100.0 * now.stolen.saturating_sub(before.stolen) as f64 / all.max(1) as f64;
    if part < STOLEN {
        return Finding::ok(NAME, format!("{part:.1} % of the time of the cores, just now"));
    }
    costs(
        NAME,
        format!("the hypervisor had {part:.1} % of the time of the cores for others, just now"),
        "take a machine with cores of its own, or run fewer ranks than cores",
    )
}

fn khz(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// The line of all cores: user, nice, system, idle, iowait, irq, softirq, steal; guests are in the
/// first two.
fn ticks(stat: &str) -> Option<Ticks> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let times: Vec<u64> =
        line.split_whitespace().take(8).filter_map(|time| time.parse().ok()).collect();
    Some(Ticks { all: times.iter().sum(), stolen: *times.get(7)? })
}

#[cfg(test)]
mod tests;
