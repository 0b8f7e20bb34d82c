use super::super::tests::found;
use super::*;

#[test]
fn a_doc_comment_opens_with_a_noun() {
    for opening in OPENINGS {
        let source = format!("//! Noun.\n\n/// {opening} it is.\nfn f() {{}}\n");
        let expected = format!("a.rs:3: a doc comment opens with '{opening}'");
        assert_eq!(found(&[("a.rs", &source)], check), [expected]);
        let source = format!("//! {opening} it is.\n");
        let expected = format!("a.rs:1: a doc comment opens with '{opening}'");
        assert_eq!(found(&[("a.rs", &source)], check), [expected]);
    }
}

#[test]
fn only_the_first_word_of_a_doc_comment_counts() {
    let source = "//! A noun.\n//! What follows.\n\n// What is no doc comment.\nfn f() {}\n\
                  /// Assertion, whose name begins with As.\n/// How it goes on.\nfn g() {}\n\
                  //// Whatever this is.\nconst A: &str = \"\n/// What a text says.\n\";\n";
    assert_eq!(found(&[("a.rs", source)], check), [""; 0]);
}

#[test]
fn a_line_of_comment_may_be_so_wide_and_no_wider() {
    for marker in ["//", "///", "//!"] {
        let line =
            |columns: usize| format!("{marker} {}\n", "ä".repeat(columns - marker.len() - 1));
        assert_eq!(found(&[("a.rs", &line(COLUMNS))], check), [""; 0]);
        let expected = "a.rs:1: a comment of 101 columns, 100 are the most";
        assert_eq!(found(&[("a.rs", &line(COLUMNS + 1))], check), [expected]);
        let table = format!("{marker} | {} |\n", "a".repeat(COLUMNS));
        assert_eq!(found(&[("a.rs", &table)], check), [""; 0], "rows of tables cannot be wrapped");
    }
}

#[test]
fn riddles_are_found_wherever_their_lines_end() {
    for (phrase, instead) in RIDDLES {
        let expected = format!("a.rs:2: '{phrase}' in a comment: {instead}");
        let source = format!("fn f() {{}}\n// The thread {phrase} here.\n");
        assert_eq!(found(&[("a.rs", &source)], check), [&*expected]);
        let apart = format!("\n    /// That {}.\n", phrase.replacen(' ', "\n    /// ", 1));
        assert_eq!(found(&[("a.rs", &apart)], check), [&*expected]);
        assert_eq!(found(&[("a.rs", &format!("f(\"{phrase}\");\n"))], check), [""; 0]);
    }
}

#[test]
fn a_number_has_a_noun_behind_it() {
    let instead = "name the number, or what it counts";
    let expected = format!("a.rs:1: '{NUMBER}' in a comment: {instead}");
    for end in [".", ", and no more", "; then"] {
        let source = format!("/// True if there are {NUMBER}{end}\n");
        assert_eq!(found(&[("a.rs", &source)], check), [&*expected]);
    }
    for noun in [" bytes.", " that all wait", "\n/// ranks."] {
        let source = format!("/// True if there are {NUMBER}{noun}\n");
        assert_eq!(found(&[("a.rs", &source)], check), [""; 0], "{source}");
    }
}
