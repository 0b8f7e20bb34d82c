//! Tests of causes: each is found where it is, and nowhere else.

use crate::analysis::Analysis;
use weft_trace::{Builder, Event, NamedThing, PacketEvent, Trace, What};

fn verdict(of: Builder) -> String {
    verdict_of(&of.trace())
}

fn verdict_of(trace: &Trace) -> String {
    Analysis::new(trace).findings.verdict.join(" ")
}

#[test]
fn messages_that_nobody_expects_are_said_if_they_are_many() {
    let of = |messages| {
        let of = Builder::new("", 2).event(0, 0, What::Interrupted).event(0, 50, What::Interrupted);
        verdict(of.event(1, 0, What::Unexpected(64)).event(1, 100, What::Unexpected(messages)))
    };
    let said = of(2048);
    assert!(said.starts_with("At rank 1 2,048 unexpected messages and more pile up"), "{said}");
    assert!(!of(128).contains("unexpected"));
}

/// Rank 0 sends so many packets to rank 1, 100 ns each, and computes for so long.
fn stream(packets: u64, size: u16, computes: u64) -> Builder {
    let of = (0..packets).fold(Builder::new("", 2), |of, number| {
        of.packet((0, 100 * number), (1, 100 * number + 50), size)
    });
    of.event(0, 100 * packets + computes, What::Interrupted)
}

#[test]
fn tiny_messages_in_a_row_are_said_if_they_take_time() {
    let said = verdict(stream(2000, 16, 0));
    let expected =
        "Rank 0 sends 2,000 tiny messages to rank 1 in rows, of 16 B each, in 100 % of its time.";
    assert!(said.starts_with(expected), "{said}");
    for healthy in [stream(2000, 1000, 0), stream(500, 16, 0), stream(2000, 16, 5_000_000)] {
        let said = verdict(healthy);
        assert!(!said.contains("tiny"), "{said}");
    }
}

#[test]
fn answers_are_no_row() {
    let of = (0..2000).fold(Builder::new("", 2), |of, number| {
        let now = 1000 * number;
        of.packet((0, now), (1, now + 50), 8).packet((1, now + 100), (0, now + 150), 8)
    });
    let said = verdict(of);
    assert!(!said.contains("tiny"), "{said}");
}

#[test]
fn a_receiver_that_is_late_is_named() {
    let of = (0..10).fold(Builder::new("", 2), |of, number| {
        let now = 1000 * number;
        let what = "rank 1 to receive what was sent to port 'pile'";
        of.wait(0, now, now + 900, Some(what)).event(1, now, What::Interrupted)
    });
    let said = verdict(of);
    let expected = "Rank 0 waits for rank 1 to receive in 91 % of its time: a late receiver. What \
                    is sent to rank 1 fills its window (10 waits): have it receive earlier";
    assert!(said.starts_with(expected), "{said}");
}

#[test]
fn packets_that_nobody_takes_are_a_late_receiver_too() {
    let of = (0..10).fold(Builder::new("", 2), |of, number| {
        let now = 1000 * number;
        let what = "a frame to send from: all are on their way, to ranks that take none";
        of.packet((0, now), (1, now), 1000).wait(0, now, now + 900, Some(what))
    });
    let said = verdict(of);
    assert!(said.starts_with("Rank 0 waits for rank 1 to receive in 91 % of its time"), "{said}");
}

/// Ranks that miss region 0 so many times each, for 900 of 1,000 ns.
fn misses(ranks: u16, times: u64) -> Builder {
    (0..ranks).fold(Builder::new("", 3), |of, rank| {
        let of = of.named(rank, NamedThing::Span, 1, "write miss of region 0 of rank 0");
        (0..times).fold(of, |of, number| {
            let now = 1000 * number;
            let of = of.event(rank, now, What::SpanBegins(1));
            of.event(rank, now + 900, What::SpanEnds(1)).event(rank, now + 999, What::Interrupted)
        })
    })
}

