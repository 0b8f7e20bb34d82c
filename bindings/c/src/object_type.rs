//! Types of objects whose code is C's.
#![allow(unsafe_code)] // For `no_mangle` only; tidy sees to that.

use crate::aligned::Aligned;
use crate::handle::{Handle, HandleKind, given};
use crate::memory::{Instance, InstanceView, List, OutcomeNumber, Text};
use crate::status::{Failure, Status, call};
use std::ffi::c_void;
use std::mem::take;
use std::ptr::null_mut;
use std::sync::Arc;
use weft_object::{Dynamic, DynamicType, Effect};

/// End of an attempt to execute an operation.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It was executed.
    Done = 0,
    /// Its guards are all false. Nothing was changed; its caller waits.
    Blocked,
    /// The bytes are no arguments of it. Nothing was changed; whoever invoked it gets WEFT_INVALID.
    Malformed,
}

/// Bytes that code of a type gives: the result of an operation, or the state of an instance. The
/// code's until it returns.
pub struct ObjectResult(Handle<Appended>);

/// Bytes that were given so far.
#[derive(Default)]
struct Appended {
    bytes: Vec<u8>,
    /// There was no room for some.
    is_short: bool,
}

impl HandleKind for Appended {
    const MARK: u32 = 0x5245_5317;
    const NAME: &'static str = "result";
}

/// Code of an operation that reads an instance. Its arguments lie together, length bytes from an
/// address that is a multiple of 8, never null, until it returns. It appends its result to result.
pub type ReadCode = Option<
    extern "C" fn(
        instance: InstanceView,
        arguments: *const c_void,
        length: usize,
        result: &mut ObjectResult,
    ) -> OutcomeNumber,
>;

/// Code of an operation that may change an instance; else as weft_read_code. On all copies it has
/// to come to the same: it depends on the instance and its arguments, and on nothing else.
pub type WriteCode = Option<
    extern "C" fn(
        instance: Instance,
        arguments: *const c_void,
        length: usize,
        result: &mut ObjectResult,
    ) -> OutcomeNumber,
>;

/// Operation of a type; its number is its place among them.
#[repr(C)]
pub struct ObjectOperation<'a> {
    /// Its name, for people.
    name: Text<'a>,
    /// Code that reads, or null. If there is code of both kinds these are alternatives, and this
    /// one is tried first, on the copy here.
    read: ReadCode,
    /// Code that may write, or null if all of it reads.
    write: WriteCode,
}

/// `const weft_object_operation *`: operations of a type.
///
/// cbindgen:ignore
pub type ObjectOperations<'a> = List<'a, ObjectOperation<'a>>;

/// Code that makes an instance with a state, length bytes from an address that is a multiple of 8,
/// never null; null if they are no state. It is called for each copy, and to check a state.
pub type RestoreCode = Option<extern "C" fn(state: *const c_void, length: usize) -> Instance>;

/// Code that gives the state of an instance, from which another one like it can be made.
pub type CaptureCode = Option<extern "C" fn(instance: InstanceView, state: &mut ObjectResult)>;

/// Code that frees an instance.
pub type DestroyCode = Option<extern "C" fn(instance: Instance)>;

/// A type of objects. Its code is called by any thread, for one instance by one at a time, and
/// calls nothing of Weft but weft_result_extend(). Nothing in it may be null.
#[repr(C)]
pub struct ObjectType<'a> {
    /// Its name, by which ranks agree on it.
    name: Text<'a>,
    /// Its operations, by number.
    operations: ObjectOperations<'a>,
    /// Number of operations.
    operation_count: usize,
    /// Makes an instance.
    restore: RestoreCode,
    /// Gives its state.
    capture: CaptureCode,
    /// Frees it.
    destroy: DestroyCode,
}

/// `const weft_object_type *`: types of objects.
///
/// cbindgen:ignore
pub type ObjectTypes<'a> = List<'a, ObjectType<'a>>;

/// Appends so many bytes, which are 0, and returns where they begin, to be filled before the next
/// call with this result. Null if there is no room for them: then the code is to return, and its
/// object is broken. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_result_extend(
    result: Option<&mut ObjectResult>,
    length: usize,
) -> *mut c_void {
    let mut start = null_mut();
    let status = call(|| {
        start = given(result, Appended::NAME)?.0.get_mut()?.extend(length)?.as_mut_ptr().cast();
        Ok(())
    });
    if status == Status::Ok { start } else { null_mut() }
}

impl Appended {
    fn extend(&mut self, length: usize) -> Result<&mut [u8], Failure> {
        let before = self.bytes.len();
        if self.bytes.try_reserve(length).is_err() {
            self.is_short = true;
            let text = format!("there is no memory for a result of {before} and {length} bytes");
            return Err(Failure::new(Status::NoMemory, text));
        }
        self.bytes.resize(before + length, 0);
        Ok(&mut self.bytes[before..])
    }
}

impl ObjectResult {
    /// Lets code append to these bytes.
    fn append<T>(bytes: &mut Vec<u8>, code: impl FnOnce(&mut ObjectResult) -> T) -> T {
        let appended = Appended { bytes: take(bytes), is_short: false };
        let mut result = ObjectResult(Handle::lent(appended));
        let value = code(&mut result);
        let appended = result.0.take().unwrap_or_default();
        // A panic of an operation breaks its object.
        assert!(!appended.is_short, "there was no memory for what an operation gives");
        *bytes = appended.bytes;
        value
    }
}

