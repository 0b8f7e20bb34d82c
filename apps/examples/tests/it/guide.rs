//! The code in the guide is the code of the examples: a block that names a file is a part of it.
//!
//! Such a block begins with three backquotes and `rust FILE` or `c FILE`, from the root of the
//! repository. Where it leaves something out it says `// ...` on a line of its own; what stands
//! between is in the file, in this order, as it is but for the indentation.
//!
//! Below each block of an example in Rust there is the same in C, or why there is nothing.

use std::path::{Path, PathBuf};

/// The code blocks of `page` that name a file, with it.
fn blocks(page: &str) -> Vec<(String, Vec<String>)> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(opening) = line.strip_prefix("```") {
            let body: Vec<_> =
                lines.by_ref().take_while(|line| *line != "```").map(str::to_owned).collect();
            if let Some((_, file)) = opening.split_once(' ') {
                blocks.push((file.to_owned(), body));
            }
        }
    }
    blocks
}

/// Lines without what indents all of them, and without blank lines around.
fn unindented(lines: &[&str]) -> Vec<String> {
    let indent = |line: &&str| line.len() - line.trim_start().len();
    let least = lines.iter().filter(|line| !line.trim().is_empty()).map(indent).min().unwrap_or(0);
    let plain: Vec<_> = lines.iter().map(|line| line.get(least..).unwrap_or("").into()).collect();
    let blank = |line: &String| line.is_empty();
    let begin = plain.iter().position(|line| !blank(line)).unwrap_or(0);
    let end = plain.iter().rposition(|line| !blank(line)).map_or(0, |last| last + 1);
    plain[begin..end].to_vec()
}

/// Line behind `part` in `file`, if it is there.
fn find(file: &[&str], part: &[&str]) -> Option<usize> {
    let wanted = unindented(part);
    assert!(!wanted.is_empty(), "a part without code");
    let starts = 0..(file.len() + 1).saturating_sub(wanted.len());
    starts
        .map(|at| at + wanted.len())
        .find(|end| unindented(&file[end - wanted.len()..*end]) == wanted)
}

