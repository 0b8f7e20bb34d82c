//! Windows that follow demand: what one NI says and does.

use super::recorder::*;
use crate::{Adaptive, Contradiction, PacketBody, Preset, Settings, Violation};
use weft_wire::{Header, Rank, Tag};

/// Rank 0 of four, with windows of one to four packets, and a pool of three.
fn bench() -> Bench {
    let adaptive = Some(Adaptive { floor_packets: 1, pool_packets: 3 });
    Bench::set_up(0, Settings { adaptive, ..Settings::new(4, 4) })
}

fn asking(header: Header) -> Header {
    Header { asks: true, ..header }
}

fn control(tag: Tag, from: u16, credits: u16) -> Header {
    Header { tag, ..credit(from, credits) }
}

fn did_control(tag: Tag, to: u16, credits: u16) -> Did {
    Did::Transmit(Rank(to), control(tag, 0, credits), PacketBody::Empty)
}

/// A packet of `from` behind which others wait.
fn hungry_packet(bench: &mut Bench, from: u16, buffer: u64) -> Vec<Did> {
    bench.receive(asking(ucast(from, 0)), PacketBody::Buffer(buffer))
}

#[test]
fn who_waits_says_so_in_the_next_packet() {
    let mut bench = bench();
    assert_eq!(bench.unicast(1, 10)[0], sent(1, ucast(0, 0), 10), "nothing waits");
    assert_eq!([bench.unicast(1, 11), bench.unicast(1, 12)], [[], []]);
    assert_eq!(bench.receive_credits(1, 1)[0], sent(1, asking(ucast(0, 0)), 11));
    let both = bench.receive_credits(1, 2);
    assert_eq!(both[0], sent(1, ucast(0, 0), 12), "the last one asks for nothing");
    assert_eq!(bench.ni.observe().outgoing(Rank(1)), (1, 0));
}

#[test]
fn who_asks_gets_as_much_as_it_has() {
    let mut bench = bench();
    assert_eq!(
        (bench.ni.observe().promised(Rank(1)), bench.ni.observe().pool()),
        (1, Some((3, 0)))
    );
    assert_eq!(hungry_packet(&mut bench, 1, 10)[1], sent_credits(0, 1, 1));
    assert_eq!(
        (bench.ni.observe().promised(Rank(1)), bench.ni.observe().pool()),
        (2, Some((2, 1)))
    );
    assert_eq!(bench.release_first(), [Did::Free(10), sent_credits(0, 1, 1)], "half of two");
    assert_eq!(hungry_packet(&mut bench, 1, 11)[1], sent_credits(0, 1, 2));
    assert_eq!(bench.ni.counters().credits_granted, 3);
    assert_eq!(hungry_packet(&mut bench, 1, 12).len(), 1, "no window is larger than four");
    assert_eq!(bench.release_first(), [Did::Free(11)], "one is not half of four");
}

#[test]
fn idle_credits_are_asked_for_and_given_to_who_waits() {
    let mut bench = bench();
    hungry_packet(&mut bench, 1, 10);
    bench.release_first();
    hungry_packet(&mut bench, 1, 11);
    bench.release_first();
    assert_eq!(bench.ni.observe().incoming(Rank(1)), (0, 1));
    // What rank 1 is owed is nearest.
    assert_eq!(hungry_packet(&mut bench, 2, 20)[1..], [sent_credits(0, 2, 1)]);
    assert_eq!(
        (bench.ni.observe().promised(Rank(1)), bench.ni.observe().incoming(Rank(1))),
        (3, (0, 0))
    );
    assert_eq!(hungry_packet(&mut bench, 3, 30)[1], did_control(Tag::Recall, 1, 2));
    assert_eq!(bench.ni.counters().recalls, 1);
    let returned = bench.receive(control(Tag::Return, 1, 2), PacketBody::Empty);
    assert_eq!(returned, [sent_credits(0, 3, 1)]);
    assert_eq!(
        (bench.ni.observe().promised(Rank(1)), bench.ni.observe().pool()),
        (1, Some((1, 2)))
    );
}

