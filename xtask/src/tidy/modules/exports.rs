//! The types that a crate exports: those that others can name by its root.

use super::super::lexer::{is_word, leading_name, words};
use super::{File, Modules, Path, STEPS};
use std::collections::BTreeSet;

/// Keywords that a type's name follows.
const TYPES: [&str; 5] = ["enum", "struct", "trait", "type", "union"];

/// A type that a crate exports.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Exported<'a> {
    /// The name that others know it by.
    pub name: &'a str,
    /// The file that it is in, by its number in the crate.
    pub file: usize,
    /// The place of its name there.
    pub at: usize,
}

/// A walk through the public modules of a crate.
struct Walk<'m, 'a> {
    modules: &'m Modules<'a>,
    visited: BTreeSet<Path<'a>>,
    exported: BTreeSet<Exported<'a>>,
}

impl<'a> Modules<'a> {
    /// The types that the crate exports, sorted by name. Types of other crates that it hands on are
    /// not among them, nor are those that a macro names.
    pub fn exported(&self) -> BTreeSet<Exported<'a>> {
        let (visited, exported) = Default::default();
        let mut walk = Walk { modules: self, visited, exported };
        walk.module(Path::new());
        walk.exported
    }
}

impl<'a> Walk<'_, 'a> {
    /// Adds what the module at `path` exports.
    fn module(&mut self, path: Path<'a>) {
        let Some(module) = self.modules.modules.get(&path) else { return };
        if !self.visited.insert(path.clone()) {
            return;
        }
        let file = &self.modules.files[module.file];
        for Item { from, keyword, at } in public_items(file.code) {
            let name = leading_name(&file.code[at..]);
            if file.module_at(from) != path || name.is_empty() {
                continue;
            }
            if keyword == "mod" {
                self.module([&path[..], &[name]].concat());
            } else {
                self.exported.insert(Exported { name, file: module.file, at });
            }
        }
        self.imports(&path, file);
    }

    /// Adds what the module at `path`, in `file`, hands on.
    fn imports(&mut self, path: &Path<'a>, file: &File<'a>) {
        for import in &file.imports {
            let is_public = ends_with_pub(&file.code[..import.at]);
            if !is_public || file.module_at(import.at) != *path {
                continue;
            }
            let Some(target) = self.modules.absolute(path, &import.path, 0) else { continue };
            match import.name {
                "*" => self.module(target),
                name => self.item(&target, name, 0),
            }
        }
    }

    /// Adds the item at `path`, or what is in it if that is a module, as `name`.
    fn item(&mut self, path: &[&'a str], name: &'a str, steps: usize) {
        if self.modules.modules.contains_key(path) {
            return self.module(path.to_vec());
        }
        let Some((last, parent)) = path.split_last() else { return };
        let parent = parent.to_vec();
        let Some(module) = self.modules.modules.get(&parent) else { return };
        let file = &self.modules.files[module.file];
        if let Some(at) = type_called(file.code, last) {
            self.exported.insert(Exported { name, file: module.file, at });
        } else if let Some(import) = self.modules.import(&parent, module, last)
            && let Some(target) = self.modules.absolute(&parent, &import, 0)
            && steps < STEPS
        {
            self.item(&target, name, steps + 1);
        }
    }
}

/// A type or a module in code: where it begins, its keyword, and the place of its name.
struct Item<'a> {
    from: usize,
    keyword: &'a str,
    at: usize,
}

/// The types and modules in `code` that are public without a bound.
fn public_items(code: &str) -> impl Iterator<Item = Item<'_>> {
    words(code, "pub").filter_map(|from| {
        let mut rest = code[from + "pub".len()..].trim_start();
        let mut keyword = leading_name(rest);
        if keyword == "unsafe" {
            rest = rest[keyword.len()..].trim_start();
            keyword = leading_name(rest);
        }
        let is_item = keyword == "mod" || TYPES.contains(&keyword);
        let at = code.len() - rest[keyword.len()..].trim_start().len();
        is_item.then_some(Item { from, keyword, at })
    })
}

/// The place in `code` of the name of the type that is called `name`.
fn type_called(code: &str, name: &str) -> Option<usize> {
    words(code, name).find(|&at| {
        let before = code[..at].trim_end();
        let follows = |keyword: &&str| {
            before.strip_suffix(*keyword).is_some_and(|rest| !rest.ends_with(is_word))
        };
        before.len() < at && TYPES.iter().any(follows)
    })
}

/// True if `before` ends with `pub` and nothing that bounds it.
fn ends_with_pub(before: &str) -> bool {
    before.trim_end().strip_suffix("pub").is_some_and(|rest| !rest.ends_with(is_word))
}

#[cfg(test)]
mod tests;
