//! Traces for tests of the analysis.

use crate::analysis::clocks::Clocks;
use crate::analysis::times::Times;
use proptest::prelude::*;
use weft_trace::{Event, NamedThing, PacketEvent, RankTrace, Run, TEXT_BYTES, Trace, What};
use weft_wire::{GroupId, Protocol, Rank, Tag};

/// A data packet of rank 0.
pub const DATA: PacketEvent = PacketEvent {
    peer: Rank(0),
    tag: Tag::Ucast,
    protocol: Protocol::PACKETS,
    size: 8,
    sequence: 0,
    root: Rank(0),
    group: None,
    head: [0; TEXT_BYTES],
};

/// Times of a run on one host.
pub fn times(trace: &Trace) -> Times {
    let host_of = vec![0; trace.ranks.len()];
    Times::of_hosts(trace, &host_of).on_one_clock(&Clocks::exact(1), &host_of)
}

/// Any trace that may come out of a file: ranks of two hosts, events in any order, at any time.
pub fn any_trace() -> impl Strategy<Value = Trace> {
    let ranks = prop::collection::vec((any::<bool>(), any_rank()), 1..4);
    (ranks, any::<bool>(), any::<bool>()).prop_map(|(ranks, is_simulated, is_cut)| {
        let host =
            |(is_far, _): &(bool, RankTrace)| String::from(if *is_far { "far" } else { "near" });
        let hosts = ranks.iter().map(host).collect();
        let run = Run { hosts, is_simulated, ..Run::default() };
        Trace { run, ranks: ranks.into_iter().map(|(_, of)| of).collect(), is_cut }
    })
}

fn any_rank() -> impl Strategy<Value = RankTrace> {
    let events = prop::collection::vec((any_time(), any_event()), 0..60);
    let gaps = prop::collection::btree_set(0..70usize, 0..4);
    let texts = prop::collection::btree_map(0..70usize, "[a-c0-2<>&\"]{0,6}", 0..6);
    (events, gaps, texts, any::<bool>(), any::<bool>()).prop_map(
        |(mut events, gaps, waits, is_lossy, is_sorted)| {
            if is_sorted {
                events.sort_by_key(|(time, _)| *time);
            }
            let events = events.into_iter().map(|(time, what)| Event { time, what }).collect();
            let lost = if is_lossy { gaps.len() as u64 } else { 0 };
            let gaps = if is_lossy { gaps } else { Default::default() };
            let names = [
                ((NamedThing::Span, 1), "</script>".into()),
                ((NamedThing::Port, 2), "port".into()),
            ]
            .into();
            RankTrace { events, lost, gaps, names, waits }
        },
    )
}

fn any_time() -> impl Strategy<Value = u64> {
    prop_oneof![20 => 0..2_000_000u64, 1 => any::<u64>(), 1 => Just(u64::MAX)]
}

fn beside_packets() -> impl Strategy<Value = What> {
    (0..10u8, 0..3u32, 0..3u64, 0..4u16).prop_map(|(kind, number, count, peer)| match kind {
        0 => What::HandlerGoesOn(number),
        1 => What::PopupBegins { port: number, run: count },
        2 => What::PopupEnds { port: number, run: count },
        3 => What::Submitted { order: number, number: count },
        4 => What::Delivered { order: number, number: count, from: Rank(peer) },
        5 => What::Put { to: Rank(peer), bytes: count },
        6 => What::WaitsFor(Rank(peer)),
        7 => What::Counted { counter: number as u8, more: u64::MAX - count },
        8 => What::Looked { times: count, longest_ns: number.into() },
        _ => What::Got { from: Rank(peer), bytes: u64::MAX - count },
    })
}

fn any_event() -> impl Strategy<Value = What> {
    let packet =
        (0..4u16, 1..=12u8, 0..16u8, 0..3u32, prop::option::of(0..2u16), 0..3u8, any::<u16>());
    let packet =
        packet.prop_map(|(peer, tag, protocol, sequence, group, head, size)| PacketEvent {
            peer: Rank(peer),
            tag: if head == 0 { Tag::try_from(tag).unwrap() } else { Tag::Ucast },
            protocol: Protocol::numbered(if head == 0 { protocol } else { 0 }).unwrap(),
            size,
            sequence,
            root: Rank(0),
            group: group.map(GroupId),
            head: [head; TEXT_BYTES],
        });
    prop_oneof![
        3 => packet.clone().prop_map(What::Sent),
        3 => packet.prop_map(What::Received),
        3 => Just(What::WaitBegins),
        3 => Just(What::WaitEnds),
        1 => Just(What::SleepBegins),
        1 => Just(What::SleepEnds),
        1 => (0..3u32).prop_map(What::SpanBegins),
        1 => (0..3u32).prop_map(What::SpanEnds),
        1 => (0..3u32).prop_map(What::HandlerBegins),
        1 => (0..3u32).prop_map(What::HandlerEnds),
        1 => Just(What::Interrupted),
        1 => any::<u32>().prop_map(What::Unexpected),
        1 => beside_packets(),
        1 => (any::<u64>(), any::<u64>())
            .prop_map(|(on_core_ns, run_delay_ns)| What::Scheduled { on_core_ns, run_delay_ns }),
    ]
}
