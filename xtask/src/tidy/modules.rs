//! The modules of a crate, which file names which, and the types that others can name.

mod exports;
mod names;

use super::lexer::words;
use super::product::Crate;
use super::tree::Source;
use names::{Import, imports, inner_modules, paths};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The most imports by which a name is followed to what it names.
const STEPS: usize = 8;

/// Names of modules, from the root of the crate.
type Path<'a> = Vec<&'a str>;

/// All modules of a crate.
pub struct Modules<'a> {
    modules: BTreeMap<Path<'a>, Module<'a>>,
    files: Vec<File<'a>>,
}

/// A module: the file that it is in, and the names that it imports.
struct Module<'a> {
    file: usize,
    names: BTreeMap<&'a str, Path<'a>>,
    /// Modules all of whose names it imports.
    globs: Vec<Path<'a>>,
}

/// A file of the crate.
struct File<'a> {
    module: Path<'a>,
    code: &'a str,
    uses: Vec<Range<usize>>,
    imports: Vec<Import<'a>>,
    inner: Vec<(&'a str, Range<usize>)>,
}

impl<'a> Modules<'a> {
    /// Those of `one`.
    pub fn of(one: &Crate<'a>) -> Self {
        let files: Vec<File> = one.sources.iter().map(|source| File::new(one, source)).collect();
        let mut modules = BTreeMap::new();
        for (number, file) in files.iter().enumerate() {
            let inner = file.inner.iter().map(|(_, place)| file.module_at(place.end - 1));
            for module in inner.chain([file.module.clone()]) {
                let names = BTreeMap::new();
                modules.insert(module, Module { file: number, names, globs: vec![] });
            }
            for import in &file.imports {
                let Some(module) = modules.get_mut(&file.module_at(import.at)) else { continue };
                match import.name {
                    "*" => module.globs.push(import.path.clone()),
                    name => drop(module.names.insert(name, import.path.clone())),
                }
            }
        }
        Modules { modules, files }
    }

    /// For each file, in the order of the crate's, those that it names.
    pub fn edges(&self) -> Vec<BTreeSet<usize>> {
        let others = |(number, file)| {
            let mut named = self.named_by(file);
            named.remove(&number);
            named
        };
        self.files.iter().enumerate().map(others).collect()
    }

    /// The file of what is called `name` at the byte `at` of a file; `None` if it is of another
    /// crate.
    pub fn file_called(&self, file: usize, at: usize, name: &[&'a str]) -> Option<usize> {
        let module = self.files[file].module_at(at);
        let path = self.of_this_crate(&module, name);
        self.file_of(&path.unwrap_or_else(|| [&module[..], name].concat()), 0)
    }

    fn named_by(&self, file: &File<'a>) -> BTreeSet<usize> {
        let mut named = BTreeSet::new();
        for import in &file.imports {
            let module = file.module_at(import.at);
            let Some(path) = self.absolute(&module, &import.path, 0) else { continue };
            if import.name == "*" {
                named.extend(self.named_of_all(file, &path));
            }
            // What is only handed on is named by those who take it.
            if !import.public || import.name != "*" && file.has(import.name) {
                named.extend(self.file_of(&path, 0));
            }
        }
        for (at, path) in paths(file.code).filter(|&(at, _)| !file.is_use(at)) {
            let before = file.code[..at].trim_end();
            // After this it says who may see something.
            if !before.ends_with("(in") {
                let path = self.of_this_crate(&file.module_at(at), &path);
                named.extend(path.and_then(|path| self.file_of(&path, 0)));
            }
        }
        named
    }

    /// The files of what `file` takes from all that the module at `path` imports.
    fn named_of_all(&self, file: &File<'a>, path: &Path<'a>) -> BTreeSet<usize> {
        let names = self.modules.get(path).into_iter().flat_map(|module| module.names.keys());
        let taken = names.filter(|name| file.has(name));
        taken.filter_map(|name| self.file_of(&[&path[..], &[*name]].concat(), 0)).collect()
    }

    /// The file of what is at `path`, from the root of the crate; `None` if that is of another.
    fn file_of(&self, path: &[&'a str], steps: usize) -> Option<usize> {
        let mut at = Path::new();
        for (depth, part) in path.iter().enumerate() {
            at.push(part);
            if self.modules.contains_key(&at) {
                continue;
            }
            at.pop();
            let module = self.modules.get(&at)?;
            let import = self.import(&at, module, part).filter(|_| steps < STEPS);
            let Some(import) = import else { return Some(module.file) };
            let mut target = self.absolute(&at, &import, steps)?;
            target.extend(&path[depth + 1..]);
            return self.file_of(&target, steps + 1);
        }
        self.modules.get(&at).map(|module| module.file)
    }

    /// The path by which the module at `at` has `name` from elsewhere; `None` if it is its own.
    fn import(&self, at: &Path<'a>, module: &Module<'a>, name: &'a str) -> Option<Path<'a>> {
        if module.names.contains_key(name) || self.files[module.file].defines(name) {
            return module.names.get(name).cloned();
        }
        let has_it = |glob: &&Path<'a>| {
            let glob = self.absolute(at, glob, 0).and_then(|path| self.modules.get(&path));
            glob.is_some_and(|glob| {
                glob.names.contains_key(name) || self.files[glob.file].defines(name)
            })
        };
        module.globs.iter().find(has_it).map(|glob| [&glob[..], &[name]].concat())
    }

    /// `path`, as the module `from` writes it in a `use`, from the root of the crate; `None` if it
    /// is of another crate.
    fn absolute(&self, from: &Path<'a>, path: &[&'a str], steps: usize) -> Option<Path<'a>> {
        let first = path.first()?;
        let imported = self.modules.get(from).and_then(|module| module.names.get(first));
        match (self.of_this_crate(from, path), imported) {
            (Some(path), _) => Some(path),
            (None, Some(import)) if steps < STEPS && import[..] != *path => {
                let mut target = self.absolute(from, import, steps + 1)?;
                target.extend(&path[1..]);
                Some(target)
            }
            _ => None,
        }
    }

