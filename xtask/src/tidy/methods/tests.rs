use super::super::tests::found;
use super::*;

const CRATE: (&str, &str) = ("a/Cargo.toml", "[package]\nname = \"a\"\n");

/// The rules with a limit of 2, and a list of the trait `Long` and the type `Wide`.
fn check_two(tree: &Tree, findings: &mut Vec<Finding>) {
    let of_traits = Ratchet { limit: 2, listed: &[("a Long", 3)], ..OF_TRAITS };
    let of_types = Ratchet { limit: 2, listed: &[("a Wide", 3)], ..OF_TYPES };
    hold(tree, &of_traits, &of_types, findings);
}

/// Findings in a crate of these files.
fn found_in(files: &[(&str, &str)]) -> Vec<String> {
    found(&[&[CRATE], files].concat(), check_two)
}

#[test]
fn functions_of_a_trait_count_with_a_body_and_without() {
    let code = "trait T: Sized {\n    fn a(&self);\n    fn b() { fn inner() {} }\n    fn c();\n}\n";
    assert_eq!(
        found_in(&[("a/src/b.rs", code)]),
        ["a/src/b.rs:1: a T has 3 methods, 2 are the most"]
    );
    let two = "pub trait T {\n    type F = fn(u8);\n    fn a(f: fn(u8));\n    const fn b();\n}\n";
    assert_eq!(found_in(&[("a/src/b.rs", two)]), [""; 0]);
}

#[test]
fn functions_of_a_type_count_in_all_files_of_its_crate() {
    let here = "pub struct S<T>(T);\nimpl<T: Fn() -> u8> S<T> where T: for<'a> Of<'a> {\n    pub fn a() {}\n    fn b() {}\n}\n";
    let there = "impl super::S<u8> {\n    pub(crate) unsafe fn c() {}\n}\n";
    let files = [("a/src/lib.rs", here), ("a/src/c.rs", there)];
    assert_eq!(found_in(&files), ["a/src/c.rs:1: a S has 3 methods, 2 are the most"]);
    assert_eq!(found_in(&files[..1]), [""; 0]);
    let other =
        [CRATE, ("b/Cargo.toml", CRATE.1), files[0], ("b/src/c.rs", "impl S { fn c() {} }")];
    assert_eq!(found(&other, check_two), [""; 0], "of another crate");
}

#[test]
fn types_of_one_name_in_several_modules_are_several() {
    let of = |use_it: &str| format!("{use_it}\nimpl S {{\n    fn a() {{}}\n    fn b() {{}}\n}}\n");
    let own = of("struct S;");
    let other = of("use crate::b::S;");
    let files = [("a/src/b.rs", &*own), ("a/src/c.rs", &*own)];
    assert_eq!(found_in(&files), [""; 0]);
    let files = [("a/src/b.rs", &*own), ("a/src/c.rs", &*other)];
    assert_eq!(found_in(&files), ["a/src/b.rs:2: a S has 4 methods, 2 are the most"]);
    let glob = of("use super::*;");
    let files = [("a/src/b.rs", &*own), ("a/src/b/c.rs", &*glob)];
    assert_eq!(found_in(&files).len(), 1);
}

#[test]
fn functions_of_a_trait_for_a_type_are_not_the_types() {
    let three = "{\n    fn a() {}\n    fn b() {}\n    fn c() {}\n}\n";
    for head in
        ["impl T for S", "unsafe impl<A> m::T<A> for S<A>", "impl $name", "fn f() -> impl T"]
    {
        assert_eq!(found_in(&[("a/src/b.rs", &format!("{head} {three}"))]), [""; 0], "{head}");
    }
    for head in ["impl S", "#[cold]\nimpl<A> m::S<A>", "struct A;\nimpl dyn S", "mod m { impl S"] {
        let expected = "a S has 3 methods, 2 are the most";
        let findings = found_in(&[("a/src/b.rs", &format!("{head} {three}"))]);
        assert!(findings[0].ends_with(expected), "{head}: {findings:?}");
    }
}

#[test]
fn tests_and_what_only_tests_are_not_the_product() {
    let code = "trait T {\n    fn a();\n    fn b();\n    fn c();\n}\n";
    let for_tests = format!("#[cfg(test)]\nmod m {{\n{code}}}\n");
    let one_for_tests = code.replace("    fn c", "    #[cfg(test)]\n    fn c");
    for (path, code) in [
        ("a/src/b/tests.rs", code),
        ("a/tests/it/b.rs", code),
        ("a/benches/b.rs", code),
        ("a/src/b.rs", &for_tests),
        ("a/src/b.rs", &one_for_tests),
    ] {
        assert_eq!(found_in(&[(path, code)]), [""; 0], "{path}");
    }
    let testing = [("testing/a/Cargo.toml", CRATE.1), ("testing/a/src/lib.rs", code)];
    assert_eq!(found_in(&testing), [""; 0]);
    let files = [("a/src/lib.rs", "#[cfg(test)]\nmod b;\nmod c;\n"), ("a/src/b.rs", code)];
    assert_eq!(found_in(&files), [""; 0], "a file for tests");
}

#[test]
fn what_the_lists_name_may_not_grow() {
    let code = |more: &str| {
        let inner = format!("{{\n    fn a() {{}}\n    fn b() {{}}\n    fn c() {{}}\n{more}}}\n");
        format!("trait Long {inner}struct Wide;\nimpl Wide {inner}")
    };
    assert_eq!(found_in(&[("a/src/b.rs", &code(""))]), [""; 0]);
    let expected = [
        format!("a/src/b.rs:1: a Long has 4 methods, {LIST} allows it 3"),
        format!("a/src/b.rs:8: a Wide has 4 methods, {LIST} allows it 3"),
    ];
    assert_eq!(found_in(&[("a/src/b.rs", &code("    fn d() {}\n"))]), expected);
}

#[test]
fn the_lists_are_sorted_and_of_what_is_above_the_limits() {
    for Ratchet { limit, listed, .. } in [OF_TRAITS, OF_TYPES] {
        assert!(listed.is_sorted());
        assert!(listed.iter().all(|&(_, number)| number > limit));
    }
}
