//! Looks at jobs that stand still.

use super::*;

const LIMIT: Duration = Duration::from_secs(30);

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

#[test]
fn a_deadlock_is_said_once_when_it_is_older_than_the_limit() {
    let mut watch = ProgressWatch::new(Some(LIMIT));
    assert!(!watch.is_due(seconds(7)) && watch.is_due(seconds(8)));
    assert!(!watch.checked(seconds(8), Some(seconds(4))));
    assert_eq!(watch.next_check(), Some(seconds(8) + LIMIT / CHECKS));
    assert!(!watch.checked(seconds(16), Some(seconds(12))));
    assert!(!watch.checked(seconds(24), Some(seconds(20))));
    assert!(watch.checked(seconds(40), Some(seconds(36))));
    assert!(!watch.checked(seconds(48), Some(seconds(44))));
    // It went on after all, and stands still again.
    assert!(!watch.checked(seconds(60), None));
    assert!(!watch.checked(seconds(68), Some(seconds(4))));
    assert!(watch.checked(seconds(95), Some(seconds(31))));
}

#[test]
fn all_looks_of_that_time_have_to_agree() {
    let mut watch = ProgressWatch::new(Some(LIMIT));
    // A thread that may end the wait is there, but for a moment.
    assert!(!watch.checked(seconds(40), None));
    assert!(!watch.checked(seconds(48), Some(seconds(47))));
    assert!(!watch.checked(seconds(56), None));
    assert!(!watch.checked(seconds(64), Some(seconds(63))));
    assert!(watch.checked(seconds(87), Some(seconds(86))));
}

#[test]
fn limits_and_reactions_are_read_as_they_are_written() {
    assert_eq!(progress_limit("2.5"), Ok(Duration::from_millis(2500)));
    assert_eq!(progress_limit("2min"), Ok(Duration::from_secs(120)));
    assert_eq!(progress_limit("0"), Ok(Duration::ZERO));
    for wrong in ["", "-1", "3601", "nan", "1 day"] {
        let said =
            "it is a time from 0s to 1h, such as 500ms, 5s or 2min; a number alone is seconds";
        assert_eq!(progress_limit(wrong), Err(said.into()), "{wrong}");
    }
    for reaction in [OnDeadlock::Report, OnDeadlock::End] {
        assert_eq!(reaction.to_string().parse(), Ok(reaction));
    }
    assert_eq!("kill".parse::<OnDeadlock>(), Err("\"kill\" is neither report nor end".into()));
}

#[test]
fn nobody_watches_without_a_limit() {
    for none in [None, Some(Duration::ZERO)] {
        let mut watch = ProgressWatch::new(none);
        assert_eq!((watch.next_check(), watch.is_due(seconds(99))), (None, false));
        assert!(!watch.checked(seconds(99), Some(seconds(98))));
    }
}
