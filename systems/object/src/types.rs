//! The types that a rank was given: of objects, and of processes.

use crate::operation::{Effect, Executable, Object};
use crate::processes::{Code, Ended};
use crate::shared::{AnyCopy, local};
use crate::{Dynamic, DynamicType, Objects};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The types of which there may be objects, and processes. All ranks are given the same.
#[derive(Default)]
pub struct Types {
    pub(crate) kinds: BTreeMap<String, Arc<Kind>>,
    processes: BTreeMap<String, Arc<Code>>,
}

/// A type, as a rank knows it.
pub(crate) struct Kind {
    pub name: String,
    /// Effects of its operations, by number.
    pub effects: Vec<Effect>,
    /// Names of its operations, by number, as far as they are known.
    operations: Vec<&'static str>,
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

impl Types {
    /// These types and `T`.
    #[must_use]
    pub fn with<T: Object>(mut self) -> Self {
        let effects = T::OPERATIONS.iter().map(|operation| operation.body.effect()).collect();
        let names = T::OPERATIONS.iter().map(|operation| operation.name).collect();
        self.insert(T::NAME.into(), (effects, names), T::restore);
        self
    }

    /// These types and one that is not Rust's.
    #[must_use]
    pub fn with_dynamic(mut self, of: DynamicType) -> Self {
        let (name, effects, of) = (of.name.clone(), of.effects.clone(), Arc::new(of));
        self.insert(name, (effects, Vec::new()), move |state| Dynamic::restore(&of, state));
        self
    }

    /// These types and a process type: code that [`Objects::fork`] starts. It runs on a thread of
    /// its own, with the objects of its rank and the arguments of the fork.
    #[must_use]
    pub fn with_process(
        mut self,
        name: &str,
        code: impl Fn(&Objects, &[u8]) -> Ended + Send + Sync + 'static,
    ) -> Self {
        self.processes.insert(name.into(), Arc::new(code));
        self
    }

    fn insert<T: Executable>(
        &mut self,
        name: String,
        (effects, operations): (Vec<Effect>, Vec<&'static str>),
        restore: impl Fn(&[u8]) -> Option<T> + Send + Sync + 'static,
    ) {
        let make = move |state: Option<&[u8]>| match state {
            None => Some(local::<T>(None)),
            Some(state) => Some(local(Some(restore(state)?))),
        };
        let kind = Kind { name: name.clone(), effects, operations, make: Box::new(make) };
        self.kinds.insert(name, Arc::new(kind));
    }

    /// The type of that name; one without operations, of which there are no copies here, if this
    /// rank was not given it.
    pub(crate) fn get(&self, name: &str) -> Arc<Kind> {
        let unknown = || {
            let (name, make) = (name.to_owned(), Box::new(|_: Option<&[u8]>| None));
            Arc::new(Kind { name, effects: Vec::new(), operations: Vec::new(), make })
        };
        self.kinds.get(name).cloned().unwrap_or_else(unknown)
    }

    /// True if there is a process type of that name.
    pub(crate) fn has_process(&self, name: &str) -> bool {
        self.processes.contains_key(name)
    }

    /// Code of the process type of that name.
    pub(crate) fn process(&self, name: &str) -> Option<&Code> {
        self.processes.get(name).map(|code| &**code)
    }
}
