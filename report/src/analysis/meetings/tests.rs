//! Meetings, and who ended the waits of whom.

use crate::analysis::{Analysis, path::On};
use weft_trace::{Builder, What};

/// Rank 2 comes last to a meeting of three, and at once.
fn met() -> Analysis {
    let of = Builder::new("x", 3)
        .event(0, 0, What::Interrupted)
        .event(1, 0, What::Interrupted)
        .event(2, 0, What::Interrupted)
        .event(0, 100, What::Meets(7))
        .wait(0, 110, 1050, Some("barrier"))
        .event(1, 200, What::Meets(7))
        .wait(1, 210, 1040, Some("barrier"))
        .event(2, 1000, What::Meets(7))
        .event(0, 1200, What::Interrupted)
        .event(1, 1060, What::Interrupted)
        .event(2, 1010, What::Interrupted);
    Analysis::new(&of.trace())
}

#[test]
fn who_comes_last_ends_the_waits_of_the_others() {
    let met = met();
    for rank in 0..2 {
        let wait = &met.lives[rank].waits[0];
        assert_eq!(wait.ended_by.map(|(_, rank)| rank), Some(2));
    }
    assert!(met.arrows.is_empty(), "it is no packet");
    assert_eq!(met.findings.matching.matched, 0);
}

#[test]
fn the_critical_path_leads_to_who_came_last() {
    let path = met().findings.critical_path;
    let steps: Vec<_> = path.steps.iter().map(|step| (step.on, step.rank, step.end_ns)).collect();
    assert_eq!(steps, [(On::Rank, 2, 1000), (On::Waking, 0, 1050), (On::Rank, 0, 1200)]);
    assert_eq!(path.computing_ns, 1000 + 150);
}

#[test]
fn a_meeting_that_was_over_before_a_wait_began_does_not_end_it() {
    let of = Builder::new("x", 2).event(0, 100, What::Meets(7)).wait(0, 500, 600, None).event(
        1,
        200,
        What::Meets(7),
    );
    let lives = Analysis::new(&of.trace()).lives;
    assert_eq!(lives[0].waits[0].ended_by, None);
}
