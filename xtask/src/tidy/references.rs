//! References to documents and files: what a comment or a page names is in the repository, and a
//! page has the heading that a link names.

use super::finding::Finding;
use super::lexer::{is_word, line_of, words};
use super::pages::{alternatives, code_spans, prose};
use super::tree::{File, Source, Tree};
use std::collections::BTreeSet;

/// Documents that only those have who planned Weft. Spelled in halves, or this file would be the
/// first finding.
const PLANS: [&str; 2] = [concat!("DES", "IGN"), concat!("ANCH", "ORS")];

/// Paths of all files and folders, from the root.
type Paths<'a> = BTreeSet<&'a str>;

/// Applies the rules to every file: links and names on pages, names in comments, and pages below
/// `docs` wherever they are named.
pub fn check(tree: &Tree, findings: &mut Vec<Finding>) {
    let paths = paths(tree);
    for file in &tree.files {
        if file.path.ends_with(".md") {
            check_links(tree, &paths, file, findings);
            check_spans(&paths, file, findings);
        } else if !file.path.ends_with(".rs") {
            check_pages(&paths, &file.path, &file.text, findings);
        }
    }
    for source in &tree.sources {
        check_comments(&paths, source, findings);
        // Tests name pages that they make up; what the others say, too, is for users.
        let file = tree.file(&source.path).filter(|_| !source.is_test());
        let text = file.map_or(&source.split.comments, |file| &file.text);
        check_pages(&paths, &source.path, text, findings);
    }
}

fn paths(tree: &Tree) -> Paths<'_> {
    let binaries = tree.binaries.iter().map(String::as_str);
    let files = tree.files.iter().map(|file| &*file.path).chain(binaries);
    files.flat_map(|path| std::iter::successors(Some(path), |path| parent(path))).collect()
}

fn parent(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(folder, _)| folder)
}

/// Links of a page lead to files beside it, or to headings.
fn check_links(tree: &Tree, paths: &Paths<'_>, page: &File, findings: &mut Vec<Finding>) {
    for (line, text) in prose(&page.text) {
        for target in links(text).filter(|target| !is_address(target)) {
            let (name, heading) = target
                .split_once('#')
                .map_or((target, None), |(name, heading)| (name, Some(heading)));
            let path = if name.is_empty() { page.path.clone() } else { beside(&page.path, name) };
            if !paths.contains(&*path) {
                findings.push(lost(
                    &page.path,
                    line,
                    format!("a link to {target}, which is not there"),
                ));
            } else if let Some(heading) = heading
                && !tree.file(&path).is_some_and(|page| has_heading(page, heading))
            {
                findings.push(lost(&page.path, line, format!("{path} has no heading #{heading}")));
            }
        }
    }
}

/// Targets of the links in a line of Markdown.
fn links(line: &str) -> impl Iterator<Item = &str> {
    let outside = line.split('`').step_by(2);
    outside.flat_map(|text| text.split("](").skip(1)).filter_map(|rest| {
        let (target, _) = rest.split_once(')')?;
        target.split_whitespace().next()
    })
}

fn is_address(target: &str) -> bool {
    target.contains("://") || target.starts_with("mailto:")
}

/// The path of `name`, which is relative to the page at `path`.
fn beside(path: &str, name: &str) -> String {
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in name.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}

fn has_heading(page: &File, anchor: &str) -> bool {
    prose(&page.text).any(|(_, line)| {
        let text = line.trim_start_matches('#');
        text.len() < line.len() && text.starts_with(' ') && slug(text) == anchor
    })
}

/// Name of a heading in links: small letters, dashes for blanks, no punctuation.
fn slug(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|&char| is_word(char) || " -".contains(char));
    kept.map(|char| if char == ' ' { '-' } else { char.to_ascii_lowercase() }).collect()
}

/// Files and folders that a page names between backquotes.
fn check_spans(paths: &Paths<'_>, page: &File, findings: &mut Vec<Finding>) {
    for (line, text) in prose(&page.text) {
        for span in code_spans(text) {
            check_span(paths, &page.path, line, span, findings);
        }
    }
}

/// Files and folders that the comments of a source name between backquotes, and plans that they
/// cite.
fn check_comments(paths: &Paths<'_>, source: &Source, findings: &mut Vec<Finding>) {
    let comments = &source.split.comments;
    for (line, text) in (1..).zip(comments.lines()) {
        for span in code_spans(text).filter(|span| !is_page_below_docs(span)) {
            check_span(paths, &source.path, line, span, findings);
        }
    }
    for plan in PLANS {
        findings.extend(words(comments, plan).map(|at| {
            let what = format!("{plan}, a document that is not in the repository");
            lost(&source.path, line_of(comments, at), what)
        }));
    }
}

fn check_span(paths: &Paths<'_>, path: &str, line: usize, span: &str, findings: &mut Vec<Finding>) {
    for name in alternatives(span).iter().filter(|name| is_path(paths, name)) {
        let name = name.trim_end_matches('/');
        if !is_there(paths, path, name) {
            findings.push(lost(path, line, format!("there is no {name}")));
        }
    }
}

/// True of what can be a path from the root: it begins with one of the root's folders, or it is a
/// page.
fn is_path(paths: &Paths<'_>, name: &str) -> bool {
    let is_plain = name.chars().all(|char| is_word(char) || "./-".contains(char));
    let is_below = name.split_once('/').is_some_and(|(folder, _)| paths.contains(folder));
    is_plain && (is_below || name.ends_with(".md"))
}

/// True if `name` is a path from the root, from the folder of the file at `path`, or from one
/// around that.
fn is_there(paths: &Paths<'_>, path: &str, name: &str) -> bool {
    let folders = std::iter::successors(parent(path), |folder| parent(folder));
    paths.contains(name)
        || folders.map(|folder| format!("{folder}/{name}")).any(|path| paths.contains(&*path))
}

/// Pages below `docs` that a text names, between backquotes or not.
fn check_pages(paths: &Paths<'_>, path: &str, text: &str, findings: &mut Vec<Finding>) {
    for at in words(text, "docs") {
        let rest = &text[at..];
        let end = rest.find(|char: char| !is_word(char) && !"./-".contains(char));
        let name = rest[..end.unwrap_or(rest.len())].trim_end_matches('.');
        let is_from_root = !text[..at].ends_with(['/', '-', '.']);
        if is_from_root && is_page_below_docs(name) && !paths.contains(name) {
            findings.push(lost(path, line_of(text, at), format!("there is no {name}")));
        }
    }
}

fn is_page_below_docs(name: &str) -> bool {
    name.starts_with("docs/") && name.ends_with(".md")
}

fn lost(path: &str, line: usize, what: String) -> Finding {
    let reason = "who follows a reference finds what it promises".into();
    Finding { path: path.into(), line, rule: "references", what, reason }
}

#[cfg(test)]
mod tests;