#[test]
fn a_region_that_ranks_write_in_turn_is_named() {
    let said = verdict(misses(2, 60));
    let expected = "Ranks 0 and 1 write region 0 of rank 0 in turn: 120 misses, in 90 % of their \
                    time. Unless each needs what the others wrote, that is false sharing";
    assert!(said.starts_with(expected), "{said}");
    for healthy in [misses(1, 120), misses(2, 40)] {
        let said = verdict(healthy);
        assert!(!said.contains("false sharing"), "{said}");
    }
}

/// A hundred packets with sequence numbers, of which every `lost`-th is lost once.
fn numbered(lost: u32) -> Trace {
    let mut trace = Builder::new("", 3).trace();
    let of = |peer: u16, sequence, root: u16| PacketEvent {
        peer: peer.into(),
        root: root.into(),
        sequence,
        ..crate::analysis::tests::traces::DATA
    };
    for sequence in 1..=100u32 {
        let time = u64::from(sequence) * 1000;
        let times = if sequence.is_multiple_of(lost) { 2 } else { 1 };
        let sent = Event { time, what: What::Sent(of(2, sequence, 1)) };
        trace.ranks[1].events.extend(std::iter::repeat_n(sent, times));
        let received = Event { time: time + 10, what: What::Received(of(1, sequence, 1)) };
        trace.ranks[2].events.push(received);
    }
    trace
}

#[test]
fn a_way_that_loses_packets_is_named() {
    let said = verdict_of(&numbered(5));
    let expected = "The way between ranks 1 and 2 loses packets: 20 of 120 were lost and sent \
                    again (16.7 %).";
    assert!(said.starts_with(&expected.replace("16.7", "17")), "{said}");
    let said = verdict_of(&numbered(50));
    assert!(!said.contains("loses"), "{said}");
}

/// Two ranks that send to each other in turn, by a link that takes so long.
fn turns(flight: u64) -> Builder {
    (0..20).fold(Builder::new("", 2).on_host(1, "other"), |of, number| {
        let now = 2 * flight * number;
        let (there, back) = (now + flight, now + 2 * flight);
        let of = of.event(1, now, What::WaitBegins).event(0, now, What::WaitBegins);
        let of = of.packet((0, now), (1, there), 8).event(1, there, What::WaitEnds);
        of.packet((1, there), (0, back), 8).event(0, back, What::WaitEnds)
    })
}

#[test]
fn a_slow_link_is_named() {
    let said = verdict(turns(1_000_000));
    let expected =
        "The link between ranks 0 and 1 is slow: even the fastest packet takes 1.00 ms; 100 % of";
    assert!(said.starts_with(expected), "{said}");
    let said = verdict(turns(20_000));
    assert!(!said.contains("slow"), "{said}");
}

/// Ranks that compute for 1,000 ns, of which they had no core for so long.
fn crowded(ranks: u16, delay: u64) -> Trace {
    let of = (0..ranks).fold(Builder::new("", ranks), |of, rank| {
        let scheduled = What::Scheduled { on_core_ns: 1000 - delay, run_delay_ns: delay };
        of.event(rank, 0, What::Interrupted).event(rank, 1000, scheduled)
    });
    let mut trace = of.trace();
    trace.run.options.insert("cores".into(), "2".into());
    trace
}

#[test]
fn more_ranks_than_cores_are_said_if_they_hold_one_another_up() {
    let said = verdict_of(&crowded(8, 750));
    let expected = "8 ranks share 2 cores: they are to compute and have no core in 75 % of their \
                    time. That is oversubscription: run as many ranks as there are cores (-n 2)";
    assert!(said.starts_with(expected), "{said}");
    let said = verdict_of(&crowded(2, 750));
    assert!(said.contains("other programs, or threads of their own, have it"), "{said}");
    let said = verdict_of(&crowded(8, 100));
    assert!(!said.contains("core"), "{said}");
}
