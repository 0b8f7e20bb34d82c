//! A run whose slices and flows are known, for tests of what is made of them.

use weft_trace::{Builder, Named, Trace, What};

/// Run in which rank 1, of another host, waits for a packet, in a span.
pub(crate) fn short_run() -> Trace {
    Builder::new("x", 2)
        .on_host(1, "far")
        .named(1, Named::Span, 1, "solve")
        .event(1, 0, What::SpanBegins(1))
        .wait(1, 1_000, 5_000, Some("a message"))
        .packet((0, 2_000), (1, 6_000), 8)
        .event(1, 9_000, What::SpanEnds(1))
        .trace()
}
