use super::*;

#[test]
fn pauses_fill_the_time_between_two_looks_whatever_one_takes() {
    let pauses = [4.0, 10.0, 16.0, 28.0, 50.0, 60.0].map(Pauses::of);
    assert_eq!(pauses, [10, 4, 2, 1, 1, 1].map(Pauses));
}

#[test]
fn a_clock_that_stands_still_makes_no_endless_pause() {
    assert_eq!(Pauses::of(0.0), Pauses(40));
}
