use super::*;
use rustix::io::{FdFlags, fcntl_getfd};

const MOST: usize = 4096;

#[test]
fn a_datagram_arrives_with_its_descriptors_close_on_exec() {
    let (here, there) = pair().unwrap();
    let sent: Vec<_> = (0..DESCRIPTORS_MAX).map(|_| here.as_fd()).collect();
    send(&here, b"many", &sent, SendFlags::empty()).unwrap();
    let received = receive(&there, RecvFlags::DONTWAIT, MOST).unwrap();
    assert_eq!(received.bytes, b"many");
    assert_eq!(received.descriptors.len(), DESCRIPTORS_MAX);
    for descriptor in received.descriptors {
        assert_eq!(fcntl_getfd(descriptor).unwrap(), FdFlags::CLOEXEC);
    }
}

#[test]
fn the_end_of_the_other_side_is_heard_after_its_last_message() {
    let (here, there) = pair().unwrap();
    send(&here, b"last", &[], SendFlags::empty()).unwrap();
    drop(here);
    assert_eq!(receive(&there, RecvFlags::empty(), MOST).unwrap().bytes, b"last");
    assert!(matches!(receive(&there, RecvFlags::empty(), MOST), Err(ReceiveError::Closed)));
}

#[test]
fn a_datagram_longer_than_any_message_is_refused() {
    let (here, there) = pair().unwrap();
    send(&here, &[7; MOST + 1], &[], SendFlags::empty()).unwrap();
    let refused = receive(&there, RecvFlags::DONTWAIT, MOST);
    assert!(matches!(refused, Err(ReceiveError::Long)));
}

#[test]
fn the_peer_of_a_connection_is_whoever_made_it() {
    let (here, _there) = pair().unwrap();
    let own = Some(rustix::process::getpid());
    assert_eq!(peer(&here), Ok(Peer { user: rustix::process::geteuid(), process: own }));
    let (no_socket, _) = rustix::pipe::pipe().unwrap();
    assert_eq!(peer(&no_socket), Err(Errno::NOTSOCK));
}

/// The system tells first that something was not read.
#[test]
fn what_was_said_before_the_end_is_there_though_not_all_was_read() {
    let (ours, theirs) = pair().unwrap();
    send(&ours, b"unread", &[], SendFlags::empty()).unwrap();
    send(&theirs, b"goodbye", &[], SendFlags::empty()).unwrap();
    drop(theirs);
    let received = receive(&ours, RecvFlags::empty(), 16).unwrap();
    assert_eq!(received.bytes, b"goodbye");
    assert!(matches!(receive(&ours, RecvFlags::empty(), 16), Err(ReceiveError::Closed)));
}