/// Half of a small window is less: what is owed does not wait for more.
#[test]
fn a_smaller_window_makes_credits_due() {
    let mut bench = bench();
    for buffer in 10..12 {
        hungry_packet(&mut bench, 1, buffer);
        bench.release_first();
    }
    assert_eq!(
        (bench.ni.observe().promised(Rank(1)), bench.ni.observe().incoming(Rank(1))),
        (4, (0, 1))
    );
    // The credit that is owed goes with a packet, and comes back with another.
    assert_eq!(bench.unicast(1, 50)[0], sent(1, ucast(0, 1), 50));
    assert_eq!(hungry_packet(&mut bench, 2, 20)[1], did_control(Tag::Recall, 1, 3));
    bench.receive_unicast(1, 12, 0);
    let _of_rank_2 = bench.take();
    assert_eq!(bench.release_first(), [Did::Free(12)]);
    let answered = bench.receive(control(Tag::Return, 1, 3), PacketBody::Empty);
    assert_eq!(answered, [sent_credits(0, 1, 1), sent_credits(0, 2, 1)]);
    assert_eq!(bench.ni.observe().promised(Rank(1)), 1);
}

#[test]
fn a_sender_hands_back_what_it_holds_and_always_answers() {
    let mut bench = bench();
    bench.receive_credits(1, 3);
    assert_eq!(
        bench.receive(control(Tag::Recall, 1, 2), PacketBody::Empty),
        [did_control(Tag::Return, 1, 2)]
    );
    assert_eq!(bench.ni.observe().outgoing(Rank(1)), (2, 0));
    for buffer in 10..13 {
        bench.unicast(1, buffer);
    }
    assert_eq!(bench.ni.observe().outgoing(Rank(1)), (0, 1));
    assert_eq!(
        bench.receive(control(Tag::Recall, 1, 3), PacketBody::Empty),
        [did_control(Tag::Return, 1, 0)]
    );
}

#[test]
fn credits_that_nobody_asked_for_are_refused() {
    let mut bench = bench();
    hungry_packet(&mut bench, 1, 10);
    let before = bench.state();
    let refused = bench.try_receive(control(Tag::Return, 1, 1), PacketBody::Empty);
    assert_eq!(refused, Err(Violation::Return(Rank(1), 1)));
    assert_eq!(bench.state(), before);
}

/// Else others would get the buffers that its packets fill (I2).
#[test]
fn credits_that_were_spent_cannot_be_handed_back() {
    let mut bench = bench();
    hungry_packet(&mut bench, 1, 10);
    bench.release_first();
    hungry_packet(&mut bench, 1, 11);
    bench.release_first();
    hungry_packet(&mut bench, 2, 20);
    assert_eq!(hungry_packet(&mut bench, 3, 30)[1], did_control(Tag::Recall, 1, 2));
    for buffer in 12..14 {
        bench.receive_unicast(1, buffer, 0);
    }
    let refused = bench.try_receive(control(Tag::Return, 1, 2), PacketBody::Empty);
    assert_eq!(refused, Err(Violation::Return(Rank(1), 2)));
    assert!(bench.try_receive(control(Tag::Return, 1, 1), PacketBody::Empty).is_ok());
}

#[test]
fn windows_that_stay_are_not_shared_out() {
    let mut bench = Bench::new(0, 2, 4);
    for tag in [Tag::Recall, Tag::Return] {
        let refused = bench.try_receive(control(tag, 1, 0), PacketBody::Empty);
        assert_eq!(refused, Err(Violation::Unsupported(Rank(1), tag)));
    }
    assert_eq!(hungry_packet(&mut bench, 1, 10).len(), 1, "asking is no crime");
    assert_eq!(bench.ni.observe().pool(), None);
}

#[test]
fn settings_that_contradict_themselves() {
    let check = |preset, floor_packets| {
        let adaptive = Some(Adaptive { floor_packets, pool_packets: 0 });
        Settings { preset, adaptive, ..Settings::new(4, 4) }.check()
    };
    assert_eq!(check(Preset::NrxHmc, 4), Ok(()));
    assert_eq!(check(Preset::IrxImc, 1), Err(Contradiction::Adaptive(Preset::IrxImc)));
    assert_eq!(check(Preset::NrxImc, 0), Err(Contradiction::Floor(0, 4)));
    assert_eq!(check(Preset::NrxImc, 5), Err(Contradiction::Floor(5, 4)));
}

#[test]
fn memory_follows_the_pool() {
    let fixed = Settings::new(1024, 32);
    assert_eq!(fixed.promised_buffers(), 1023 * 32);
    let adaptive = Some(Adaptive::new(32, 8));
    assert_eq!(Settings { adaptive, ..fixed }.promised_buffers(), 1023 + 8 * 31);
}

#[test]
fn a_window_grows_only_for_packets_that_wait_so_that_no_credit_is_awaited_without() {
    let mut bench = bench();
    while bench.ni.observe().outgoing(1.into()).0 > 0 {
        bench.unicast(1, 100);
    }
    assert!(!bench.ni.awaits_credit(Rank(1)));
}
