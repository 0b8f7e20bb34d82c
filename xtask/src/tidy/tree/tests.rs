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
