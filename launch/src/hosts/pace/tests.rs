use super::*;

#[test]
fn who_meets_the_others_late_still_greets_all_at_once_and_waits_for_that() {
    let mut pace = Pace {
        clock: Clock::started_before(COPIED_LIMIT * 2),
        rounds: COPIED_ROUNDS,
        ..Pace::new(MEETING_LIMIT)
    };
    let met = Progress { met_all: true, copies: true, heard_all: false };
    assert!(!pace.is_over(met), "the others have had no time to be heard");
    assert!(pace.asks_now(met), "the others may not have listened before");
    assert!(pace.is_over(Progress { heard_all: true, ..met }));
}
