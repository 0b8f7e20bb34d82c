//! Processes as they are seen.

use super::*;
use weft_link::status::Awaited;

#[test]
fn a_processs_stat_says_what_it_has_used() {
    let stat =
        "42 (a ) b) S 1 1 1 0 -1 4194560 100 0 0 0 150 50 0 0 20 0 4 0 12345 1000000 25 184467";
    let per_second = clock_ticks_per_second() as f64;
    assert_eq!(used(stat), Some((200.0 / per_second, 25 * page_size() as u64)));
    assert_eq!(used("42 (short) S 1"), None);
}

#[test]
fn a_rank_is_seen_as_it_is_now() {
    let own = std::process::id();
    let awaited = Some(Awaited::of_unknown("a reply"));
    let status = RankStatus {
        begun: 0,
        since: Duration::from_millis(1500),
        thread: own,
        looked: Duration::ZERO,
        polls: false,
        awaited,
    };
    let counts = Counts { packets_sent: 7, ..Counts::default() };
    let rank = rank_now(Rank(3), own, Some(status), Some(counts)).unwrap();
    assert_eq!((rank.state.to_string(), rank.since), ("waits for a reply".into(), Some(1.5)));
    assert!(rank.counts == Some(counts) && rank.memory_bytes > 0);
}

#[test]
fn a_program_may_have_any_name() {
    assert_eq!(state_of("17 (a) S (b) R 1 17"), Some('R'));
    assert_eq!(state_of("17 (a"), None);
}

#[test]
fn a_process_that_is_not_there_does_nothing() {
    let own = rustix::process::getpid();
    assert_eq!(standing_of(Rank(0), own, None).map(|standing| standing.since), Some(None));
    let none = Pid::from_raw(i32::MAX).unwrap();
    assert_eq!(standing_of(Rank(0), none, None), None);
}

#[test]
fn a_thread_that_sleeps_for_a_time_is_known() {
    let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let process = Pid::from_child(&child);
    let main = child.id();
    let until = std::time::Instant::now() + Duration::from_secs(60);
    let naps = || threads_of(process).is_some_and(|threads| threads.get(&main) == Some(&NAPS));
    let seen = std::iter::repeat_with(naps).take_while(|_| std::time::Instant::now() < until);
    let seen = seen.inspect(|_| std::thread::yield_now()).any(|naps| naps);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(seen);
}

#[test]
fn who_looks_no_more_waits_no_more() {
    let own = rustix::process::getpid();
    let thread = rustix::thread::gettid().as_raw_pid().cast_unsigned();
    let of = |polls, looked| {
        let status = RankStatus {
            begun: 0,
            since: Duration::from_secs(5),
            thread,
            looked: Duration::from_millis(looked),
            polls,
            awaited: Some(Awaited::of_unknown("a message")),
        };
        standing_of(Rank(0), own, Some(status)).unwrap()
    };
    let waits = Doing::Waits(Awaited::of_unknown("a message"));
    assert_eq!((of(false, 0).doing, of(true, 199).doing), (waits.clone(), waits.clone()));
    let away = of(true, 200);
    assert!(matches!(away.doing, Doing::Computes | Doing::Sleeps), "{away:?}");
    assert_eq!(away.since, Some(AWAY));
    // That it sleeps between two looks says nothing.
    assert!(!of(true, 1).is_asleep);
    // Who is woken waits still, but a handler keeps it.
    let kept = of(false, 200);
    assert_eq!((kept.doing, kept.is_busy), (waits, true));
}
