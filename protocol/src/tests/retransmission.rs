//! irx and hrx, event by event (thesis 8.2.2, 8.3.2).

use super::recorder::*;
use crate::tree::Shape;
use crate::{PacketBody, Preset, Settings, Timer, Violation};
use Did::{Defer, Fetched, Free, Transmit};
use weft_wire::{Atomic, GroupId, Header, Rank, Tag};

const RETRANSMIT: u64 = 1000;
const ACKNOWLEDGE: u64 = 200;

fn settings(preset: Preset, window: u16) -> Settings {
    let shape = Shape::Binary;
    let (retransmit_after, acknowledge_after) = (RETRANSMIT, ACKNOWLEDGE);
    let retransmit_at_least = None;
    Settings {
        preset,
        shape,
        retransmit_after,
        retransmit_at_least,
        acknowledge_after,
        ..Settings::new(7, window)
    }
}

fn bench(preset: Preset, local: u16, window: u16) -> Bench {
    Bench::set_up(local, settings(preset, window))
}

/// `header` with this number, sent by one who expects `next`.
fn numbered(header: Header, number: u32, next: u32) -> Header {
    Header { sequence: number, acknowledgement: next, ..header }
}

fn acknowledge(from: u16, next: u32) -> Header {
    numbered(Header::new(Tag::Acknowledge, Rank(from), unicast_tree(from), 0), 0, next)
}

fn sent_acknowledge(from: u16, to: u16, next: u32) -> Did {
    Transmit(Rank(to), acknowledge(from, next), PacketBody::Empty)
}

/// A NACK from one who expects `next`, all before which it acknowledges.
fn nack(from: u16, next: u32) -> Header {
    Header { tag: Tag::Nack, sequence: next, ..acknowledge(from, next) }
}

fn sent_nack(from: u16, to: u16, next: u32) -> Did {
    Transmit(Rank(to), nack(from, next), PacketBody::Empty)
}

fn receive(bench: &mut Bench, from: u16, number: u32, buffer: u64) -> Vec<Did> {
    bench.receive(numbered(ucast(from, 0), number, 0), PacketBody::Buffer(buffer))
}

#[test]
fn a_window_of_packets_is_kept_until_it_is_acknowledged() {
    let mut bench = bench(Preset::IrxImc, 0, 2);
    assert_eq!(bench.unicast(1, 90), [sent(1, numbered(ucast(0, 0), 0, 0), 90)]);
    assert_eq!(bench.unicast(1, 91), [sent(1, numbered(ucast(0, 0), 1, 0), 91)]);
    assert_eq!(bench.unicast(1, 92), []);
    let did = bench.receive(acknowledge(1, 1), PacketBody::Empty);
    assert_eq!(did, [Free(90), sent(1, numbered(ucast(0, 0), 2, 0), 92)]);
    assert_eq!(bench.receive(acknowledge(1, 1), PacketBody::Empty), [], "old news");
    assert_eq!(bench.receive(acknowledge(1, 3), PacketBody::Empty), [Free(91), Free(92)]);
    assert!(bench.ni.is_flushed());
}

#[test]
fn only_the_next_number_is_accepted() {
    let mut bench = bench(Preset::IrxImc, 0, 8);
    let missing = receive(&mut bench, 1, 1, 201);
    assert_eq!(missing, [sent_nack(0, 1, 0), Free(201)], "one before it is missing");
    assert_eq!(receive(&mut bench, 1, 2, 202), [Free(202)], "its sender was told");
    assert_eq!(receive(&mut bench, 1, 0, 200), [delivered(200, unicast_tree(1))]);
    assert_eq!(receive(&mut bench, 1, 0, 200), [Free(200)], "a duplicate");
    assert_eq!(receive(&mut bench, 1, 1, 201), [delivered(201, unicast_tree(1))]);
    assert_eq!(bench.ni.counters().out_of_sequence, 3);
    let beyond = numbered(ucast(1, 0), 10, 0);
    let violation = Err(Violation::Sequence(Rank(1), 10));
    assert_eq!(bench.try_receive(beyond, PacketBody::Buffer(1)), violation);
    let unsent = numbered(ucast(1, 0), 2, 1);
    let violation = Err(Violation::Acknowledgement(Rank(1), 1));
    assert_eq!(bench.try_receive(unsent, PacketBody::Buffer(1)), violation);
}

