use super::super::tests::found;
use super::*;

const PLAIN: &str = "[package]\nname = \"a\"\n";
const UNTESTED: &str = "[package]\nname = \"a\"\n[lib]\ntest = false\n";
const TEST: &str = "#[test]\nfn it_works() {}\n";

/// Findings in a package of this manifest and these sources.
fn of(manifest: &str, sources: &[(&str, &str)]) -> Vec<String> {
    found(&[&[("a/Cargo.toml", manifest)], sources].concat(), check)
}

#[test]
fn a_library_says_that_it_has_no_tests() {
    let empty = [("a/src/lib.rs", "mod b;"), ("a/tests/it.rs", TEST), ("a/src/main.rs", TEST)];
    let expected = "a/Cargo.toml:1: the library has no tests, and no `test = false`";
    assert_eq!(of(PLAIN, &empty), [expected]);
    assert_eq!(of(UNTESTED, &empty), [""; 0]);
}

#[test]
fn a_library_with_tests_has_them_run() {
    let tested = [("a/src/lib.rs", "mod b;"), ("a/src/b/tests.rs", TEST)];
    let expected = "a/Cargo.toml:1: the library has tests, and `test = false`";
    assert_eq!(of(UNTESTED, &tested), [expected]);
    assert_eq!(of(PLAIN, &tested), [""; 0]);
}

#[test]
fn programs_and_crates_inside_others_are_none_of_its_concern() {
    let inner = ("a/inner/Cargo.toml", UNTESTED);
    let library = ("a/inner/src/lib.rs", "");
    assert_eq!(of(PLAIN, &[("a/src/main.rs", "fn main() {}"), inner, library]), [""; 0]);
    assert_eq!(of(PLAIN, &[("a/src/lib.rs", TEST), inner, library]), [""; 0]);
}
