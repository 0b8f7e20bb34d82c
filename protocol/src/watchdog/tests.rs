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
    assert_eq!(dog.timeout(100, 3, host(3, false)), WatchdogDecision::Cancel);
    assert_eq!(dog.deadline(), None);
}

#[test]
fn an_idle_host_is_interrupted_again_and_again() {
    let mut dog = Watchdog::new(2_000);
    dog.arrived(0);
    assert_eq!(dog.timeout(2_000, 1, host(0, false)), WatchdogDecision::Interrupt);
    assert_eq!(dog.deadline(), Some(4_000));
    assert_eq!(dog.timeout(4_000, 1, host(0, false)), WatchdogDecision::Interrupt);
}

#[test]
fn progress_since_the_last_look_puts_it_off() {
    let mut dog = Watchdog::new(100);
    dog.arrived(0);
    assert_eq!(dog.timeout(100, 5, host(2, false)), WatchdogDecision::Restart);
    assert_eq!(dog.timeout(200, 5, host(2, false)), WatchdogDecision::Interrupt);
}

#[test]
fn disabled_interrupts_put_it_off_for_ever() {
    let mut dog = Watchdog::new(100);
    dog.arrived(0);
    for look in 1..10 {
        assert_eq!(dog.timeout(look * 100, 1, host(0, true)), WatchdogDecision::Restart);
    }
    assert_eq!(dog.timeout(1000, 1, host(0, false)), WatchdogDecision::Interrupt);
}

/// Else a simulated host would never get to what it is interrupted for.
#[test]
fn a_delay_of_0_interrupts_at_once_and_lets_time_pass_then() {
    let mut dog = Watchdog::new(0);
    dog.arrived(50);
    assert_eq!(dog.deadline(), Some(50));
    for (now, disabled) in [(50, false), (1_050, true)] {
        let verdict =
            if disabled { WatchdogDecision::Restart } else { WatchdogDecision::Interrupt };
        assert_eq!(dog.timeout(now, 1, host(0, disabled)), verdict);
        assert_eq!(dog.deadline(), Some(now + LEAST_BETWEEN_LOOKS));
    }
}
