//! Packets that no correct peer sends are refused, and change nothing.

use super::recorder::*;
use crate::tree::Shape;
use crate::{PacketBody, Preset, Violation};
use weft_wire::{Atomic, GroupId, Header, Rank, Tag, TreeId};

/// Asserts that `bench` refuses the packet as `expected` and is as it was before.
fn refuses(bench: &mut Bench, header: Header, body: PacketBody<u64>, expected: Violation) {
    let before = bench.state();
    assert_eq!(bench.try_receive(header, body), Err(expected), "{header:?}");
    assert_eq!(bench.state(), before, "{expected:?} left a trace");
}

/// Rank 0 of 4 in the middle of things: it has one of its two credits for 1 left, and none for 2,
/// where a packet waits; its host keeps two packets of 1.
fn busy() -> Bench {
    let mut bench = Bench::new(0, 4, 2);
    bench.receive_unicast(1, 200, 0);
    bench.receive_unicast(1, 201, 0);
    bench.unicast(1, 100);
    for buffer in 101..104 {
        bench.unicast(2, buffer);
    }
    bench
}

#[test]
fn source() {
    let mut bench = busy();
    for from in [0, 4, u16::MAX] {
        let (header, violation) = (ucast(from, 0), Violation::Source(Rank(from)));
        refuses(&mut bench, header, PacketBody::Buffer(202), violation);
        refuses(&mut bench, credit(from, 1), PacketBody::Empty, violation);
    }
}

#[test]
fn credits_never_spent() {
    let mut bench = busy();
    let violation = Violation::Credits(Rank(1));
    for credits in [2, u16::MAX] {
        refuses(&mut bench, credit(1, credits), PacketBody::Empty, violation);
    }
    let violation = Violation::Credits(Rank(3));
    refuses(&mut bench, ucast(3, 1), PacketBody::Buffer(202), violation);
    refuses(&mut bench, mcast(3, broadcast_tree(3), 1), PacketBody::Buffer(202), violation);
    let asks = PacketBody::Atomic { variable: 0, operation: Atomic::Add(1) };
    refuses(&mut bench, fa_request(3, 1), asks, violation);
    bench.receive_credits(1, 1);
    refuses(&mut bench, credit(1, 1), PacketBody::Empty, Violation::Credits(Rank(1)));
}

#[test]
fn credits_never_spent_on_an_answer_that_was_asked_for() {
    let mut bench = Bench::new(0, 2, 1);
    bench.fetch_and_add(1, 0, 1);
    refuses(&mut bench, fa_reply(1, 2), PacketBody::Fetched(0), Violation::Credits(Rank(1)));
    assert!(bench.ni.observe().is_fetching());
}

#[test]
fn window() {
    let mut bench = Bench::new(0, 4, 2);
    bench.receive_unicast(3, 200, 0);
    bench.receive_unicast(3, 201, 0);
    let violation = Violation::Window(Rank(3));
    refuses(&mut bench, ucast(3, 0), PacketBody::Buffer(202), violation);
    refuses(&mut bench, mcast(3, broadcast_tree(3), 0), PacketBody::Buffer(202), violation);
    let asks = PacketBody::Atomic { variable: 0, operation: Atomic::Add(1) };
    refuses(&mut bench, fa_request(3, 0), asks, violation);
}

/// A credit that is owed is not back at the sender yet.
#[test]
fn window_counts_owed_credits() {
    let mut bench = Bench::new(0, 2, 4);
    for buffer in 200..204 {
        bench.receive_unicast(1, buffer, 0);
    }
    bench.release_first();
    assert_eq!(bench.ni.observe().incoming(1.into()), (3, 1));
    refuses(&mut bench, ucast(1, 0), PacketBody::Buffer(204), Violation::Window(Rank(1)));
}

/// The credits on a refused packet are refused with it: were they kept, a packet would wait
/// beside an unspent credit, and the next one would overtake it (I3).
#[test]
fn window_with_good_credits() {
    let mut bench = Bench::new(0, 2, 1);
    bench.receive_unicast(1, 200, 0);
    bench.unicast(1, 100);
    bench.unicast(1, 101);
    refuses(&mut bench, ucast(1, 1), PacketBody::Buffer(201), Violation::Window(Rank(1)));
    assert_eq!(bench.unicast(1, 102), [], "a third packet waits behind the second");
}

#[test]
fn tree_of_a_unicast() {
    let mut bench = busy();
    let asks = PacketBody::Atomic { variable: 0, operation: Atomic::Add(1) };
    for tree in [unicast_tree(2), unicast_tree(0), broadcast_tree(3)] {
        let violation = Violation::Tree(Rank(3), tree);
        let header = Header { tree, ..ucast(3, 0) };
        refuses(&mut bench, header, PacketBody::Buffer(202), violation);
        refuses(&mut bench, Header { tree, ..fa_request(3, 0) }, asks, violation);
    }
}

