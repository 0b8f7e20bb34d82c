use super::*;
use crate::channel;
use proptest::prelude::*;
use rustix::io::{FdFlags, fcntl_setfd};
use std::os::fd::{AsRawFd, IntoRawFd};

fn inode_of(socket: &OwnedFd) -> u64 {
    rustix::fs::fstat(socket).unwrap().st_ino
}

#[test]
fn the_variable_names_a_socket_or_who_took_it() {
    let parse = |text: &str| parse(OsStr::new(text));
    assert_eq!(parse("100:77").unwrap(), Variable::Socket { number: 100, inode: 77 });
    assert_eq!(parse("taken:12").unwrap(), Variable::Taken { process: 12 });
    for wrong in ["", "100", "2:77", "-1:77", "100:", "taken:", "taken:x", "a:b:c"] {
        assert!(matches!(parse(wrong), Err(InheritError::Variable(_))), "{wrong:?}");
    }
}

proptest! {
    #[test]
    fn any_variable_is_parsed_or_refused(text in ".{0,30}") {
        if let Ok(Variable::Socket { number, .. }) = parse(OsStr::new(&text)) {
            prop_assert!(number > 2);
        }
    }
}

#[test]
fn an_inherited_socket_is_taken_once() {
    let (_here, there) = channel::pair().unwrap();
    fcntl_setfd(&there, FdFlags::empty()).unwrap();
    let inode = inode_of(&there);
    let number = there.into_raw_fd();
    let taken = take_socket(number, inode).unwrap();
    assert_eq!(taken.as_raw_fd(), number);
    assert_eq!(rustix::io::fcntl_getfd(&taken).unwrap(), FdFlags::CLOEXEC);
    assert!(matches!(take_socket(number, inode), Err(InheritError::AlreadyJoined)));
}

#[test]
fn a_number_that_is_not_the_named_socket_is_left_alone() {
    let (_here, there) = channel::pair().unwrap();
    let number = there.as_raw_fd();
    let refused = take_socket(number, inode_of(&there) + 1_000_000);
    assert!(matches!(refused, Err(InheritError::NotOpen(open)) if open == number));
}
