//! The types that a rank was given: of objects, and of processes.

use crate::dynamic::{Dynamic, DynamicType};
use crate::error::Ended;
use crate::kind::{Kind, Kinds};
use crate::local::local;
use crate::objects::Objects;
use crate::operation::{Effect, Executable, Object};
use crate::shared::{Node, ProcessTypes};
use std::sync::Arc;

/// The types of which there may be objects, and processes. All ranks are given the same.
#[derive(Default)]
pub struct Types {
    pub(crate) kinds: Kinds,
    pub(crate) processes: ProcessTypes,
}

impl Types {
    /// These types and `T`.
    #[must_use]
    pub fn with<T: Object>(mut self) -> Self {
        let effects = T::OPERATIONS.iter().map(|operation| operation.body.effect()).collect();
        let names = T::OPERATIONS.iter().map(|operation| operation.name.to_owned()).collect();
        self.insert(T::NAME.into(), (effects, names), T::restore);
        self
    }

    /// These types and one that is not Rust's.
    #[must_use]
    pub fn with_dynamic(mut self, of: DynamicType) -> Self {
        let effects = of.operations.iter().map(|(_, effect)| *effect).collect();
        let names = of.operations.iter().map(|(name, _)| name.clone()).collect();
        let (name, of) = (of.name.clone(), Arc::new(of));
        self.insert(name, (effects, names), move |state| Dynamic::restore(&of, state));
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
        let of_node =
            move |node: &Arc<Node>, arguments: &[u8]| code(&Objects(Arc::clone(node)), arguments);
        self.processes.insert(name.into(), Box::new(of_node));
        self
    }

    fn insert<T: Executable>(
        &mut self,
        name: String,
        (effects, operations): (Vec<Effect>, Vec<String>),
        restore: impl Fn(&[u8]) -> Option<T> + Send + Sync + 'static,
    ) {
        let make = move |state: Option<&[u8]>| match state {
            None => Some(local::<T>(None)),
            Some(state) => Some(local(Some(restore(state)?))),
        };
        self.kinds.add(Kind { name, effects, operations, make: Box::new(make) });
    }
}
