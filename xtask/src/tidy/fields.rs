//! Fields of a packet's header in links: those between protocols are none of theirs.

use super::finding::Finding;
use super::lexer::{end_of_item, is_word, line_of, words};
use super::product;
use super::ratchet::stale;
use super::tree::{Source, Tree};

const LIST: &str = "xtask/src/tidy/fields.rs";
const RULE: &str = "fields in links";

/// Folder of the links.
const LINKS: &str = "links/";

/// Fields of a header that protocols write for one another.
const BETWEEN_PROTOCOLS: &[&str] = &["acknowledgement", "asks", "channel", "credits", "sequence"];

/// Files that may name them, and why.
const LISTED: &[(&str, &str)] = &[
    ("links/conformance/src/frames.rs", "a suite that sees whether links bring every field"),
    ("links/sim/src/trace.rs", "text of a trace, by which nothing is decided"),
];

/// Applies the rule to the crates of links.
pub fn check(tree: &Tree, findings: &mut Vec<Finding>) {
    hold(tree, LISTED, findings);
}

fn hold(tree: &Tree, listed: &[(&str, &str)], findings: &mut Vec<Finding>) {
    let mut unused: Vec<&str> = listed.iter().map(|(path, _)| *path).collect();
    let links = product::crates(tree).into_iter().filter(|one| one.folder.starts_with(LINKS));
    for source in links.flat_map(|one| one.sources) {
        let fields = fields(source);
        if listed.iter().any(|(path, _)| *path == source.path) {
            unused.retain(|path| *path != source.path || fields.is_empty());
            continue;
        }
        findings.extend(fields.into_iter().map(|(at, field)| {
            Finding {
                path: source.path.clone(),
                line: line_of(&source.shipped, at),
                rule: RULE,
                what: format!("a link names the header's {field}"),
                reason:
                    "a link moves frames and knows no protocol: what it must know of the order of \
                     packets, `follows` says"
                        .into(),
            }
        }));
    }
    for path in unused {
        let what = format!("{path} names no field between protocols: take it off the list");
        findings.extend(stale(tree, LIST, RULE, &[path], what));
    }
}

/// Those fields of a header that a source names, each with its place: behind the dot of something
/// called header, or between the braces of one that is made or taken apart.
fn fields(source: &Source) -> Vec<(usize, &'static str)> {
    let code = &source.shipped;
    let behind_dots = words(code, "header").filter_map(|at| {
        let field = code[at + "header".len()..].trim_start().strip_prefix('.')?.trim_start();
        Some((at, named(field)?))
    });
    let braces = words(code, "Header").filter_map(|at| {
        let inside = code[at + "Header".len()..].trim_start();
        // The block of an item: `impl T for Header { ... }`, or a function that returns one.
        let before = code[..at].trim_end();
        let is_item = ["->", "for", "impl", "struct"].iter().any(|word| before.ends_with(word));
        (inside.starts_with('{') && !is_item).then(|| (at, &code[at..end_of_item(code, at)]))
    });
    let inside = braces.flat_map(|(at, braces)| {
        BETWEEN_PROTOCOLS.iter().filter_map(move |field| {
            let place = words(braces, field).next()?;
            Some((at + place, *field))
        })
    });
    let mut all: Vec<_> = behind_dots.chain(inside).collect();
    all.sort_unstable();
    all
}

/// The field between protocols that this begins with.
fn named(code: &str) -> Option<&'static str> {
    BETWEEN_PROTOCOLS
        .iter()
        .copied()
        .find(|field| code.strip_prefix(*field).is_some_and(|rest| !rest.starts_with(is_word)))
}

#[cfg(test)]
mod tests;
