//! Types that become known as the program runs: those of another language, by the bindings.

use crate::operation::{Effect, Executable, Outcome};
use std::any::Any;
use std::sync::Arc;

/// Instance of a type that is not Rust's.
pub trait Instance: Any + Send {
    /// Executes those alternatives of an operation that read; [`Outcome::Blocked`] if there are
    /// none. The rules are those of [`crate::Read`].
    fn read(&self, operation: u16, arguments: &[u8], result: &mut Vec<u8>) -> Outcome;

    /// Executes those alternatives of an operation that may write; [`Outcome::Blocked`] if there
    /// are none. The rules are those of [`crate::Write`].
    fn write(&mut self, operation: u16, arguments: &[u8], result: &mut Vec<u8>) -> Outcome;

    /// The state, from which [`DynamicType::restore`] makes another one like this.
    fn capture(&self) -> Vec<u8>;
}

/// A type whose operations are known as the program runs.
pub struct DynamicType {
    /// Its name, by which ranks agree on it.
    pub name: String,
    /// Effects of its operations, by number.
    pub effects: Vec<Effect>,
    /// Maker of an instance from a state, which may come from another rank; `None` if it is none.
    pub restore: Restore,
}

/// Maker of instances.
pub type Restore = Box<dyn Fn(&[u8]) -> Option<Box<dyn Instance>> + Send + Sync>;

/// Instance of a [`DynamicType`]: an object that `Handle<Dynamic>` stands for.
pub struct Dynamic {
    of: Arc<DynamicType>,
    instance: Box<dyn Instance>,
}

impl Dynamic {
    /// An instance with this state; `None` if it is none of its type.
    pub(crate) fn restore(of: &Arc<DynamicType>, state: &[u8]) -> Option<Self> {
        Some(Dynamic { of: Arc::clone(of), instance: (of.restore)(state)? })
    }

    /// The instance, for operations that read it where it is.
    pub fn instance(&self) -> &dyn Instance {
        &*self.instance
    }

    /// The instance, for operations that change it where it is.
    pub fn instance_mut(&mut self) -> &mut dyn Instance {
        &mut *self.instance
    }
}

impl Executable for Dynamic {
    fn execute(
        &mut self,
        operation: u16,
        arguments: &[u8],
        result: &mut Vec<u8>,
    ) -> Option<(Outcome, bool)> {
        Some(match self.of.effects.get(usize::from(operation))? {
            Effect::Read => (self.instance.read(operation, arguments, result), false),
            Effect::Write => (self.instance.write(operation, arguments, result), true),
            Effect::Either => match self.instance.read(operation, arguments, result) {
                Outcome::Blocked => (self.instance.write(operation, arguments, result), true),
                other => (other, false),
            },
        })
    }

    fn read(&self, operation: u16, arguments: &[u8], result: &mut Vec<u8>) -> Option<Outcome> {
        Some(match self.of.effects.get(usize::from(operation))? {
            Effect::Read | Effect::Either => self.instance.read(operation, arguments, result),
            Effect::Write => Outcome::Blocked,
        })
    }

    fn capture(&self) -> Vec<u8> {
        self.instance.capture()
    }
}
