use super::*;

#[test]
fn so_many_looks_in_vain_in_a_row_are_a_pause() {
    let backoff = Backoff::default();
    assert!(backoff.is_pause_due(), "the first pause says how many");
    backoff.paused(4);
    for _ in 0..3 {
        let due: Vec<bool> = (0..4).map(|_| backoff.is_pause_due()).collect();
        assert_eq!(due, [false, false, false, true]);
        backoff.paused(4);
    }
}

#[test]
fn who_gets_what_it_waits_for_does_not_pause() {
    let backoff = Backoff::default();
    backoff.paused(4);
    for _ in 0..100 {
        assert!((0..3).all(|_| !backoff.is_pause_due()));
        backoff.begin();
    }
}

#[test]
fn who_is_to_pause_at_each_look_in_vain_does() {
    let backoff = Backoff::default();
    backoff.paused(1);
    backoff.begin();
    assert!(backoff.is_pause_due());
}