#[test]
fn acknowledgements_are_piggybacked_or_sent_at_half_a_window_or_delayed() {
    let mut bench = bench(Preset::IrxImc, 0, 4);
    bench.advance(50);
    receive(&mut bench, 1, 0, 200);
    assert_eq!(bench.ni.next_deadline(), Some((50 + ACKNOWLEDGE, Timer::Acknowledge)));
    assert_eq!(bench.unicast(1, 90), [sent(1, numbered(ucast(0, 0), 0, 1), 90)]);
    assert_eq!(bench.advance(50 + ACKNOWLEDGE), [], "the packet took it along");
    receive(&mut bench, 1, 1, 201);
    let half = [delivered(202, unicast_tree(1)), sent_acknowledge(0, 1, 3)];
    assert_eq!(receive(&mut bench, 1, 2, 202), half);
    receive(&mut bench, 1, 3, 203);
    let late = 50 + 2 * ACKNOWLEDGE;
    assert_eq!(bench.advance(late), [sent_acknowledge(0, 1, 4)]);
    assert_eq!(receive(&mut bench, 1, 3, 203), [Free(203)]);
    assert_eq!(bench.advance(late + ACKNOWLEDGE), [sent_acknowledge(0, 1, 4)], "it was lost");
}

#[test]
fn timers_may_run_out_for_as_long_as_a_job_runs() {
    let mut bench = bench(Preset::IrxImc, 0, 4);
    for number in 0..=u32::from(u16::MAX) {
        receive(&mut bench, 1, number, 200);
        let (deadline, _) = bench.ni.next_deadline().unwrap();
        assert_eq!(bench.advance(deadline), [sent_acknowledge(0, 1, number + 1)]);
        bench.release_first();
    }
}

#[test]
fn what_stays_unacknowledged_is_sent_again_from_the_oldest_on() {
    let mut bench = bench(Preset::IrxImc, 0, 4);
    bench.unicast(1, 90);
    bench.advance(10);
    bench.unicast(1, 91);
    assert_eq!(bench.ni.next_deadline(), Some((RETRANSMIT, Timer::Retransmit)));
    assert_eq!(bench.advance(RETRANSMIT - 1), []);
    let again = [(0, 90), (1, 91)].map(|(n, b)| sent(1, numbered(ucast(0, 0), n, 0), b));
    assert_eq!(bench.advance(RETRANSMIT), again);
    // The wait doubles while nothing comes back.
    assert_eq!(bench.advance(2 * RETRANSMIT), again);
    assert_eq!(bench.advance(4 * RETRANSMIT - 1), []);
    assert_eq!(bench.advance(4 * RETRANSMIT), again);
    assert_eq!(bench.receive(acknowledge(1, 1), PacketBody::Empty), [Free(90)]);
    assert_eq!(bench.advance(5 * RETRANSMIT), again[1..]);
    assert_eq!(bench.ni.counters().retransmissions, 7);
}

#[test]
fn who_comes_late_itself_waits_for_a_late_acknowledgement_once() {
    let mut bench = bench(Preset::IrxImc, 0, 4);
    bench.unicast(1, 90);
    let (late, again) = (2 * RETRANSMIT, [sent(1, numbered(ucast(0, 0), 0, 0), 90)]);
    assert_eq!(bench.advance(late), []);
    assert_eq!(bench.ni.next_deadline(), Some((late + RETRANSMIT, Timer::Retransmit)));
    assert_eq!(bench.advance(late + 5 * RETRANSMIT), again, "late again: it may be lost");
    assert_eq!(bench.receive(acknowledge(1, 1), PacketBody::Empty), [Free(90)]);
    assert_eq!(bench.ni.counters().retransmissions, 1);
}

#[test]
fn a_sender_that_found_no_buffer_is_told_when_there_is_one() {
    let mut receiver =
        Bench::set_up(0, Settings { receive_buffers: 1, ..settings(Preset::IrxImc, 4) });
    receive(&mut receiver, 1, 0, 200);
    assert_eq!(receive(&mut receiver, 2, 0, 210), [Free(210)]);
    assert_eq!(receive(&mut receiver, 2, 0, 210), [Free(210)]);
    assert_eq!(receiver.release_first(), [Free(200), sent_nack(0, 2, 0)]);
    assert_eq!((receiver.ni.counters().no_buffer, receiver.ni.counters().nacks), (2, 1));

    let mut sender = bench(Preset::IrxImc, 2, 4);
    sender.unicast(0, 90);
    let second = sender.unicast(0, 91);
    let did = sender.receive(Header { sequence: 1, ..nack(0, 0) }, PacketBody::Empty);
    assert_eq!(did, second, "what comes before was accepted, though not acknowledged");
}

