use super::super::tests::found;
use super::*;

const MANIFEST: (&str, &str) = ("wire/Cargo.toml", "[package]\nname = \"wire\"\n");

#[test]
fn unwrap_outside_tests_is_found() {
    let source = "fn f() {\n    g().unwrap();\n    h().unwrap_or(1);\n}\n// x.unwrap()\n";
    assert_eq!(found(&[("a.rs", source)], check), ["a.rs:2: unwrap() outside tests"]);
}

#[test]
fn unwrap_in_tests_is_not() {
    let source = "fn f() {}\n#[cfg(test)]\nmod tests {\n    fn g() { h().unwrap() }\n}\n";
    let test = "fn f() { g().unwrap() }";
    let files = [("a.rs", source), ("src/a/tests.rs", test), ("src/tests/b.rs", test)];
    assert_eq!(found(&files, check), [""; 0]);
}

#[test]
fn clocks_that_may_jump_are_found_in_rust_and_in_c() {
    for clock in SET_CLOCKS {
        let code = format!("// Not {clock}:\nnow = {clock};\n");
        let expected = format!("a.rs:2: {clock}, a clock that may jump");
        assert_eq!(found(&[("a.rs", &code)], check), [expected]);
        let only = format!("now = {clock};\n");
        for path in ["src/tests/b.rs", "a.c", "a.h"] {
            let expected = format!("{path}:1: {clock}, a clock that may jump");
            assert_eq!(found(&[(path, &only)], check), [expected]);
        }
    }
    let monotonic = "now = clock_gettime(ClockId::Monotonic); Instant::now()";
    assert_eq!(found(&[("a.rs", monotonic), ("a.c", monotonic)], check), [""; 0]);
}

#[test]
fn marks_of_unfinished_work_are_found_in_comments() {
    for mark in MARKS {
        let source =
            format!("/// Doc.\nfn f() {{}} // {mark}: later\nconst A: &str = \"{mark}\";\n");
        assert_eq!(found(&[("a.rs", &source)], check), [format!("a.rs:2: {mark} in a comment")]);
        assert_eq!(found(&[("a.rs", &format!("// MY{mark}\n"))], check), [""; 0]);
    }
}

#[test]
fn folders_of_one_machine_are_found_in_every_text() {
    for machine in MACHINES {
        for path in ["a.rs", "Makefile", "docs/a.md", ".ci/run"] {
            let text = format!("first\ncd {machine}weft\n");
            let expected = format!("{path}:2: an absolute path below {machine}");
            assert_eq!(found(&[(path, &text)], check), [expected]);
        }
        for longer in ["src", "https://weft.example", "~", "${HERE}", "..", "$(pwd)"] {
            let text = format!("cd {longer}{machine}weft\n");
            assert_eq!(found(&[("a.md", &text)], check), [""; 0], "{text}");
        }
    }
}

#[test]
fn a_crate_opens_with_a_paragraph() {
    let none = "#![forbid(unsafe_code)]\n";
    let opening = "//! What lives here.\n";
    assert_eq!(found(&[MANIFEST, ("wire/src/lib.rs", opening)], check), [""; 0]);
    for root in ["lib.rs", "main.rs"] {
        let path = format!("wire/src/{root}");
        let expected = format!("{path}:1: the crate does not open with //!");
        assert_eq!(found(&[MANIFEST, (&path, none)], check), [expected]);
    }
    let both = [MANIFEST, ("wire/src/lib.rs", opening), ("wire/src/main.rs", none)];
    assert_eq!(found(&both, check), [""; 0], "the library opens for its program");
}
