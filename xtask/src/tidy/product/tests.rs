use super::super::tests::Repository;
use super::*;

#[test]
fn the_product_is_crates_outside_of_testing_and_their_sources_without_tests() {
    let manifest = "[package]\nname = \"a\"\n";
    let repository = Repository::new(&[
        ("Cargo.toml", "[workspace]\n"),
        ("a/Cargo.toml", manifest),
        ("a/build.rs", "fn main() {}"),
        ("a/src/b.rs", "fn f() {}"),
        ("a/src/b/tests.rs", "fn f() {}"),
        ("a/src/lib.rs", "mod b;"),
        ("a/tests/it/main.rs", "fn f() {}"),
        ("a/src/in/Cargo.toml", manifest),
        ("a/src/in/src/main.rs", "fn main() {}"),
        ("none/Cargo.toml", manifest),
        ("testing/c/Cargo.toml", manifest),
        ("testing/c/src/lib.rs", "fn f() {}"),
    ]);
    let tree = repository.tree();
    let paths = |one: &Crate<'_>| one.sources.iter().map(|source| source.path.clone()).collect();
    let found: Vec<Vec<String>> = crates(&tree).iter().map(paths).collect();
    assert_eq!(found, [vec!["a/src/b.rs", "a/src/lib.rs"], vec!["a/src/in/src/main.rs"]]);
}
