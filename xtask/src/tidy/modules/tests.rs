use super::super::product;
use super::super::tests::Repository;
use super::*;

/// Edges in a crate of these files, as `from > to`, both without `.rs`.
fn edges(files: &[(&str, &str)]) -> Vec<String> {
    let manifest = Repository::new(&[("a/Cargo.toml", "[package]\nname = \"a\"\n")]);
    let add = |made: Repository, (path, code): &(&str, &str)| {
        made.with(&format!("a/src/{path}.rs"), code.as_bytes())
    };
    let tree = files.iter().fold(manifest, add).tree();
    let crates = product::crates(&tree);
    let name = |file: usize| crates[0].sources[file].path[6..].trim_end_matches(".rs");
    let edges = Modules::of(&crates[0]).edges();
    let named = |(from, to): (usize, BTreeSet<usize>)| {
        to.into_iter().map(move |to| format!("{} > {}", name(from), name(to))).collect::<Vec<_>>()
    };
    let mut edges: Vec<String> = edges.into_iter().enumerate().flat_map(named).collect();
    edges.sort();
    edges
}

/// Modules to name: `b`, with `b::c` inside it, and `d`.
const NAMED: [(&str, &str); 3] =
    [("b", "pub struct B;"), ("b/c", "pub struct C;"), ("d/mod", "pub struct D;")];

/// Edges from a module `b::e` of this code, in a crate with [`NAMED`].
fn named_by(code: &str) -> Vec<String> {
    edges(&[&[("b/e", code)], &NAMED[..]].concat())
}

#[test]
fn a_module_names_others_in_imports_and_paths() {
    for code in
        ["use crate::d::D;", "fn f() { crate::d::D }", "use super::super::d;", "use crate::d::*;"]
    {
        assert_eq!(named_by(code), ["b/e > d/mod"], "{code}");
    }
    for code in ["use super::c::C;", "fn f(c: super::c::C) {}", "use crate::b::c::{self, C};"] {
        assert_eq!(named_by(code), ["b/e > b/c"], "{code}");
    }
    for code in ["use super::B;", "impl crate::b::B {}", "use super::*;"] {
        assert_eq!(named_by(code), ["b/e > b"], "{code}");
    }
    for code in
        ["// crate::d::D", "use std::d::D;", "pub(in crate::b) fn f() {}", "use self::d::D;"]
    {
        assert_eq!(named_by(code), [""; 0], "{code}");
    }
}

#[test]
fn a_module_inside_a_file_is_of_that_file() {
    assert_eq!(named_by("mod m { use super::super::B; use super::X; }"), ["b/e > b"]);
    assert_eq!(edges(&[("b", "use crate::c::m::X;"), ("c", "mod m { pub struct X; }")]), ["b > c"]);
}

#[test]
fn a_module_that_hands_on_names_is_not_what_is_named() {
    let b = ("b", "use crate::{C, run};\nuse crate::d::E;");
    let root = ("lib", "mod b;\npub use c::C;\npub use d::*;\npub(crate) use d::go as run;\n");
    let (c, d) = (("c", "pub struct C;"), ("d", "pub fn go() {}\npub use crate::e::E;\n"));
    let e = ("e", "pub enum E {}");
    assert_eq!(edges(&[b, root, c, d, e]), ["b > c", "b > d", "b > e"]);
    let from_all = [("b", "use crate::Go;"), ("d", "pub struct Go;"), root];
    assert_eq!(edges(&from_all), ["b > d"]);
    let outer = [("b", "use super::Rank;"), ("lib", "mod b;\nuse wire::Rank;\nstruct A(Rank);\n")];
    assert_eq!(edges(&outer), [""; 0], "of another crate");
}

#[test]
fn a_module_that_hands_on_names_and_uses_them_names_them() {
    let files = [("lib", "mod b;\npub use b::B;\npub struct A(B);\n"), ("b", "pub struct B;")];
    assert_eq!(edges(&files), ["lib > b"]);
    assert_eq!(edges(&[("lib", "mod b;\nfn f() { b::g() }"), files[1]]), ["lib > b"]);
}

#[test]
fn all_names_of_a_module_are_those_that_are_used() {
    let b = ("b", "use crate::d::D;\nuse crate::e::E;\nuse c::g;\n");
    let c = ("b/c", "use super::*;\nfn g(d: D) {}");
    let files = [b, c, ("d", "pub struct D;"), ("e", "pub struct E;")];
    assert_eq!(edges(&files), ["b > b/c", "b > d", "b > e", "b/c > b", "b/c > d"]);
}

#[test]
fn imports_that_follow_one_another_end() {
    assert_eq!(edges(&[("b", "use crate::c::X;"), ("c", "use crate::b::X;")]).len(), 2);
    assert_eq!(edges(&[("b", "use self::X as X;\nuse Y as Y;")]), [""; 0]);
}

#[test]
fn a_program_beside_a_library_is_not_its_root() {
    let files = [("b", "use crate::A;"), ("lib", "pub struct A;"), ("main", "use a::A;")];
    assert_eq!(edges(&files), ["b > lib"]);
    assert_eq!(edges(&[("b", "use crate::A;"), ("main", "struct A;")]), ["b > main"]);
}
