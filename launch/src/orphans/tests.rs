use super::*;
use std::process::{Command, Stdio};

#[test]
fn a_parent_is_found_behind_any_name() {
    assert_eq!(parent("12 (a) S 7 12 12 0"), Some(7));
    assert_eq!(parent("12 (a) S 7) Z 1 ) R 9 12"), Some(9));
    assert_eq!(parent("12 (a"), None);
    assert_eq!(parent(""), None);
}

#[test]
fn a_child_is_listed_until_it_is_ended_and_reaped() {
    let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let number = Pid::from_child(&child);
    assert!(children().unwrap().contains(&number));
    assert!(end(number, Instant::now() + KILL_LIMIT));
    assert!(!children().unwrap().contains(&number));
    assert!(child.wait().is_err(), "there is nothing left to wait for");
}
