use super::super::tests::found;
use super::*;
use std::path::Path;

const SOURCE: (&str, &str) =
    ("endpoint/src/ni/node.rs", "impl Node {\n    pub fn poll(&self) {}\n}\n// fn gone() {}\n");

/// Findings in a repository with that source and this page.
fn on_page(path: &str, page: &str) -> Vec<String> {
    found(&[SOURCE, (path, page)], check)
}

/// Findings in a table of steps with this row, which is its line 3.
fn in_step(row: &str) -> Vec<String> {
    on_page(STEPS, &format!("| step | file | function |\n|---|---|---|\n{row}\n"))
}

#[test]
fn sources_that_do_not_exist_are_found_on_pages_about_the_inside() {
    for path in ["ARCHITECTURE.md", "docs/internals/any.md", STEPS] {
        let page =
            "A `endpoint/src/ni/node.rs`,\nits `node.rs` and\n`endpoint/src/ni/{node,lost}.rs`.\n";
        let expected = [format!("{path}:3: there is no source endpoint/src/ni/lost.rs")];
        assert_eq!(on_page(path, page), expected);
    }
    assert_eq!(on_page("docs/guide/any.md", "`lost.rs`"), [""; 0]);
    assert_eq!(on_page("docs/internals/old/any.md", "`lost.rs`"), [""; 0]);
}

#[test]
fn a_name_ends_a_path_at_a_folder() {
    let expected = ["ARCHITECTURE.md:1: there is no source ode.rs"];
    assert_eq!(on_page("ARCHITECTURE.md", "`ode.rs`"), expected);
}

#[test]
fn fenced_blocks_and_other_code_name_no_sources() {
    let page = "```\n`lost.rs`\nsrc/lost.rs\n```\n`cat *.rs` and lost.rs and `.../<name>.rs`\n";
    assert_eq!(on_page("ARCHITECTURE.md", page), [""; 0]);
}

#[test]
fn a_step_names_functions_of_its_source() {
    assert_eq!(in_step("| looks | `endpoint/src/ni/node.rs` | `Node::poll`, `poll` |"), [""; 0]);
    for name in ["pol", "polls", "gone", "Node"] {
        let row = format!("| looks | `endpoint/src/ni/node.rs` | `poll`, `Node::{name}` |");
        let expected = format!("{STEPS}:3: there is no function {name} in endpoint/src/ni/node.rs");
        assert!(in_step(&row).contains(&expected), "{name}");
    }
    let elsewhere = ("endpoint/src/ni/wait.rs", "fn wait() {}\n");
    let page = "| file | function |\n|---|---|\n| `endpoint/src/ni/node.rs` | `wait` |\n";
    let expected = format!("{STEPS}:3: there is no function wait in endpoint/src/ni/node.rs");
    assert_eq!(found(&[SOURCE, elsewhere, (STEPS, page)], check), [expected]);
    let expected = format!("{STEPS}:3: a step names no function of endpoint/src/ni/node.rs");
    assert_eq!(in_step("| looks | `endpoint/src/ni/node.rs` | all |"), [expected]);
}

#[test]
fn a_step_names_one_source_from_the_root() {
    let expected = format!("{STEPS}:3: there is no source node.rs in the root");
    assert_eq!(in_step("| looks | `node.rs` | `poll` |"), [expected]);
    let expected = format!("{STEPS}:3: a step names 0 sources, one is right");
    assert_eq!(in_step("| looks | the node | `poll` |"), [expected]);
}

#[test]
fn tables_of_other_things_have_no_steps() {
    let page = "| step | cost |\n|---|---|\n| looks | `make count` |\n";
    assert_eq!(on_page(STEPS, page), [""; 0]);
}

#[test]
fn functions_are_somewhere_wherever_the_page_of_steps_names_them() {
    let page = "By `Node::poll`, `Node`, `a/b.toml` and\n`gone`.\n";
    assert_eq!(on_page(STEPS, page), [format!("{STEPS}:2: there is no function gone")]);
    assert_eq!(on_page("docs/internals/any.md", page), [""; 0]);
}

#[test]
fn functions_of_invariants_are_somewhere() {
    let source = ("a.rs", "pub fn i1_kept() {}\npub fn r2_one() {}\n");
    let page =
        "| I1 | `i1_kept` |\n| R2 | `r2_one` |\n| I3 | `i3_lost` |\n| I7 | `i7_*`, `gone` |\n";
    let expected = ["ARCHITECTURE.md:3: there is no function i3_lost"];
    assert_eq!(found(&[source, ("ARCHITECTURE.md", page)], check), expected);
}

#[test]
fn the_way_of_a_packet_has_steps() {
    let tree = Tree::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap();
    let count = tree.file(STEPS).into_iter().flat_map(steps).count();
    assert!(count >= 40, "{count} steps on {STEPS}: are its tables read?");
}
