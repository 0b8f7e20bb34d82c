use super::*;
use rustix::thread::current_timer_slack;

#[test]
fn only_long_sleeps_that_may_end_late_do() {
    let slack = Slack::new();
    let tick = slack.tick.unwrap().get();
    assert!((1_000_000..=10_000_000).contains(&tick), "a tick of {tick} ns");
    let usual = current_timer_slack().unwrap();
    let long = Duration::from_millis(6);
    for (time, may_be_late, expected) in
        [(long, true, tick), (long, false, usual), (Duration::from_micros(70), true, usual)]
    {
        let mut during = 0;
        slack.sleep(time, may_be_late, || during = current_timer_slack().unwrap());
        assert_eq!(during, expected, "{time:?}, {may_be_late}");
        assert_eq!(current_timer_slack().unwrap(), usual, "after {time:?}, {may_be_late}");
    }
}
