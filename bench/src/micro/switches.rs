//! Work of the kernel for this process: how often its threads slept and were taken off their cores,
//! and how many system calls they made.
//!
//! A thread that has slept was woken: where nobody asked for that, it is what a benchmark of pauses
//! is to find. Threads that begin after the counters are not counted.

use anyhow::{Context, Result};
use perf_event::events::Tracepoint;
use perf_event::{Builder, Counter};
use rustix::process::{Pid, getpid};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Folders that the kernel's tracepoints are in, where they are mounted.
const TRACING: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// Name of the thread that a process begins with.
const PROGRAM: &str = "program";

/// The number of the tracepoint that each system call passes; `None` where it cannot be had.
pub fn system_call_tracepoint() -> Option<u64> {
    TRACING.iter().find_map(|folder| {
        let path = Path::new(folder).join("events/raw_syscalls/sys_enter/id");
        std::fs::read_to_string(path).ok()?.trim().parse().ok()
    })
}

/// Counts of a process.
#[derive(Default, Clone, PartialEq, Debug, Serialize)]
pub struct Switches {
    /// Sleeps of threads, by their names.
    pub sleeps: BTreeMap<String, f64>,
    /// Times that threads were taken off their cores.
    pub preemptions: f64,
    /// System calls, if the kernel counts them for us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_calls: Option<f64>,
}

impl Switches {
    /// These and others.
    pub fn add(&mut self, other: &Switches) {
        for (name, sleeps) in &other.sleeps {
            *self.sleeps.entry(name.clone()).or_default() += sleeps;
        }
        self.preemptions += other.preemptions;
        self.system_calls = match (self.system_calls, other.system_calls) {
            (None, calls) | (calls, None) => calls,
            (Some(these), Some(those)) => Some(these + those),
        };
    }

    /// Sleeps of the threads beside the program's.
    pub fn without_program(&self) -> Switches {
        let mut sleeps = self.sleeps.clone();
        sleeps.remove(PROGRAM);
        Switches { sleeps, ..Switches::default() }
    }

    /// Those since `before`.
    pub fn since(&self, before: &Switches) -> Switches {
        let sleeps = self.sleeps.iter().map(|(name, sleeps)| {
            (name.clone(), sleeps - before.sleeps.get(name).copied().unwrap_or_default())
        });
        Switches {
            sleeps: sleeps.collect(),
            preemptions: self.preemptions - before.preemptions,
            system_calls: self.system_calls.zip(before.system_calls).map(|(now, then)| now - then),
        }
    }

    /// Mean of these for one of `turns`.
    pub fn of_a_turn(&self, turns: usize) -> Switches {
        let turns = turns as f64;
        Switches {
            sleeps: self.sleeps.iter().map(|(name, all)| (name.clone(), all / turns)).collect(),
            preemptions: self.preemptions / turns,
            system_calls: self.system_calls.map(|all| all / turns),
        }
    }

    /// For a person.
    pub fn text(&self) -> String {
        let slept = self.sleeps.values().sum::<f64>();
        let by_thread = self.sleeps.iter().filter(|(_, sleeps)| **sleeps >= 0.005);
        let by_thread: Vec<_> =
            by_thread.map(|(name, sleeps)| format!("{name} {sleeps:.2}")).collect();
        let calls = match self.system_calls {
            Some(calls) => format!("{calls:.1} system calls"),
            None => "system calls not counted: they take root and tracefs".to_owned(),
        };
        let by_thread = match by_thread.is_empty() {
            true => String::new(),
            false => format!(" ({})", by_thread.join(", ")),
        };
        format!("{slept:.2} wake-ups{by_thread}, {:.2} preemptions, {calls}", self.preemptions)
    }
}

/// Counters of the threads that this process has now.
pub struct SwitchCounters {
    threads: Vec<Pid>,
    system_calls: Option<Vec<Counter>>,
}

impl SwitchCounters {
    /// Counters of the threads that there are, and of system calls if `tracepoint` is theirs and
    /// may be counted.
    ///
    /// # Errors
    /// There is no `/proc`.
    pub fn open(tracepoint: Option<u64>) -> Result<Self> {
        let tasks = std::fs::read_dir("/proc/self/task").context("cannot list this process")?;
        let threads: Vec<Pid> = tasks
            .filter_map(|task| task.ok()?.file_name().to_str()?.parse().ok())
            .filter_map(Pid::from_raw)
            .collect();
        let count =
            |tracepoint| threads.iter().map(|thread| calls_of(*thread, tracepoint)).collect();
        let system_calls = tracepoint.and_then(count);
        Ok(SwitchCounters { threads, system_calls })
    }

    /// Counts so far. Reading them takes system calls, which are counted from the second read on.
    ///
    /// # Errors
    /// There is no `/proc`.
    pub fn read(&mut self) -> Result<Switches> {
        let mut switches = Switches::default();
        if let Some(counters) = &mut self.system_calls {
            let counts: std::io::Result<Vec<u64>> =
                counters.iter_mut().map(Counter::read).collect();
            switches.system_calls = Some(counts?.iter().sum::<u64>() as f64);
        }
        for thread in &self.threads {
            // One that has ended counts no more.
            let Some((name, sleeps, preemptions)) = switches_of(*thread) else { continue };
            *switches.sleeps.entry(name).or_default() += sleeps;
            switches.preemptions += preemptions;
        }
        Ok(switches)
    }
}

/// A counter of a thread's system calls; `None` if it may not be had.
fn calls_of(thread: Pid, tracepoint: u64) -> Option<Counter> {
    let mut counter = Builder::new(Tracepoint::with_id(tracepoint))
        .observe_pid(thread.as_raw_nonzero().get())
        .any_cpu()
        .exclude_kernel(false)
        .exclude_hv(false)
        .build()
        .ok()?;
    counter.enable().ok()?;
    Some(counter)
}

/// Name of a thread of this process, and how often it has slept and was taken off its core.
fn switches_of(thread: Pid) -> Option<(String, f64, f64)> {
    let path = format!("/proc/self/task/{}/status", thread.as_raw_nonzero());
    let status = std::fs::read_to_string(path).ok()?;
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.map(str::trim)
    };
    let name = match thread == getpid() {
        true => PROGRAM.to_owned(),
        false => field("Name")?.trim_start_matches("weft-").to_owned(),
    };
    let count = |name| field(name)?.parse().ok();
    Some((name, count("voluntary_ctxt_switches")?, count("nonvoluntary_ctxt_switches")?))
}

#[cfg(test)]
mod tests;