#[test]
fn a_fetch_and_add_is_asked_and_answered_once_whatever_is_lost() {
    let body = PacketBody::Atomic { variable: 5, operation: Atomic::Add(7) };
    let mut asker = bench(Preset::IrxImc, 1, 4);
    let request = numbered(fa_request(1, 0), 0, 0);
    assert_eq!(asker.fetch_and_add(0, 5, 7), [Transmit(Rank(0), request, body)]);
    let mut home = bench(Preset::IrxImc, 0, 4);
    let reply = numbered(fa_reply(0, 0), 0, 1);
    assert_eq!(home.receive(request, body), [Transmit(Rank(1), reply, PacketBody::Fetched(0))]);
    assert_eq!(home.receive(request, body), []);
    assert_eq!(home.ni.counters().atomics_served, 1);
    assert_eq!(home.advance(RETRANSMIT), [Transmit(Rank(1), reply, PacketBody::Fetched(0))]);
    assert_eq!(asker.receive(reply, PacketBody::Fetched(0)), [Fetched(0)]);
    assert_eq!(asker.receive(reply, PacketBody::Fetched(0)), [], "twice");
    assert!(!asker.ni.observe().is_fetching());
    let invented = numbered(fa_reply(0, 0), 1, 1);
    let violation = Err(Violation::Unasked(Rank(0)));
    assert_eq!(asker.try_receive(invented, PacketBody::Fetched(9)), violation);
}

/// A compare-and-swap that took place twice would say that it had failed.
#[test]
fn a_compare_and_swap_takes_place_once_whatever_is_lost() {
    let operation = Atomic::CompareSwap { expected: 0, new: 9 };
    let body = PacketBody::Atomic { variable: 5, operation };
    let request = numbered(Header { size: operation.size(), ..fa_request(1, 0) }, 0, 0);
    let reply = numbered(fa_reply(0, 0), 0, 1);
    let answer = [Transmit(Rank(1), reply, PacketBody::Fetched(0))];
    let mut asker = bench(Preset::IrxImc, 1, 4);
    assert_eq!(asker.atomic(0, 5, operation), [Transmit(Rank(0), request, body)]);
    assert_eq!(asker.advance(RETRANSMIT), [Transmit(Rank(0), request, body)], "it was lost");
    let mut home = bench(Preset::IrxImc, 0, 4);
    assert_eq!(home.receive(request, body), answer);
    assert_eq!(home.receive(request, body), [], "it was late, not lost");
    assert_eq!(home.advance(RETRANSMIT), answer, "the answer was lost, and is the same");
    assert_eq!(home.fetch_and_add(0, 5, 0), [Fetched(9)]);
    assert_eq!(asker.receive(reply, PacketBody::Fetched(0)), [Fetched(0)]);
}

#[test]
fn a_second_question_is_refused_while_the_answer_to_the_first_waits() {
    let mut home = bench(Preset::IrxImc, 0, 1);
    home.unicast(1, 90);
    let body = PacketBody::Atomic { variable: 5, operation: Atomic::Add(7) };
    let did = home.receive(numbered(fa_request(1, 0), 0, 0), body);
    assert_eq!(did, [sent_acknowledge(0, 1, 1)], "the answer waits for a place in the window");
    let impatient = home.try_receive(numbered(fa_request(1, 0), 1, 0), body);
    assert_eq!(impatient, Err(Violation::Impatient(Rank(1))));
    let answer = Transmit(Rank(1), numbered(fa_reply(0, 0), 1, 1), PacketBody::Fetched(0));
    assert_eq!(home.receive(acknowledge(1, 1), PacketBody::Empty), [Free(90), answer]);
}

#[test]
fn a_second_answer_is_refused_even_if_the_first_is_on_its_way_to_the_host() {
    let mut asker = bench(Preset::HrxImc, 1, 4);
    asker.fetch_and_add(0, 5, 7);
    for number in [0, 1] {
        let reply = numbered(fa_reply(0, 0), number, 1);
        assert_eq!(asker.receive(reply, PacketBody::Fetched(0)), [Defer(Tag::FaReply)]);
    }
    assert_eq!(asker.host_receive(), [Fetched(0)]);
    assert_eq!(asker.try_host_receive(), Err(Violation::Unasked(Rank(0))));
}

/// Rank 1's child 3 has a full window: what comes from rank 0 cannot be forwarded there.
fn stuck_forwarder(preset: Preset) -> Bench {
    let mut bench = bench(preset, 1, 1);
    bench.unicast(3, 90);
    bench
}

#[test]
fn ack_forward_waits_until_all_children_were_sent_the_packet() {
    let tree = broadcast_tree(0);
    let mut bench = stuck_forwarder(Preset::IrxImc);
    let did = bench.receive(numbered(mcast(0, tree, 0), 0, 0), PacketBody::Buffer(200));
    assert_eq!(did, [delivered(200, tree), sent(4, numbered(mcast(1, tree, 0), 0, 0), 200)]);
    let forwarded = sent(3, numbered(mcast(1, tree, 0), 1, 0), 200);
    let did = bench.receive(acknowledge(3, 1), PacketBody::Empty);
    assert_eq!(did, [Free(90), forwarded, sent_acknowledge(1, 0, 1)]);
    assert_eq!(bench.release_first(), []);
    assert_eq!(bench.receive(acknowledge(3, 2), PacketBody::Empty), []);
    let last = bench.receive(acknowledge(4, 1), PacketBody::Empty);
    assert_eq!(last, [Free(200)], "kept to be sent again until all children have it");
    assert!(bench.ni.observe().is_idle());
}

