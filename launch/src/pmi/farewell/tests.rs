//! The last word, on a connection that is there or not.

#![allow(clippy::unwrap_used)]

use super::*;
use std::io::Write;

#[test]
fn it_is_said_if_somebody_listens() {
    let (here, mut there) = UnixStream::pair().unwrap();
    there.write_all(b"ack\n").unwrap();
    say_on(here, b"cmd=finalize\n");
    let mut heard = String::new();
    there.read_to_string(&mut heard).unwrap();
    assert_eq!(heard, "cmd=finalize\n");
}

#[test]
fn nothing_is_said_to_nobody() {
    let (here, there) = UnixStream::pair().unwrap();
    drop(there);
    say_on(here, b"cmd=finalize\n");
}

/// A child forked by the process has its memory and its connections.
#[test]
fn a_child_says_nothing_for_its_parent() {
    let (here, mut there) = UnixStream::pair().unwrap();
    let parent = rustix::process::getppid().unwrap();
    let words = b"cmd=finalize\n".to_vec();
    let last = Farewell { of: parent, stream: here, words, place: (0, 1) };
    say_as(getpid(), last);
    let mut heard = String::new();
    there.read_to_string(&mut heard).unwrap();
    assert_eq!(heard, "");
}
