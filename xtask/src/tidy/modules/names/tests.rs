use super::*;

/// Imports of `code`, as `name = path`, those for other modules with a `+`.
fn imported(code: &str) -> Vec<String> {
    let (_, imports) = imports(code);
    let show = |import: &Import| {
        let mark = if import.public { "+" } else { "" };
        format!("{mark}{} = {}", import.name, import.path.join("::"))
    };
    imports.iter().map(show).collect()
}

#[test]
fn a_use_brings_the_leaves_of_its_tree() {
    assert_eq!(imported("use a::b;"), ["b = a::b"]);
    assert_eq!(imported("use a;\nuse ::b::c;"), ["a = a", "c = b::c"]);
    assert_eq!(
        imported("use a::{self, b::{c, d as e,}, f::*,\n    g::h};"),
        ["a = a", "c = a::b::c", "e = a::b::d", "* = a::f", "h = a::g::h"]
    );
    assert_eq!(imported("use {a::b, c::d};"), ["b = a::b", "d = c::d"]);
    assert_eq!(imported("use self::a::B as _;"), ["_ = self::a::B"]);
    assert_eq!(imported("use super::*;"), ["* = super"]);
}

#[test]
fn a_use_for_others_says_so() {
    let code = "fn f() {}\npub use a::B;\n#[x]\npub(crate) use a::C;\npub struct D;\nuse a::E;";
    assert_eq!(imported(code), ["+B = a::B", "+C = a::C", "E = a::E"]);
}

#[test]
fn what_a_type_captures_is_no_import() {
    assert_eq!(imported("fn f<'a>() -> impl Fn() + use<'a> {}\n"), [""; 0]);
}

#[test]
fn paths_are_whole_and_without_arguments() {
    let code = "crate::a::B::<u8>::new(super::c::D { e: f }, $crate::g!(), h)";
    let found: Vec<String> = paths(code).map(|(_, path)| path.join("::")).collect();
    assert_eq!(found, ["crate::a::B", "super::c::D", "crate::g"]);
    assert_eq!(paths(code).next().map(|(at, _)| at), Some(0));
    assert_eq!(paths("<A as B>::c, ::<u8>").count(), 0);
}

#[test]
fn modules_inside_a_file_have_blocks() {
    let code = "mod a;\nmod b { mod c { d } }\n";
    let inner = inner_modules(code);
    assert_eq!(inner.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["b", "c"]);
    assert!(inner.iter().all(|(_, place)| place.contains(&code.find("d }").unwrap())));
}
