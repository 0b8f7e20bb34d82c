use super::*;

const MS: Nanoseconds = 1_000_000;

/// One whose ticks are of 0.4 ms.
fn fallback() -> TimerFallback {
    TimerFallback::new(MS / 5)
}

#[test]
fn the_longer_a_program_talks_the_further_it_puts_the_look_off() {
    let fallback = fallback();
    let tick = fallback.tick();
    // The thread has announced a look, and the program enters.
    fallback.put_off_from.set(0);
    assert_eq!(fallback.put_off_by(100 * MS), tick);
    fallback.put_off_from.set(100 * MS);
    assert_eq!(fallback.put_off_by(101 * MS), tick);
    assert_eq!(fallback.put_off_by(108 * MS), MS);
    assert_eq!(fallback.put_off_by(900 * MS), LONGEST_PUT_OFF);
    // It computes, the thread has looked, and it talks again.
    fallback.awake();
    fallback.put_off_from.set(0);
    assert_eq!(fallback.put_off_by(910 * MS), tick);
}

#[test]
fn a_look_may_be_late_unless_upcalls_have_been_made_lately() {
    let fallback = fallback();
    fallback.put_off_from.set(0);
    let tick = fallback.tick();
    assert_eq!(fallback.put_off_within(100 * MS), tick..=LATE);
    fallback.makes_upcalls(100 * MS);
    assert_eq!(fallback.put_off_within(1_099 * MS), tick..=tick);
    assert_eq!(fallback.put_off_within(1_100 * MS), tick..=LATE);
}

#[test]
fn a_program_that_polls_needs_no_punctual_looks() {
    let fallback = fallback();
    assert!(!fallback.may_look_late(MS), "timers are cheap, and somebody may wait");
    fallback.makes_upcalls(MS);
    fallback.set_patient(true);
    assert!(fallback.may_look_late(2 * MS));
    assert_eq!(*fallback.put_off_within(2 * MS).end(), LATE);
    fallback.set_patient(false);
    assert!(!fallback.may_look_late(2 * MS));
    fallback.is_late.set(true);
    assert!(!fallback.may_look_late(2 * MS), "upcalls were made");
    assert!(fallback.may_look_late(MS + PUNCTUAL_FOR));
}

#[test]
fn a_timer_that_is_dear_to_set_is_left_while_the_program_talks() {
    let fallback = fallback();
    fallback.put_off(0, LATE);
    assert!(!fallback.puts_off_untimed(MS), "it was not dear to set");
    fallback.is_late.set(true);
    assert!(fallback.puts_off_untimed(MS));
    assert_eq!(fallback.looks_at.get(), MS + LATE);
    assert_eq!(fallback.put_off_from.get(), MS + RENEWED_AFTER);
    assert_eq!(fallback.rings_at.get(), LATE, "it is left");
    assert!(fallback.part(LATE).is_some(), "and who wakes by it sleeps on");
    fallback.makes_upcalls(2 * MS);
    assert!(fallback.puts_off_untimed(3 * MS));
    assert_eq!(fallback.looks_at.get(), 3 * MS + fallback.tick(), "looks are punctual now");
    let later = 2 * MS + PUNCTUAL_FOR;
    assert!(fallback.puts_off_untimed(later));
    assert_eq!(fallback.looks_at.get(), later + LATE);
    fallback.put_off_from.set(0);
    assert!(!fallback.puts_off_untimed(later), "the thread has set it, for whatever it waits");
}

#[test]
fn acknowledgements_may_be_held_back_for_as_long_as_a_look_is_late() {
    let fallback = fallback();
    let soon = 2 * LONGEST_WAIT;
    assert_eq!(fallback.longest_wait(0, false), soon);
    fallback.is_late.set(true);
    assert_eq!(fallback.longest_wait(0, false), LATE);
    assert_eq!(fallback.longest_wait(0, true), soon, "the program's packets");
    fallback.makes_upcalls(0);
    assert_eq!(fallback.longest_wait(0, false), soon);
}

#[test]
fn a_look_for_what_is_held_back_is_put_off_once_that_is_sent() {
    let fallback = fallback();
    let looks_at = || fallback.looks_at.get();
    let early = MS + 2 * LONGEST_WAIT;
    for at in [&fallback.looks_at, &fallback.rings_at] {
        at.set(early);
    }
    fallback.left(MS);
    assert_eq!(looks_at(), early, "nothing was held back");
    fallback.looks_for_held();
    fallback.left(MS);
    assert_eq!(looks_at(), MS + fallback.tick());
    assert!(fallback.looks_when_it_rings(MS), "the timer is still to ring");
    assert_eq!(looks_at(), early);
    assert!(!fallback.looks_when_it_rings(MS), "it is looked for already");
    fallback.looks_for_held();
    fallback.left(MS);
    assert!(!fallback.looks_when_it_rings(early - 1), "it may have rung");
    fallback.looks_for_held();
    fallback.is_late.set(true);
    fallback.left(2 * MS);
    assert_eq!(looks_at(), 2 * MS + LATE, "a late look is as late after it");
}

#[test]
fn a_program_that_polls_is_left_alone_for_longer() {
    let fallback = fallback();
    let usual = fallback.tick();
    fallback.set_patient(true);
    assert_eq!(fallback.tick(), PATIENT_TICK);
    assert!(usual < PATIENT_TICK);
    fallback.set_patient(false);
    assert_eq!(fallback.tick(), usual);
}

#[test]
fn the_thread_counts_on_the_timer_only_if_that_rings_when_it_looks() {
    let (fallback, second) = (fallback(), Duration::from_secs(1));
    let limit = |now| fallback.part(now).map(|part| part.limit);
    fallback.armed(MS, 5 * second, true);
    assert_eq!(limit(MS), Some(IDLE_LOOK));
    // Something is held back, and leaves again: the timer is left as it was, and rings early.
    let times = fallback.holds(MS, MS, true).unwrap();
    fallback.timer_is_set(MS, &times);
    fallback.timer_set(MS, &times, *times.end());
    fallback.looks_for_held();
    assert_eq!(limit(MS), Some(IDLE_LOOK));
    fallback.left(MS);
    let own = Some(Duration::from_nanos(fallback.tick()));
    // However often a ring wakes it.
    for _ in 0..3 {
        assert!(!fallback.rang(Sleep::Armed, MS));
        assert_eq!(limit(MS), own);
    }
    assert_eq!(limit(MS + fallback.tick()), None);
}
