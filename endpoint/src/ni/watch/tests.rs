use super::*;

const DELAY: Duration = Duration::from_micros(70);

/// Pauses of a host that polls all the time, until it has done so for `active`.
fn pauses(active: Duration) -> Vec<Duration> {
    let (mut all, mut elapsed) = (vec![DELAY], DELAY);
    while elapsed < active {
        let pause = longer(all[all.len() - 1], DELAY, elapsed);
        all.push(pause);
        elapsed += pause;
    }
    all
}

#[test]
fn the_delay_doubles_eight_fold_at_first() {
    let expected = [1, 2, 4, 8, 8, 8].map(|delays| DELAY * delays);
    assert_eq!(pauses(Duration::from_millis(2))[..6], expected);
}

#[test]
fn an_interrupt_is_late_by_a_share_of_the_time_that_the_host_has_polled() {
    let mut elapsed = Duration::ZERO;
    for pause in pauses(Duration::from_secs(2)) {
        assert!(pause <= (elapsed / SHARE_OF_ACTIVITY).max(DELAY * MOST_DELAYS));
        elapsed += pause;
    }
}

#[test]
fn a_host_that_polls_for_long_is_looked_at_two_hundred_times_a_second() {
    let (short, long) =
        (pauses(Duration::from_secs(1)).len(), pauses(Duration::from_secs(2)).len());
    assert_eq!(long - short, 200);
    assert_eq!(pauses(Duration::from_secs(1)).last(), Some(&LONGEST_DELAY));
}
