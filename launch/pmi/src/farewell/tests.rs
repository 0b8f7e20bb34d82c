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
