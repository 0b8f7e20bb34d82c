//! Form of comments: a doc comment says what a thing is, and a comment's lines fit.

use super::finding::Finding;
use super::lexer::words;
use super::tree::{Source, Tree};

/// Most columns of a line of comment, as `rustfmt.toml` has it of code.
const COLUMNS: usize = 100;

/// Words that open a question or a comparison, where a noun should stand.
const OPENINGS: [&str; 12] = [
    "As", "How", "The same", "What", "When", "Where", "Whether", "Which", "Who", "Whom", "Whose",
    "Why",
];

/// Phrases for things that have a noun, each with what to write. Spelled in halves, or this file
/// would be a finding.
const RIDDLES: [(&str, &str); 5] = [
    (concat!("all there is ", "to know"), "say the fact"),
    (concat!("what was put ", "behind"), "name what is queued"),
    (concat!("whatever was put ", "behind"), "name what is queued"),
    (concat!("who ", "looks"), "name the thread or the reader"),
    (concat!("whoever ", "looks"), "name the thread or the reader"),
];

/// A number that is not said, if a full stop or its like follows: then its noun is elsewhere.
const NUMBER: &str = concat!("so ", "many");

/// Applies the rules to every source.
pub fn check(tree: &Tree, findings: &mut Vec<Finding>) {
    for source in &tree.sources {
        check_openings(source, findings);
        check_riddles(source, findings);
        check_width(source, findings);
    }
}

fn check_openings(source: &Source, findings: &mut Vec<Finding>) {
    let mut before = None;
    for (index, line) in source.split.comments.lines().enumerate() {
        let marker = marker(line);
        if let Some((kind, text)) = marker
            && before != Some(kind)
            && let Some(opening) = OPENINGS.iter().find(|opening| opens(text, opening))
        {
            findings.push(Finding {
                path: source.path.clone(),
                line: index + 1,
                rule: "openings",
                what: format!("a doc comment opens with '{opening}'"),
                reason: "a doc comment says what a thing is, with a noun first".into(),
            });
        }
        before = marker.map(|(kind, _)| kind);
    }
}

/// Marker and text of a line of doc comment.
fn marker(line: &str) -> Option<(&'static str, &str)> {
    let line = line.trim_start();
    if line.starts_with("////") {
        return None;
    }
    ["///", "//!"].into_iter().find_map(|kind| Some((kind, line.strip_prefix(kind)?)))
}

fn opens(text: &str, opening: &str) -> bool {
    let rest = text.strip_prefix(' ').and_then(|text| text.strip_prefix(opening));
    rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

fn check_riddles(source: &Source, findings: &mut Vec<Finding>) {
    let (text, lines) = flowing(&source.split.comments);
    let riddles = RIDDLES
        .iter()
        .flat_map(|(phrase, instead)| words(&text, phrase).map(move |at| (at, *phrase, *instead)));
    let numbers = words(&text, NUMBER)
        .filter(|at| text[at + NUMBER.len()..].starts_with(['.', ',', ';', ':', ')']))
        .map(|at| (at, NUMBER, "name the number, or what it counts"));
    findings.extend(riddles.chain(numbers).map(|(at, phrase, instead)| Finding {
        path: source.path.clone(),
        line: lines.partition_point(|start| *start <= at),
        rule: "riddles",
        what: format!("'{phrase}' in a comment: {instead}"),
        reason: "a comment is understood at the first reading, by itself".into(),
    }));
}

/// `comments` in lower case and without markers, a phrase in one piece wherever its lines end, and
/// the place where each line starts.
fn flowing(comments: &str) -> (String, Vec<usize>) {
    let (mut text, mut starts) = (String::new(), Vec::new());
    for line in comments.lines() {
        let words = line.trim_start_matches([' ', '/', '!']).trim_end();
        starts.push(text.len());
        text.push_str(&words.to_lowercase());
        text.push(if words.is_empty() { '\n' } else { ' ' });
    }
    (text, starts)
}

fn check_width(source: &Source, findings: &mut Vec<Finding>) {
    for (index, line) in source.split.comments.lines().enumerate() {
        let line = line.trim_end();
        let text = line.trim_start().strip_prefix("//");
        // A row of a table is one line, however long.
        let is_row = |text: &str| text.trim_start_matches(['/', '!']).trim_start().starts_with('|');
        let columns = line.chars().count();
        if columns > COLUMNS && text.is_some_and(|text| !is_row(text)) && is_alone(source, index) {
            findings.push(Finding {
                path: source.path.clone(),
                line: index + 1,
                rule: "comment width",
                what: format!("a comment of {columns} columns, {COLUMNS} are the most"),
                reason: "comments are read in the same window as code".into(),
            });
        }
    }
}

/// True if there is no code in this line.
fn is_alone(source: &Source, index: usize) -> bool {
    source.split.code.lines().nth(index).is_none_or(|line| line.trim().is_empty())
}

#[cfg(test)]
mod tests;
