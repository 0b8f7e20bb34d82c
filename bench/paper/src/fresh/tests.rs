use super::{FILE, LIST, MARKS, Made, PARTS, Sources, here, listed, note, stale, write};
use std::collections::BTreeSet;
use std::path::Path;

/// A workspace of two crates, one of which uses the other.
fn workspace(folder: &Path) {
    let write = |path: &str, text: &str| {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write(
        "Cargo.toml",
        "[workspace.dependencies]\na = { path = \"a\" }\nb = { path = \"b\" }\nserde = \"1\"\n",
    );
    write("a/Cargo.toml", "[dependencies]\nb.workspace = true\nserde.workspace = true\n");
    write("b/Cargo.toml", "[package]\nname = \"b\"\n");
    write("a/src/lib.rs", "fn a() {}\n");
    write("b/src/lib.rs", "//! b\n\nfn b() {\n}\n");
    write("b/src/lib/tests.rs", "#[test]\nfn c() {}\n");
    write("b/tests/it.rs", "fn d() {}\n");
    write("bench/paper/src/own.rs", "fn own() {}\n");
}

#[test]
fn a_hash_is_of_what_is_compiled_of_all_that_is_used() {
    let folder = tempfile::tempdir().unwrap();
    workspace(folder.path());
    let hash = |without: &[&str]| {
        Sources::read(folder.path()).unwrap().hash(&["a"], without, &["own.rs"]).unwrap()
    };
    let append = |path: &str, text: &str| {
        let path = folder.path().join(path);
        let old = std::fs::read_to_string(&path).unwrap();
        std::fs::write(path, old + text).unwrap();
    };
    let (all, alone) = (hash(&[]), hash(&["b"]));
    assert_ne!(all, alone);
    for path in ["b/src/lib/tests.rs", "b/tests/it.rs"] {
        append(path, "fn more() {}\n");
    }
    append("b/src/lib.rs", "\n    // A comment.\n");
    assert_eq!((hash(&[]), hash(&["b"])), (all.clone(), alone.clone()));
    append("b/src/lib.rs", "fn more() {}\n");
    assert_ne!(hash(&[]), all);
    assert_eq!(hash(&["b"]), alone);
    append("bench/paper/src/own.rs", "fn more() {}\n");
    assert_ne!(hash(&["b"]), alone);
}

#[test]
fn what_is_noted_is_older_no_more() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(stale(folder.path()).unwrap().len(), PARTS.len());
    note(folder.path(), &[Made::Adaptive, Made::Study]).unwrap();
    let rest = stale(folder.path()).unwrap();
    assert_eq!(rest.len(), PARTS.len() - 2);
    assert!(rest.iter().all(|part| part.made != Made::Adaptive && part.made != Made::Study));
    note(folder.path(), &[Made::Objects]).unwrap();
    let path = folder.path().join(FILE);
    let other = std::fs::read_to_string(&path).unwrap().replace("adaptive.md,simulated,", "$0");
    std::fs::write(&path, other.replace("$0", "adaptive.md,simulated,0")).unwrap();
    assert_eq!(stale(folder.path()).unwrap().len(), PARTS.len() - 2);
}

#[test]
fn a_list_replaces_the_one_that_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(LIST);
    std::fs::write(&path, format!("# A\n\n{}old\n{}\nz\n", MARKS[0], MARKS[1])).unwrap();
    write(folder.path(), &listed(&[])).unwrap();
    let page = std::fs::read_to_string(&path).unwrap();
    let none = "No page is older than what it measures.";
    assert_eq!(page, format!("# A\n\n{}\n{none}\n\n{}\nz\n", MARKS[0], MARKS[1]));
    let list = listed(&[&PARTS[0]]);
    assert!(
        list.contains("| [thesis.md](thesis.md) | simulated | `weft-paper --only thesis` |"),
        "{list}"
    );
}

#[test]
fn parts_are_known_by_page_and_name_and_have_sources() {
    let names: BTreeSet<_> = PARTS.iter().map(|part| (part.page, part.part)).collect();
    assert_eq!(names.len(), PARTS.len());
    let sources = Sources::read(&here()).unwrap();
    let hashes: BTreeSet<String> =
        PARTS.iter().map(|part| part.sources(&sources).unwrap()).collect();
    assert_eq!(hashes.len(), PARTS.len());
}
