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
    assert!(!watch.looked(seconds(8), Some(seconds(4))));
    assert_eq!(watch.next_look(), Some(seconds(8) + LIMIT / LOOKS));
    assert!(!watch.looked(seconds(16), None));
    assert!(watch.looked(seconds(40), Some(LIMIT)));
    assert!(!watch.looked(seconds(48), Some(seconds(38))));
    // It went on after all, and stands still again.
    assert!(!watch.looked(seconds(60), None));
    assert!(watch.looked(seconds(95), Some(seconds(31))));
}

#[test]
fn nobody_watches_without_a_limit() {
    for none in [None, Some(Duration::ZERO)] {
        let mut watch = ProgressWatch::new(none);
        assert_eq!((watch.next_look(), watch.is_due(seconds(99))), (None, false));
        assert!(!watch.looked(seconds(99), Some(seconds(98))));
    }
}
