use super::super::tests::found;
use super::*;

const CRATE: (&str, &str) = ("a/Cargo.toml", "[package]\nname = \"a\"\n");

/// The rule without a list.
fn check_bare(tree: &Tree, findings: &mut Vec<Finding>) {
    hold(tree, &Ratchet { listed: &[], ..CIRCLES }, findings);
}

/// The rule with a list of one circle of 4 files.
fn check_listed(tree: &Tree, findings: &mut Vec<Finding>) {
    hold(tree, &Ratchet { listed: &[("a", 4)], ..CIRCLES }, findings);
}

/// A crate of modules with these names, each of which names the next, and the last the first.
fn circle(names: &[&str]) -> Vec<(String, String)> {
    let file = |(index, name): (usize, &&str)| {
        let next = names[(index + 1) % names.len()];
        let code = format!("fn of_{name}() {{\n    crate::{next}::of_{next}()\n}}\n");
        (format!("a/src/{name}.rs"), code)
    };
    names.iter().enumerate().map(file).collect()
}

fn found_in(files: &[(String, String)], check: fn(&Tree, &mut Vec<Finding>)) -> Vec<String> {
    let files = files.iter().map(|(path, code)| (&**path, &**code));
    found(&[CRATE].into_iter().chain(files).collect::<Vec<_>>(), check)
}

#[test]
fn three_files_may_name_one_another_and_no_more() {
    assert_eq!(found_in(&circle(&["b", "c", "d"]), check_bare), [""; 0]);
    let expected = "a/src/b.rs:1: a has 4 files in a circle of its 4 \
                    (a/src/b.rs, a/src/c.rs, a/src/d.rs, a/src/e.rs), 3 are the most";
    assert_eq!(found_in(&circle(&["b", "c", "d", "e"]), check_bare), [expected]);
}

#[test]
fn a_listed_circle_may_not_grow_and_allows_no_second() {
    assert_eq!(found_in(&circle(&["b", "c", "d", "e"]), check_listed), [""; 0]);
    let five = found_in(&circle(&["b", "c", "d", "e", "f"]), check_listed);
    assert!(five[0].ends_with("xtask/src/tidy/circles.rs allows it 4"), "{five:?}");
    let two = [circle(&["b", "c", "d", "e"]), circle(&["p", "q", "r", "s"])].concat();
    let findings = found_in(&two, check_listed);
    assert_eq!(findings.len(), 1);
    assert!(
        findings[0].contains("a, all circles has 8 files in a circle of its 8"),
        "{findings:?}"
    );
}

#[test]
fn an_entry_for_a_circle_that_is_no_more_is_found() {
    let list = ("xtask/src/tidy/circles.rs".to_owned(), "(\"a\", 4)".to_owned());
    let files = [circle(&["b", "c", "d"]), vec![list]].concat();
    let expected = "xtask/src/tidy/circles.rs:1: a has 3 files in a circle: take it off the list";
    assert_eq!(found_in(&files, check_listed), [expected]);
}

#[test]
fn modules_of_tests_are_in_no_circle() {
    let mut files = circle(&["b", "c", "d", "tests"]);
    assert_eq!(found_in(&files, check_bare), [""; 0]);
    files = circle(&["b", "c", "d", "e"]);
    files[0].1 = format!("#[cfg(test)]\n{}", files[0].1);
    assert_eq!(found_in(&files, check_bare), [""; 0]);
}

#[test]
fn the_list_is_sorted_and_of_what_is_above_the_limit() {
    assert!(CIRCLES.listed.is_sorted());
    assert!(CIRCLES.listed.iter().all(|&(_, number)| number > LIMIT));
}
