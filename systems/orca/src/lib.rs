//! The front end of `orcac`, the compiler of Orca (thesis 7.1): a language of processes that share
//! objects. Text becomes tokens ([`lexer`]), a tree ([`parser`], [`tree`]), and a checked tree
//! ([`check`]), with [`diagnostics`] for what is wrong; [`format`] prints a tree. The language is
//! described in `docs/guide/orca.md`.
//!
//! Invariants: no input makes it panic or run out of stack, since nesting is bounded before the
//! tree is built; a program with one error has one diagnostic for it; the same input has the same
//! result. The crate depends on nothing of Weft.
#![forbid(unsafe_code)]

pub mod check;
pub mod command;
pub mod diagnostics;
pub mod files;
pub mod format;
pub mod generate;
pub mod instances;
pub mod lexer;
pub mod parser;
mod program;
pub mod server;
pub mod simulated;
pub mod source;
pub mod started;
mod suggestion;
pub mod toolchain;
pub mod tree;

use check::Facts;
use diagnostics::{Code, Diagnostic, sorted};
pub use program::{Arguments, main};
use source::{Sources, Span};
use std::collections::BTreeSet;
use tree::File;

/// A program without errors.
#[derive(Clone, Debug)]
pub struct Program {
    /// The trees of its files, in the order of the sources.
    pub files: Vec<File>,
    /// Meanings of names, types of expressions, effects of operations.
    pub facts: Facts,
}

/// The checked program that files make, or its errors in the order of their places. Files that
/// cannot be parsed are checked all the same: what was skipped causes no further errors.
pub fn front_end(sources: &Sources) -> Result<Program, Vec<Diagnostic>> {
    let mut parser = parser::FileParser::default();
    let mut files = Vec::new();
    let mut diagnostics = Vec::new();
    for file in sources.ids() {
        let parsed = parser.parse(sources, file);
        diagnostics.extend(parsed.diagnostics);
        files.push(parsed.file);
    }
    instances::add_instances(&mut parser, sources, &mut files);
    let broken = !diagnostics.is_empty();
    let (facts, found) = check::check(&files, parser.expressions());
    let unknown = unknown_everywhere(sources, &found);
    // A declaration that was skipped leaves names without a meaning.
    let follows = |one: &Diagnostic| match one.code {
        Code::Unknown => broken && !unknown.contains(sources.text(one.at.0)),
        Code::Member => broken,
        _ => false,
    };
    diagnostics.extend(found.into_iter().filter(|diagnostic| !follows(diagnostic)));
    match diagnostics.is_empty() {
        true => Ok(Program { files, facts }),
        false => Err(sorted(without_repetitions(diagnostics, &files))),
    }
}

/// Unknown names of types that stand nowhere else: no declaration of theirs was skipped, and they
/// are no words that were to be others.
fn unknown_everywhere<'s>(sources: &'s Sources, found: &[Diagnostic]) -> BTreeSet<&'s str> {
    let unknown = found.iter().filter(|one| one.code == Code::Unknown);
    let places: BTreeSet<_> = unknown.map(|one| one.at.0.original()).collect();
    let names = places.iter().map(|place| sources.text(*place));
    let uses = |name| names.clone().filter(|other| *other == name).count();
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let all = |name| {
        let words = |file| sources.file(file).text.split(move |letter| !is_part(letter));
        sources.ids().flat_map(words).filter(|word| *word == name).count()
    };
    let is_type = |place: &&Span| {
        let before = sources.file(place.file).text[..place.range().start].trim_end();
        [":", " of", " shared"].iter().any(|word| before.ends_with(word))
    };
    let types = places.iter().filter(is_type).map(|place| sources.text(*place));
    types.filter(|name| uses(*name) == all(*name)).collect()
}

/// Diagnostics without those of instances that follow from others, or are as others: what is wrong
/// with something generic is said once. What is wrong with an instance alone is said with it.
fn without_repetitions(diagnostics: Vec<Diagnostic>, files: &[File]) -> Vec<Diagnostic> {
    let (of_instances, others): (Vec<Diagnostic>, Vec<Diagnostic>) =
        diagnostics.into_iter().partition(|one| one.at.0.file.instance().is_some());
    if !others.is_empty() {
        return others;
    }
    let mut seen = BTreeSet::new();
    let first = |one: &Diagnostic| seen.insert((one.at.0.original(), one.code));
    let instances: Vec<_> = instances::instances(files).collect();
    let with_instance = |one: Diagnostic| {
        let number = one.at.0.file.instance().map_or(0, usize::from);
        let instance = number.checked_sub(1).and_then(|place| instances.get(place));
        match instance {
            Some(instance) => one.also(instance.name.span, "in this instance"),
            None => one,
        }
    };
    of_instances.into_iter().filter(first).map(with_instance).collect()
}