#[test]
fn tree_of_a_multicast() {
    // In the chain of rank 2 among four, 3 is the parent of 0.
    let mut bench = Bench::with(0, 4, 2, Preset::NrxImc, Shape::Chain);
    let pair = bench.ni.create_group(&[Rank(1), Rank(2)]).unwrap();
    let wrong = [
        (2, broadcast_tree(2)),                         // the root, but not the parent
        (1, broadcast_tree(2)),                         // the child
        (3, broadcast_tree(0)),                         // a tree of one's own
        (3, broadcast_tree(9)),                         // a root that does not exist
        (3, unicast_tree(3)),                           // no multicast tree
        (1, TreeId::multicast(pair, Rank(1))),          // a group that 0 is not in
        (1, TreeId::multicast(GroupId(1026), Rank(1))), // no group for long
        (1, TreeId::multicast(GroupId(2), Rank(0))),    // a tree of one's own, whatever the group
    ];
    for (from, tree) in wrong {
        let violation = Violation::Tree(Rank(from), tree);
        refuses(&mut bench, mcast(from, tree, 0), PacketBody::Buffer(202), violation);
    }
    assert!(bench.try_receive(mcast(3, broadcast_tree(2), 0), PacketBody::Buffer(202)).is_ok());
}

#[test]
fn body() {
    let mut bench = busy();
    let bodies = [
        PacketBody::Buffer(202),
        PacketBody::Atomic { variable: 0, operation: Atomic::Add(1) },
        PacketBody::Fetched(0),
        PacketBody::Empty,
    ];
    let right = [
        (Tag::Ucast, 0),
        (Tag::Mcast, 0),
        (Tag::FaRequest, 1),
        (Tag::FaReply, 2),
        (Tag::Credit, 3),
        (Tag::ChannelClear, 3),
    ];
    for (tag, right) in right {
        for (_, body) in bodies.into_iter().enumerate().filter(|&(kind, _)| kind != right) {
            let header = Header::new(tag, Rank(3), unicast_tree(3), 0);
            refuses(&mut bench, header, body, Violation::Body(Rank(3), tag));
        }
    }
}

#[test]
fn an_operation_that_does_not_exist() {
    let mut bench = busy();
    for first in [8 << 16, u64::MAX] {
        let asks = PacketBody::Unknown(first);
        refuses(&mut bench, fa_request(3, 0), asks, Violation::Operation(Rank(3), first));
    }
}

#[test]
fn an_operation_with_the_words_of_another() {
    let mut bench = busy();
    let long = Atomic::CompareSwap { expected: 0, new: 1 };
    for (operation, size) in [(long, 0), (long, 16), (Atomic::Swap(1), 24), (Atomic::Add(1), 8)] {
        let header = Header { size, ..fa_request(3, 0) };
        let asks = PacketBody::Atomic { variable: 0, operation };
        refuses(&mut bench, header, asks, Violation::Body(Rank(3), Tag::FaRequest));
    }
}

#[test]
fn an_answer_to_nothing() {
    let mut bench = busy();
    refuses(&mut bench, fa_reply(1, 0), PacketBody::Fetched(0), Violation::Unasked(Rank(1)));
    bench.fetch_and_add(3, 0, 1);
    bench.receive(fa_reply(3, 1), PacketBody::Fetched(0));
    refuses(&mut bench, fa_reply(3, 0), PacketBody::Fetched(0), Violation::Unasked(Rank(3)));
}

/// If it were taken for the answer, the true answer would be refused as nobody's.
#[test]
fn an_answer_from_somebody_else() {
    let mut bench = busy();
    bench.fetch_and_add(3, 0, 1);
    refuses(&mut bench, fa_reply(1, 0), PacketBody::Fetched(9), Violation::Unasked(Rank(1)));
    assert_eq!(bench.receive(fa_reply(3, 1), PacketBody::Fetched(5)), [Did::Fetched(5)]);
}

/// If it were taken for the answer, a second request could be queued behind the first, and a third.
#[test]
fn an_answer_before_the_question_left() {
    let mut bench = busy();
    assert_eq!(bench.fetch_and_add(2, 0, 1), [], "blocked");
    refuses(&mut bench, fa_reply(2, 1), PacketBody::Fetched(9), Violation::Unasked(Rank(2)));
    bench.receive_credits(2, 2);
    assert_eq!(bench.receive(fa_reply(2, 0), PacketBody::Fetched(5)), [Did::Fetched(5)]);
}

#[test]
fn a_protocol_that_no_careful_preset_runs() {
    for preset in Preset::CAREFUL {
        let mut bench = Bench::with(0, 4, 2, preset, Shape::Binary);
        let header = Header::new(Tag::ChannelClear, Rank(3), unicast_tree(3), 0);
        let violation = Violation::Unsupported(Rank(3), Tag::ChannelClear);
        refuses(&mut bench, header, PacketBody::Empty, violation);
    }
}

#[test]
fn every_violation_names_who_did_it() {
    let violations = [
        Violation::Source(Rank(3)),
        Violation::Credits(Rank(3)),
        Violation::Window(Rank(3)),
        Violation::Tree(Rank(3), broadcast_tree(1)),
        Violation::Body(Rank(3), Tag::Ucast),
        Violation::Operation(Rank(3), 64),
        Violation::Unasked(Rank(3)),
        Violation::Unsupported(Rank(3), Tag::ChannelClear),
        Violation::Acknowledgement(Rank(3), 8),
        Violation::Sequence(Rank(3), 8),
        Violation::Channel(Rank(3), weft_wire::Channel(Some(Rank(1)))),
    ];
    for violation in violations {
        assert!(violation.to_string().contains("rank 3"), "{violation}");
    }
}
