//! Tokens of texts.

use weft_orca::lexer::lex;
use weft_orca::source::Sources;

fn tokens(text: &str) -> Vec<String> {
    let mut sources = Sources::default();
    let file = sources.add("test.orca", text.to_owned()).expect("small");
    lex(&sources, sources.whole(file))
        .tokens
        .iter()
        .map(|(token, _)| format!("{token:?}"))
        .collect()
}

#[test]
fn ranges_are_not_reals() {
    assert_eq!(tokens("1..15"), [r#"Integer("1")"#, "Dots", r#"Integer("15")"#]);
    assert_eq!(tokens("1.5e3"), [r#"Real("1.5e3")"#]);
    assert_eq!(tokens("1.x"), [r#"Integer("1")"#, "Dot", r#"Name("x")"#]);
    assert_eq!(tokens("..."), ["Ellipsis"]);
}

#[test]
fn signs_of_the_figures_and_of_keyboards() {
    assert_eq!(tokens("≥ ≤ ≠"), ["GreaterEqual", "LessEqual", "NotEqual"]);
    assert_eq!(tokens(">= <= /="), ["GreaterEqual", "LessEqual", "NotEqual"]);
    assert_eq!(tokens("x +:= 1"), [r#"Name("x")"#, "AddAssign", r#"Integer("1")"#]);
}

#[test]
fn keywords_in_both_cases_and_not_within_names() {
    assert_eq!(tokens("FORK fork forks"), ["Fork", "Fork", r#"Name("forks")"#]);
}

#[test]
fn comments_are_set_apart() {
    let mut sources = Sources::default();
    let text = "x # of x\n\"# none\" 'c'";
    let file = sources.add("test.orca", text.to_owned()).expect("small");
    let lexed = lex(&sources, sources.whole(file));
    let comments: Vec<_> = lexed.comments.iter().map(|span| sources.text(*span)).collect();
    assert_eq!(comments, ["# of x"]);
    assert_eq!(lexed.tokens.len(), 3);
    assert!(lexed.diagnostics.is_empty());
}
