use super::*;
use weft_protocol::Silence;

const MS: Nanoseconds = 1_000_000;

fn stay(lost_after: Option<Nanoseconds>) -> Stay {
    let silence = lost_after.map(|lost_after| Silence { heartbeat_after: MS, lost_after });
    Stay::new(0, &Settings { silence, retransmit_after: 10 * MS, ..Settings::new(2, 1) })
}

#[test]
fn who_has_ended_stays_for_a_while_after_the_last_arrival() {
    let mut stay = stay(None);
    assert_eq!(stay.until(5 * MS, true, true), 45 * MS);
    assert_eq!(stay.until(7 * MS, false, true), 45 * MS);
    assert_eq!(stay.until(9 * MS, true, true), 49 * MS);
}

#[test]
fn those_who_go_on_sending_do_not_keep_who_has_ended() {
    let mut stay = stay(None);
    let ended = (1..).map(|ms| ms * MS).find(|&now| stay.until(now, true, true) <= now);
    assert_eq!(ended, Some(MS + LONGEST_STAY_IN_ALL));
}

#[test]
fn a_peer_that_may_keep_silent_for_longer_is_waited_for_as_long() {
    for (lost_after, patience) in [
        (None, STAY_WITH_PACKETS),
        (Some(800 * MS), STAY_WITH_PACKETS),
        (Some(60_000 * MS), 60_000 * MS),
    ] {
        assert_eq!(stay(lost_after).until(0, false, false), patience);
    }
}
