use super::super::tests::Repository;
use super::*;

#[test]
fn what_tools_make_is_not_read() {
    let repository = Repository::new(&[
        ("a.rs", ""),
        (".ci/run", ""),
        (".venv/b.rs", ""),
        (".git/c.rs", ""),
        ("target/CACHEDIR.TAG", ""),
        ("target/d.rs", ""),
        ("e/.git", "a worktree"),
        ("e/f.rs", ""),
    ]);
    let paths: Vec<String> = repository.tree().files.into_iter().map(|file| file.path).collect();
    assert_eq!(paths, [".ci/run", "a.rs", "e/f.rs"]);
}

#[test]
fn tests_are_told_by_their_place() {
    for path in ["a/src/b/tests.rs", "a/src/tests/mod.rs", "a/tests/b.rs"] {
        assert!(is_test(path), "{path}");
    }
    for path in ["a/src/lib.rs", "testing/world/src/world.rs", "a/src/tests_of.rs"] {
        assert!(!is_test(path), "{path}");
    }
}

#[test]
fn items_for_tests_are_not_shipped() {
    let shipped = |code| without_tests(code).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(shipped("a #[cfg(test)] mod tests { b } c"), "a c");
    assert_eq!(shipped("a #[cfg(all(test, not(loom)))] fn f() -> [u8; 2] { b } c"), "a c");
    assert_eq!(shipped("a #[cfg(test)] mod tests; c"), "a c");
    assert_eq!(shipped("#[cfg(not(test))] a() #[cfg(loom)] b()").matches("()").count(), 2);
    let umlaut = "#[cfg(test)] fn f() { ä() } c";
    assert_eq!(without_tests(umlaut).find('c'), umlaut.rfind('c'), "offsets stay");
}

#[test]
fn files_that_are_declared_for_tests_are_not_shipped() {
    let repository = Repository::new(&[
        ("a/src/lib.rs", "mod b;\n#[cfg(test)]\nmod c;\n"),
        ("a/src/b.rs", "#[cfg(test)]\npub(crate) mod d;\n#[cfg(not(test))]\nmod e;\n"),
        ("a/src/b/d.rs", "f"),
        ("a/src/b/e.rs", "f"),
        ("a/src/c/mod.rs", "f"),
        ("a/src/cc.rs", "f"),
    ]);
    let tree = repository.tree();
    let shipped = tree.sources.iter().filter(|source| source.shipped == "f");
    let paths: Vec<&str> = shipped.map(|source| &*source.path).collect();
    assert_eq!(paths, ["a/src/b/e.rs", "a/src/cc.rs"]);
}

#[test]
fn modules_are_in_the_folder_of_their_file() {
    for path in ["a/b.rs", "a/b/mod.rs", "a/b/lib.rs", "a/b/main.rs"] {
        assert_eq!(folder_of_modules(path), "a/b", "{path}");
    }
    assert_eq!(folder_of_modules("a/blib.rs"), "a/blib");
    assert_eq!(folder_of_modules("lib.rs"), "");
}
