//! Names in the pages about the inside of Weft: the sources that they name exist, and so do the
//! functions that a packet and a message go through, and those that check invariants.

use super::finding::Finding;
use super::lexer::{is_word, words};
use super::tree::{File, Source, Tree};

/// The page of steps: tables whose columns `file` and `function` name one source and functions of
/// it.
const STEPS: &str = "docs/internals/way-of-a-packet.md";

/// The page of the invariants, each with the function that checks it.
const INVARIANTS: &str = "ARCHITECTURE.md";

const REASON: &str = "a page that names what is not there sends its reader the wrong way";

/// Applies the rules to every page about the inside.
pub fn check(tree: &Tree, findings: &mut Vec<Finding>) {
    for page in tree.files.iter().filter(|file| is_inside(&file.path)) {
        check_files(tree, page, findings);
    }
    for step in tree.file(STEPS).into_iter().flat_map(steps) {
        check_step(tree, &step, findings);
    }
    check_functions(tree, STEPS, is_function, findings);
    check_functions(tree, INVARIANTS, is_invariant, findings);
}

fn is_inside(path: &str) -> bool {
    let is_page = |name: &str| name.ends_with(".md") && !name.contains('/');
    path == INVARIANTS || path.strip_prefix("docs/internals/").is_some_and(is_page)
}

/// Sources are named from the root, or by the end of their path where the page says of which crate
/// it speaks.
fn check_files(tree: &Tree, page: &File, findings: &mut Vec<Finding>) {
    for (line, text) in prose(&page.text) {
        for name in code_spans(text).flat_map(alternatives).filter(|name| is_source(name)) {
            let exists = |path: &str| path.strip_suffix(&*name).is_some_and(ends_folder);
            if !tree.sources.iter().any(|source| exists(&source.path)) {
                findings.push(missing(&page.path, line, format!("there is no source {name}")));
            }
        }
    }
}

fn ends_folder(path: &str) -> bool {
    path.is_empty() || path.ends_with('/')
}

fn is_source(name: &str) -> bool {
    name.ends_with(".rs") && name.chars().all(|char| is_word(char) || "./-".contains(char))
}

/// Functions that the page at `path` names, those that `is_meant`, are in some source.
fn check_functions(
    tree: &Tree,
    path: &str,
    is_meant: fn(&str) -> bool,
    findings: &mut Vec<Finding>,
) {
    let Some(page) = tree.file(path) else { return };
    for (line, text) in prose(&page.text) {
        for name in code_spans(text).map(bare).filter(|name| is_meant(name)) {
            if !tree.sources.iter().any(|source| has_function(source, name)) {
                findings.push(missing(path, line, format!("there is no function {name}")));
            }
        }
    }
}

fn is_function(name: &str) -> bool {
    name.starts_with(|char: char| char.is_ascii_lowercase()) && name.chars().all(is_word)
}

/// True of `i1_credit_conservation`, `r3_home_knows` and their like.
fn is_invariant(name: &str) -> bool {
    let number = name.strip_prefix(['i', 'r']).and_then(|rest| rest.split_once('_'));
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    number.is_some_and(|(number, _)| is_number(number)) && name.chars().all(is_word)
}

/// The last part of a name.
fn bare(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// A row of a table of steps.
struct Step {
    line: usize,
    files: Vec<String>,
    functions: Vec<String>,
}

fn check_step(tree: &Tree, step: &Step, findings: &mut Vec<Finding>) {
    let mut report = |what| findings.push(missing(STEPS, step.line, what));
    let [path] = &step.files[..] else {
        return report(format!("a step names {} sources, one is right", step.files.len()));
    };
    let Some(source) = tree.sources.iter().find(|source| source.path == *path) else {
        return report(format!("there is no source {path} in the root"));
    };
    if step.functions.is_empty() {
        report(format!("a step names no function of {path}"));
    }
    for name in &step.functions {
        if !has_function(source, name) {
            report(format!("there is no function {name} in {path}"));
        }
    }
}

fn has_function(source: &Source, name: &str) -> bool {
    let code = &source.split.code;
    words(code, "fn").any(|at| {
        let rest = code[at + 2..].trim_start().strip_prefix(name);
        rest.is_some_and(|rest| !rest.starts_with(is_word))
    })
}

/// The rows of all tables of steps.
fn steps(page: &File) -> Vec<Step> {
    let (mut steps, mut columns) = (Vec::new(), None);
    for (line, text) in prose(&page.text) {
        let Some(row) = text.trim().strip_prefix('|') else {
            columns = None;
            continue;
        };
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let column = |name| cells.iter().position(|cell| *cell == name);
        if let (Some(file), Some(function)) = (column("file"), column("function")) {
            columns = Some((file, function));
        } else if let Some((file, function)) = columns
            && !row.trim_start().starts_with("---")
        {
            let names = |column: usize| code_spans(cells.get(column).copied().unwrap_or(""));
            steps.push(Step {
                line,
                files: names(file).map(str::to_owned).collect(),
                functions: names(function).map(|name| bare(name).to_owned()).collect(),
            });
        }
    }
    steps
}

/// The lines of a page that are in no fenced block, with their numbers.
pub fn prose(page: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    (1..).zip(page.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        !fenced && !is_fence
    })
}

/// The pieces of a line between backquotes.
pub fn code_spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// The names that `a/{b,c}.rs` stands for; any other text is one.
pub fn alternatives(text: &str) -> Vec<String> {
    let braces = text.split_once('{').and_then(|(before, rest)| {
        let (inner, after) = rest.split_once('}')?;
        Some(inner.split(',').map(|one| format!("{before}{one}{after}")).collect())
    });
    braces.unwrap_or_else(|| vec![text.to_owned()])
}

fn missing(path: &str, line: usize, what: String) -> Finding {
    Finding { path: path.into(), line, rule: "pages", what, reason: REASON.into() }
}

#[cfg(test)]
mod tests;
