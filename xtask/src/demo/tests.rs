//! The demo's build stays small.

use super::*;

#[test]
fn the_demo_takes_no_more_crates() {
    let root = crate::root().unwrap();
    let crates = crates(&root).unwrap();
    assert!(crates.len() <= CRATES_MAX, "{} crates: {crates:#?}", crates.len());
    // What is far from it says that the limit is of another demo.
    assert!(crates.len() + 10 > CRATES_MAX, "{} crates, of {CRATES_MAX}", crates.len());
    for heavy in ["addr2line ", "ratatui ", "prost ", "weft-report "] {
        assert!(!crates.iter().any(|name| name.starts_with(heavy)), "{heavy}");
    }
}
