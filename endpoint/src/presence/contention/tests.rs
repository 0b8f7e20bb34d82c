use super::*;

const MS: Nanoseconds = 1_000_000;
const US: Nanoseconds = 1_000;

/// A rank that waits and nobody else: what it was seen to report in 5 ms of spinning with a probe
/// in 0.1 ms, an interrupt among them.
const ALONE: Fared = Fared { time: 5 * MS, run_delay: 20 * US, slices: 1, yields: 48, sleeps: 0 };
/// Beside a rank that spins, on two hosts of one machine: preempted after a time slice.
const BESIDE_SPINNER: Fared =
    Fared { time: 9 * MS, run_delay: 4 * MS, slices: 2, yields: 50, sleeps: 0 };
/// A rank that spins beside one that yields, and is hardly delayed by it.
const BESIDE_YIELDER: Fared =
    Fared { time: 5 * MS, run_delay: 140 * US, slices: 48, yields: 48, sleeps: 0 };
/// Beside a loop that never ends: every third yield takes a time slice.
const BESIDE_LOOP: Fared =
    Fared { time: 12 * MS, run_delay: 8 * MS, slices: 2, yields: 6, sleeps: 0 };
/// Asleep most of the time, woken by packets.
const ASLEEP: Fared = Fared { time: 5 * MS, run_delay: 60 * US, slices: 9, yields: 0, sleeps: 9 };
/// Computing most of the time, and waiting shortly now and then, with the kernel's own threads
/// beside it.
const COMPUTING: Fared =
    Fared { time: 258 * MS, run_delay: 7 * MS, slices: 85, yields: 19, sleeps: 1 };

/// Verdicts after each of these reports, which follow one another without a pause.
fn verdicts(floor: Core, reports: &[Fared]) -> Vec<Core> {
    let (mut contention, mut now) = (Contention::new(floor), MS);
    let report = |fared: &Fared| {
        now += fared.time;
        contention.fared(now, *fared);
        contention.verdict(now)
    };
    reports.iter().map(report).collect()
}

#[test]
fn who_is_alone_keeps_its_core() {
    assert_eq!(verdicts(Core::Own, &[ALONE; 100]), [Core::Own; 100]);
}

#[test]
fn who_is_delayed_shares_its_core_at_once() {
    assert_eq!(verdicts(Core::Own, &[ALONE, BESIDE_SPINNER]), [Core::Own, Core::Shared]);
}

#[test]
fn who_delays_others_that_yield_shares_its_core_at_once() {
    assert_eq!(verdicts(Core::Own, &[ALONE, BESIDE_YIELDER]), [Core::Own, Core::Shared]);
}

#[test]
fn who_sleeps_is_not_taken_for_delayed() {
    assert_eq!(verdicts(Core::Own, &[ASLEEP; 100]), [Core::Own; 100]);
}

#[test]
fn who_computes_is_not_taken_for_who_delays_others() {
    assert_eq!(verdicts(Core::Own, &[COMPUTING; 10]), [Core::Own; 10]);
    let shorter = Fared { time: 12 * MS, run_delay: 300 * US, slices: 5, yields: 15, sleeps: 0 };
    assert_eq!(verdicts(Core::Own, &[shorter; 10]), [Core::Own; 10]);
}

#[test]
fn a_moment_for_somebody_else_and_wake_ups_prove_nothing() {
    let moment = Fared { time: 641 * US, run_delay: 165 * US, slices: 1, yields: 178, sleeps: 0 };
    let slice = Fared { time: 2 * MS, run_delay: 1500 * US, slices: 1, yields: 220, sleeps: 0 };
    let woken = Fared { time: MS, run_delay: 700 * US, slices: 14, yields: 1, sleeps: 0 };
    assert_eq!(verdicts(Core::Own, &[moment, ALONE, slice, ALONE]), [Core::Own; 4]);
    assert_eq!(verdicts(Core::Own, &[woken; 100]), [Core::Own; 100]);
    assert_eq!(verdicts(Core::Own, &[slice, slice]), [Core::Own, Core::Shared]);
}

