use super::*;

/// Packets of either link among `packets` that are taken while both have more than that.
fn taken(near: usize, far: usize, packets: usize) -> (usize, usize) {
    let mut turns = Turns::new(near, far);
    let mut counts = (0, 0);
    for _ in 0..packets {
        if turns.is_far(true) {
            turns.took_far();
            counts.1 += 1;
        } else {
            turns.took_near();
            counts.0 += 1;
        }
    }
    counts
}

#[test]
fn each_link_has_the_share_of_its_ranks() {
    for (near, far) in [(1, 1), (2, 3), (3, 2), (7, 1), (1, 31), (31, 31)] {
        let packets = 1000 * (near + far);
        let (nears, fars) = taken(near, far, packets);
        // The regular looks are at the far link, and its share is at least a look's.
        let least = packets / usize::from(LOOKS);
        let due = (1000 * far).max(least);
        assert!(fars.abs_diff(due) <= packets / 100, "{near} near, {far} far: {nears}, {fars}");
    }
}

#[test]
fn a_link_without_packets_costs_the_other_one_look_in_many() {
    let mut turns = Turns::new(2, 3);
    let looks = (0..1600).filter(|_| {
        turns.took_near();
        turns.is_far(false)
    });
    assert_eq!(looks.count(), 100);
}

/// A look may find one packet only, however many there are.
#[test]
fn a_look_that_found_something_is_followed_by_another() {
    let mut turns = Turns::new(1, 3);
    let mut came = 20;
    let mut in_between = 0;
    while came > 0 {
        if turns.is_far(false) {
            turns.took_far();
            came -= 1;
        } else {
            turns.took_near();
            in_between += 1;
        }
    }
    assert!(in_between < 2 * usize::from(LOOKS), "{in_between}");
    turns.took_near();
    turns.missed_far();
    assert!(!turns.is_far(false));
}

#[test]
fn who_was_silent_for_long_has_no_claim_to_all_of_that_time() {
    let mut turns = Turns::new(1, 1);
    (0..100_000).for_each(|_| turns.took_near());
    let in_a_row = (0..).take_while(|_| {
        turns.took_far();
        turns.due > 0
    });
    assert!(in_a_row.count() < usize::from(LOOKS));
}

#[test]
fn a_far_link_that_is_quiet_is_left_out_of_most_looks_in_vain() {
    let mut turns = Turns::new(1, 3);
    assert!(!turns.leaves_far(), "nothing is known yet");
    (0..RUN).for_each(|_| turns.took_near());
    let looks: Vec<bool> = (0..8).map(|_| !turns.leaves_far()).collect();
    assert_eq!(looks, [false, false, false, true, false, false, false, true]);
    turns.took_far();
    assert!(!turns.leaves_far(), "more may come");
}
