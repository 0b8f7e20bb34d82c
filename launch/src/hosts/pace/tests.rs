use super::*;

#[test]
fn who_meets_the_others_late_still_greets_all_at_once_and_waits_for_that() {
    let mut pace = Pace {
        clock: Clock::started_before(COPIED_LIMIT * 2),
        rounds: COPIED_ROUNDS,
        ..Pace::new(MEETING_LIMIT)
    };
    let met = Progress { met_all: true, copies: true, heard_all: false };
    assert!(!pace.is_over(met), "the others have had no time to be heard");
    assert!(pace.asks_now(met), "the others may not have listened before");
    assert!(pace.is_over(Progress { heard_all: true, ..met }));
}

#[test]
fn few_hosts_ask_all_and_many_ask_some_so_that_all_are_reached() {
    assert_eq!(probed(1, 3).into_iter().collect::<Vec<_>>(), [0, 2]);
    assert_eq!((probed(15, 16).len(), greeters(16).len()), (15, 16));
    for hosts in [17, 40, 256] {
        for own in 0..hosts {
            assert_eq!(
                probed(own, hosts).len(),
                u32::from(hosts).next_power_of_two().ilog2() as usize
            );
            assert!(!probed(own, hosts).contains(&own));
        }
        assert!(greeters(hosts).len() <= 16 && greeters(hosts).contains(&0));
        // Over hosts that ask one another every host hears of every other.
        let mut reached = BTreeSet::from([0]);
        while reached.len() < usize::from(hosts) {
            let more: Vec<u16> = reached.iter().flat_map(|host| probed(*host, hosts)).collect();
            let before = reached.len();
            reached.extend(more);
            assert_ne!(reached.len(), before, "{hosts}");
        }
    }
}