#[test]
fn who_waits_for_time_slices_shares_its_core_with_who_computes() {
    let seen = verdicts(Core::Own, &[BESIDE_LOOP; 4]);
    assert_eq!(seen, [Core::Shared, Core::Busy, Core::Busy, Core::Busy]);
}

#[test]
fn one_long_yield_among_ranks_that_yield_is_not_taken_for_a_computation() {
    let long = Fared { time: MS, run_delay: MS - 40 * US, slices: 1, yields: 1, sleeps: 0 };
    let reports = [&[long][..], &[BESIDE_YIELDER; 3], &[long], &[BESIDE_YIELDER; 20]].concat();
    let seen = verdicts(Core::Own, &reports);
    assert_eq!((seen[0], &seen[1..]), (Core::Own, &[Core::Shared; 24][..]));
}

#[test]
fn spinners_get_time_to_notice_that_they_share_a_core() {
    let reports = [BESIDE_SPINNER, BESIDE_YIELDER, BESIDE_YIELDER, BESIDE_YIELDER];
    assert_eq!(verdicts(Core::Own, &reports), [Core::Shared; 4]);
}

#[test]
fn ranks_that_share_cores_never_have_one_to_themselves() {
    assert_eq!(verdicts(Core::Shared, &[ALONE; 1000]), [Core::Shared; 1000]);
    assert_eq!(verdicts(Core::Shared, &[BESIDE_LOOP; 1000]), [Core::Shared; 1000]);
}

/// Time for which a verdict is held after evidence at each of these times.
fn holds(times: &[Nanoseconds]) -> Vec<Nanoseconds> {
    let mut contention = Contention::new(Core::Own);
    let hold = |at: &Nanoseconds| {
        contention.fared(*at, BESIDE_YIELDER);
        (1..).map(|ms| ms * MS).find(|after| contention.verdict(at + after) == Core::Own).unwrap()
    };
    times.iter().map(hold).collect()
}

#[test]
fn evidence_that_comes_back_is_held_for_twice_as_long() {
    let (first, soon) = (SHORTEST_HOLD, SHORTEST_HOLD + MS);
    assert_eq!(holds(&[MS, MS + first / 2]), [first, first]);
    assert_eq!(holds(&[MS, MS + soon, MS + soon + 2 * first + MS]), [first, 2 * first, 4 * first]);
    assert_eq!(holds(&[MS, MS + 2 * first]), [first, first]);
}

#[test]
fn no_verdict_is_held_for_ever() {
    let mut times = vec![MS];
    for back in 1..12 {
        let last = times[times.len() - 1];
        times.push(last + MS + (SHORTEST_HOLD << (back - 1)).min(LONGEST_HOLD));
    }
    assert_eq!(holds(&times).pop(), Some(LONGEST_HOLD));
}

/// Verdict 0.2 s after counters that were all 0.
fn limited(throttled: u64, stolen: Nanoseconds) -> Core {
    let mut contention = Contention::new(Core::Own);
    contention.limited(MS, Limits::default());
    contention.limited(201 * MS, Limits { throttled, stolen });
    contention.verdict(201 * MS)
}

#[test]
fn a_quota_that_was_used_up_rations_a_core() {
    assert_eq!(limited(0, 0), Core::Own);
    assert_eq!(limited(1, 0), Core::Rationed);
}

#[test]
fn stolen_time_rations_a_core_from_a_tenth_on() {
    assert_eq!(limited(0, 19 * MS), Core::Own);
    assert_eq!(limited(0, 20 * MS), Core::Rationed);
}

#[test]
fn counters_before_the_job_are_not_its_own() {
    let mut contention = Contention::new(Core::Own);
    contention.limited(MS, Limits { throttled: 7, stolen: 1000 * MS });
    assert_eq!(contention.verdict(MS), Core::Own);
}
