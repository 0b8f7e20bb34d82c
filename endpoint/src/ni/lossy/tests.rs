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
    for (lost_after, patience) in
        [(None, PATIENCE), (Some(800 * MS), PATIENCE), (Some(60_000 * MS), 60_000 * MS)]
    {
        assert_eq!(stay(lost_after).until(0, false, false), patience);
    }
}

#[test]
fn the_longer_a_program_talks_the_further_it_puts_the_look_off() {
    let fallback = TimerFallback::new(&Settings::new(2, 1));
    let tick = fallback.tick;
    // The thread has announced a look, and the program enters.
    fallback.put_off_from.store(0, Ordering::Relaxed);
    assert_eq!(fallback.put_off_by(100 * MS), tick);
    fallback.put_off_from.store(100 * MS, Ordering::Relaxed);
    assert_eq!(fallback.put_off_by(101 * MS), tick);
    assert_eq!(fallback.put_off_by(108 * MS), MS);
    assert_eq!(fallback.put_off_by(900 * MS), LONGEST_PUT_OFF);
    // It computes, the thread has looked, and it talks again.
    fallback.awake();
    fallback.put_off_from.store(0, Ordering::Relaxed);
    assert_eq!(fallback.put_off_by(910 * MS), tick);
}
