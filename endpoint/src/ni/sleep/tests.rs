//! Threads that sleep while another thread has a packet: one of them gets the next packet.

use crate::ni::any_node::{AnyNode, Destination, Inbound, Outbound, Polled, Taken, Upcalls};
use crate::ni::arrival::Arrival;
use crate::ni::node::Node;
use crate::ni::wait::WaitPolicy;
use crate::presence::backoff::Step;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use weft_link::bell::{Bells, Loss, Ticket, Waiter};
use weft_link::clock::{Clock, SystemClock};
use weft_link::status::Awaited;
use weft_link::{Buffer, Capabilities, Link, LinkViolation, Payload, Received, only_frames};
use weft_protocol::Settings;
use weft_wire::{Header, Protocol, Rank};

/// Far longer than anything here takes: no bell has rung.
const NEVER: Duration = Duration::from_secs(60);

/// The host's bell, which no time-out rings.
#[derive(Default)]
struct Bell {
    rings: Mutex<u32>,
    /// Those of the upcall thread's bell, which nobody hears here.
    upcall_rings: AtomicU32,
    sleepers: Mutex<u32>,
    /// Limit of the last sleep.
    limit: Mutex<Option<Duration>>,
    changed: Condvar,
}

impl Bell {
    fn wait_for_a_sleeper(&self) {
        let none = |sleepers: &mut u32| *sleepers == 0;
        let sleepers = self.sleepers.lock().unwrap();
        drop(self.changed.wait_while(sleepers, none).unwrap());
    }
}

impl Bells for Bell {
    fn wait(&self, _: Waiter, ticket: Ticket, limit: Duration) {
        *self.limit.lock().unwrap() = Some(limit);
        *self.sleepers.lock().unwrap() += 1;
        self.changed.notify_all();
        let rings = self.rings.lock().unwrap();
        let unrung = |rings: &mut u32| *rings == ticket.0;
        let rung = self.changed.wait_timeout_while(rings, NEVER, unrung).unwrap();
        assert!(!rung.1.timed_out(), "nobody rang");
        drop(rung);
        *self.sleepers.lock().unwrap() -= 1;
    }

    fn ticket(&self, _: Waiter) -> Ticket {
        Ticket(*self.rings.lock().unwrap())
    }

    fn ring(&self, waiter: Waiter) {
        match waiter {
            Waiter::Host => *self.rings.lock().unwrap() += 1,
            Waiter::Upcall => drop(self.upcall_rings.fetch_add(1, Ordering::SeqCst)),
        }
        self.changed.notify_all();
    }

    fn loss(&self) -> Option<Loss> {
        None
    }

    fn announce(&self, _: Loss) {}

    fn take_losses(&self) -> Vec<Loss> {
        Vec::new()
    }
}

/// A rank that is alone, and sends to itself.
struct Alone {
    bell: Arc<Bell>,
    capabilities: Capabilities,
}

impl Link for Alone {
    only_frames!();

    type Clock = SystemClock;

