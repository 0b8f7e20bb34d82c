//! A run whose slices and flows are known, for tests of what is made of them.

use super::*;
use weft_trace::{Builder, NamedThing, Trace, What};

/// Run in which rank 1, of another host, waits for a packet, in a span.
pub(crate) fn short_run() -> Trace {
    Builder::new("x", 2)
        .on_host(1, "far")
        .named(1, NamedThing::Span, 1, "solve")
        .event(1, 0, What::SpanBegins(1))
        .wait(1, 1_000, 5_000, Some("a message"))
        .packet((0, 2_000), (1, 6_000), 8)
        .event(1, 9_000, What::SpanEnds(1))
        .trace()
}

#[test]
fn spans_are_within_one_another_whatever_ends_first() {
    let trace = Builder::new("x", 1)
        .named(0, NamedThing::Span, 1, "solve")
        .named(0, NamedThing::Span, 2, "barrier")
        .named(0, NamedThing::Span, 3, "nothing")
        .event(0, 0, What::SpanBegins(1))
        .wait(0, 10, 20, None)
        .event(0, 30, What::SpanBegins(2))
        .event(0, 40, What::SpanBegins(3))
        .event(0, 40, What::SpanEnds(3))
        .event(0, 50, What::SpanEnds(1))
        .event(0, 60, What::SpanEnds(2))
        .event(0, 70, What::Interrupted)
        .trace();
    let analysis = Analysis::new(&trace);
    let slices = slices(&analysis, &analysis.lives[0]);
    let told: Vec<_> = slices.iter().map(|of| (&*of.name, of.begin, of.end)).collect();
    let expected = [
        ("solve", 0, 50),
        ("computing", 0, 10),
        ("waiting", 10, 20),
        ("computing", 20, 30),
        ("barrier", 30, 50),
        ("computing", 30, 40),
        ("nothing", 40, 40),
        ("computing", 40, 50),
        ("barrier", 50, 60),
        ("computing", 50, 60),
        ("computing", 60, 70),
    ];
    assert_eq!(told, expected);
}
