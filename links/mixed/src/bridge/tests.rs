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

    fn take_losses(&self) -> Vec<Loss> {
        Vec::new()
    }
}

/// A bridge, both ends of its socket, and who is rung.
fn bridge() -> (Bridge, UnixStream, UnixStream, Receiver<Waiter>) {
    let (own, other) = pair();
    let (sender, heard) = channel();
    let arrivals = own.try_clone().unwrap().into();
    let bridge = Bridge::start(arrivals, None, Arc::new(Heard(Mutex::new(sender)))).unwrap();
    (bridge, own, other, heard)
}

fn pair() -> (UnixStream, UnixStream) {
    let (own, other) = UnixStream::pair().unwrap();
    own.set_nonblocking(true).unwrap();
    other.set_nonblocking(true).unwrap();
    (own, other)
}

/// A bridge of two descriptors, both ends of the second, and who is rung.
struct Both {
    bridge: Bridge,
    more: UnixStream,
    other: UnixStream,
    heard: Receiver<Waiter>,
    _silent: UnixStream,
}

fn both() -> Both {
    let ((arrivals, silent), (more, other)) = (pair(), pair());
    let (sender, heard) = channel();
    let descriptors = (arrivals.into(), Some(more.try_clone().unwrap().into()));
    let bells = Arc::new(Heard(Mutex::new(sender)));
    let bridge = Bridge::start(descriptors.0, descriptors.1, bells).unwrap();
    Both { bridge, more, other, heard, _silent: silent }
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

#[test]
fn what_arrives_by_another_way_is_heard_once_each_time_that_somebody_sleeps() {
    let Both { bridge, mut more, mut other, heard, .. } = both();
    // Nobody sleeps: it is heard, and rings for nobody.
    other.write_all(b"x").unwrap();
    while !bridge.shared.heard_more.load(Ordering::Relaxed) {
        std::thread::yield_now();
    }
    assert!(heard.try_recv().is_err(), "nobody sleeps");
    // It is there still, and rings for whoever goes to sleep.
    bridge.arm(Waiter::Host, false);
    assert_eq!(rung(&heard), Waiter::Host);
    assert_eq!(more.read(&mut [0; 8]).unwrap(), 1);
    // What comes while somebody sleeps rings, too.
    bridge.arm(Waiter::Upcall, false);
    other.write_all(b"y").unwrap();
    assert_eq!(rung(&heard), Waiter::Upcall);
}

#[test]
fn what_arrives_by_another_way_is_not_heard_by_who_takes_packets() {
    let Both { bridge, mut more, mut other, heard, .. } = both();
    let is_heard = || bridge.shared.heard_more.load(Ordering::Relaxed);
    (1..AT_WORK).for_each(|_| bridge.arrived());
    assert!(!is_heard(), "it may be about to sleep");
    bridge.arrived();
    assert!(is_heard());
    other.write_all(b"x").unwrap();
    assert_eq!(more.read(&mut [0; 8]).unwrap(), 1);
    // Who sleeps hears of the next, whatever was taken before.
    bridge.arm(Waiter::Host, false);
    (0..2 * AT_WORK).for_each(|_| bridge.shared.took_unheard());
    assert!(!is_heard(), "somebody sleeps");
    other.write_all(b"y").unwrap();
    assert_eq!(rung(&heard), Waiter::Host);
}
