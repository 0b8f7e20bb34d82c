//! Adversaries on the wire between two hosts bring nothing in and keep nothing out.
//! `weft bench hostile` sends a million of their frames, and says what they cost.

use std::time::Duration;
use weft_bench::micro::hostile::{ATTACKS, Plan, measure};

const FRAMES: u64 = 20_000;

#[test]
fn nothing_of_adversaries_is_delivered_and_all_of_the_job_is() {
    if !weft_netns::available() {
        return;
    }
    let plan = Plan { frames: FRAMES, size: 1400, slice: Duration::from_millis(100) };
    let report = measure(&plan).unwrap();
    assert_eq!((report.arrived, report.foreign), (report.sent, 0));
    assert!(report.hostile_frames() >= FRAMES && report.unrelated_frames >= FRAMES);
    for (attack, sent) in ATTACKS.into_iter().zip(report.attacks) {
        let refused = report.refused.of(attack.refused());
        // The kernel may have had no room for some.
        assert!(refused > 0, "{attack:?}: none of {sent} got as far as being refused");
        assert!(refused <= sent, "{attack:?}: {sent} were sent, {refused} refused");
    }
}