    fn clock(&self) -> SystemClock {
        SystemClock
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn alloc(&mut self, _: Option<Rank>) -> Option<Buffer> {
        Some(Buffer::new(0, 0))
    }

    fn bytes(&self, _: Buffer) -> NonNull<u8> {
        NonNull::dangling()
    }

    fn transmit(&mut self, _: Rank, _: &Header, _: Payload) {}

    fn receive(&mut self) -> Result<Option<Received>, LinkViolation> {
        Ok(None)
    }

    fn has_arrivals(&mut self) -> bool {
        false
    }

    fn copy_out(&self, _: Buffer, into: &mut [u8]) {
        into.fill(0);
    }

    fn free(&mut self, _: Buffer) {}

    fn bells(&self) -> Arc<dyn Bells> {
        Arc::clone(&self.bell) as Arc<_>
    }

    fn arm(&mut self, waiter: Waiter) -> Option<Ticket> {
        Some(self.bell.ticket(waiter))
    }

    fn disarm(&mut self, _: Waiter) {}

    fn flush(&mut self) {}
}

fn alone() -> (Arc<Node<Alone>>, Arc<Bell>) {
    let bell = Arc::new(Bell::default());
    let capabilities = Capabilities {
        max_payload: 8,
        multicast_payload: 8,
        inline_payload: 8,
        lossless: true,
        ordered: true,
        multicast: false,
        frames: 8,
        receive_frames: 0,
        host_frames: 0,
        threads: true,
    };
    let link = Alone { bell: Arc::clone(&bell), capabilities };
    let node = Node::new(Rank(0), Settings::new(1, 1), link, WaitPolicy::SLEEP);
    (Arc::new(node), bell)
}

fn any(node: &Node<Alone>) -> &dyn AnyNode {
    node
}

fn send(node: &Node<Alone>) {
    let (frame, _) = node.alloc(Protocol::PACKETS, None, Upcalls::Allowed).unwrap();
    node.launch(frame, Protocol::PACKETS, Destination::Unicast(Rank(0)), 0).unwrap();
}

fn take(node: &Node<Alone>, into: &mut Option<Arrival>) -> crate::Result<bool> {
    let taken = node.take_unless(Protocol::PACKETS, &mut |_: Rank, _: &[u8]| false, into);
    taken.map(|taken| taken == Taken::Held).ok_or_else(|| node.trouble())
}

fn take_one(node: &Node<Alone>) {
    let mut taken = None;
    let mut look = || Ok(if take(node, &mut taken)? { Step::Done } else { Step::Idle });
    any(node).wait(&mut look).unwrap();
    node.taken();
    node.release(taken.unwrap());
}

#[test]
fn who_sorts_a_packet_wakes_those_who_fell_asleep_meanwhile() {
    let (node, bell) = alone();
    send(&node);
    send(&node);
    let mut first = None;
    assert!(take(&node, &mut first).unwrap());
    std::thread::scope(|scope| {
        let second = scope.spawn(|| take_one(&node));
        bell.wait_for_a_sleeper();
        node.taken();
        second.join().unwrap();
    });
    node.release(first.unwrap());
}

/// A thread that takes one packet and goes away leaves the next to those who wait.
#[test]
fn who_makes_an_upcall_wakes_those_who_fell_asleep_meanwhile() {
    let (node, bell) = alone();
    send(&node);
    send(&node);
    let seen = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&seen);
    let upcall = Box::new(move |_: &mut Option<Arrival>| {
        if counted.fetch_add(1, Ordering::SeqCst) == 0 {
            bell.wait_for_a_sleeper();
        }
    });
    node.set_upcall(Protocol::PACKETS, upcall);
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| {
            let is_first = || seen.load(Ordering::SeqCst) == 0;
            while is_first() {
                std::thread::yield_now();
            }
            let polls = &mut || {
                assert!(node.poll().is_some());
                let done = seen.load(Ordering::SeqCst) == 2;
                Ok(if done { Step::Done } else { Step::Idle })
            };
            any(&node).wait(polls).unwrap();
        });
        assert_ne!(node.poll(), Some(Polled::Nothing));
        waits.join().unwrap();
    });
}

/// With a bell that is never rung, a sleep would be for ever.
#[test]
fn who_waits_awake_goes_on_where_others_sleep() {
    let (node, _bell) = alone();
    let mut looks = 0;
    let look = &mut || {
        looks += 1;
        Ok(Step::Idle)
    };
    any(&node).wait_awake(look).unwrap();
    assert_eq!((looks, node.statistics().sleeps), (1, 0));
}

/// An alarm in its place would wake the upcall thread with each wait, and put out that of others.
#[test]
fn a_deadline_ends_sleeps_and_rings_nobody() {
    let (node, bell) = alone();
    let time = Duration::from_millis(50);
    node.interface().attendance.set_alarm(Some(Duration::from_nanos(SystemClock.now()) + NEVER));
    let rings = bell.upcall_rings.load(Ordering::SeqCst);
    let what = || Awaited::of_unknown("a deadline");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let deadline = Some(Duration::from_nanos(SystemClock.now()) + time);
            let look = &mut || {
                let is_over = is_over.load(Ordering::SeqCst);
                Ok(if is_over { Step::Done } else { Step::Idle })
            };
            any(&node).wait_for(&what, deadline, look).unwrap();
        });
        bell.wait_for_a_sleeper();
        is_over.store(true, Ordering::SeqCst);
        bell.ring(Waiter::Host);
    });
    assert!(bell.limit.lock().unwrap().is_some_and(|limit| limit <= time));
    assert_eq!(bell.upcall_rings.load(Ordering::SeqCst), rings);
    assert!(node.interface().until_alarm() <= NEVER, "the alarm is still set");
}
