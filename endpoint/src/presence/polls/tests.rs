use super::*;

/// Paces of a program that polls once in so many microseconds and pauses each time, until it has
/// polled so often or sleeps.
fn paces_of_polls(core: Core, every_us: u64, most: u64) -> Vec<Pace> {
    let polls = Polls::default();
    let pace = |poll: u64| {
        let now = Duration::from_micros(1000 + poll * every_us);
        let pace = polls.pace(now, poll == 0, core);
        if pace == Pace::Yield {
            polls.yielded(now);
        }
        polls.paused.set(now.as_nanos() as u64);
        polls.count.set(1);
        pace
    };
    let mut paces: Vec<_> = (0..most).map(pace).collect();
    let sleep = paces.iter().position(|pace| *pace == Pace::Sleep);
    paces.truncate(sleep.map_or(paces.len(), |sleep| sleep + 1));
    paces
}

#[test]
fn a_program_that_polls_has_its_core_to_itself_but_for_a_yield_at_times() {
    let paces = paces_of_polls(Core::Own, 1, 4999);
    let yields = paces.iter().filter(|pace| **pace == Pace::Yield).count();
    assert_eq!((paces.len(), yields), (4999, 50));
    assert!(paces.iter().all(|pace| matches!(pace, Pace::Spin { .. } | Pace::Yield)), "{paces:?}");
}

#[test]
fn a_program_that_polls_gives_a_shared_core_away_and_then_sleeps() {
    let paces = paces_of_polls(Core::Shared, 1, 10_000);
    let (sleep, yields) = paces.split_last().unwrap();
    assert_eq!((*sleep, yields), (Pace::Sleep, &[Pace::Yield; 5000][..]));
    assert_eq!(paces_of_polls(Core::Busy, 1, 1000).len(), 21);
    assert_eq!(paces_of_polls(Core::Rationed, 1, 1000).len(), 21);
}

#[test]
fn a_program_that_does_other_things_between_its_polls_is_not_put_to_sleep() {
    for core in [Core::Own, Core::Shared, Core::Busy, Core::Rationed] {
        let paces = paces_of_polls(core, 10, 10_000);
        assert!(!paces.contains(&Pace::Sleep), "{core:?}");
    }
}

#[test]
fn a_program_that_polls_seldom_pauses_often_enough_for_others_to_see_it() {
    let polls = Polls::default();
    let mut now = Duration::from_secs(1);
    let mut pause = |every: Duration, begins| {
        now += every * polls.count.get();
        polls.paused(now, now, begins, Core::Own)
    };
    assert_eq!(pause(Duration::ZERO, true), POLLS_PER_PAUSE);
    // It tests a request, and sleeps for a millisecond.
    let [seldom, still] = [(); 2].map(|()| pause(Duration::from_millis(1), false));
    assert_eq!((seldom, still), (50, 50));
    assert_eq!(pause(Duration::from_secs(1), false), 1);
    assert_eq!(pause(Duration::from_micros(1), false), POLLS_PER_PAUSE);
}

#[test]
fn a_pause_follows_as_many_polls_in_vain_in_a_row_as_the_last_one_said() {
    let polls = Countdown::default();
    assert!(polls.is_pause_due(), "the first pause says how many");
    polls.paused(4);
    for _ in 0..3 {
        let due: Vec<bool> = (0..4).map(|_| polls.is_pause_due()).collect();
        assert_eq!(due, [false, false, false, true]);
        polls.paused(4);
    }
}

#[test]
fn who_gets_what_it_waits_for_does_not_pause() {
    let polls = Countdown::default();
    polls.paused(4);
    for _ in 0..100 {
        assert!((0..3).all(|_| !polls.is_pause_due()));
        polls.begin();
    }
}

#[test]
fn who_is_to_pause_at_each_poll_in_vain_does() {
    let polls = Countdown::default();
    polls.paused(1);
    polls.begin();
    assert!(polls.is_pause_due());
}

const NOW: Duration = Duration::from_secs(1);

#[test]
fn one_look_is_left_out_after_each_wait() {
    let reads = Reads::default();
    for _ in 0..2 {
        assert!(!reads.is_due(|| NOW), "it waits");
        reads.has_read(true, || NOW);
        assert!(reads.is_due(|| NOW));
        assert!(!reads.is_due(|| NOW), "only once");
        reads.has_read(false, || NOW);
    }
}

#[test]
fn while_reads_bring_something_none_is_left_out() {
    let reads = Reads::default();
    reads.has_read(true, || NOW);
    assert!(reads.is_due(|| NOW));
    for _ in 0..3 {
        reads.has_read(true, || NOW);
        assert!(!reads.is_due(|| NOW), "more may be there");
    }
}

#[test]
fn a_program_that_reads_seldom_always_looks() {
    let reads = Reads::default();
    reads.has_read(true, || NOW);
    assert!(!reads.is_due(|| NOW + AT_ONCE));
}

#[test]
fn one_of_eight_reads_of_entries_that_wait_looks() {
    let reads = Reads::default();
    let looks: Vec<bool> = (0..16).map(|_| !reads.leaves_look()).collect();
    assert_eq!(looks.iter().filter(|looks| **looks).count(), 2);
    assert!(looks[7] && looks[15]);
}

#[test]
fn others_learn_of_a_program_that_has_polled_for_long_and_anew_after_a_while() {
    let untold = Untold::default();
    let at = |ms| NOW + Duration::from_millis(ms);
    assert_eq!(untold.pauses(true, at(0)), PollNotice::None);
    assert_eq!(untold.pauses(false, at(4)), PollNotice::None);
    assert!(!untold.is_told());
    assert_eq!(untold.pauses(false, at(5)), PollNotice::What);
    assert_eq!(untold.pauses(false, at(204)), PollNotice::Looks);
    assert_eq!(untold.pauses(false, at(205)), PollNotice::What);
    assert!(untold.is_told());
    untold.ended();
    assert_eq!(untold.pauses(true, at(206)), PollNotice::None);
}
