//! Types of objects, their operations, and instances whose type is not known.

/// End of an attempt to execute an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It was executed.
    Done,
    /// Its guards are all false. Nothing was changed, and nothing was written as its result.
    Blocked,
}

/// Code of an operation on a `T`. It gets its arguments as bytes, and appends its result to others.
pub enum Body<T> {
    /// It reads.
    Read(fn(&T, &[u8], &mut Vec<u8>) -> Outcome),
    /// It may write. On all copies it has to come to the same: it depends on the object and its
    /// arguments, and on nothing else.
    Write(fn(&mut T, &[u8], &mut Vec<u8>) -> Outcome),
}

/// Operation of a type.
pub struct Operation<T> {
    /// Its name, for people.
    pub name: &'static str,
    /// Its code.
    pub body: Body<T>,
}

/// An abstract data type whose instances are shared.
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

/// Instance of a type that is not known.
pub(crate) trait Instance: Send {
    /// True if the operation with this number may write; `None` if there is none.
    fn writes(&self, operation: u16) -> Option<bool>;

    /// Executes the operation with this number, which there is.
    fn execute(&mut self, operation: u16, arguments: &[u8], result: &mut Vec<u8>) -> Outcome;
}

impl<T: Object> Instance for T {
    fn writes(&self, operation: u16) -> Option<bool> {
        writes::<T>(operation)
    }

    fn execute(&mut self, operation: u16, arguments: &[u8], result: &mut Vec<u8>) -> Outcome {
        match T::OPERATIONS[usize::from(operation)].body {
            Body::Read(run) => run(self, arguments, result),
            Body::Write(run) => run(self, arguments, result),
        }
    }
}

/// True if the operation of a type with this number may write; `None` if there is none.
pub(crate) fn writes<T: Object>(operation: u16) -> Option<bool> {
    let operation = T::OPERATIONS.get(usize::from(operation))?;
    Some(matches!(operation.body, Body::Write(_)))
}
