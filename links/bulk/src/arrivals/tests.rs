//! Arrivals where the system lets nobody in.

use super::*;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::Timespec;
use std::net::TcpStream;
use std::process::Command;
use weft_datagram::seal::{Protection, Secret};

/// Set in the process of its own that the test needs, because limits are a process's.
const ALONE: &str = "WEFT_TEST_ALONE";

#[test]
fn without_descriptors_nobody_is_woken_again_and_again() {
    if std::env::var_os(ALONE).is_none() {
        let name = "arrivals::tests::without_descriptors_nobody_is_woken_again_and_again";
        let mut own = Command::new(std::env::current_exe().unwrap());
        assert!(own.args(["--exact", name]).env(ALONE, "1").status().unwrap().success());
        return;
    }
    let (own, protection) = (Rank(1), Protection::Tagged);
    let epoll = Arc::new(epoll::create(epoll::CreateFlags::CLOEXEC).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let expected = Expected { job: 7, source: None, own, trailer_bytes: 0 };
    let mut arrivals = Arrivals::new(Arc::clone(&epoll), listener, expected, 2, 1).unwrap();
    let mut seals = Seals::new(crate::keys(&Secret::new([1; 16]), 7, own, protection), 2);
    let is_ready = || {
        let mut room = Vec::with_capacity(4);
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        epoll::wait(&*epoll, rustix::buffer::spare_capacity(&mut room), Some(&at_once)).unwrap() > 0
    };
    let _waiting = TcpStream::connect(at).unwrap();
    assert!(is_ready());
    let before = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(0), ..before }).unwrap();
    arrivals.accept(&mut seals);
    assert!(!is_ready(), "whoever waits is left alone for now");
    arrivals.tend(1);
    assert!(is_ready());
    setrlimit(Resource::Nofile, before).unwrap();
    arrivals.accept(&mut seals);
    assert_eq!(arrivals.unknown.len(), 1, "and is let in when there is a descriptor");
}
