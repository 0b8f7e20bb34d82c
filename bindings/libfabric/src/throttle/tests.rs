use super::*;

const NOW: Duration = Duration::from_secs(1);

#[test]
fn one_look_is_left_out_after_each_wait() {
    let throttle = PollThrottle::default();
    for _ in 0..2 {
        assert!(!throttle.is_due(|| NOW), "it waits");
        throttle.has_read(true, || NOW);
        assert!(throttle.is_due(|| NOW));
        assert!(!throttle.is_due(|| NOW), "only once");
        throttle.has_read(false, || NOW);
    }
}

#[test]
fn while_reads_bring_something_none_is_left_out() {
    let throttle = PollThrottle::default();
    throttle.has_read(true, || NOW);
    assert!(throttle.is_due(|| NOW));
    for _ in 0..3 {
        throttle.has_read(true, || NOW);
        assert!(!throttle.is_due(|| NOW), "more may be there");
    }
}

#[test]
fn a_program_that_reads_seldom_always_looks() {
    let throttle = PollThrottle::default();
    throttle.has_read(true, || NOW);
    assert!(!throttle.is_due(|| NOW + AT_ONCE));
}

#[test]
fn one_of_eight_reads_of_entries_that_wait_looks() {
    let throttle = PollThrottle::default();
    let looks: Vec<bool> = (0..16).map(|_| !throttle.leaves_look()).collect();
    assert_eq!(looks.iter().filter(|looks| **looks).count(), 2);
    assert!(looks[7] && looks[15]);
}
