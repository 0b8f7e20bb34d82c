use super::{Input, quoted};
use std::path::Path;

fn input(text: &str) -> Input {
    Input { file: "some.tsv".to_owned(), text: text.to_owned() }
}

#[test]
fn comments_and_empty_lines_count_as_lines_and_say_nothing() {
    let input = input("# head\n\nfirst\n# more\nsecond\n");
    let texts: Vec<&str> = input.lines().map(|line| line.text).collect();
    assert_eq!(texts, ["first", "second"]);
    let last = input.lines().last().expect("two lines");
    let error = last.malformed("a third", "this");
    assert_eq!(error.to_string(), "some.tsv:5: expected a third, found this");
}

#[test]
fn numbers_keep_to_their_bounds() {
    let input = input("x");
    let line = input.lines().next().expect("one line");
    assert_eq!(line.number_within("-89.5", "latitude", 90.0).expect("within"), -89.5);
    for text in ["90.01", "NaN", "north", ""] {
        let error = line.number_within(text, "latitude", 90.0).expect_err("not a latitude");
        let expected = format!("some.tsv:1: expected a latitude from -90 to 90, found {text:?}");
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn long_input_is_cut_in_errors() {
    assert_eq!(quoted("a\tb"), r#""a\tb""#);
    assert!(quoted(&"ä".repeat(1000)).len() < 140);
}

#[test]
fn a_missing_file_is_named() {
    let error = Input::read(Path::new("no/such/file")).expect_err("there is none");
    assert!(error.to_string().starts_with("no/such/file: "), "{error}");
}
