use super::super::tests::found;
use super::*;

const LINK: (&str, &str) = ("links/a/Cargo.toml", "[package]\nname = \"a\"\n");
const OTHER: (&str, &str) = ("b/Cargo.toml", "[package]\nname = \"b\"\n");

/// The rule with a list of one.
fn check_listed(tree: &Tree, findings: &mut Vec<Finding>) {
    hold(tree, &[("links/a/src/trace.rs", "text")], findings);
}

/// Findings in a file of a link, as `line: field`.
fn found_in(code: &str) -> Vec<String> {
    let findings = found(&[LINK, ("links/a/src/b.rs", code)], check_listed);
    let short = |finding: &String| {
        let (_, rest) = finding.split_once(".rs:")?;
        let (line, field) = rest.split_once(": a link names the header's ")?;
        Some(format!("{line}: {field}"))
    };
    findings.iter().map(|finding| short(finding).unwrap_or_else(|| finding.clone())).collect()
}

#[test]
fn a_field_behind_a_dot_is_found() {
    let code = "fn f(header: &Header) {\n    g(header.sequence);\n    received.header.credits\n}";
    assert_eq!(found_in(code), ["2: sequence", "3: credits"]);
    assert_eq!(found_in("let n = header\n    .acknowledgement;"), ["1: acknowledgement"]);
}

#[test]
fn a_field_between_braces_is_found() {
    let apart = "let Header {\n    asks, channel: on, ..\n} = *header;";
    assert_eq!(found_in(apart), ["2: asks", "2: channel"]);
    assert_eq!(found_in("f(Header { sequence: 1, ..*header });"), ["1: sequence"]);
}

#[test]
fn what_is_a_links_to_read_is_not_found() {
    let code = "fn f(header: &Header) -> Header {\n    let credits = header.size;\n    Header { \
                follows: header.follows, serial, ..*header }\n}";
    assert_eq!(found_in(code), [""; 0]);
    assert_eq!(found_in("envelope.sequence; plain.credits; header.sequences"), [""; 0]);
    assert_eq!(found_in("impl T for Header { fn f() { sequence } }"), [""; 0]);
    assert_eq!(found_in("#[cfg(test)]\nmod m { fn f() { header.sequence } }"), [""; 0]);
}

#[test]
fn tests_and_other_crates_may_name_them() {
    let code = "header.sequence";
    let tree = [LINK, OTHER, ("links/a/tests/b.rs", code), ("b/src/lib.rs", code)];
    assert_eq!(found(&tree, check_listed), [""; 0]);
}

#[test]
fn a_listed_file_may_and_one_that_does_not_is_found() {
    let file = |code| [LINK, ("links/a/src/trace.rs", code)];
    assert_eq!(found(&file("header.sequence"), check_listed), [""; 0]);
    let list = (LIST, "(\"links/a/src/trace.rs\", \"text\"),\n");
    let tree = [LINK, list, ("links/a/src/trace.rs", "header.size")];
    let what = "links/a/src/trace.rs names no field between protocols: take it off the list";
    assert_eq!(found(&tree, check_listed), [format!("{LIST}:1: {what}")]);
}
