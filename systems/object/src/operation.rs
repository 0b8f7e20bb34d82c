//! Types of objects, and their operations.

/// End of an attempt to execute an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It was executed.
    Done,
    /// Its guards are all false. Nothing was changed, and nothing was written as its result.
    Blocked,
    /// The bytes are no arguments of this operation. Nothing was changed.
    Malformed,
}

/// Code that reads a `T`. It gets its arguments as bytes, and appends its result to others.
pub type Read<T> = fn(&T, &[u8], &mut Vec<u8>) -> Outcome;

/// Code that may write a `T`. On all copies it has to come to the same: it depends on the object
/// and its arguments, and on nothing else.
pub type Write<T> = fn(&mut T, &[u8], &mut Vec<u8>) -> Outcome;

/// Code of an operation on a `T`.
pub enum Body<T> {
    /// It reads.
    Read(Read<T>),
    /// It may write.
    Write(Write<T>),
    /// Alternatives of which some read and some may write, each set with guards of its own. Those
    /// that read are tried first, on the copy here; only if all of their guards are false is the
    /// operation shipped (thesis 7.1.2).
    Either(Read<T>, Write<T>),
}

/// Effect of an operation, from which follows how it is executed (fig. 7.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// It reads.
    Read,
    /// It may write.
    Write,
    /// It has alternatives of both kinds: [`Body::Either`].
    Either,
}

impl<T> Body<T> {
    /// Effect of the operation.
    pub const fn effect(&self) -> Effect {
        match self {
            Body::Read(_) => Effect::Read,
            Body::Write(_) => Effect::Write,
            Body::Either(..) => Effect::Either,
        }
    }
}

/// Operation of a type.
pub struct Operation<T> {
    /// Its name, for people.
    pub name: &'static str,
    /// Its code.
    pub body: Body<T>,
}

/// An abstract data type whose instances are shared. [`crate::object`] makes one of an `impl`
/// block.
pub trait Object: Send + Sized + 'static {
    /// Its name, by which ranks agree on it.
    const NAME: &'static str;
    /// Its operations, by number.
    const OPERATIONS: &'static [Operation<Self>];

    /// The state, from which [`Object::restore`] makes another one like this.
    fn capture(&self) -> Vec<u8>;

    /// An instance with this state, which comes from another rank; `None` if it is none.
    fn restore(state: &[u8]) -> Option<Self>;
}

/// An instance to which operations are given by number.
pub(crate) trait Executable: Send + 'static {
    /// Executes the operation with this number: its end, and true if it may have written. `None`
    /// if there is no such operation.
    fn execute(
        &mut self,
        operation: u16,
        arguments: &[u8],
        result: &mut Vec<u8>,
    ) -> Option<(Outcome, bool)>;

    /// Executes those alternatives of an operation that read: its end, [`Outcome::Blocked`] if
    /// there are none. `None` if there is no such operation.
    fn read(&self, operation: u16, arguments: &[u8], result: &mut Vec<u8>) -> Option<Outcome>;

    /// The state.
    fn capture(&self) -> Vec<u8>;
}

impl<T: Object> Executable for T {
    fn execute(
        &mut self,
        operation: u16,
        arguments: &[u8],
        result: &mut Vec<u8>,
    ) -> Option<(Outcome, bool)> {
        Some(match &T::OPERATIONS.get(usize::from(operation))?.body {
            Body::Read(read) => (read(self, arguments, result), false),
            Body::Write(write) => (write(self, arguments, result), true),
            Body::Either(read, write) => match read(self, arguments, result) {
                Outcome::Blocked => (write(self, arguments, result), true),
                other => (other, false),
            },
        })
    }

    fn read(&self, operation: u16, arguments: &[u8], result: &mut Vec<u8>) -> Option<Outcome> {
        Some(match &T::OPERATIONS.get(usize::from(operation))?.body {
            Body::Read(read) | Body::Either(read, _) => read(self, arguments, result),
            Body::Write(_) => Outcome::Blocked,
        })
    }

    fn capture(&self) -> Vec<u8> {
        Object::capture(self)
    }
}
