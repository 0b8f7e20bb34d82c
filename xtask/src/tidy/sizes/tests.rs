use super::super::tests::found;
use super::*;

#[test]
fn a_file_may_be_so_long_and_no_longer() {
    let longest = "// line\n".repeat(FILE_LINES);
    let longer = "// line\n".repeat(FILE_LINES + 1);
    assert_eq!(found(&[("a.rs", &longest), ("src/a/tests.rs", &longer)], check), [""; 0]);
    assert_eq!(found(&[("a.rs", &longer)], check), ["a.rs:601: 601 lines, 600 are the most"]);
}

/// A function of so many lines, on the third line of its file.
fn function(head: &str, lines: usize) -> String {
    format!("mod m {{\n\n{head} {{\n{}}}\n}}\n", "    a();\n".repeat(lines - 2))
}

#[test]
fn a_function_may_be_so_long_and_no_longer() {
    let head = "pub fn long<'a>(a: &'a [u8; 4]) -> impl Fn(u8) + 'a";
    assert_eq!(found(&[("a.rs", &function(head, FUNCTION_LINES))], check), [""; 0]);
    let expected = "a.rs:3: long has 71 lines, 70 are the most";
    assert_eq!(found(&[("a.rs", &function(head, FUNCTION_LINES + 1))], check), [expected]);
}

#[test]
fn what_only_looks_like_a_function_is_none() {
    let not_one = [
        function("type F = fn(u8); struct S", FUNCTION_LINES + 1),
        function("trait T { fn f(&self) -> [u8; 2]; } impl S", FUNCTION_LINES + 1),
        function("// fn f() {\nconst F: &str = \"fn f() {\"; struct S", FUNCTION_LINES + 1),
    ];
    for source in not_one {
        assert_eq!(found(&[("a.rs", &source)], check), [""; 0], "{source}");
    }
}
