//! The tuples of one rank, and wants of templates that may match tuples of several ranks. Nothing
//! here waits, and nothing knows of a network.

use crate::field::{Field, FieldKind, Pattern, matches};
use crate::home::Key;
use crate::want::{Want, Wanted};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

/// A rank's part of a tuple space: the type of shared objects on which [`crate::Space`] stands,
/// which [`weft_object::Types::with`] is given.
#[derive(Default, PartialEq, Debug)]
pub struct Shard {
    /// By the types of their fields.
    pub(crate) classes: BTreeMap<Box<[FieldKind]>, Class>,
    pub(crate) wants: BTreeMap<Want, (Vec<Pattern>, Wanted)>,
    count: u64,
}

/// Tuples whose fields are of the same types.
#[derive(Default, PartialEq, Debug)]
pub(crate) struct Class {
    /// By their first fields, the eldest first. No entry is empty.
    pub tuples: BTreeMap<Key, VecDeque<Vec<Field>>>,
    /// Tuples that were ever put here.
    pub puts: u64,
}

impl Shard {
    /// Puts a tuple, and returns the wants whose templates it matches.
    pub(crate) fn put(&mut self, tuple: Vec<Field>) -> Vec<Want> {
        let is_wanted = |(want, (template, _)): (&Want, &(Vec<Pattern>, _))| {
            matches(template, &tuple).then_some(*want)
        };
        let wants = self.wants.iter().filter_map(is_wanted).collect();
        let class = self.classes.entry(tuple.iter().map(Field::kind).collect()).or_default();
        class.puts = class.puts.saturating_add(1);
        class.tuples.entry(Key::of_tuple(&tuple)).or_default().push_back(tuple);
        self.count += 1;
        wants
    }

    /// A tuple that matches, which stays.
    pub(crate) fn read(&self, template: &[Pattern]) -> Option<&[Field]> {
        self.find(template).map(|(_, _, tuple)| tuple)
    }

    /// A tuple that matches, taken out.
    pub(crate) fn take(&mut self, template: &[Pattern]) -> Option<Vec<Field>> {
        let (key, index, _) = self.find(template)?;
        let key = key.clone();
        let class = self.classes.get_mut(&*kinds(template))?;
        let equal = class.tuples.get_mut(&key)?;
        let tuple = equal.remove(index)?;
        if equal.is_empty() {
            class.tuples.remove(&key);
        }
        self.count -= 1;
        Some(tuple)
    }

    /// Number of tuples of the template's types that were ever put here.
    pub(crate) fn puts(&self, template: &[Pattern]) -> u64 {
        self.classes.get(&*kinds(template)).map_or(0, |class| class.puts)
    }

    /// Number of tuples.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    fn find(&self, template: &[Pattern]) -> Option<(&Key, usize, &[Field])> {
        self.candidates(template).find(|(_, _, tuple)| matches(template, tuple))
    }

    /// Tuples that are looked at for a template, with their places: those of its types, and of its
    /// first actual if it begins with one.
    fn candidates(&self, template: &[Pattern]) -> impl Iterator<Item = (&Key, usize, &[Field])> {
        let range = match Key::of_template(template) {
            Some(key) => (Bound::Included(key.clone()), Bound::Included(key)),
            None => (Bound::Unbounded, Bound::Unbounded),
        };
        let class = self.classes.get(&*kinds(template));
        class.into_iter().flat_map(move |class| class.tuples.range(range.clone())).flat_map(
            |(key, equal)| {
                equal.iter().enumerate().map(move |(index, tuple)| (key, index, &**tuple))
            },
        )
    }
}

fn kinds(template: &[Pattern]) -> Box<[FieldKind]> {
    template.iter().map(Pattern::kind).collect()
}

#[cfg(test)]
mod tests;
