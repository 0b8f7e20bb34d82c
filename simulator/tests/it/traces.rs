//! Traces of simulated runs.

use std::collections::BTreeMap;
use weft_simulator::{Options, Report, Simulation, Tape};
use weft_trace::{NamedThing, Run, Trace, What};

/// A run in which every rank computes as long as its number says, and then they meet.
fn run(tape: Option<Tape>) -> Report<()> {
    let options = Options { tape, ..Options::new(8).unwrap() };
    Simulation::new(options).unwrap().run(|weft| {
        for _ in 0..3 {
            let _span = weft.span("computing");
            weft.work(100_000 * u64::from(weft.rank().0));
            drop(_span);
            weft.barrier()?;
        }
        weft::Result::Ok(())
    })
}

fn traced() -> (Report<()>, Trace) {
    let tape = Tape::new(8);
    let report = run(Some(tape.clone()));
    let file = tempfile::NamedTempFile::new().unwrap();
    let run = Run { hosts: vec!["simulated".into(); 8], is_simulated: true, ..Run::default() };
    let size = tape.write(file.path(), &run).unwrap();
    let trace = Trace::open(file.path()).unwrap();
    assert_eq!(size.lost, 0);
    (report, trace)
}

#[test]
fn a_run_that_is_traced_is_the_same_run() {
    let (report, trace) = traced();
    assert_eq!(report.trace_hash, run(None).trace_hash);
    assert_eq!(trace, traced().1);
}

#[test]
fn every_packet_is_there_at_both_ends_and_in_time() {
    let (report, trace) = traced();
    let (mut sent, mut received) = (BTreeMap::<_, Vec<_>>::new(), BTreeMap::<_, Vec<_>>::new());
    for (rank, events) in (0..).zip(&trace.ranks) {
        assert!(events.events.is_sorted_by_key(|event| event.time));
        for event in &events.events {
            match event.what {
                What::Sent(packet) => {
                    let of = sent.entry((rank, packet.peer.0)).or_default();
                    of.push((event.time, packet.head));
                }
                What::Received(packet) => {
                    let of = received.entry((packet.peer.0, rank)).or_default();
                    of.push((event.time, packet.head));
                }
                _ => {}
            }
        }
    }
    assert_eq!(sent.len(), received.len());
    for (pair, left) in &sent {
        let came = &received[pair];
        assert_eq!(left.len(), came.len(), "{pair:?}");
        let is_one = |left: &(u64, _), came: &(u64, [u8; 16])| left.0 < came.0 && left.1 == came.1;
        assert!(left.iter().zip(came).all(|(left, came)| is_one(left, came)), "{pair:?}");
    }
    let heads = sent.values().flatten().filter(|(_, head)| *head != [0; 16]).count();
    assert!(heads > 0, "packets with first bytes");
    let data = |what: &What| matches!(what, What::Sent(packet) if packet.tag.is_data());
    let kinds = trace.ranks.iter().flat_map(|rank| &rank.events).map(|event| event.what);
    let counted: u64 = report.statistics.iter().map(|rank| rank.protocol.packets_sent).sum();
    assert_eq!(kinds.filter(data).count() as u64, counted);
}

#[test]
fn who_computes_longest_waits_least() {
    let (_, trace) = traced();
    let waited = |rank: usize| {
        let (mut time, mut since) = (0, 0);
        for event in &trace.ranks[rank].events {
            match event.what {
                What::WaitBegins => since = event.time,
                What::WaitEnds => time += event.time - since,
                _ => {}
            }
        }
        time
    };
    assert!(waited(0) > 2 * waited(7), "{} and {} ns", waited(0), waited(7));
    let names: Vec<_> = trace.ranks[3].names.iter().collect();
    assert!(
        names.iter().any(|((named, _), name)| *named == NamedThing::Span && *name == "computing")
    );
}
