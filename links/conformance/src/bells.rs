//! Sleeping and waking.

use crate::{receive, receive_bytes, send};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use weft_link::bell::{Ticket, Waiter};
use weft_link::{Link, Payload};

/// Far longer than any test runs: a sleeper that is not woken fails by never ending.
const FOR_EVER: Duration = Duration::from_secs(3600);

/// Arms a bell while nothing arrives. A link may have something to do for itself first.
fn arm<L: Link>(link: &mut L, waiter: Waiter) -> Ticket {
    let armed = (0..1_000_000).find_map(|_| link.arm(waiter));
    armed.expect("nothing has arrived")
}

pub fn an_arrival_is_seen_before_sleeping<L: Link>(links: &mut [L]) {
    for waiter in [Waiter::Host, Waiter::Upcall] {
        send(links, 0, 1, b"early");
        while !links[1].has_arrivals() {
            links[0].flush();
            std::thread::yield_now();
        }
        assert_eq!(links[1].arm(waiter), None, "the frame was there before the bell was armed");
        assert_eq!(receive_bytes(links, 1).1, b"early");
        arm(&mut links[1], waiter);
        links[1].disarm(waiter);
    }
}

pub fn an_arrival_wakes_a_sleeper<L: Link>(links: Vec<L>) {
    let mut links = links;
    send(&mut links, 0, 1, b"met");
    assert_eq!(receive_bytes(&mut links, 1).1, b"met");
    for waiter in [Waiter::Host, Waiter::Upcall] {
        for _ in 0..50 {
            sleep_until_an_arrival(&mut links, waiter, |_| ());
        }
    }
}

/// A look for a frame, after the bell was armed, may take in what arrived: who sleeps then wakes.
pub fn a_look_for_a_frame_keeps_nobody_asleep<L: Link>(links: Vec<L>) {
    let mut links = links;
    while links[1].alloc(None).is_some() {}
    for waiter in [Waiter::Host, Waiter::Upcall] {
        sleep_until_an_arrival(&mut links, waiter, |sleeper| {
            for _ in 0..1000 {
                assert_eq!(sleeper.alloc(None), None, "the program has all frames");
                std::thread::yield_now();
            }
        });
    }
}

/// Sleeps at rank 1, after it `does` something with its bell armed, until rank 0 wakes it.
fn sleep_until_an_arrival<L: Link>(links: &mut [L], waiter: Waiter, does: impl FnOnce(&mut L)) {
    let [sender, sleeper] = links else { panic!("two links") };
    let ticket = arm(sleeper, waiter);
    let awake = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            send(std::slice::from_mut(sender), 0, 1, b"wake");
            while !awake.load(Ordering::Relaxed) {
                sender.flush();
                std::thread::yield_now();
            }
        });
        does(sleeper);
        sleeper.bells().wait(waiter, ticket, FOR_EVER);
        awake.store(true, Ordering::Relaxed);
    });
    sleeper.disarm(waiter);
    // Some links wake a sleeper earlier, to have it serve their timers.
    assert_eq!(receive_bytes(links, 1).1, b"wake");
}

/// A rank that has run out of frames sleeps until a reader gives one back.
pub fn a_frame_that_comes_back_wakes_its_owner<L: Link>(links: Vec<L>) {
    let mut links = links;
    let longest = links[0].capabilities().max_payload;
    let mut held = Vec::new();
    // One frame is with the reader, all others are held here.
    send(&mut links, 0, 1, &vec![1; longest]);
    while let Some(frame) = links[0].alloc(None) {
        held.push(frame);
    }
    if held.len() == links[0].capabilities().frames {
        return; // This link copied the frame on its way out.
    }
    let mut reader = links.pop().expect("two links");
    let mut owner = links.pop().expect("two links");
    let mut ticket = arm(&mut owner, Waiter::Host);
    if owner.alloc(None).is_some() {
        assert!(L::NETWORK.is_some(), "the reader has not given it back");
        return; // This link has sent it meanwhile.
    }
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let received = receive(std::slice::from_mut(&mut reader), 0);
            if let Payload::Buffer(buffer) = received.payload {
                reader.free(buffer);
            }
        });
        // Some links wake their owner several times on the way, to have it look after them; and who
        // armed its bell looks for a frame before it sleeps.
        loop {
            owner.bells().wait(Waiter::Host, ticket, FOR_EVER);
            owner.disarm(Waiter::Host);
            ticket = arm(&mut owner, Waiter::Host);
            if owner.alloc(None).is_some() {
                break;
            }
        }
    });
}

pub fn a_disarmed_bell_does_not_ring<L: Link>(links: &mut [L]) {
    let bells = links[1].bells();
    let ticket = arm(&mut links[1], Waiter::Host);
    links[1].disarm(Waiter::Host);
    send(links, 0, 1, b"unheard");
    assert_eq!(bells.ticket(Waiter::Host), ticket, "the bell rang for nobody");
    assert_eq!(receive_bytes(links, 1).1, b"unheard");
    bells.ring(Waiter::Host);
    assert_ne!(bells.ticket(Waiter::Host), ticket);
    // Rung already, so this returns at once.
    bells.wait(Waiter::Host, ticket, FOR_EVER);
}
