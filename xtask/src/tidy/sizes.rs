//! Limits on the length of files and functions.

use super::finding::Finding;
use super::lexer::{end_of_item, leading_name, line_of, words};
use super::tree::{Source, Tree};

/// The most lines of a file that is not a test.
const FILE_LINES: usize = 600;
/// The most lines of a function, from its `fn` to its closing brace.
const FUNCTION_LINES: usize = 70;

/// Applies the rules to every source.
pub fn check(tree: &Tree, findings: &mut Vec<Finding>) {
    for source in &tree.sources {
        let lines = source.split.code.lines().count();
        if lines > FILE_LINES && !source.is_test() {
            findings.push(Finding {
                path: source.path.clone(),
                line: FILE_LINES + 1,
                rule: "file size",
                what: format!("{lines} lines, {FILE_LINES} are the most"),
                reason: "a file is one concern; one this long has two".into(),
            });
        }
        check_functions(source, findings);
    }
}

fn check_functions(source: &Source, findings: &mut Vec<Finding>) {
    let code = &source.split.code;
    for at in words(code, "fn") {
        let name = leading_name(&code[at + 2..]);
        let item = &code[at..end_of_item(code, at)];
        let lines = item.lines().count();
        // Without a name it is a type, such as `fn(u32)`.
        if !name.is_empty() && lines > FUNCTION_LINES {
            findings.push(Finding {
                path: source.path.clone(),
                line: line_of(code, at),
                rule: "function size",
                what: format!("{name} has {lines} lines, {FUNCTION_LINES} are the most"),
                reason: "a function fits on a screen".into(),
            });
        }
    }
}

#[cfg(test)]
mod tests;
