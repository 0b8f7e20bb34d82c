//! Names of other modules in code: in `use`, and in paths.

use super::super::lexer::{end_of_item, is_word, leading_name, words};
use std::ops::Range;

/// A name that a `use` brings.
pub struct Import<'a> {
    /// The place of its `use`.
    pub at: usize,
    /// The name, or `*` if all that there are.
    pub name: &'a str,
    /// The path of what it names, as written, without `*`.
    pub path: Vec<&'a str>,
    /// True if it is there for other modules.
    pub public: bool,
}

/// The `use` in `code`: their places, and the names that they bring.
pub fn imports(code: &str) -> (Vec<Range<usize>>, Vec<Import<'_>>) {
    let (mut places, mut imports) = (Vec::new(), Vec::new());
    // With an angle bracket behind, it is part of a type.
    let uses = words(code, "use").filter(|at| !code[at + 3..].trim_start().starts_with('<'));
    for at in uses {
        let end = code[at..].find(';').map_or(code.len(), |length| at + length);
        let item = code[..at].rfind([';', '{', '}', ']']).map_or(0, |end| end + 1);
        let public = words(&code[item..at], "pub").next().is_some();
        places.push(item..end);
        leaves(&code[at + 3..end], &mut Vec::new(), &mut |name, path| {
            imports.push(Import { at, name, path, public });
        });
    }
    (places, imports)
}

/// Calls `found` with the name and the path of each leaf of a tree such as `a::{b, c as d}`, the
/// parts of `before` ahead of it.
fn leaves<'a>(
    tree: &'a str,
    before: &mut Vec<&'a str>,
    found: &mut dyn FnMut(&'a str, Vec<&'a str>),
) {
    let (path, group) = match tree.split_once('{') {
        Some((path, rest)) => (path, rest.rsplit_once('}').map(|(group, _)| group)),
        None => (tree, None),
    };
    let (path, alias) = path.split_once(" as ").map_or((path, None), |(a, b)| (a, Some(b.trim())));
    let length = before.len();
    before.extend(path.split("::").map(str::trim).filter(|part| !part.is_empty()));
    if let Some(group) = group {
        split_at_commas(group).for_each(|tree| leaves(tree, before, found));
    } else if before.len() > length {
        let mut path = before.clone();
        if path.len() > 1 && path.last() == Some(&"self") || path.last() == Some(&"*") {
            let last = path.pop();
            let name = if last == Some("*") { last } else { path.last().copied() };
            found(alias.or(name).unwrap_or("*"), path);
        } else {
            found(alias.unwrap_or(path[path.len() - 1]), path);
        }
    }
    before.truncate(length);
}

/// The parts of `group` between commas outside of braces.
fn split_at_commas(group: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0usize;
    group.split(move |char| {
        match char {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        char == ',' && depth == 0
    })
}

/// The paths in `code` of two parts and more, with their places.
pub fn paths(code: &str) -> impl Iterator<Item = (usize, Vec<&str>)> {
    code.match_indices("::").filter_map(|(colons, _)| {
        let before = &code[..colons];
        let at = before.trim_end_matches(is_word).len();
        // After more colons it is a later part, of a path that was found.
        if at == colons || before[..at].ends_with("::") {
            return None;
        }
        let (mut path, mut rest) = (vec![&before[at..]], &code[colons..]);
        while let Some(after) = rest.strip_prefix("::")
            && after.starts_with(is_word)
        {
            let part = leading_name(after);
            path.push(part);
            rest = &after[part.len()..];
        }
        Some((at, path))
    })
}

/// The modules that are written inside this file: their names and blocks, outer ones first.
pub fn inner_modules(code: &str) -> Vec<(&str, Range<usize>)> {
    let modules = words(code, "mod").filter_map(|at| {
        let name = leading_name(&code[at + 3..]);
        let after = code[at + 3..].trim_start().strip_prefix(name)?;
        let is_block = !name.is_empty() && after.trim_start().starts_with('{');
        is_block.then(|| (name, at..end_of_item(code, at)))
    });
    modules.collect()
}

#[cfg(test)]
mod tests;
