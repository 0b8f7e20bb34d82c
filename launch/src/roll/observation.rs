//! Processes of ranks, as the system and the memory that they share show them.

use crate::messages::{Doing, RankNow, SEEN, Standing};
use rustix::param::{clock_ticks_per_second, page_size};
use rustix::process::Pid;
use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;
use weft_link::gauge::Counts;
use weft_link::status::RankStatus;
use weft_wire::Rank;

/// Age of the last look of a rank from which on it does something else, unless it sleeps.
pub(crate) const AWAY: Duration = Duration::from_millis(200);

/// Name of the thread of a rank that watches over others, and answers who asks.
pub(crate) const WATCHER: &str = "weft-launcher";

/// Standing of a rank with this process and this status. `None` if there is no such process.
pub(crate) fn standing_of(
    rank: Rank,
    process: Pid,
    status: Option<RankStatus>,
) -> Option<Standing> {
    let threads = threads_of(process)?;
    let status = status.map(|status| match status.polls && status.looked >= AWAY {
        // It waits no more, without having found what it looked for.
        true => RankStatus { since: status.looked, awaited: None, ..status },
        false => status,
    });
    let polls = status.as_ref().is_some_and(|status| status.polls);
    let main = process.as_raw_pid().cast_unsigned();
    let thread = status.as_ref().map(|status| status.thread);
    let thread = thread.filter(|thread| threads.contains_key(thread)).unwrap_or(main);
    let since = status.as_ref().map(|status| status.since);
    let looked = status.as_ref().filter(|_| !polls).map(|status| status.looked);
    let computes = |(_, state): &(&u32, &char)| **state == 'R';
    let computing = threads.iter().find(computes).map(|(number, _)| *number);
    let (doing, does) = match (threads.get(&main)?, status.and_then(|it| it.awaited)) {
        ('T' | 't', _) => (Doing::IsStopped, main),
        (_, Some(awaited)) => (Doing::Waits(awaited), thread),
        ('R', _) => (Doing::Computes, main),
        _ => computing.map_or((Doing::Sleeps, main), |thread| (Doing::Computes, thread)),
    };
    let waits = matches!(doing, Doing::Waits(_));
    let busy = if waits { busy_beside(&threads, thread, looked) } else { None };
    let is_asleep = !polls && threads.get(&thread) == Some(&ASLEEP);
    let (thread, stack) = (Some(busy.unwrap_or(does)), None);
    let is_busy = busy.is_some();
    Some(Standing { rank, doing, since, is_asleep, is_busy, thread, stack })
}

/// A rank with this process, as it is now. `None` if there is no such process.
pub(crate) fn rank_now(
    rank: Rank,
    process: u32,
    status: Option<RankStatus>,
    counts: Option<Counts>,
) -> Option<RankNow> {
    let standing = standing_of(rank, Pid::from_raw(process.cast_signed())?, status)?;
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (processor_seconds, memory_bytes) = used(&stat).unwrap_or_default();
    Some(RankNow {
        rank: rank.0,
        host: None,
        process,
        state: standing.state(),
        since: standing.since.map(|since| since.as_secs_f64()),
        processor_seconds,
        memory_bytes,
        counts,
    })
}

/// Processor time in seconds, and memory in bytes, in the text of a process's `stat`.
fn used(stat: &str) -> Option<(f64, u64)> {
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split_whitespace().collect();
    let number = |field: usize| fields.get(field)?.parse::<u64>().ok();
    // Counted from the third: user and system time, and resident pages.
    let ticks = number(11)? + number(12)?;
    let bytes = number(21)?.saturating_mul(page_size() as u64);
    Some((ticks as f64 / clock_ticks_per_second() as f64, bytes))
}

/// Thread that goes on by itself while `waiting` waits: another one, or that one, in a handler
/// that a look of its has begun. A sleeping thread has `looked` a short time ago, unless such a
/// thread keeps it; polling threads are not asked.
fn busy_beside(
    threads: &BTreeMap<u32, char>,
    waiting: u32,
    looked: Option<Duration>,
) -> Option<u32> {
    let goes_on = |state: char| state == 'R' || state == NAPS;
    let is_kept = |state| looked >= Some(if goes_on(state) { AWAY } else { SEEN });
    let is_busy = |(number, state): &(&u32, &char)| match **number == waiting {
        true => is_kept(**state),
        false => goes_on(**state),
    };
    threads.iter().find(is_busy).map(|(number, _)| *number)
}

/// State of a thread that sleeps, as the system has it.
const ASLEEP: char = 'S';
/// State of one that sleeps for a time.
const NAPS: char = 'n';

/// States of the threads of a process; `None` if there is no such process.
fn threads_of(process: Pid) -> Option<BTreeMap<u32, char>> {
    let threads = fs::read_dir(format!("/proc/{}/task", process.as_raw_pid())).ok()?;
    let state = |entry: fs::DirEntry| {
        let number = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        // It may be the one that asks.
        let is_own = stat.contains(&format!("({WATCHER})"));
        let state = state_of(&stat).filter(|_| !is_own)?;
        // Function of the kernel that it sleeps in.
        let naps =
            || fs::read(entry.path().join("wchan")).is_ok_and(|it| it == b"hrtimer_nanosleep");
        Some((number, if state == ASLEEP && naps() { NAPS } else { state }))
    };
    Some(threads.flatten().filter_map(state).collect())
}

/// State of a thread, a letter, in the text of its `stat`. The name before it may hold anything.
fn state_of(stat: &str) -> Option<char> {
    stat.rsplit_once(") ")?.1.chars().next()
}

#[cfg(test)]
mod tests;
