use super::*;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use weft_link::bell::{Loss, Ticket};

/// Bells that say who is rung.
struct Heard(Mutex<Sender<Waiter>>);

impl Bells for Heard {
    fn wait(&self, _: Waiter, _: Ticket, _: Duration) {}

    fn ticket(&self, _: Waiter) -> Ticket {
        Ticket(0)
    }

    fn ring(&self, waiter: Waiter) {
        self.0.lock().unwrap().send(waiter).unwrap();
    }

    fn loss(&self) -> Option<Loss> {
        None
    }

    fn announce(&self, _: Loss) {}
}

/// A bridge, both ends of its socket, and who is rung.
fn bridge() -> (Bridge, UnixStream, UnixStream, Receiver<Waiter>) {
    let (own, other) = UnixStream::pair().unwrap();
    own.set_nonblocking(true).unwrap();
    other.set_nonblocking(true).unwrap();
    let (sender, heard) = channel();
    let arrivals = own.try_clone().unwrap().into();
    let bridge = Bridge::start(arrivals, Arc::new(Heard(Mutex::new(sender)))).unwrap();
    (bridge, own, other, heard)
}

fn rung(heard: &Receiver<Waiter>) -> Waiter {
    heard.recv_timeout(Duration::from_secs(10)).expect("nobody is rung")
}

#[test]
fn an_arrival_rings_for_who_sleeps() {
    let (bridge, _own, mut other, heard) = bridge();
    bridge.arm(Waiter::Upcall, false);
    other.write_all(b"x").unwrap();
    assert_eq!(rung(&heard), Waiter::Upcall);
}

#[test]
fn room_rings_for_who_waits_for_it_even_beside_one_who_does_not() {
    let (bridge, mut own, mut other, heard) = bridge();
    let full = loop {
        if let Err(error) = own.write(&[7; 4096]) {
            break error;
        }
    };
    assert_eq!(full.kind(), ErrorKind::WouldBlock);
    bridge.arm(Waiter::Upcall, false);
    bridge.arm(Waiter::Host, true);
    assert!(heard.try_recv().is_err(), "there is no room yet");
    while other.read(&mut [0; 4096]).is_ok() {}
    assert_eq!([rung(&heard), rung(&heard)], [Waiter::Host, Waiter::Upcall]);
    // Nobody waits for room any more.
    assert!(!bridge.shared.interest().room);
}
