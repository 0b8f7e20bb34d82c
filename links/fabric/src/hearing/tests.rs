use super::*;

const MS: Nanoseconds = 1_000_000;
const HEARTBEATS: Heartbeats = Heartbeats { after: 200 * MS, lost_after: 800 * MS };
const PEER: Rank = Rank(1);

/// A rank of three that has met the second.
fn met() -> Hearing {
    let mut hearing = Hearing::new(3, Some(HEARTBEATS));
    hearing.sends(PEER);
    hearing
}

/// Looks every 100 ms from `from` to `to`, in ms; returns when heartbeats were due, and when the
/// peer was lost.
fn looks(
    hearing: &mut Hearing,
    (from, to): (u64, u64),
    is_behind: bool,
    has_come: impl Fn(u64) -> bool,
) -> (Vec<u64>, Option<u64>) {
    let (mut due, mut lost) = (Vec::new(), None);
    for at in (from..=to).step_by(100) {
        let look = hearing.look(at * MS, is_behind, |_| true, |_| has_come(at));
        assert!(look.due.iter().all(|rank| *rank == PEER), "{look:?}");
        due.extend(look.due.iter().map(|_| at));
        lost = lost.or(look.lost.map(|_| at));
    }
    (due, lost)
}

#[test]
fn a_silent_peer_is_lost_once_and_gets_heartbeats_until_then() {
    let mut hearing = met();
    let (due, lost) = looks(&mut hearing, (1000, 3000), false, |at| at == 1300);
    assert_eq!(lost, Some(2100));
    assert_eq!(due, [1200, 1400, 1600, 1800, 2000]);
    assert_eq!(looks(&mut hearing, (3100, 5000), false, |_| false), (vec![], None));
}

#[test]
fn a_peer_that_was_never_heard_of_is_lost_after_the_first_look() {
    assert_eq!(looks(&mut met(), (1000, 3000), false, |_| false).1, Some(1800));
}

#[test]
fn a_peer_that_says_little_is_not_lost() {
    let (_, lost) = looks(&mut met(), (1000, 9000), false, |at| at % 700 == 0);
    assert_eq!(lost, None);
}

#[test]
fn who_is_behind_or_was_away_blames_nobody() {
    assert_eq!(looks(&mut met(), (1000, 9000), true, |_| false).1, None);
    let mut hearing = met();
    looks(&mut hearing, (1000, 1600), false, |_| false);
    let (_, lost) = looks(&mut hearing, (2100, 4000), false, |_| false);
    assert_eq!(lost, Some(2900));
}

#[test]
fn who_sends_needs_no_heartbeats() {
    let mut hearing = met();
    for at in 10..30 {
        hearing.sends(PEER);
        assert_eq!(hearing.look(at * 100 * MS, false, |_| true, |_| true), Look::default());
    }
}

#[test]
fn who_was_not_met_or_has_left_is_not_missed() {
    let mut hearing = Hearing::new(3, Some(HEARTBEATS));
    assert_eq!(looks(&mut hearing, (1000, 3000), false, |_| false), (vec![], None));
    hearing.receives(PEER);
    for at in 31..60 {
        let look = hearing.look(at * 100 * MS, false, |rank| rank != PEER, |_| false);
        assert_eq!(look, Look::default());
    }
}
