//! Several protocols of one rank: each gets its own packets, and one that leaves them stops no
//! other (I14).

use crate::packets::all_kinds_of_job;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use weft_endpoint::{HeldPacket, Packets, Protocol, Rank};
use weft_protocol::Preset;
use weft_threads::{Gate, Job};

/// A protocol of users' own.
fn user(number: u8) -> Protocol {
    let number = Protocol::FIRST_OF_USERS.index() as u8 + number;
    Protocol::numbered(number).unwrap()
}

fn send(packets: &Packets, to: Rank, number: u32) {
    let mut packet = packets.packet().unwrap();
    packet.put(&number.to_le_bytes()).unwrap();
    packet.unicast(to).unwrap();
}

fn number(packet: &[u8]) -> u32 {
    u32::from_le_bytes(packet[..4].try_into().unwrap())
}

/// The numbers that a protocol receives, in order.
fn numbers(packets: &Packets) -> Arc<Mutex<Vec<u32>>> {
    let log = Arc::new(Mutex::new(Vec::new()));
    let entries = Arc::clone(&log);
    packets.on_packet(move |packet| entries.lock().unwrap().push(number(&packet)));
    log
}

#[test]
fn each_protocol_gets_its_own_packets_in_order() {
    const ROUNDS: u32 = 60;
    for job in all_kinds_of_job(3) {
        let gate = Gate::default();
        job.packets(|packets| {
            let called = [user(0), user(1)].map(|protocol| packets.of(protocol));
            let logs = called.each_ref().map(numbers);
            let taker = packets.of(user(2));
            let next = Rank((packets.rank().0 + 1) % 3);
            for round in 0..ROUNDS {
                for (which, protocol) in (0..).zip(called.iter().chain([&taker])) {
                    send(protocol, next, 10 * round + which);
                }
                let mut packet = called[1].packet().unwrap();
                packet.put(&(10 * round + 1).to_le_bytes()).unwrap();
                packet.broadcast().unwrap();
            }
            let mut taken = Vec::new();
            let mut held = HeldPacket::default();
            let done = |logs: &[Arc<Mutex<Vec<u32>>>; 2], taken: &Vec<u32>| {
                logs[0].lock().unwrap().len() == ROUNDS as usize
                    && logs[1].lock().unwrap().len() == 3 * ROUNDS as usize
                    && taken.len() == ROUNDS as usize
            };
            while !done(&logs, &taken) {
                if taker.take(&mut held).unwrap() {
                    taken.push(number(taker.read(&held)));
                    taker.release(&mut held);
                    drop(taker.sorting());
                }
                packets.poll().unwrap();
            }
            let expected = |which| (0..ROUNDS).map(|round| 10 * round + which).collect::<Vec<_>>();
            assert_eq!(*logs[0].lock().unwrap(), expected(0));
            assert_eq!(taken, expected(2));
            assert!(logs[1].lock().unwrap().iter().all(|number| number % 10 == 1));
            gate.pass(&packets);
        });
    }
}

/// One rank sends to a system that takes nothing, until it is stopped; all the while it asks
/// another system and gets its answers. Then the first takes all, in order.
#[test]
fn a_system_that_takes_nothing_stops_its_senders_and_nobody_else() {
    assert_stops_nobody_else(4);
}

/// On shared memory its packets stay in frames of their sender, which are fewer than half a window.
#[test]
fn a_system_that_takes_nothing_does_not_take_all_frames() {
    assert_stops_nobody_else(200);
}

/// A sender that can try again waits for a credit, and for nothing that never comes.
#[test]
fn a_credit_is_awaited_on_the_own_host_only() {
    const NEAR: Rank = Rank(1);
    const FAR: Rank = Rank(2);
    let Some(job) = Job::on_hosts(4, 2, Preset::RETRANSMITTING[0]) else { return };
    let gate = Gate::default();
    job.packets(|packets| {
        if packets.rank() == Rank(0) {
            assert!(!packets.send_short(FAR, &[&b"to another host"[..]]), "none goes short there");
            assert_eq!(packets.short_payload(FAR), 0);
            assert!(!packets.awaits_credit(FAR));
            while packets.send_short(NEAR, &[&b"to the own host"[..]]) {}
            assert!(packets.awaits_credit(NEAR));
        }
        gate.pass(&packets);
    });
}

fn assert_stops_nobody_else(bytes: usize) {
    for job in all_kinds_of_job(2) {
        let gate = Gate::default();
        job.packets(|packets| {
            let (lazy, busy) = (packets.of(user(0)), packets.of(user(1)));
            let other = Rank(1 - packets.rank().0);
            if packets.rank() == 0 {
                let (answers, all) = (busy.clone(), Arc::new(AtomicU32::new(0)));
                let (wakes, told) = (Arc::new(AtomicBool::new(false)), Arc::clone(&all));
                let woken = Arc::clone(&wakes);
                busy.on_packet(move |packet| match number(&packet) {
                    0 => send(&answers, other, 0),
                    sent => {
                        told.store(sent, Ordering::SeqCst);
                        woken.store(true, Ordering::SeqCst);
                    }
                });
                packets.poll_until(|| wakes.load(Ordering::SeqCst)).unwrap();
                let log = numbers(&lazy);
                let all = all.load(Ordering::SeqCst);
                packets.poll_until(|| log.lock().unwrap().len() == all as usize).unwrap();
                assert!(log.lock().unwrap().iter().copied().eq(0..all), "out of order");
            } else {
                let answers = numbers(&busy);
                let mut sent = 0;
                let ask = |asked: usize| {
                    send(&busy, other, 0);
                    busy.poll_until(|| answers.lock().unwrap().len() == asked).unwrap();
                };
                let mut asked = 0;
                let mut refusals = 0;
                // A packet may also be missing because all are on their way.
                while refusals < 20 {
                    match lazy.try_packet().unwrap() {
                        None => refusals += 1,
                        Some(mut packet) => {
                            packet.put(&u32::to_le_bytes(sent)).unwrap();
                            packet.put(&vec![7; bytes - 4]).unwrap();
                            packet.unicast(other).unwrap();
                            (sent, refusals) = (sent + 1, 0);
                        }
                    }
                    if refusals > 0 || sent % 16 == 0 {
                        asked += 1;
                        ask(asked);
                    }
                    assert!(sent < 100_000, "nobody stopped the sender");
                }
                for _ in 0..100 {
                    asked += 1;
                    ask(asked);
                }
                send(&busy, other, sent);
            }
            gate.pass(&packets);
        });
    }
}

#[test]
fn packets_wait_for_a_system_that_is_not_there_yet() {
    for job in all_kinds_of_job(2) {
        let gate = Gate::default();
        job.packets(|packets| {
            let (early, mark) = (packets.of(user(0)), packets.of(user(1)));
            let other = Rank(1 - packets.rank().0);
            (0..10).for_each(|number| send(&early, other, number));
            send(&mark, other, 99);
            let marks = numbers(&mark);
            packets.poll_until(|| !marks.lock().unwrap().is_empty()).unwrap();
            let log = numbers(&early);
            packets.poll_until(|| log.lock().unwrap().len() == 10).unwrap();
            assert!(log.lock().unwrap().iter().copied().eq(0..10));
            gate.pass(&packets);
        });
    }
}
