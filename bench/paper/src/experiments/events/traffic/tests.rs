use super::*;
use crate::picture::tests::numbers;
use weft_events::Statistics;

/// The whole of a run, drawn.
fn whole(of: &Traffic) -> String {
    spacetime::draw("whole", &[of.panel(0)], of.analysis.findings.duration_ns + 1)
}

fn has_ended(of: &Traffic) -> bool {
    (of.program, of.protocol) != (Program::Flood, Protocol::Traditional)
}

#[test]
fn every_packet_of_a_trace_is_an_arrow_that_goes_forward() {
    for of in all().unwrap().iter().flatten() {
        let findings = &of.analysis.findings;
        let [left, arrived] = ["x1", "x2"].map(|name| numbers(&whole(of), "packet", name));
        assert_eq!(left.len(), of.classes.len());
        assert!(left.iter().zip(&arrived).all(|(left, arrived)| left <= arrived));
        assert!(of.analysis.arrows.iter().all(|arrow| arrow.left < arrow.arrived));
        assert_eq!((findings.matching.early, findings.matching.received_only), (0, 0));
        if has_ended(of) {
            assert_eq!(findings.traffic.data().0, left.len() as u64, "{:?}", of.program);
            assert_eq!(findings.matching.sent_only, 0);
        }
        let matrix = of.matrix().packets.concat().iter().sum::<u64>();
        assert_eq!(matrix, of.count(Class::Fragment));
        assert_eq!(of.analysis.findings.lost_events, 0);
    }
}

#[test]
fn each_protocol_sends_besides_fragments_what_the_paper_says() {
    for [traditional, careful] in &all().unwrap() {
        let program = careful.program;
        for class in [Class::Acknowledgement, Class::Request, Class::Again] {
            assert_eq!(careful.count(class), 0, "{program:?}");
        }
        assert_eq!(traditional.count(Class::Update), 0, "{program:?}");
        let fragments = [traditional, careful].map(|of| of.count(Class::Fragment));
        let extra = [Class::Request, Class::Again].map(|class| traditional.count(class));
        if program == Program::Flood {
            assert!(extra[0] > 0 && extra[1] > fragments[0], "{extra:?} {fragments:?}");
        } else {
            // They say once, at the end, what has come.
            assert_eq!((traditional.count(Class::Acknowledgement), extra), (CLOSING, [0, 0]));
            assert_eq!(fragments[0], fragments[1]);
            assert!(traditional.handling() > careful.handling(), "{program:?}");
        }
        // Rows that travel both ways take windows along.
        assert_eq!(careful.count(Class::Update) > 0, program != Program::Jacobi, "{program:?}");
    }
}

#[test]
fn frames_of_a_trace_are_those_that_the_nodes_count() {
    let ran = |protocol| {
        let cluster = Cluster { nodes: NODES, protocol };
        let nodes = cluster.run(|events| latency::pass_around(events, 1, false)).unwrap();
        let sum = |of: fn(&Statistics) -> u64, nodes: &[(f64, Statistics)]| {
            nodes.iter().map(|(_, node)| of(node)).sum::<u64>()
        };
        let nodes = nodes.counted().unwrap();
        (sum(|node| node.fragments_received, &nodes), sum(|node| node.updates, &nodes))
    };
    for protocol in [Protocol::Traditional, Protocol::Careful] {
        let of = Traffic::of(Program::Ring, protocol).unwrap();
        assert_eq!(ran(protocol), (of.count(Class::Fragment), of.count(Class::Update)));
    }
}

#[test]
fn figures_in_the_texts_are_those_of_the_pictures() {
    let runs = all().unwrap();
    for (both, picture) in runs.iter().zip(pictures(&runs)) {
        let drawn = numbers(&picture.svg, "packet", "x1").len();
        let all: usize = both.iter().map(|of| of.classes.len()).sum();
        assert!(drawn > 10 && drawn < all, "{}: {drawn} of {all}", picture.name);
        assert!(picture.says.contains("6.1"), "{}", picture.says);
    }
}