/// Code of a type.
struct Code {
    operations: Vec<(Option<Reads>, Option<Writes>)>,
    capture: extern "C" fn(InstanceView, &mut ObjectResult),
    destroy: extern "C" fn(Instance),
}

type Reads = extern "C" fn(InstanceView, *const c_void, usize, &mut ObjectResult) -> OutcomeNumber;
type Writes = extern "C" fn(Instance, *const c_void, usize, &mut ObjectResult) -> OutcomeNumber;

/// An instance of a type of C's, and the code of that.
pub(crate) struct Owned {
    instance: Instance,
    code: Arc<Code>,
}

impl Owned {
    /// The instance that an object is.
    #[inline]
    pub fn of(object: &Dynamic) -> Option<Instance> {
        let instance: &dyn std::any::Any = object.instance();
        instance.downcast_ref::<Owned>().map(|owned| owned.instance)
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        (self.code.destroy)(self.instance);
    }
}

impl weft_object::Instance for Owned {
    fn read(&self, operation: u16, arguments: &[u8], result: &mut Vec<u8>) -> weft_object::Outcome {
        let code = self.code.operations[usize::from(operation)].0;
        let view = self.instance.view();
        code.map_or(weft_object::Outcome::Blocked, |code| {
            execute(arguments, result, |start, length, result| code(view, start, length, result))
        })
    }

    fn write(
        &mut self,
        operation: u16,
        arguments: &[u8],
        result: &mut Vec<u8>,
    ) -> weft_object::Outcome {
        let code = self.code.operations[usize::from(operation)].1;
        let instance = self.instance;
        code.map_or(weft_object::Outcome::Blocked, |code| {
            execute(arguments, result, |start, length, result| {
                code(instance, start, length, result)
            })
        })
    }

    fn capture(&self) -> Vec<u8> {
        let mut state = vec![];
        ObjectResult::append(&mut state, |state| (self.code.capture)(self.instance.view(), state));
        state
    }
}

/// Executes code with arguments that are aligned. What it says it has not done has no result.
fn execute(
    arguments: &[u8],
    result: &mut Vec<u8>,
    code: impl FnOnce(*const c_void, usize, &mut ObjectResult) -> OutcomeNumber,
) -> weft_object::Outcome {
    let before = result.len();
    let arguments = Aligned::new(arguments);
    let outcome =
        ObjectResult::append(result, |result| code(arguments.start(), arguments.len(), result));
    match outcome.0 {
        done if done == Outcome::Done as u32 => return weft_object::Outcome::Done,
        blocked if blocked == Outcome::Blocked as u32 => result.truncate(before),
        malformed if malformed == Outcome::Malformed as u32 => {
            return weft_object::Outcome::Malformed;
        }
        // The object is broken, since nobody knows what was done.
        other => panic!("an operation returned {other}, which is no weft_outcome"),
    }
    weft_object::Outcome::Blocked
}

impl ObjectType<'_> {
    /// The type in Rust.
    pub(crate) fn dynamic(&self) -> Result<DynamicType, Failure> {
        let name = self.name.get("the name of a type")?.to_owned();
        let operations =
            self.operations.slice(self.operation_count, "the pointer to the operations")?;
        if u16::try_from(operations.len()).is_err() {
            let text = format!("the type '{name}' has {} operations", operations.len());
            return Err(Failure::new(Status::TooLong, text));
        }
        let named = operations.iter().map(|operation| operation.named(&name));
        let named = named.collect::<Result<Vec<_>, _>>()?;
        let of_type = |what: &str| format!("the code that {what} of the type '{name}'");
        let restore = given(self.restore, &of_type("makes instances"))?;
        let capture = given(self.capture, &of_type("gives states"))?;
        let destroy = given(self.destroy, &of_type("frees instances"))?;
        let operations = operations.iter().map(|operation| (operation.read, operation.write));
        let code = Arc::new(Code { operations: operations.collect(), capture, destroy });
        let restore = move |state: &[u8]| -> Option<Box<dyn weft_object::Instance>> {
            let state = Aligned::new(state);
            let instance = restore(state.start(), state.len()).made()?;
            Some(Box::new(Owned { instance, code: Arc::clone(&code) }))
        };
        Ok(DynamicType { name, operations: named, restore: Box::new(restore) })
    }
}

impl ObjectOperation<'_> {
    /// Its name and its effect.
    fn named(&self, kind: &str) -> Result<(String, Effect), Failure> {
        let name = self.name.get(&format!("the name of an operation of the type '{kind}'"))?;
        match (self.read, self.write) {
            (Some(_), None) => Ok((name.to_owned(), Effect::Read)),
            (None, Some(_)) => Ok((name.to_owned(), Effect::Write)),
            (Some(_), Some(_)) => Ok((name.to_owned(), Effect::Either)),
            (None, None) => Err(Failure::invalid(format!(
                "the operation '{name}' of the type '{kind}' has no code"
            ))),
        }
    }
}
