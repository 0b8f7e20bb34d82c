use super::super::tests::found;
use super::*;

/// The rule with `Error` in its list.
fn check_listed(tree: &Tree, findings: &mut Vec<Finding>) {
    hold(tree, &[("Error", "always with its crate")], findings);
}

/// Findings in libraries `wire` and `endpoint` of this code.
fn found_in(wire: &str, endpoint: &str) -> Vec<String> {
    let files = [
        ("wire/Cargo.toml", "[package]\nname = \"wire\"\n"),
        ("wire/src/lib.rs", wire),
        ("endpoint/Cargo.toml", "[package]\nname = \"endpoint\"\n"),
        ("endpoint/src/lib.rs", endpoint),
    ];
    found(&files, check_listed)
}

#[test]
fn a_name_that_two_crates_export_is_found_in_both() {
    let expected = [
        "endpoint/src/lib.rs:1: endpoint exports a type Kind, as wire does",
        "wire/src/lib.rs:2: wire exports a type Kind, as endpoint does",
    ];
    assert_eq!(found_in("\npub struct Kind;", "pub trait Kind {}"), expected);
}

#[test]
fn a_name_of_one_crate_is_not_found_nor_one_that_is_listed() {
    assert_eq!(found_in("pub struct Kind;", "pub use wire::Kind;\nstruct Kind;"), [""; 0]);
    assert_eq!(found_in("pub mod a { pub struct Kind; }\npub struct Kind;", ""), [""; 0]);
    assert_eq!(found_in("pub enum Error {}", "pub enum Error {}"), [""; 0]);
}

#[test]
fn programs_and_what_only_tests_or_measures_may_use_all_words() {
    for folder in ["apps/common", "bench", "bindings/rust", "testing/world", "systems/orca"] {
        let manifest = format!("{folder}/Cargo.toml");
        let source = format!("{folder}/src/lib.rs");
        let files = [
            ("wire/Cargo.toml", "[package]\nname = \"wire\"\n"),
            ("wire/src/lib.rs", "pub struct Kind;"),
            (&manifest, "[package]\nname = \"other\"\n"),
            (&source, "pub struct Kind;"),
        ];
        assert_eq!(found(&files, check_listed), [""; 0], "{folder}");
    }
    let program = [
        ("wire/Cargo.toml", "[package]\nname = \"wire\"\n"),
        ("wire/src/lib.rs", "pub struct Kind;"),
        ("endpoint/Cargo.toml", "[package]\nname = \"endpoint\"\n"),
        ("endpoint/src/main.rs", "pub struct Kind;"),
    ];
    assert_eq!(found(&program, check_listed), [""; 0]);
}

#[test]
fn an_entry_that_is_needed_no_more_is_found() {
    let list = "[\n    (\"Error\", \"always with its crate\"),\n]\n";
    let files = [
        ("wire/Cargo.toml", "[package]\nname = \"wire\"\n"),
        ("wire/src/lib.rs", "pub enum Error {}"),
        (LIST, list),
    ];
    let expected =
        format!("{LIST}:2: fewer than two crates export a type Error: take it off the list");
    assert_eq!(found(&files, check_listed), [expected]);
}

#[test]
fn the_list_is_sorted_and_gives_reasons() {
    assert!(LISTED.is_sorted_by(|(a, _), (b, _)| a < b));
    assert!(LISTED.iter().all(|(_, reason)| !reason.is_empty()));
}
