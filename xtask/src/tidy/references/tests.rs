use super::super::tests::found;
use super::*;

const PAGE: (&str, &str) = (
    "docs/internals/old.md",
    "# Old\n```\n# Fenced\n```\n## The `way` of a packet (out, in)\ntext\n",
);
const SOURCE: (&str, &str) = ("wire/src/lib.rs", "");

/// Findings in a repository with that page, that source, and this file.
fn on(path: &str, text: &str) -> Vec<String> {
    found(&[PAGE, SOURCE, (path, text)], check)
}

#[test]
fn links_lead_to_files_beside_their_page() {
    let page = "[a](old.md) and [b](../../wire/src/lib.rs) and [c](..),\n[d](lost.md \"e\")\n";
    let expected = ["docs/internals/new.md:2: a link to lost.md, which is not there"];
    assert_eq!(on("docs/internals/new.md", page), expected);
    let page = "[a](https://example.org/lost.md), [b](mailto:c@d) and `[e](lost.md)`\n";
    assert_eq!(on("README.md", page), [""; 0]);
    let expected = ["README.md:1: a link to old.md, which is not there"];
    assert_eq!(on("README.md", "[a](old.md)\n"), expected);
}

#[test]
fn links_lead_to_headings_that_are_there() {
    let page = "[a](old.md#the-way-of-a-packet-out-in), [b](#new)\n[c](old.md#fenced)\n\n# New\n";
    let expected = ["docs/internals/new.md:2: docs/internals/old.md has no heading #fenced"];
    assert_eq!(on("docs/internals/new.md", page), expected);
    let expected = ["a.md:1: a.md has no heading #text"];
    assert_eq!(on("a.md", "[a](#text)\ntext\n#text\n"), expected);
}

#[test]
fn pages_name_files_and_folders_that_are_there() {
    let page = "`wire/src/lib.rs`, `wire/`, `wire/{src,lost}`, `docs/internals/old.md`, `cat`,\n\
                `lost/src/lib.rs` and `*/lost.md` are below no folder of the root\n";
    assert_eq!(on("a.md", page), ["a.md:1: there is no wire/lost"]);
    let expected = ["docs/internals/a.md:2: there is no lost.md"];
    assert_eq!(on("docs/internals/a.md", "`old.md`\n`lost.md`\n"), expected);
    assert_eq!(on("a.md", "```\n`wire/lost`\n```\n"), [""; 0]);
}

#[test]
fn comments_name_files_that_are_there() {
    let source = "//! `wire/src/lib.rs`, `src/lib.rs`, `docs/internals/old.md`\n/// `wire/lost.rs`\n\
                  fn f() {\n    // docs/lost.md.\n}\n// `lost.md`\n";
    let expected = [
        "wire/src/a.rs:2: there is no wire/lost.rs",
        "wire/src/a.rs:4: there is no docs/lost.md",
        "wire/src/a.rs:6: there is no lost.md",
    ];
    assert_eq!(on("wire/src/a.rs", source), expected);
    let expected = ["wire/tests/a.rs:1: there is no docs/lost.md"];
    assert_eq!(on("wire/tests/a.rs", "// `docs/lost.md`\n"), expected);
}

#[test]
fn messages_and_other_texts_name_pages_that_are_there() {
    let code = "const SEE: &str = \"docs/lost.md, docs/internals/old.md\";\n";
    for path in ["Makefile", "wire/src/a.rs"] {
        assert_eq!(on(path, code), [format!("{path}:1: there is no docs/lost.md")]);
    }
    assert_eq!(on("wire/tests/a.rs", code), [""; 0]);
    assert_eq!(on("Makefile", "of-docs/lost.md ../docs/lost.md mydocs/lost.md docs/\n"), [""; 0]);
}

#[test]
fn plans_that_nobody_has_are_not_cited() {
    let plan = PLANS[0];
    let text = format!("// As {plan} 4 says.\nconst {plan}: u8 = 4; // {plan}s\n");
    let expected = format!("a.rs:1: {plan}, a document that is not in the repository");
    assert_eq!(on("a.rs", &text), [expected]);
}
