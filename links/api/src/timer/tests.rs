use super::*;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::timerfd_gettime;

/// Waits until it has run out.
fn wait(timer: &KernelTimer) {
    let mut looks = [PollFd::new(timer, PollFlags::IN)];
    assert_eq!(poll(&mut looks, None).unwrap(), 1);
}

#[test]
fn it_runs_out_once_for_each_time_that_it_is_set() {
    let timer = KernelTimer::new().unwrap();
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
    let timer = KernelTimer::new().unwrap();
    timer.set(Duration::from_secs(3600));
    timer.set(Duration::from_micros(1));
    wait(&timer);
    timer.set(Duration::from_secs(3600));
    assert!(!timer.take(), "setting it again takes back that it has run out");
}

#[test]
fn a_new_one_is_not_set() {
    let timer = KernelTimer::new().unwrap();
    let left = timerfd_gettime(&timer.descriptor).unwrap().it_value;
    assert_eq!((left.tv_sec, left.tv_nsec), (0, 0));
}

#[test]
fn within_a_range_it_runs_out_early_unless_that_is_dear_to_set() {
    let hours = [1, 2].map(|hours| Duration::from_secs(3600 * hours));
    for (is_dear, wanted) in [(false, hours[0]), (true, hours[1])] {
        let timer = KernelTimer { is_dear, ..KernelTimer::new().unwrap() };
        assert_eq!(timer.set_within(hours[0]..=hours[1]), wanted);
        let left = timerfd_gettime(&timer.descriptor).unwrap().it_value;
        let left = Duration::try_from(left).unwrap();
        assert!(left <= wanted && left > wanted - Duration::from_secs(1800), "{left:?}");
    }
}
