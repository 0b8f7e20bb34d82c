use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

proptest! {
    /// Against a plain set, with steps of all sizes in both directions.
    #[test]
    fn remembers_what_came_within_the_window(
        steps in prop::collection::vec(prop_oneof![-3000i64..3000, -70i64..70, Just(1i64), Just(1 << 40)], 1..400)
    ) {
        let mut window = Window::new();
        let (mut received, mut highest, mut at) = (BTreeSet::from([0]), 0u64, 0u64);
        for step in steps {
            at = at.saturating_add_signed(step);
            let expected = received.contains(&at) || highest.saturating_sub(at) >= WINDOW;
            prop_assert_eq!(window.has(at), expected, "{} with {} the highest", at, highest);
            window.mark(at);
            prop_assert!(window.has(at));
            received.insert(at);
            highest = highest.max(at);
        }
    }
}

#[test]
fn the_last_number_there_is_moves_the_window_too() {
    let mut window = Window::new();
    window.mark(u64::MAX);
    assert!(window.has(u64::MAX) && window.is_old(1));
    assert!(!window.has(u64::MAX - WINDOW + 1) && window.is_old(u64::MAX - WINDOW));
}
