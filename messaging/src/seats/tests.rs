use super::*;

fn no_waker() -> Waker {
    Waker::noop().clone()
}

#[test]
fn one_thread_leads_and_leads_until_its_outermost_wait_ends() {
    let mut seats = Seats::default();
    assert!(seats.lead(7));
    assert!(seats.lead(7), "a handler of it waits");
    assert!(!seats.lead(8));
    assert!(!seats.resign());
    assert!(seats.is_led() && seats.waits(7));
    assert!(seats.resign());
    assert!(!seats.is_led() && !seats.waits(7));
    assert!(seats.lead(8));
}

#[test]
fn a_follower_succeeds_when_nobody_leads() {
    let mut seats = Seats::default();
    assert!(!seats.follow(8, &no_waker()), "it can lead");
    seats.lead(7);
    assert!(seats.follow(8, &no_waker()) && seats.follow(9, &no_waker()));
    assert!(seats.successor().is_none(), "somebody leads");
    seats.leave(9);
    seats.resign();
    assert!(seats.successor().is_some(), "8 is left");
    assert!(seats.successor().is_none());
}

#[test]
fn who_waits_for_a_future_waits_until_the_last_of_them() {
    let mut seats = Seats::default();
    seats.block(7);
    seats.block(7);
    seats.unblock(7);
    assert!(seats.waits(7));
    seats.unblock(7);
    assert!(!seats.waits(7));
}
