//! Types of objects, as a rank knows them.

use crate::local::AnyCopy;
use crate::operation::Effect;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A type, as a rank knows it.
pub(crate) struct Kind {
    pub name: String,
    /// Effects of its operations, by number.
    pub effects: Vec<Effect>,
    /// Names of its operations, by number, as far as they are known.
    pub operations: Vec<String>,
    pub make: Maker,
}

/// Makes the place for a copy, with an instance that has this state if one is given; `None` if it
/// is no state, or the type is not known.
type Maker = Box<dyn Fn(Option<&[u8]>) -> Option<Arc<dyn AnyCopy>> + Send + Sync>;

impl Kind {
    /// Words for the operation with this number.
    pub fn operation(&self, number: u16) -> String {
        let name = self.operations.get(usize::from(number));
        name.map_or_else(|| format!("operation {number}"), |name| format!("'{name}'"))
    }
}

/// Types of objects by their names.
#[derive(Default)]
pub(crate) struct Kinds(BTreeMap<String, Arc<Kind>>);

impl Kinds {
    /// Adds a type.
    pub fn add(&mut self, kind: Kind) {
        self.0.insert(kind.name.clone(), Arc::new(kind));
    }

    /// The type of that name, if this rank was given it.
    pub fn get(&self, name: &str) -> Option<&Arc<Kind>> {
        self.0.get(name)
    }

    /// The type of that name; one without operations, of which there are no copies here, if this
    /// rank was not given it.
    pub fn get_or_unknown(&self, name: &str) -> Arc<Kind> {
        let unknown = || {
            let (name, make) = (name.to_owned(), Box::new(|_: Option<&[u8]>| None));
            Arc::new(Kind { name, effects: Vec::new(), operations: Vec::new(), make })
        };
        self.get(name).cloned().unwrap_or_else(unknown)
    }
}
