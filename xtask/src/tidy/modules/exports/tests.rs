use super::super::super::product;
use super::super::super::tests::Repository;
use super::*;

/// Types that a crate of these files exports, as `file name`, without `.rs`.
fn exported(files: &[(&str, &str)]) -> Vec<String> {
    let manifest = Repository::new(&[("a/Cargo.toml", "[package]\nname = \"a\"\n")]);
    let add = |made: Repository, (path, code): &(&str, &str)| {
        made.with(&format!("a/src/{path}.rs"), code.as_bytes())
    };
    let tree = files.iter().fold(manifest, add).tree();
    let crates = product::crates(&tree);
    let name = |file: usize| crates[0].sources[file].path[6..].trim_end_matches(".rs");
    let exported = Modules::of(&crates[0]).exported();
    exported.iter().map(|one| format!("{} {}", name(one.file), one.name)).collect()
}

#[test]
fn public_types_of_the_root_are_exported() {
    let code = "pub struct A;\npub enum B {}\npub trait C {}\npub type D = u8;\n\
                pub unsafe trait E {}\npub union F { a: u8 }\n";
    assert_eq!(exported(&[("lib", code)]), ["lib A", "lib B", "lib C", "lib D", "lib E", "lib F"]);
}

#[test]
fn what_others_cannot_name_is_not_exported() {
    let code = "struct A;\npub(crate) struct B;\npub fn f() {}\npub const C: u8 = 0;\n\
                // pub struct D;\npub struct $name;\nmod b;\n#[cfg(test)]\npub struct E;\n";
    assert_eq!(exported(&[("lib", code), ("b", "pub struct B;")]), [""; 0]);
    let bounded =
        [("lib", "mod b;\npub(crate) use b::B;\nuse b::B as C;\n"), ("b", "pub struct B;")];
    assert_eq!(exported(&bounded), [""; 0]);
}

#[test]
fn public_modules_are_walked() {
    let root = ("lib", "pub mod b;\nmod d;\npub mod e { pub struct E; mod f { pub struct F; } }\n");
    let files = [
        root,
        ("b", "pub mod c;\npub struct B;"),
        ("b/c", "pub struct C;"),
        ("d", "pub struct D;"),
    ];
    assert_eq!(exported(&files), ["b B", "b/c C", "lib E"]);
}

#[test]
fn names_that_are_handed_on_are_exported_from_where_they_are() {
    let (b, c) = ("pub struct B;\npub struct Other;", "pub use super::b::B;\npub struct C;");
    for uses in [
        "pub use b::B;",
        "pub use self::b::{B, f};",
        "pub use c::B;",
        "pub use crate::{b::B, c::B};",
    ] {
        let root = format!("mod b;\nmod c;\n{uses}");
        assert_eq!(exported(&[("lib", &root), ("b", b), ("c", c)]), ["b B"], "{uses}");
    }
    let renamed = "mod b;\npub use b::B as Known;\n";
    assert_eq!(exported(&[("lib", renamed), ("b", b)]), ["b Known"]);
    let all = "mod b;\nmod c;\npub use c::*;\npub mod module {\n    pub use crate::b;\n}\n";
    assert_eq!(exported(&[("lib", all), ("b", b), ("c", c)]), ["b B", "c C", "b Other"]);
}

#[test]
fn types_of_other_crates_are_not_exported_again() {
    let root = "pub use weft_wire::Rank;\npub use weft_wire as wire;\nuse weft_link::Link;\n\
                pub use Link as L;\npub struct A(Rank);\n";
    assert_eq!(exported(&[("lib", root)]), ["lib A"]);
}
