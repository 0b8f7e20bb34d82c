use super::super::tests::found;
use super::*;

const CRATE: (&str, &str) = ("a/Cargo.toml", "[package]\nname = \"a\"\n");

/// The rule with a list of two, and `TWICE` twice.
fn check_listed(tree: &Tree, findings: &mut Vec<Finding>) {
    let twice = ("a/src/b.rs", "TWICE", "one of two");
    hold(tree, &[("a/src/b.rs", "KNOWN", "known"), twice, twice], findings);
}

/// Findings in a file of this code, as `line: name`, where that is not in the list.
fn found_in(code: &str) -> Vec<String> {
    let findings = found(&[CRATE, ("a/src/b.rs", code)], check_listed);
    let short = |finding: &String| {
        let (_, rest) = finding.split_once(".rs:")?;
        let (line, what) = rest.split_once(": the static ")?;
        Some(format!("{line}: {}", what.split(' ').next()?))
    };
    findings.iter().map(|finding| short(finding).unwrap_or_else(|| finding.clone())).collect()
}

#[test]
fn a_static_outside_the_list_is_found_wherever_it_is() {
    assert_eq!(found_in("pub(crate) static A: u8 = 0;\n"), ["1: A"]);
    assert_eq!(found_in("\nstatic mut A: u8 = 0;\n"), ["2: A"]);
    assert_eq!(found_in("fn f() {\n    static A: OnceLock<u8> = OnceLock::new();\n}\n"), ["2: A"]);
    assert_eq!(
        found_in("thread_local! {\n    static A: u8 = 0;\n    static B: u8 = 0;\n}\n").len(),
        2
    );
    assert_eq!(found_in("thread_local!(static $a: Cell<u8> = const { Cell::new(0) });"), ["1: $a"]);
    assert_eq!(found_in("extern \"C\" {\n    static environ: *const u8;\n}\n"), ["2: environ"]);
}

#[test]
fn what_is_listed_is_not_found_nor_are_lifetimes_and_text() {
    assert_eq!(found_in("static KNOWN: u8 = 0;\nstatic TWICE: u8 = 0;\n"), [""; 0]);
    let none = "// static A: u8\nconst A: &'static str = \"static B: u8\";\nfn f<T: 'static>(static_a: T) {}\n";
    assert_eq!(found_in(none), [""; 0]);
    assert_eq!(found_in("#[cfg(test)]\nmod m {\n    static A: u8 = 0;\n}\n"), [""; 0]);
    assert_eq!(found(&[CRATE, ("a/tests/b.rs", "static A: u8 = 0;")], check_listed), [""; 0]);
}

#[test]
fn an_entry_is_for_one_static_of_one_file() {
    let twice = "static TWICE: u8 = 0;\n";
    assert_eq!(found_in(&twice.repeat(2)), [""; 0]);
    assert_eq!(found_in(&twice.repeat(3)), ["3: TWICE"]);
    let elsewhere = [CRATE, ("a/src/c.rs", "static KNOWN: u8 = 0;\n")];
    assert_eq!(found(&elsewhere, check_listed).len(), 1);
}

#[test]
fn an_entry_without_its_static_is_found() {
    let list =
        "[\n    (\"a/src/b.rs\", \"KNOWN\", \"\"),\n    (\"a/src/b.rs\", \"TWICE\", \"\"),\n]\n";
    let code = "static TWICE: u8 = 0;\nstatic TWICE: u8 = 0;\n";
    let findings = found(&[CRATE, (LIST, list), ("a/src/b.rs", code)], check_listed);
    let expected = format!("{LIST}:2: a/src/b.rs has no static KNOWN: take it off the list");
    assert_eq!(findings, [expected]);
}

#[test]
fn the_list_is_sorted_and_gives_reasons() {
    assert!(LISTED.is_sorted());
    assert!(LISTED.iter().all(|(_, _, what)| !what.is_empty()));
}