    /// `path` from the root of the crate, if it begins there, or nearby, or with a module in
    /// `from`.
    fn of_this_crate(&self, from: &Path<'a>, path: &[&'a str]) -> Option<Path<'a>> {
        let child = |name| [&from[..], &[name]].concat();
        let mut base = match *path.first()? {
            "crate" => vec![],
            "self" | "super" => from.clone(),
            name if self.modules.contains_key(&child(name)) => child(name),
            _ => return None,
        };
        let mut rest = path;
        while let [word @ ("self" | "super"), after @ ..] = rest {
            if *word == "super" {
                base.pop();
            }
            rest = after;
        }
        base.extend(if rest.len() == path.len() { &path[1..] } else { rest });
        Some(base)
    }
}

impl<'a> File<'a> {
    fn new(one: &Crate<'a>, source: &'a Source) -> Self {
        let code = source.shipped.as_str();
        let (uses, imports) = imports(code);
        let below = |source: &'a Source| &source.path[one.folder.len() + "/src/".len()..];
        let module = match below(source) {
            // A program beside a library is a crate by itself.
            "main.rs" if one.sources.iter().any(|source| below(source) == "lib.rs") => {
                vec!["main"]
            }
            path => module_of(path),
        };
        File { module, code, uses, imports, inner: inner_modules(code) }
    }

    /// The module that the byte at `at` is in: the file's, or one inside it.
    fn module_at(&self, at: usize) -> Path<'a> {
        let inner = self.inner.iter().filter(|(_, place)| place.contains(&at));
        self.module.iter().copied().chain(inner.map(|(name, _)| *name)).collect()
    }

    fn is_use(&self, at: usize) -> bool {
        self.uses.iter().any(|place| place.contains(&at))
    }

    /// True if `name` is somewhere but in a `use`.
    fn has(&self, name: &str) -> bool {
        words(self.code, name).any(|at| !self.is_use(at))
    }

    /// True if the file has an item of this name.
    fn defines(&self, name: &str) -> bool {
        const KINDS: [&str; 9] = [
            "const",
            "enum",
            "fn",
            "macro_rules!",
            "static",
            "static mut",
            "struct",
            "trait",
            "type",
        ];
        words(self.code, name).any(|at| {
            let before = self.code[..at].trim_end();
            KINDS.iter().any(|kind| before.ends_with(kind))
        })
    }
}

/// The module in the file at `path`, which is below `src`.
fn module_of(path: &str) -> Path<'_> {
    let mut parts: Path = path.trim_end_matches(".rs").split('/').collect();
    match parts[..] {
        ["lib" | "main"] => vec![],
        [.., "mod"] => {
            parts.pop();
            parts
        }
        _ => parts,
    }
}

#[cfg(test)]
mod tests;