/// The first part of `block` that is not in `file`, in order.
fn missing(block: &[String], file: &str) -> Option<String> {
    let file: Vec<_> = file.lines().collect();
    let block: Vec<_> = block.iter().map(String::as_str).collect();
    let mut from = 0;
    for part in block.split(|line| line.trim() == "// ...") {
        match find(&file[from..], part) {
            Some(end) => from += end,
            None => return Some(part.join("\n")),
        }
    }
    None
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Pages of the guide, and their texts.
fn pages() -> Vec<(PathBuf, String)> {
    let pages = std::fs::read_dir(root().join("docs/guide")).unwrap();
    let paths = pages.map(|page| page.unwrap().path());
    paths.map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn code_in_the_guide_is_code_of_the_examples() {
    let root = root();
    let mut compared = 0;
    for (page, text) in pages() {
        for (file, block) in blocks(&text) {
            let code = std::fs::read_to_string(root.join(&file))
                .unwrap_or_else(|error| panic!("{}: {file}: {error}", page.display()));
            if let Some(part) = missing(&block, &code) {
                panic!("{}: this is not in {file}:\n{part}", page.display());
            }
            compared += 1;
        }
    }
    assert!(compared >= 10, "only {compared} blocks of the guide name a file");
}

/// The words by which a page begins to show in C what it has shown in Rust.
const IN_C: &str = "In C";

/// True if these lines, which stand below a block of Rust, show the same in C or say why not: a
/// sentence that begins with [`IN_C`], and a block if it ends with a colon.
fn show_c(below: &[&str]) -> bool {
    let is_text = |line: &&&str| !line.is_empty() && !line.starts_with("```");
    let text: Vec<&str> = below.iter().take_while(is_text).copied().collect();
    let (Some(first), Some(last)) = (text.first(), text.last()) else { return false };
    let next = below.get(text.len()).copied().unwrap_or_default();
    let is_followed = next.starts_with("```c bindings/c/examples/");
    first.starts_with(IN_C) && last.ends_with(':') == is_followed
}

/// The blocks of examples in Rust on a page below which there is no C, by their first line: but for
/// those of an example of which it says once that there is none in C.
fn without_c(page: &str) -> Vec<&str> {
    let lines: Vec<&str> = page.lines().collect();
    let opens = |at: &usize| lines[*at].starts_with("```rust apps/examples/");
    let is_left_out = |at: &usize| {
        let name = lines[*at].rsplit('/').next().unwrap_or_default().trim_end_matches(".rs");
        let words = format!("{IN_C} there is no `{name}`");
        lines.iter().any(|line| line.starts_with(&words))
    };
    let is_without = |at: &usize| {
        let end = lines[*at..].iter().position(|line| *line == "```").unwrap();
        !show_c(&lines[at + end + 1..])
    };
    let blocks = (0..lines.len()).filter(opens).filter(|at| !is_left_out(at) && is_without(at));
    blocks.map(|at| lines[at + 1]).collect()
}

#[test]
fn what_the_guide_shows_in_rust_it_shows_in_c() {
    for (page, text) in pages() {
        let without = without_c(&text);
        assert!(without.is_empty(), "{}: below these there is no C: {without:#?}", page.display());
    }
}

#[test]
fn code_without_c_is_found() {
    let rust = "```rust apps/examples/src/a.rs\none();\n```\n";
    let c = "```c bindings/c/examples/a.c\none();\n```\n";
    let is_found = |below: &str| !without_c(&format!("{rust}{below}")).is_empty();
    assert!(is_found("") && is_found("Next.\n") && is_found(&format!("\nIn C:\n{c}")));
    assert!(is_found("In C:\n") && is_found(&format!("In C.\n{c}")));
    assert!(!is_found(&format!("In C:\n{c}")) && !is_found("In C there are no tasks.\n"));
    assert!(!is_found("\nIn C there is no `a`, but for b.\n"));
    assert!(is_found("\nIn C there is no `b`.\n"));
}

/// Code in one column of the tables of a page.
fn code_in_column(page: &str, column: usize) -> Vec<&str> {
    let cells = page.lines().filter_map(|line| line.strip_prefix('|')?.split('|').nth(column));
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect()
}

#[test]
fn what_those_who_come_from_elsewhere_are_told_is_there() {
    let root = root();
    let read = |file: &str| std::fs::read_to_string(root.join(file)).unwrap();
    let page = read("docs/guide/coming-from.md");
    let program = read("apps/examples/tests/it/coming.rs");
    let elsewhere = ["#[weft::main]", "fn main(weft: Weft)"];
    let rust = code_in_column(&page, 1);
    let is_told = |code: &&str| !code.starts_with("weft run ") && !elsewhere.contains(code);
    for code in rust.iter().filter(|code| is_told(code)) {
        assert!(program.contains(code), "{code}");
    }
    let headers =
        ["weft.h", "weft-objects.h"].map(|file| read(&format!("bindings/c/include/{file}")));
    let functions = code_in_column(&page, 2);
    for function in &functions {
        let declared = format!("{function}(");
        assert!(headers.iter().any(|header| header.contains(&declared)), "{function}");
    }
    assert!(rust.len() > 40 && functions.len() > 40, "{} and {}", rust.len(), functions.len());
}

#[test]
fn every_example_is_in_the_guide() {
    let text: String = pages().into_iter().map(|(_, text)| text).collect();
    for example in weft_examples::ALL {
        let block = format!("```rust apps/examples/src/{}.rs\n", example.name);
        assert!(text.contains(&block), "{} is not explained", example.name);
    }
}

#[test]
fn what_differs_is_found() {
    let file = "fn a() {\n    one();\n    two();\n    three();\n}\n";
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(missing(&lines("two();\nthree();"), file), None);
    assert_eq!(missing(&lines("fn a() {\n    one();\n    // ...\n    three();\n}"), file), None);
    assert_eq!(missing(&lines("two();\n// ...\none();"), file), Some("one();".into()));
    assert_eq!(missing(&lines("two();\n    three();"), file), Some("two();\n    three();".into()));
}
