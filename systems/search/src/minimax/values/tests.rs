//! Bounds: what is noted is known, at its depth, and what is better is not lost.

use super::*;

const HASH: u64 = 0x0123_4567_89ab_cdef;

fn found(value: i16, best: Option<u8>) -> Found {
    Found { value, best, is_cut: false }
}

fn table(replacement: Replacement) -> Values {
    Values::new(ENTRY_BYTES, replacement)
}

#[test]
fn bounds_close_in_and_the_best_move_is_that_of_the_lower_one() {
    let mut values = table(Replacement::Always);
    assert_eq!(values.known(HASH), None);
    values.note(HASH, 3, Window::at_least(5), found(7, Some(1)));
    let known = values.known(HASH).unwrap();
    assert_eq!(known, Known { depth: 3, lower: 7, upper: i16::MAX, best: Some(1), is_cut: false });
    assert_eq!(known.answers(Window::at_least(7)), Some(7));
    assert_eq!(known.answers(Window::at_least(8)), None);
    // A search that ran beside it and knows less.
    values.note(HASH, 3, Window::at_least(2), found(4, Some(2)));
    assert_eq!(values.known(HASH).unwrap(), known);
    values.note(HASH, 3, Window::at_least(9), found(7, Some(3)));
    let known = values.known(HASH).unwrap();
    assert_eq!(known, Known { depth: 3, lower: 7, upper: 7, best: Some(1), is_cut: false });
    assert_eq!(known.answers(Window { alpha: -100, beta: 100 }), Some(7));
}

#[test]
fn another_depth_begins_anew_and_keeps_the_move() {
    let mut values = table(Replacement::Always);
    values.note(HASH, 3, Window::at_least(5), found(7, Some(1)));
    values.note(HASH, 4, Window::at_least(5), found(2, None));
    let known = values.known(HASH).unwrap();
    assert_eq!(known, Known { depth: 4, lower: -i16::MAX, upper: 2, best: Some(1), is_cut: false });
}

#[test]
fn a_deeper_position_stays_if_that_is_the_rule() {
    for (replacement, stays) in [(Replacement::Always, false), (Replacement::DepthPreferred, true)]
    {
        let mut values = table(replacement);
        values.note(HASH, 3, Window::at_least(5), found(7, None));
        values.note(1, 2, Window::at_least(5), found(7, None));
        assert_eq!(values.known(HASH).is_some(), stays);
        values.note(2, 4, Window::at_least(5), found(7, None));
        assert!(values.known(2).is_some());
    }
}

#[test]
fn no_bytes_are_no_memory() {
    let mut values = Values::new(0, Replacement::Always);
    values.note(HASH, 3, Window::at_least(5), found(7, None));
    assert_eq!(values.known(HASH), None);
}

#[test]
fn what_an_earlier_search_has_noted_is_known_and_gives_way() {
    let mut values = table(Replacement::DepthPreferred);
    // As often as numbers take to come again.
    for search in 1..=64 {
        values.begin();
        values.note(HASH, 9, Window::at_least(5), found(7, Some(1)));
        values.begin();
        let known = values.known(HASH).unwrap();
        assert_eq!((known.depth, known.lower, known.best), (9, 7, Some(1)), "search {search}");
        values.note(1, 2, Window::at_least(5), found(7, None));
        assert!(values.known(HASH).is_none() && values.known(1).is_some());
        // It is of this search now.
        values.note(2, 1, Window::at_least(5), found(7, None));
        assert!(values.known(1).is_some());
        // What a search finds again is its own.
        values.begin();
        values.note(1, 2, Window::at_least(8), found(7, None));
        values.note(2, 1, Window::at_least(5), found(7, None));
        assert!(values.known(1).is_some() && values.known(2).is_none());
    }
}

#[test]
fn an_estimate_stays_in_what_is_known_to_that_depth() {
    let mut values = Values::new(1 << 10, Replacement::Always);
    let is_cut = |values: &Values| values.known(HASH).unwrap().is_cut;
    values.note(HASH, 3, Window::at_least(5), Found { is_cut: true, ..found(7, Some(1)) });
    assert!(is_cut(&values));
    values.note(HASH, 3, Window::at_least(8), found(7, None));
    assert!(is_cut(&values), "one bound is of an estimate");
    values.note(HASH, 4, Window::at_least(5), found(7, Some(1)));
    assert!(!is_cut(&values));
    values.note(HASH, 4, Window::at_least(8), Found { is_cut: true, ..found(7, None) });
    assert!(is_cut(&values));
}
