//! Packets of groups that this rank has not created yet: they wait, and nothing else does.

use super::recorder::*;
use crate::tree::Shape;
use crate::{PacketBody, Preset, Settings, Violation};
use Did::{Defer, Free, Transmit};
use weft_wire::{GroupId, Header, Rank, Tag, TreeId};

/// All seven: rank 1, under 0, forwards to 3 and 4.
const ALL: [u16; 7] = [0, 1, 2, 3, 4, 5, 6];
const NEXT: GroupId = GroupId(1);

fn bench(preset: Preset, window: u16) -> Bench {
    let settings = Settings { retransmit_at_least: None, ..Settings::new(7, window) };
    Bench::set_up(1, Settings { preset, shape: Shape::Binary, ..settings })
}

fn tree(group: GroupId) -> TreeId {
    TreeId::multicast(group, Rank(0))
}

fn early(number: u32) -> Header {
    Header { sequence: number, ..mcast(0, tree(NEXT), 0) }
}

fn receive(bench: &mut Bench, header: Header, buffer: u64) -> Vec<Did> {
    bench.receive(header, PacketBody::Buffer(buffer))
}

#[test]
fn what_came_early_is_delivered_and_forwarded_in_order_once_the_group_is_there() {
    let mut bench = bench(Preset::NrxImc, 4);
    assert_eq!(receive(&mut bench, early(0), 200), []);
    assert_eq!(receive(&mut bench, early(0), 201), []);
    assert_eq!(bench.ni.observe().early(), 2);
    assert_eq!(bench.ni.observe().incoming(Rank(0)), (2, 0), "their buffers are in use");
    assert!(!bench.ni.observe().is_idle());
    let forwarded = mcast(1, tree(NEXT), 0);
    let each = |buffer| {
        let to = |child| sent(child, forwarded, buffer);
        [delivered(buffer, tree(NEXT)), to(3), to(4)]
    };
    assert_eq!(bench.create_group(&ALL), [each(200), each(201)].concat());
    assert_eq!((bench.ni.observe().early(), bench.ni.counters().early_packets), (0, 2));
    assert_eq!(bench.release_first(), [Free(200)]);
    assert_eq!(bench.release_first(), [Free(201), sent_credits(1, 0, 2)]);
    assert!(bench.ni.observe().is_idle());
}

#[test]
fn other_packets_pass_those_that_are_early() {
    let mut bench = bench(Preset::NrxImc, 3);
    receive(&mut bench, early(0), 200);
    assert_eq!(bench.receive_unicast(0, 201, 0), [delivered(201, unicast_tree(0))]);
    let broadcast = receive(&mut bench, mcast(0, broadcast_tree(0), 0), 202);
    assert_eq!(broadcast[0], delivered(202, broadcast_tree(0)));
}

#[test]
fn a_window_of_early_packets_is_all_that_a_careful_sender_has() {
    let mut bench = bench(Preset::NrxImc, 1);
    receive(&mut bench, early(0), 200);
    let more = bench.try_receive(early(0), PacketBody::Buffer(201));
    assert_eq!(more, Err(Violation::Window(Rank(0))));
}

#[test]
fn only_the_group_s_own_packets_are_admitted() {
    let mut bench = bench(Preset::NrxHmc, 4);
    receive(&mut bench, mcast(0, tree(GroupId(2)), 0), 200);
    receive(&mut bench, early(0), 201);
    assert_eq!(bench.create_group(&ALL), [delivered_to_reinject(201, tree(NEXT))]);
    assert_eq!(bench.create_group(&[0, 1]), [delivered(200, tree(GroupId(2)))]);
}

/// A host that creates its group does not admit what came in the same step (`node`, where the NI is
/// apart): what comes in between must not overtake.
#[test]
fn packets_wait_behind_those_that_were_not_admitted_yet() {
    let mut bench = bench(Preset::NrxImc, 4);
    receive(&mut bench, early(0), 200);
    bench.ni.create_group(&[Rank(0), Rank(1)]).unwrap();
    assert_eq!(receive(&mut bench, early(0), 201), []);
    let next = bench.create_group(&[0, 1]);
    assert_eq!(next, [delivered(200, tree(NEXT)), delivered(201, tree(NEXT))]);
}

#[test]
fn who_is_not_the_parent_after_all_is_refused_when_the_group_is_created() {
    for members in [&[0, 2, 1][..], &[0, 2], &[1, 2]] {
        let mut bench = Bench::with(1, 7, 4, Preset::NrxImc, Shape::Chain);
        receive(&mut bench, early(0), 200);
        let refused = bench.try_create_group(members);
        assert_eq!(refused, Err(Violation::Tree(Rank(0), tree(NEXT))), "{members:?}");
        assert_eq!(bench.ni.observe().early(), 1, "nothing was done");
    }
}

