use super::*;

/// Code of `source`, blanks squeezed.
fn code(source: &str) -> String {
    split(source).code.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn comments_are_not_code() {
    assert_eq!(code("a // b\nc /* d /* e */ f */ g"), "a c g");
    assert_eq!(code("/// doc\n//! doc\nfn f() {}"), "fn f() {}");
    let comments = split("a // b\nc /* d\n e */ \"f // g\"").comments;
    assert_eq!(comments.split_whitespace().collect::<Vec<_>>(), ["//", "b", "/*", "d", "e", "*/"]);
}

#[test]
fn text_between_quotes_is_not_code() {
    assert_eq!(code(r#"a("b \" c", b"d") e"#), r#"a(" ", b" ") e"#);
    assert_eq!(code("r\"a\\\" b"), "r\" \" b");
    assert_eq!(code("br##\"a \"# b\"## c"), "br##\" \"## c");
    assert_eq!(code("r#type a"), "r#type a", "a raw identifier");
    assert_eq!(code("over\"a\" b"), "over\" \" b", "an r at the end of a word");
}

#[test]
fn characters_are_text_and_lifetimes_are_code() {
    assert_eq!(code(r#"'"' a '\'' b '\\' c '\u{1F600}' d"#), "' ' a ' ' b ' ' c ' ' d");
    assert_eq!(
        code("fn f<'a>(x: &'a str, y: &'static str) {}"),
        "fn f<'a>(x: &'a str, y: &'static str) {}"
    );
    assert_eq!(code("loop { break 'outer; } // '"), "loop { break 'outer; }");
}

#[test]
fn lines_and_columns_stay() {
    let source = "a /* b\n c */ d\n\"e\nf\" g // h";
    let Split { code, comments } = split(source);
    assert_eq!(code.lines().count(), source.lines().count());
    assert_eq!(code.find('g'), source.find('g'));
    assert_eq!(comments.find('h'), source.find('h'));
    assert_eq!(line_of(&code, code.find('g').unwrap()), 4);
}

#[test]
fn what_ends_too_early_ends() {
    for source in ["\"a", "r#\"a\"", "/* a", "'", "'\\", "// a", "r", "r#", "\"\\"] {
        assert_eq!(split(source).code.chars().count(), source.chars().count(), "{source:?}");
    }
}

#[test]
fn words_stand_alone() {
    let found = |code| words(code, "unsafe").collect::<Vec<_>>();
    assert_eq!(found("unsafe { unsafe_code } not_unsafe(unsafe)"), [0, 34]);
}

#[test]
fn items_end_with_their_block_or_semicolon() {
    let item = |code| &code[..end_of_item(code, 0)];
    assert_eq!(
        item("fn f(a: [u8; 2]) { if b { c } } fn g() {}"),
        "fn f(a: [u8; 2]) { if b { c } }"
    );
    assert_eq!(item("mod tests; fn g() {}"), "mod tests;");
    assert_eq!(item("fn f() -> [u8; 2];"), "fn f() -> [u8; 2];");
    assert_eq!(item("fn f() {"), "fn f() {");
}

#[test]
fn names_lead() {
    assert_eq!(leading_name(" \n a_1(b)"), "a_1");
    assert_eq!(leading_name("(a)"), "");
    assert_eq!(leading_name("a"), "a");
}

#[test]
fn modules_in_files_of_their_own_are_declared_without_a_block() {
    let code = "mod a;\npub(crate) mod b ;\nmod c { mod d; }\nmodel e; self.mod_f;";
    assert_eq!(declared_modules(code).collect::<Vec<_>>(), ["a", "b", "d"]);
}
