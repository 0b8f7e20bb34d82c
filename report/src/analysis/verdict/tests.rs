//! Tests of verdicts.

use crate::analysis::Analysis;
use weft_trace::{Builder, What};

fn verdict(of: Builder) -> String {
    Analysis::new(&of.trace()).findings.verdict.join(" ")
}

/// Rank 0 computes for so long and sends to the others, which wait for it most of their time.
fn late(computes: u64) -> Builder {
    let mut of = Builder::new("", 4).event(0, 0, What::Interrupted);
    for rank in 1..4 {
        of = of.event(rank, 0, What::Interrupted).event(rank, 300, What::WaitBegins);
    }
    for rank in 1..4 {
        let left = computes + 10 * u64::from(rank);
        of = of.packet((0, left), (rank, left + 5), 8).event(rank, computes + 50, What::WaitEnds);
    }
    of
}

#[test]
fn the_rank_that_others_wait_for_is_named() {
    let said = verdict(late(1000));
    assert_eq!(
        said,
        "All other ranks wait for rank 0 in 71 % of their time. Rank 0 computes 2.1 x as long as \
         the mean: divide its work, or move some of it to others."
    );
}

#[test]
fn some_ranks_that_wait_are_named() {
    let of = late(1000).event(3, 9000, What::Interrupted).event(2, 9000, What::Interrupted);
    assert!(verdict(of).starts_with("Rank 1 waits for rank 0 in 71 % of its time."));
}

#[test]
fn waits_that_no_packet_ends_are_said() {
    let of = Builder::new("", 2)
        .wait(0, 0, 900, Some("barrier, operation 3 of its team"))
        .wait(1, 0, 900, Some("barrier, operation 3 of its team"))
        .event(1, 1000, What::Interrupted);
    let said = verdict(of);
    assert!(
        said.contains("No packet ended 100 % of that, most of all for barrier, operation #"),
        "{said}"
    );
}

#[test]
fn ranks_that_hardly_wait_are_busy() {
    let of = Builder::new("", 1).wait(0, 0, 10, None).event(0, 1000, What::Interrupted);
    assert!(verdict(of).starts_with("Ranks wait in no more than 1.0 % of their time."));
}

#[test]
fn of_nothing_nothing_is_said() {
    assert_eq!(verdict(Builder::new("", 2)), "Nothing happened that takes time.");
}

#[test]
fn who_is_waited_for_through_others_is_named() {
    let mut of = Builder::new("", 8).event(0, 0, What::Interrupted);
    for rank in 1..8 {
        of = of.event(rank, 0, What::WaitBegins);
    }
    for rank in 1..8 {
        let now = 1_000_000 + 10 * u64::from(rank);
        of = of.packet((rank - 1, now), (rank, now + 5), 8).event(rank, now + 6, What::WaitEnds);
    }
    let said = verdict(of);
    assert!(
        said.contains("for rank 0 in the end: for ranks that wait for it. Rank 0 computes 8.0 x"),
        "{said}"
    );
}

#[test]
fn who_has_the_root_of_a_reduction_wait_is_named_and_not_the_root() {
    // Rank 2 computes three times as long; all bring rank 0 what they have, which answers.
    let mut of = Builder::new("", 4);
    for rank in 0..4 {
        of = of.event(rank, 0, What::Interrupted);
    }
    for round in 0..10 {
        let at = 1000 * round;
        for rank in [1, 3] {
            of = of.event(rank, at + 300, What::WaitBegins);
        }
        of = of.event(0, at + 310, What::WaitBegins);
        for rank in [1, 3] {
            of = of.packet((rank, at + 301), (0, at + 305), 8);
        }
        of = of.packet((2, at + 900), (0, at + 905), 8).event(0, at + 906, What::WaitEnds);
        of = of.event(2, at + 901, What::WaitBegins);
        for rank in 1..4 {
            let left = at + 910 + u64::from(rank);
            of = of.packet((0, left), (rank, left + 5), 8).event(rank, left + 6, What::WaitEnds);
        }
    }
    let said = verdict(of);
    assert!(
        said.contains("for rank 2 in the end: for ranks that wait for it. Rank 2 computes "),
        "{said}"
    );
}

#[test]
fn a_program_that_hangs_is_said_first() {
    let of = Builder::new("", 3)
        .event(0, 0, What::Interrupted)
        .event(0, 1_000, What::Interrupted)
        .wait(1, 0, 1_000, Some("rank 2's rows"))
        .wait(2, 0, 1_000, Some("rank 1's rows"));
    let mut trace = of.trace();
    for of in &mut trace.ranks[1..] {
        // Their last event says that they sleep.
        of.events.last_mut().unwrap().what = What::SleepBegins;
    }
    let said = Analysis::new(&trace).findings.verdict.join(" ");
    let expected = "Ranks 1 and 2 still wait at the end of the trace, rank 1 for rank 2's rows. ";
    assert!(said.starts_with(expected), "{said}");
}

#[test]
fn much_that_was_lost_is_said() {
    let of = Builder::new("", 1).event(0, 0, What::Interrupted).loses(0, 9);
    let of = of.event(0, 600, What::Interrupted).event(0, 1_000, What::Interrupted);
    assert!(verdict(of).starts_with("Of 60 % of the time nothing is known: events were lost."));
}