/// An early packet is acknowledged when it comes, so that what its sender sends next need not wait.
#[test]
fn numbered_packets_are_accepted_before_their_group_is_there() {
    for preset in [Preset::IrxImc, Preset::IrxHmc, Preset::Pupa] {
        let mut bench = bench(preset, 2);
        receive(&mut bench, early(0), 200);
        let unicast = Header { sequence: 1, ..ucast(0, 0) };
        let did = receive(&mut bench, unicast, 201);
        assert_eq!(did[0], delivered(201, unicast_tree(0)), "{preset}");
        let acknowledges = |did: &[Did]| {
            did.iter().any(|did| {
                matches!(did, Transmit(_, told, _) if told.tag == Tag::Acknowledge && told.acknowledgement == 2)
            })
        };
        let soon = bench.advance(1_000_000);
        assert!(acknowledges(&did) || acknowledges(&soon), "{preset}: {did:?} {soon:?}");
        let admitted = bench.create_group(&ALL);
        let forwards = admitted.iter().filter(|did| matches!(did, Transmit(..))).count();
        let reinject = preset == Preset::IrxHmc;
        assert_eq!(forwards, if reinject { 0 } else { 2 }, "{preset}: {admitted:?}");
        let mut first = bench.take();
        let mut second = bench.take();
        assert_eq!((first.buffer, second.buffer), (201, 200), "{preset}");
        bench.reinject(&mut first);
        bench.reinject(&mut second);
        bench.release(first);
        bench.release(second);
        for child in [3, 4] {
            let header = Header { acknowledgement: 1, ..acknowledge_nothing(child) };
            bench.receive(header, PacketBody::Empty);
        }
        assert!(bench.ni.observe().is_idle(), "{preset}");
    }
}

/// A window of early packets is the bound for numbered packets, as buffers are for the careful
/// presets.
#[test]
fn numbered_packets_beyond_a_window_of_early_ones_are_dropped() {
    let mut bench = bench(Preset::IrxImc, 2);
    receive(&mut bench, early(0), 200);
    receive(&mut bench, early(1), 201);
    assert_eq!(receive(&mut bench, early(2), 202), [Free(202)]);
    assert_eq!((bench.ni.observe().early(), bench.ni.counters().no_buffer), (2, 1));
    let others = receive(&mut bench, ucast(2, 0), 203);
    assert_eq!(others[0], delivered(203, unicast_tree(2)), "others are no worse off");
    assert_eq!(bench.create_group(&[0, 1]).len(), 2);
    let unicast = bench.take();
    let told = bench.release_first();
    let asked_again = |did: &Did| matches!(did, Transmit(Rank(0), told, _) if told.tag == Tag::Nack && told.sequence == 2);
    bench.release(unicast);
    assert!(told.iter().any(asked_again), "{told:?}");
    assert_eq!(receive(&mut bench, early(2), 204)[0], delivered(204, tree(NEXT)));
}

/// A sender that is told of no room asks when its timer runs out, and not at once.
#[test]
fn under_pupa_there_is_no_room_beyond_a_window_of_early_packets() {
    let mut bench = bench(Preset::Pupa, 1);
    receive(&mut bench, early(0), 200);
    let stopped = receive(&mut bench, early(1), 201);
    let Some(Transmit(_, told, _)) = stopped.last() else { panic!("{stopped:?}") };
    assert_eq!((told.tag, told.sequence, told.credits), (Tag::Nack, 1, 1), "room for none");
    assert_eq!(receive(&mut bench, early(1), 202), [Free(202)], "it was told");
    bench.create_group(&[0, 1]);
    let told = bench.release_first();
    let has_room = |did: &Did| matches!(did, Transmit(_, told, _) if told.credits != 1);
    assert!(told.iter().any(has_room), "{told:?}");
}

/// `hrx-imc`: the NI forwards, so that it is the NI that waits; the host gets what it was told.
#[test]
fn an_ni_that_forwards_for_its_host_keeps_early_packets() {
    let mut bench = bench(Preset::HrxImc, 8);
    bench.unicast(0, 90);
    let header = Header { acknowledgement: 1, ..early(0) };
    assert_eq!(receive(&mut bench, header, 200), [Defer(Tag::Acknowledge)]);
    assert_eq!(bench.host_receive(), [Free(90)], "its acknowledgement counts now");
    assert_eq!(receive(&mut bench, early(1), 201), [Defer(Tag::Acknowledge)]);
    bench.host_receive();
    let did = bench.create_group(&ALL);
    let tags: Vec<_> = did.iter().filter(|did| **did == Defer(Tag::Mcast)).collect();
    assert_eq!((did.len(), tags.len()), (6, 2), "two forwards each, and the host: {did:?}");
    assert_eq!(bench.host_receive(), [delivered(200, tree(NEXT))]);
    assert_eq!(bench.host_receive(), [delivered(201, tree(NEXT))]);
}

/// `hrx-hmc`: the host looks at numbers, and at groups.
#[test]
fn a_host_with_the_protocol_keeps_early_packets_itself() {
    let mut bench = bench(Preset::HrxHmc, 4);
    assert_eq!(receive(&mut bench, early(0), 200), [Defer(Tag::Mcast)]);
    assert_eq!(bench.host_receive(), []);
    assert_eq!(bench.create_group(&ALL), [delivered_to_reinject(200, tree(NEXT))]);
}
