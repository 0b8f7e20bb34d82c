//! Tests of what happens beside packets and states.

use super::*;
use crate::Analysis;
use weft_trace::{Builder, NamedThing};
use weft_wire::Rank;

/// Run of two ranks with a handler that waits, one with a thread of its own, two broadcasts of an
/// order, and copies of rank 0 to and from the memory of rank 1.
pub(crate) fn busy_run() -> Trace {
    let delivered = |number| What::Delivered { order: 9, number, from: Rank(number as u16) };
    Builder::new("x", 2)
        .named(1, NamedThing::Port, 3, "rows")
        .named(1, NamedThing::Port, 4, "files")
        .named(0, NamedThing::Order, 9, "moves")
        .named(1, NamedThing::Order, 9, "moves")
        .event(0, 0, What::Submitted { order: 9, number: 0 })
        .event(0, 100, delivered(0))
        .event(0, 200, What::Put { to: Rank(1), bytes: 4096 })
        .event(0, 300, What::Put { to: Rank(1), bytes: 1024 })
        .event(0, 400, What::Got { from: Rank(1), bytes: 100 })
        .event(0, 2_000, delivered(1))
        .event(1, 0, What::HandlerBegins(3))
        .event(1, 50, What::HandlerEnds(3))
        .event(1, 100, What::PopupBegins { port: 4, run: 0 })
        .event(1, 150, What::PopupBegins { port: 4, run: 1 })
        .event(1, 300, delivered(0))
        .event(1, 400, What::PopupEnds { port: 4, run: 0 })
        .event(1, 450, What::HandlerGoesOn(3))
        .event(1, 500, What::HandlerEnds(3))
        .event(1, 1_000, What::Submitted { order: 9, number: 1 })
        .event(1, 1_100, delivered(1))
        .trace()
}

#[test]
fn handlers_that_go_on_are_one_run_and_popups_take_nothing_from_their_rank() {
    let of = Analysis::new(&busy_run()).findings;
    let files = HandlerRow {
        port: "files".into(),
        popups: 2,
        // The second one never ends.
        popup_ns: 300 + 950,
        ..HandlerRow::default()
    };
    let rows = HandlerRow { port: "rows".into(), runs: 1, ns: 100, ..HandlerRow::default() };
    assert_eq!(of.handlers, [files, rows]);
    assert_eq!((of.time[1].handler_ns, of.time[1].computing_ns), (100, 1_000));
}

#[test]
fn broadcasts_are_known_from_their_sending_to_their_last_delivery() {
    let of = Analysis::new(&busy_run());
    let [first, second] = &of.beside.broadcasts[..] else { panic!("{:?}", of.beside) };
    assert_eq!((first.submitted, &first.delivered[..]), (Some((0, 0)), &[(0, 100), (1, 300)][..]));
    assert_eq!(second.delivered, [(0, 2_000), (1, 1_100)]);
    let moves = OrderRow {
        order: "moves".into(),
        submitted: 2,
        delivered: 4,
        mean_ns: (300 + 1_000) / 2,
        longest_ns: 1_000,
        longest_number: 1,
        longest_rank: 0,
    };
    assert_eq!(of.findings.orders, [moves]);
}

#[test]
fn copies_are_added_by_their_two_ends() {
    let of = Analysis::new(&busy_run()).findings;
    let row = CopyRow { rank: 0, other: 1, puts: 2, put_bytes: 5_120, gets: 1, got_bytes: 100 };
    assert_eq!(of.copies, [row]);
}
