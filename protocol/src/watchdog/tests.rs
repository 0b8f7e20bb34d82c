use super::*;

fn host(packets_processed: u64, interrupts_disabled: bool) -> HostStatus {
    HostStatus { packets_processed, interrupts_disabled }
}

#[test]
fn an_arrival_starts_the_timer_once() {
    let mut dog = Watchdog::new(100);
    assert_eq!(dog.deadline(), None);
    dog.arrived(1000);
    dog.arrived(1050);
    assert_eq!(dog.deadline(), Some(1100));
}

#[test]
fn a_host_that_processed_everything_cancels_the_timer() {
    let mut dog = Watchdog::new(100);
    dog.arrived(0);
    assert_eq!(dog.timeout(100, 3, host(3, false)), Verdict::Cancel);
    assert_eq!(dog.deadline(), None);
}

#[test]
fn an_idle_host_is_interrupted_again_and_again() {
    let mut dog = Watchdog::new(100);
    dog.arrived(0);
    assert_eq!(dog.timeout(100, 1, host(0, false)), Verdict::Interrupt);
    assert_eq!(dog.deadline(), Some(200));
    assert_eq!(dog.timeout(200, 1, host(0, false)), Verdict::Interrupt);
}

#[test]
fn progress_since_the_last_look_puts_it_off() {
    let mut dog = Watchdog::new(100);
    dog.arrived(0);
    assert_eq!(dog.timeout(100, 5, host(2, false)), Verdict::Restart);
    assert_eq!(dog.timeout(200, 5, host(2, false)), Verdict::Interrupt);
}

#[test]
fn disabled_interrupts_put_it_off_for_ever() {
    let mut dog = Watchdog::new(100);
    dog.arrived(0);
    for look in 1..10 {
        assert_eq!(dog.timeout(look * 100, 1, host(0, true)), Verdict::Restart);
    }
    assert_eq!(dog.timeout(1000, 1, host(0, false)), Verdict::Interrupt);
}
