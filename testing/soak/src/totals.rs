//! Many cases, on all cores, and what they came to.

use crate::case::{Case, Failure, Passed};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Goal of a run.
#[derive(Debug, Clone, Copy)]
pub struct Goal {
    /// The first case.
    pub first: u64,
    /// At least so many cases,
    pub cases: u64,
    /// so many packets,
    pub packets: u64,
    /// and so many faults.
    pub faults: u64,
    /// Packets for programs in each case, about.
    pub packets_a_case: u64,
    /// Begins no case after this time.
    pub limit: Duration,
    /// Cases at once.
    pub threads: usize,
    /// Only cases whose windows follow demand.
    pub adaptive: bool,
}

/// Totals of many cases.
#[derive(Debug, Clone, Copy, Default)]
pub struct Totals {
    /// Cases that passed.
    pub cases: u64,
    /// Cases that a judge objected to.
    pub violations: u64,
    /// All of them together.
    pub sum: Passed,
    /// Duration.
    pub took: Duration,
}

/// Runs cases until the goal is reached, its time is over, or one fails. `progress` is called after
/// each with the totals so far. Returns the totals, and the first case that failed if one did.
pub fn run(goal: &Goal, progress: impl Fn(&Totals) + Sync) -> (Totals, Option<Box<Failure>>) {
    let start = Instant::now();
    let next = AtomicU64::new(goal.first);
    let stop = AtomicBool::new(false);
    let totals = Mutex::new(Totals::default());
    let failure = Mutex::new(None);
    let work = || {
        while !stop.load(Ordering::Relaxed) && start.elapsed() < goal.limit {
            let case = Case::numbered(next.fetch_add(1, Ordering::Relaxed), goal.packets_a_case);
            if goal.adaptive && case.adaptive.is_none() {
                continue;
            }
            match case.run() {
                Ok(passed) => {
                    let mut totals = totals.lock().unwrap_or_else(PoisonError::into_inner);
                    totals.add(&passed);
                    totals.took = start.elapsed();
                    progress(&totals);
                    if totals.reach(goal) {
                        stop.store(true, Ordering::Relaxed);
                    }
                }
                Err(found) => {
                    stop.store(true, Ordering::Relaxed);
                    totals.lock().unwrap_or_else(PoisonError::into_inner).violations += 1;
                    let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
                    failure.get_or_insert(found);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..goal.threads {
            scope.spawn(work);
        }
    });
    let failure = failure.into_inner().unwrap_or_else(PoisonError::into_inner);
    (totals.into_inner().unwrap_or_else(PoisonError::into_inner), failure)
}

impl Totals {
    fn add(&mut self, passed: &Passed) {
        self.cases += 1;
        let sum = &mut self.sum;
        sum.packets += passed.packets;
        sum.sent_again += passed.sent_again;
        sum.shown += passed.shown;
        sum.system_storms += passed.system_storms;
        sum.recoveries += passed.recoveries;
        sum.credits_granted += passed.credits_granted;
        sum.credits_taken_back += passed.credits_taken_back;
        sum.early_packets += passed.early_packets;
        sum.virtual_time += passed.virtual_time;
        let (all, one) = (&mut sum.injected, &passed.injected);
        all.lost += one.lost;
        all.duplicated += one.duplicated;
        all.delayed += one.delayed;
        all.corrupted += one.corrupted;
        all.cut += one.cut;
        all.crashes += one.crashes;
    }

    /// True if this is as much as was asked for.
    pub fn reach(&self, goal: &Goal) -> bool {
        let sum = &self.sum;
        self.cases >= goal.cases
            && sum.packets + sum.sent_again >= goal.packets
            && sum.injected.total() >= goal.faults
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Passed { credits_granted, credits_taken_back, early_packets, system_storms, .. } =
            self.sum;
        let Passed { packets, sent_again, shown, recoveries, injected, virtual_time, .. } =
            self.sum;
        writeln!(f, "cases                     {:>12}", self.cases)?;
        writeln!(f, "  storms of all systems   {system_storms:>12}")?;
        writeln!(f, "packets transmitted       {:>12}", packets + sent_again)?;
        writeln!(f, "  of them again           {sent_again:>12}")?;
        writeln!(f, "packets shown to programs {shown:>12}")?;
        writeln!(f, "recoveries                {recoveries:>12}")?;
        writeln!(f, "credits out of pools      {credits_granted:>12}")?;
        writeln!(f, "  and back into them      {credits_taken_back:>12}")?;
        writeln!(f, "packets before groups     {early_packets:>12}")?;
        writeln!(f, "faults injected           {:>12}", injected.total())?;
        writeln!(f, "  frames lost             {:>12}", injected.lost)?;
        writeln!(f, "  frames doubled          {:>12}", injected.duplicated)?;
        writeln!(f, "  frames held back        {:>12}", injected.delayed)?;
        writeln!(f, "  frames corrupted        {:>12}", injected.corrupted)?;
        writeln!(f, "  frames cut off          {:>12}", injected.cut)?;
        writeln!(f, "  ranks crashed           {:>12}", injected.crashes)?;
        writeln!(f, "simulated hours           {:>12.2}", virtual_time.as_secs_f64() / 3600.0)?;
        writeln!(f, "violations                {:>12}", self.violations)?;
        write!(f, "real seconds              {:>12.1}", self.took.as_secs_f64())
    }
}
