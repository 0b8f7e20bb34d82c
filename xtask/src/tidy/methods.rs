//! Limits on the methods of a trait and of a type.

use super::finding::Finding;
use super::lexer::{end_of_item, is_word, leading_name, line_of, words};
use super::modules::Modules;
use super::product::{self, Crate};
use super::ratchet::{Count, Ratchet};
use super::tree::Tree;
use std::collections::BTreeMap;

const LIST: &str = "xtask/src/tidy/methods.rs";

/// Functions of a trait, with a body or without.
const OF_TRAITS: Ratchet = Ratchet {
    rule: "methods of a trait",
    limit: 25,
    unit: "methods",
    reason: "who implements a trait has all of it to know: a core, and capabilities asked for",
    list: LIST,
    listed: &[],
};

/// Functions of a type, in all its blocks that implement no trait.
const OF_TYPES: Ratchet = Ratchet {
    rule: "methods of a type",
    limit: 40,
    unit: "methods",
    reason: "a type is one concern; one with so many methods has several, each a type of its own",
    list: LIST,
    listed: &[("bindings/rust Weft", 54), ("endpoint Packets", 57)],
};

/// Applies the rules to every crate of the product.
pub fn check(tree: &Tree, findings: &mut Vec<Finding>) {
    hold(tree, &OF_TRAITS, &OF_TYPES, findings);
}

fn hold(tree: &Tree, of_traits: &Ratchet, of_types: &Ratchet, findings: &mut Vec<Finding>) {
    let crates = product::crates(tree);
    let traits: Vec<Count> = crates.iter().flat_map(count_traits).collect();
    of_traits.hold(tree, &traits, findings);
    let types: Vec<Count> = crates.iter().flat_map(count_types).collect();
    of_types.hold(tree, &types, findings);
}

/// Every trait of a crate.
fn count_traits(one: &Crate) -> Vec<Count> {
    let mut counts = Vec::new();
    for source in &one.sources {
        let code = &source.shipped;
        for at in words(code, "trait") {
            let name = leading_name(&code[at + "trait".len()..]);
            // Without a name a macro names it.
            if !name.is_empty() {
                counts.push(Count {
                    name: format!("{} {name}", one.folder),
                    number: functions(&code[at..end_of_item(code, at)]),
                    path: source.path.clone(),
                    line: line_of(code, at),
                    detail: String::new(),
                });
            }
        }
    }
    counts
}

/// Every type of a crate that has methods. Types of one name in several files are several.
fn count_types(one: &Crate) -> Vec<Count> {
    let modules = Modules::of(one);
    let mut counts = BTreeMap::new();
    for (file, source) in one.sources.iter().enumerate() {
        let code = &source.shipped;
        for at in words(code, "impl").filter(|&at| is_item(&code[..at])) {
            let Some(path) = type_of(&code[at..]) else { continue };
            let name = path[path.len() - 1];
            let home = modules.file_called(file, at, &path).unwrap_or(file);
            let count = counts.entry((name, home)).or_insert_with(|| Count {
                name: format!("{} {name}", one.folder),
                number: 0,
                path: source.path.clone(),
                line: line_of(code, at),
                detail: String::new(),
            });
            count.number += functions(&code[at..end_of_item(code, at)]);
        }
    }
    counts.into_values().collect()
}

/// Number of functions with names directly inside the block of `item`.
fn functions(item: &str) -> usize {
    let (mut depth, mut count) = (0usize, 0);
    for (at, char) in item.char_indices() {
        match char {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            'f' if depth == 1 && is_function(item, at) => count += 1,
            _ => {}
        }
    }
    count
}

/// True if at `at` a function begins. Without a name it is a type, such as `fn(u32)`.
fn is_function(code: &str, at: usize) -> bool {
    let after =
        code[at..].strip_prefix("fn").filter(|after| after.starts_with(char::is_whitespace));
    !code[..at].ends_with(is_word) && after.is_some_and(|after| !leading_name(after).is_empty())
}

/// True if an `impl` after `before` is an item, and not part of a type.
fn is_item(before: &str) -> bool {
    let before = before.trim_end();
    before.is_empty() || before.ends_with([';', '{', '}', ']'])
}

/// The path of the type whose block `code` begins with; `None` if that implements a trait, or a
/// macro names the type.
fn type_of(code: &str) -> Option<Vec<&str>> {
    let rest = without_generics(code.strip_prefix("impl")?.trim_start());
    let header = &rest[..rest.find('{')?];
    let header = &header[..words(header, "where").next().unwrap_or(header.len())];
    // With an angle bracket behind, it is part of a bound.
    let mut fors = words(header, "for").map(|at| header[at + "for".len()..].trim_start());
    if fors.any(|after| !after.starts_with('<')) {
        return None;
    }
    let path = header.split('<').next()?.trim().trim_start_matches("dyn ");
    let parts: Vec<&str> = path.split("::").collect();
    parts.iter().all(|part| !part.is_empty() && part.chars().all(is_word)).then_some(parts)
}

/// `code` after the angle brackets that it begins with, if it does.
fn without_generics(code: &str) -> &str {
    let mut depth = 0usize;
    for (at, char) in code.char_indices() {
        match char {
            '<' => depth += 1,
            '>' if !code[..at].ends_with('-') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return &code[if char == '>' { at + 1 } else { at }..];
        }
    }
    ""
}

#[cfg(test)]
mod tests;
