use super::super::tests::found;
use super::*;

/// A repository of a published crate, another one that it depends on, and their workspace.
fn findings(dependencies: &str, other: &str) -> Vec<String> {
    let root = "[workspace]\n[workspace.package]\nversion = \"1.2.0\"\n[workspace.dependencies]\n\
        second = { path = \"wire\", version = \"=1.2.0\" }\n";
    let first = format!("[package]\nname = \"first\"\n{dependencies}\n");
    let second = format!("[package]\nname = \"second\"\n{other}");
    let files =
        [("Cargo.toml", root), ("endpoint/Cargo.toml", &first), ("wire/Cargo.toml", &second)];
    found(&files, check)
}

#[test]
fn crates_of_a_release_depend_on_one_another_and_on_no_other_of_ours() {
    let inherited = "[dependencies]\nsecond.workspace = true";
    assert_eq!(findings(inherited, ""), [""; 0]);
    let kept = findings(inherited, "publish.workspace = true\n");
    assert_eq!(kept, ["endpoint/Cargo.toml:4: it is published, and wire is not"]);
    let unsaid = findings("[dependencies]\nsecond = { path = \"../wire\" }", "");
    assert_eq!(unsaid, ["endpoint/Cargo.toml:4: wire has the version none, not =1.2.0"]);
    let loose = "[dependencies]\nsecond = { path = \"../wire\", version = \"1.2\" }";
    let expected = "endpoint/Cargo.toml:4: wire has the version 1.2, not =1.2.0";
    assert_eq!(findings(loose, ""), [expected]);
}

#[test]
fn tests_depend_by_paths_alone() {
    let by_path = "[dev-dependencies]\nsecond = { path = \"../wire\" }";
    assert_eq!(findings(by_path, ""), [""; 0]);
    let by_version = findings("[dev-dependencies]\nsecond.workspace = true", "");
    assert_eq!(by_version, ["endpoint/Cargo.toml:4: tests depend on wire by a version"]);
}
