use super::*;
use rustix::event::{PollFd, PollFlags, poll};

/// Waits until it has run out.
fn wait(timer: &Timer) {
    let mut looks = [PollFd::new(timer, PollFlags::IN)];
    assert_eq!(poll(&mut looks, None).unwrap(), 1);
}

#[test]
fn it_runs_out_once_for_each_time_that_it_is_set() {
    let timer = Timer::new().unwrap();
    assert!(!timer.take());
    for after in [Duration::ZERO, Duration::from_micros(50)] {
        timer.set(after);
        wait(&timer);
        assert!(timer.take());
        assert!(!timer.take());
    }
}

#[test]
fn the_last_time_counts() {
    let timer = Timer::new().unwrap();
    timer.set(Duration::from_secs(3600));
    timer.set(Duration::from_micros(1));
    wait(&timer);
    timer.set(Duration::from_secs(3600));
    assert!(!timer.take(), "setting it again takes back that it has run out");
}
