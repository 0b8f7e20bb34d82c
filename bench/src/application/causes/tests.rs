use super::{Came, Causes, Times, measured};
use crate::suite::Application;
use weft_app_common::MEASURED;
use weft_trace::builder::Builder;
use weft_trace::{NamedThing, What};

/// Two ranks: a wait of one before what is measured, and one within it, for a packet.
fn trace() -> weft_trace::Trace {
    let mut builder = Builder::new("qr", 2);
    for rank in 0..2 {
        builder = builder.named(rank, NamedThing::Span, 5, MEASURED).wait(
            rank,
            0,
            500,
            Some("the start"),
        );
        builder = builder.event(rank, 1000, What::SpanBegins(5));
    }
    builder = builder.wait(1, 1200, 1700, Some("a vector"));
    builder = builder.packet((0, 1300), (1, 1650), 64);
    for rank in 0..2 {
        builder = builder.event(rank, 2000, What::SpanEnds(5));
    }
    builder.trace()
}

#[test]
fn only_what_is_measured_counts() {
    let part = measured(&trace());
    assert!(!part.is_cut);
    let causes = Causes::of(&part);
    assert_eq!(causes.came.unicast, Came { packets: 1, bytes: 64 });
    assert_eq!(causes.came.multicast, Came::default());
    assert_eq!(causes.waits.len(), 1, "{:?}", causes.waits);
    assert_eq!(causes.waits[0].text.as_deref(), Some("a vector"));
    assert_eq!(causes.waits[0].idle_ns, 500);
    let text = causes.text(Application::Qr);
    assert!(text.starts_with("QR on 2 ranks, traced: "), "{text}");
    assert!(text.contains("1 waits for a vector"), "{text}");
}

#[test]
fn a_trace_without_the_span_is_cut() {
    let trace = Builder::new("qr", 1).wait(0, 0, 10, None).trace();
    let part = measured(&trace);
    assert!(part.is_cut);
    assert_eq!(Causes::of(&part).times, Times::default());
}
