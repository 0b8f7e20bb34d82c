use super::*;
use rustix::io::Errno;

#[test]
fn the_end_of_a_process_that_is_gone_is_no_refusal() {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let process = Pid::from_child(&child);
    child.wait().unwrap();
    let error = pidfd_open(process).unwrap_err();
    assert_eq!(Errno::from_io_error(&error), Some(Errno::SRCH));
}

#[test]
fn nothing_is_refused_to_a_test() {
    assert_eq!(first_refused(), None);
}
