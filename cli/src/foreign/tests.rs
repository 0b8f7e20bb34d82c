//! Words of other commands.

use super::*;
use std::collections::BTreeSet;

#[test]
fn each_word_stands_once() {
    for all in [OPTIONS, START, COMMANDS] {
        let words: Vec<_> = all.iter().flat_map(|(words, _)| *words).collect();
        assert_eq!(words.len(), words.iter().collect::<BTreeSet<_>>().len());
    }
}
