use super::*;

#[test]
fn the_first_of_all_timers_is_known() {
    let mut timers = Timers::default();
    assert!(!timers.are_due(Nanoseconds::MAX), "none runs");
    timers.wake_by(30, Timer::Silence);
    timers.wake_by(20, Timer::Retransmit);
    timers.wake_by(40, Timer::Acknowledge);
    assert_eq!(timers.earliest(), Some((20, Timer::Retransmit)));
    assert!(!timers.are_due(19) && timers.are_due(20));
    timers.set(Some((30, Timer::Silence)));
    assert!(!timers.are_due(29) && timers.are_due(30));
}