#[test]
fn ack_receive_does_not_wait() {
    let tree = broadcast_tree(0);
    let mut bench = stuck_forwarder(Preset::IrxHmc);
    let did = bench.receive(numbered(mcast(0, tree, 0), 0, 0), PacketBody::Buffer(200));
    assert_eq!(did, [delivered_to_reinject(200, tree), sent_acknowledge(1, 0, 1)]);
    let mut delivery = bench.take();
    let forwarded = sent(4, numbered(mcast(1, tree, 0), 0, 0), 200);
    assert_eq!(bench.reinject(&mut delivery), [forwarded]);
}

#[test]
fn under_hrx_the_host_accepts_forwards_and_acknowledges() {
    let tree = broadcast_tree(0);
    let mut bench = stuck_forwarder(Preset::HrxHmc);
    let did = bench.receive(numbered(mcast(0, tree, 0), 0, 0), PacketBody::Buffer(200));
    assert_eq!(did, [Defer(Tag::Mcast)]);
    assert_eq!(bench.host_receive(), [delivered_to_reinject(200, tree)]);
    let mut delivery = bench.take();
    let forwarded = |to, number| sent(to, numbered(mcast(1, tree, 0), number, 0), 200);
    assert_eq!(bench.reinject(&mut delivery), [forwarded(4, 0)]);
    assert_eq!(bench.receive(acknowledge(3, 1), PacketBody::Empty), [Defer(Tag::Acknowledge)]);
    let did = [Free(90), forwarded(3, 1), sent_acknowledge(1, 0, 1)];
    assert_eq!(bench.host_receive(), did);
}

#[test]
fn a_packet_that_the_host_refuses_leaves_the_pool() {
    let mut bench = bench(Preset::HrxHmc, 0, 4);
    let unsent = numbered(ucast(1, 0), 0, 7);
    assert_eq!(bench.receive(unsent, PacketBody::Buffer(200)), [Defer(Tag::Ucast)]);
    assert_eq!(bench.try_host_receive(), Err(Violation::Acknowledgement(Rank(1), 7)));
    assert!(bench.ni.observe().is_idle(), "its buffer is the caller's");
}

#[test]
fn under_hrx_imc_the_ni_forwards_once_and_the_host_acknowledges() {
    let tree = broadcast_tree(0);
    let mut bench = bench(Preset::HrxImc, 1, 2);
    let packet = numbered(mcast(0, tree, 0), 0, 0);
    let forwarded = |to| sent(to, numbered(mcast(1, tree, 0), 0, 0), 200);
    let did = bench.receive(packet, PacketBody::Buffer(200));
    assert_eq!(did, [forwarded(3), forwarded(4), Defer(Tag::Mcast)]);
    // The host is told what a duplicate acknowledges.
    let did = [Free(201), Defer(Tag::Acknowledge)];
    assert_eq!(bench.receive(packet, PacketBody::Buffer(201)), did, "a duplicate");
    assert_eq!(bench.host_receive(), [sent_acknowledge(1, 0, 1), delivered(200, tree)]);
    assert_eq!(bench.host_receive(), []);
    assert_eq!(bench.release_first(), []);
    for child in [3, 4] {
        bench.receive(acknowledge(child, 1), PacketBody::Empty);
        bench.host_receive();
    }
    assert!(bench.ni.observe().is_idle());
}

#[test]
fn a_host_s_copy_outlives_the_ni_s_buffer() {
    let mut bench = bench(Preset::IrxImc, 3, 4);
    receive(&mut bench, 1, 0, 200);
    let delivery = bench.take();
    let (copy, did) = bench.copied(delivery, 900);
    assert_eq!(did, [Free(200)]);
    assert!(bench.ni.observe().is_idle());
    assert_eq!(bench.release(copy), [Free(900)]);
}

#[test]
fn groups_work_as_under_the_careful_presets() {
    let mut bench = bench(Preset::IrxImc, 5, 4);
    let did = bench.multicast(GroupId::ALL, 90);
    let header = numbered(mcast(5, broadcast_tree(5), 0), 0, 0);
    assert_eq!(did, [sent(6, header, 90), sent(0, header, 90)]);
    bench.receive(acknowledge(6, 1), PacketBody::Empty);
    assert_eq!(bench.receive(acknowledge(0, 1), PacketBody::Empty), [Free(90)]);
}
