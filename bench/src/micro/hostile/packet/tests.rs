use super::*;

fn packet(number: u64, mark: Mark) -> Vec<u8> {
    let mut bytes = vec![0; 40];
    fill(&mut bytes, number, mark);
    bytes
}

#[test]
fn what_was_sent_counts_once_and_in_order() {
    let arrived = Arrived::default();
    arrived.see(&packet(0, Mark::More));
    arrived.see(&packet(1, Mark::Answer));
    arrived.see(&packet(2, Mark::End));
    assert_eq!(arrived.counted(), Check { arrived: 3, foreign: 0 });
    assert_eq!((arrived.asked(), arrived.has_ended()), (1, true));
}

#[test]
fn what_came_before_or_was_changed_or_cut_is_foreign() {
    let arrived = Arrived::default();
    arrived.see(&packet(0, Mark::More));
    arrived.see(&packet(0, Mark::More));
    let mut changed = packet(1, Mark::More);
    changed[30] ^= 1;
    arrived.see(&changed);
    arrived.see(&packet(1, Mark::More)[..5]);
    arrived.see(&packet(2, Mark::End));
    assert_eq!(arrived.counted(), Check { arrived: 1, foreign: 4 });
    assert!(!arrived.has_ended());
}
