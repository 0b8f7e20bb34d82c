use super::Report;
use crate::network::Network;
use crate::trip::Trip;
use std::time::Duration;
use weft_app_common::{Times, Traffic};

fn text(ranks: usize, sequential: Option<Duration>) -> String {
    let (airports, routes) = Network::embedded();
    let network = Network::new(&airports, &routes, Some(100)).expect("well-formed");
    let trip = Trip { nodes: vec![0, 1], length: 1_715_620 };
    let one = Traffic { packets_sent: 1000, blocked_sends: 3, ..Traffic::default() };
    let report = Report {
        network: &network,
        asked: &trip,
        farthest: &trip,
        verified_sources: 32,
        times: Times { parallel: Duration::from_millis(2100), sequential },
        traffic: &vec![one; ranks],
    };
    report.text()
}

#[test]
fn a_job_of_four() {
    let text = text(4, Some(Duration::from_millis(3990)));
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0]
            .contains("   17,156 km      100 airports   verified against Dijkstra from 32 sources"),
        "{text}"
    );
    assert!(lines[1].starts_with("farthest apart: "), "{text}");
    let expected = "4 ranks, 2.10 s (1.9 x one rank, which took 3.99 s)   rows broadcast 100   \
        packets 4,000   blocked sends 12   interrupts 0";
    assert_eq!(lines[2], expected);
    assert_eq!(lines.len(), 9, "{text}");
}

#[test]
fn what_was_not_measured_is_not_said() {
    let text = text(1, None);
    assert!(text.contains("1 rank, 2.10 s   rows broadcast 0"), "{text}");
    assert!(!text.contains(" x one rank"), "{text}");
}
