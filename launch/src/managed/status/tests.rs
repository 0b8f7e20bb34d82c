use super::*;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::process::Command;

/// Cause of the end of a shell that runs `script`, as seen before anybody waits for it; seen
/// afterwards it is the same, or unknown to an older kernel.
fn end_of(script: &str) -> Cause {
    let mut child = Command::new("sh").args(["-c", script]).spawn().unwrap();
    let pidfd = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).unwrap();
    poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], None).unwrap();
    let cause = cause_of(&pidfd, child.id());
    child.wait().unwrap();
    let afterwards = cause_of(&pidfd, child.id());
    assert!(afterwards == cause || afterwards == Cause::Ended, "{afterwards:?}");
    cause
}

#[test]
fn a_process_that_has_ended_says_how() {
    assert_eq!(end_of("exit 3"), Cause::Exited(3));
    assert_eq!(end_of("kill -9 $$"), Cause::Killed(9));
    assert_eq!(end_of("kill -15 $$"), Cause::Killed(15));
}

#[test]
fn lines_of_proc_are_read_whatever_the_name() {
    assert_eq!(status_in("12 (a) b) Z 1 12 0 0 9\n"), Some(9));
    assert_eq!(status_in("12 (a) S 1 12 0 0 9\n"), None);
    assert_eq!(status_in("12 (a"), None);
    assert_eq!(status_in(""), None);
}
