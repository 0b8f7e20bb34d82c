//! Threads that end while they are traced.

use super::*;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

#[test]
fn the_end_of_a_traced_process_is_left_to_who_waits_for_it() {
    let mut child = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap();
    let pid = Pid::from_raw(child.id().cast_signed());
    ptrace::seize(pid, ptrace::Options::empty()).unwrap();
    assert!(matches!(stop_of(pid), Ok(None)));
    child.kill().unwrap();
    let ended = loop {
        match stop_of(pid) {
            // A signal stops it before it ends by it.
            Ok(_) => std::thread::yield_now(),
            Err(error) => break error,
        }
    };
    assert!(matches!(ended, StackError::Gone), "{ended}");
    assert_eq!(child.wait().unwrap().signal(), Some(9));
}

#[test]
fn a_thread_that_is_asked_to_stop_is_seen_to_have_stopped() {
    let mut child = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap();
    // A stop that is seen once is not seen again.
    for _ in 0..3 {
        let stopped = Stopped::new(child.id()).unwrap();
        assert_eq!(stopped.pending, None);
        assert!(matches!(stop_of(stopped.thread), Ok(None)));
    }
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
}
