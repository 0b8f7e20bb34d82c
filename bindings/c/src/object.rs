//! Shared objects (thesis 7.1).
#![allow(unsafe_code)] // For `no_mangle` only; tidy sees to that.

use crate::aligned::Aligned;
use crate::handle::{Handle, HandleKind, free, given, put};
use crate::job::{Job, rank, state};
use crate::memory::{Bytes, Instance, InstanceView, Text, User, Vector};
use crate::object_process::{ProcessType, ProcessTypes};
use crate::object_type::{ObjectType, ObjectTypes, Owned};
use crate::status::{Failure, Status, call};
use std::collections::BTreeSet;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::{Arc, Mutex, PoisonError};
use weft::Rank;
use weft_linda::Shard;
use weft_object::{Dynamic, Object as _, Pending, Placement, Types};

/// The objects of a job, as this rank sees them. Any thread may use them, several at once.
pub struct Objects(Handle<Part>);

/// A shared object, as this rank sees it. Any thread may use it, several at once.
pub struct Object(Handle<Known>);

/// An operation that was begun. One thread at a time uses it.
pub struct Invocation(Handle<Begun>);

/// Result of an operation. Any thread may use it, several at once.
pub struct Answer(Handle<Aligned<Vec<u8>>>);

/// Placement of an object with a copy at every rank. Any other is the rank of the only copy.
pub const WEFT_REPLICATED: u32 = u32::MAX;

/// Placement that follows from who operates on the object: one copy, at first at the rank that
/// creates it, then where the operations cost least, by statistics.
pub const WEFT_AUTOMATIC: u32 = u32::MAX - 1;

/// Objects in Rust.
pub(crate) struct Part {
    pub objects: weft_object::Objects,
    /// Clones are what was given out.
    pub users: Arc<()>,
    /// This rank, and the number of ranks.
    pub place: (Rank, usize),
    /// Text of the error of the process that these objects are lent to.
    pub failure: Option<Mutex<Option<String>>>,
}

struct Known {
    handle: weft_object::Handle<Dynamic>,
    user: Arc<()>,
}

struct Begun {
    pending: Pending<Dynamic>,
    _user: Arc<()>,
}

impl HandleKind for Part {
    const MARK: u32 = 0x4f42_5313;
    const NAME: &'static str = "set of objects";
}

impl HandleKind for Known {
    const MARK: u32 = 0x4f42_4a14;
    const NAME: &'static str = "object";
}

impl HandleKind for Begun {
    const MARK: u32 = 0x494e_5615;
    const NAME: &'static str = "invocation";
}

impl HandleKind for Aligned<Vec<u8>> {
    const MARK: u32 = 0x414e_5316;
    const NAME: &'static str = "answer";
}

/// Code that looks at an instance, for an operation that reads; false if its guard is false.
pub type ObjectLook = Option<extern "C" fn(instance: InstanceView, user: User) -> bool>;

/// Code that changes an instance, for an operation that writes; false if its guard is false, and
/// nothing was changed.
pub type ObjectChange = Option<extern "C" fn(instance: Instance, user: User) -> bool>;

pub(crate) fn part(objects: Option<&Objects>) -> Result<&Part, Failure> {
    given(objects, Part::NAME)?.0.get()
}

#[inline]
fn known(object: Option<&Object>) -> Result<&Known, Failure> {
    given(object, Known::NAME)?.0.get()
}

fn place(placement: u32) -> Result<Placement, Failure> {
    match placement {
        WEFT_REPLICATED => Ok(Placement::Replicated),
        WEFT_AUTOMATIC => Ok(Placement::Automatic),
        home => Ok(Placement::Single(rank(home)?)),
    }
}

impl Objects {
    /// The objects for a process.
    pub(crate) fn lent(
        objects: weft_object::Objects,
        users: Arc<()>,
        place: (Rank, usize),
    ) -> Self {
        let failure = Some(Mutex::default());
        Objects(Handle::lent(Part { objects, users, place, failure }))
    }

    /// Text of the error of that process.
    pub(crate) fn failure(self) -> Option<String> {
        let failure = self.0.get().ok().and_then(|part| part.failure.as_ref())?;
        failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Part {
    /// Gives an object out.
    fn give(
        &self,
        out: &mut MaybeUninit<*mut Object>,
        handle: weft_object::Result<weft_object::Handle<Dynamic>>,
    ) -> Result<(), Failure> {
        let known = Known { handle: handle?, user: Arc::clone(&self.users) };
        out.write(Box::into_raw(Box::new(Object(Handle::new(known)))));
        Ok(())
    }
}

/// Gives a result out, if C wants it.
fn answer(out: Option<&mut MaybeUninit<*mut Answer>>, bytes: Vec<u8>) {
    if let Some(out) = out {
        out.write(Box::into_raw(Box::new(Answer(Handle::new(Aligned::new(bytes))))));
    }
}

fn types_of(given: &[ObjectType<'_>]) -> Result<Types, Failure> {
    // Spaces of tuples stand on shards.
    let mut types = Types::default().with::<Shard>();
    let mut names = BTreeSet::from([Shard::NAME.to_owned()]);
    for kind in given {
        let kind = kind.dynamic()?;
        if !names.insert(kind.name.clone()) {
            return Err(Failure::invalid(format!("there are two types '{}'", kind.name)));
        }
        types = types.with_dynamic(kind);
    }
    Ok(types)
}

/// These types, and those of processes.
fn with_processes(
    mut types: Types,
    given: &[ProcessType<'_>],
    users: &Arc<()>,
    place: (Rank, usize),
) -> Result<Types, Failure> {
    let mut names = BTreeSet::new();
    for process in given {
        let name = process.name.get("the name of a process type")?;
        if !names.insert(name) {
            return Err(Failure::invalid(format!("there are two processes '{name}'")));
        }
        types = process.add(types, users, place)?;
    }
    Ok(types)
}

/// Takes part in the objects of a job, of these types, with processes of those, which may be none.
/// All ranks do, at the same place among the orders that they create, with the same types. What
/// types and processes point to is copied; their code must stay. The result is the caller's, to be
/// given back to weft_objects_destroy(). Never blocks. Only in a job for messages.
#[unsafe(no_mangle)]
pub extern "C" fn weft_objects_create(
    job: Option<&Job>,
    types: ObjectTypes<'_>,
    type_count: usize,
    processes: ProcessTypes<'_>,
    process_count: usize,
    objects: Option<&mut MaybeUninit<*mut Objects>>,
) -> Status {
    call(|| {
        let out = given(objects, "the pointer for the result")?;
        let weft = state(job)?.messages()?;
        let users = Arc::new(());
        let place = (weft.rank(), weft.size());
        let types = types_of(types.slice(type_count, "the pointer to the types")?)?;
        let processes = processes.slice(process_count, "the pointer to the processes")?;
        let types = with_processes(types, processes, &users, place)?;
        let objects = weft_object::Objects::new(weft.orders(), weft.rpc(), types)?;
        let part = Part { objects, users, place, failure: None };
        out.write(Box::into_raw(Box::new(Objects(Handle::new(part)))));
        Ok(())
    })
}

/// Ends this rank's part in the objects and frees it, with the copies here; all ranks must be done
/// with them. While objects, invocations or spaces were not given back it is WEFT_INVALID, and
/// frees nothing. Not to be called in a callback.
#[unsafe(no_mangle)]
pub extern "C" fn weft_objects_destroy(objects: Option<Box<Objects>>) -> Status {
    call(|| {
        let objects = given(objects, Part::NAME)?;
        let users = objects.0.get().map(|part| Arc::strong_count(&part.users) - 1);
        if let Ok(users @ 1..) = users {
            std::mem::forget(objects);
            let text = format!("objects, invocations and spaces that were not given back: {users}");
            return Err(Failure::invalid(text));
        }
        free(Some(objects), |objects| &mut objects.0).map(drop)
    })
}

/// Function of the objects that creates one.
type Create = fn(
    &weft_object::Objects,
    &str,
    &str,
    &[u8],
    Placement,
) -> weft_object::Result<weft_object::Handle<Dynamic>>;

fn create(
    make: Create,
    objects: Option<&Objects>,
    name: Text<'_>,
    of: Text<'_>,
    (state, length): (Bytes<'_>, usize),
    placement: u32,
    object: Option<&mut MaybeUninit<*mut Object>>,
) -> Status {
    call(|| {
        let out = given(object, "the pointer for the result")?;
        let (part, state) = (part(objects)?, state.slice(length)?);
        let (name, of) = (name.get("the name")?, of.get("the type")?);
        part.give(out, make(&part.objects, name, of, state, place(placement)?))
    })
}

/// Creates an object of a name and a type, with a state of length bytes, and returns once this rank
/// knows it. One rank creates it; others find it. Placement is the rank that is to have the only
/// copy, WEFT_REPLICATED or WEFT_AUTOMATIC. The object is the caller's, to be given back to
/// weft_object_destroy(). Blocks; callbacks run meanwhile.
#[unsafe(no_mangle)]
pub extern "C" fn weft_object_create(
    objects: Option<&Objects>,
    name: Text<'_>,
    of: Text<'_>,
    state: Bytes<'_>,
    length: usize,
    placement: u32,
    object: Option<&mut MaybeUninit<*mut Object>>,
) -> Status {
    create(
        weft_object::Objects::create_dynamic,
        objects,
        name,
        of,
        (state, length),
        placement,
        object,
    )
}

/// Creates an object as weft_object_create() does, whose name is for people: it need not be its
/// alone, and cannot be found. Others get it by its number.
#[unsafe(no_mangle)]
pub extern "C" fn weft_object_create_unnamed(
    objects: Option<&Objects>,
    name: Text<'_>,
    of: Text<'_>,
    state: Bytes<'_>,
    length: usize,
    placement: u32,
    object: Option<&mut MaybeUninit<*mut Object>>,
) -> Status {
    let make = weft_object::Objects::create_dynamic_unnamed;
    create(make, objects, name, of, (state, length), placement, object)
}

/// The object with a number, which has to be of that type. The number comes from whoever has the
/// object: as an argument of a process or an operation, or as a result. The object is the caller's,
/// to be given back to weft_object_destroy(). Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_object_get(
    objects: Option<&Objects>,
    number: u64,
    of: Text<'_>,
    object: Option<&mut MaybeUninit<*mut Object>>,
) -> Status {
    call(|| {
        let out = given(object, "the pointer for the result")?;
        let part = part(objects)?;
        part.give(out, part.objects.get_dynamic(number, of.get("the type")?))
    })
}

/// Number of an object, the same at all ranks. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_object_number(
    object: Option<&Object>,
    number: Option<&mut MaybeUninit<u64>>,
) -> Status {
    call(|| put(number, known(object)?.handle.id()))
}

/// The object of a name, which has to be of that type. It is the caller's, to be given back to
/// weft_object_destroy(). Blocks until some rank has created it; callbacks run meanwhile.
#[unsafe(no_mangle)]
pub extern "C" fn weft_object_find(
    objects: Option<&Objects>,
    name: Text<'_>,
    of: Text<'_>,
    object: Option<&mut MaybeUninit<*mut Object>>,
) -> Status {
    call(|| {
        let out = given(object, "the pointer for the result")?;
        let (part, name, of) = (part(objects)?, name.get("the name")?, of.get("the type")?);
        part.give(out, part.objects.find_dynamic(name, of))
    })
}

/// Gives an object back; the object itself stays, for all ranks. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_object_destroy(object: Option<Box<Object>>) -> Status {
    call(|| free(object, |object| &mut object.0).map(drop))
}

/// Deletes an object for all ranks, and gives it back, even when it fails. Operations that come
/// after that, or wait for a guard then, are WEFT_NO_OBJECT at all ranks; its name may be used
/// again. So is this if another has deleted it. Blocks until this rank has executed it; callbacks
/// run meanwhile. Not to be called in a callback.
#[unsafe(no_mangle)]
pub extern "C" fn weft_object_delete(object: Option<Box<Object>>) -> Status {
    call(|| Ok(free(object, |object| &mut object.0)?.handle.delete()?))
}

/// Placement of an object, as far as this rank knows: the rank of its only copy, or
/// WEFT_REPLICATED. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_object_placement(
    object: Option<&Object>,
    placement: Option<&mut MaybeUninit<u32>>,
) -> Status {
    call(|| {
        let number = match known(object)?.handle.placement() {
            Placement::Replicated => WEFT_REPLICATED,
            Placement::Single(home) => home.0.into(),
            // What was asked for, and not where it is: a handle never says that.
            Placement::Automatic | Placement::Expected { .. } => WEFT_AUTOMATIC,
        };
        put(placement, number)
    })
}

/// Has an object be at another placement from now on, while others operate on it. Returns when this
/// rank knows of that; the only copy may be on its way, and who operates on it waits. Blocks;
/// callbacks run meanwhile. Not to be called in a callback.
#[unsafe(no_mangle)]
pub extern "C" fn weft_object_place(object: Option<&Object>, placement: u32) -> Status {
    call(|| Ok(known(object)?.handle.place(place(placement)?)?))
}

/// Executes an operation, with arguments in count pieces, and gives its result if answer is not
/// null; it is the caller's, to be freed with weft_answer_free(). Blocks while its guards are
/// false; callbacks run meanwhile. Not to be called in a callback.
#[unsafe(no_mangle)]
pub extern "C" fn weft_object_invoke(
    object: Option<&Object>,
    operation: u16,
    pieces: Vector<'_>,
    count: usize,
    answer: Option<&mut MaybeUninit<*mut Answer>>,
) -> Status {
    call(|| {
        let bytes = known(object)?.handle.invoke(operation, &pieces.checked(count)?)?;
        crate::object::answer(answer, bytes);
        Ok(())
    })
}

/// Begins what weft_object_invoke() does, and returns when its arguments are in packets. Those that
/// a thread has begun and not waited for are executed in any order. The invocation is the caller's,
/// who ends it by waiting. Blocks as weft_port_send() does.
#[unsafe(no_mangle)]
pub extern "C" fn weft_object_begin(
    object: Option<&Object>,
    operation: u16,
    pieces: Vector<'_>,
    count: usize,
    invocation: Option<&mut MaybeUninit<*mut Invocation>>,
) -> Status {
    call(|| {
        let out = given(invocation, "the pointer for the result")?;
        let Known { handle, user } = known(object)?;
        let pending = handle.begin(operation, &pieces.checked(count)?)?;
        let begun = Begun { pending, _user: Arc::clone(user) };
        out.write(Box::into_raw(Box::new(Invocation(Handle::new(begun)))));
        Ok(())
    })
}

/// Waits for the result of an operation that was begun, gives it if answer is not null, and frees
/// the invocation, even when it fails. Blocks as weft_object_invoke() does.
#[unsafe(no_mangle)]
pub extern "C" fn weft_invocation_wait(
    invocation: Option<Box<Invocation>>,
    answer: Option<&mut MaybeUninit<*mut Answer>>,
) -> Status {
    call(|| {
        let begun = free(invocation, |invocation| &mut invocation.0)?;
        crate::object::answer(answer, begun.pending.wait()?);
        Ok(())
    })
}

/// The bytes of a result, from an address that is a multiple of 8, valid until it is freed. Never
/// blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_answer_bytes(
    answer: Option<&Answer>,
    bytes: Option<&mut MaybeUninit<*const c_void>>,
    length: Option<&mut MaybeUninit<usize>>,
) -> Status {
    call(|| {
        let answer = given(answer, "answer")?.0.get()?;
        put(bytes, answer.start())?;
        put(length, answer.len())
    })
}

/// Frees the result of an operation. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_answer_free(answer: Option<Box<Answer>>) -> Status {
    call(|| free(answer, |answer| &mut answer.0).map(drop))
}

/// Has look read the copy here, for an operation that reads, and tells if it was executed: if not,
/// because there is no copy here or look returned false, weft_object_invoke() executes it. The
/// fast way: nothing is written down nor sent. Waits only for operations on this copy.
#[unsafe(no_mangle)]
pub extern "C" fn weft_object_read_here(
    object: Option<&Object>,
    operation: u16,
    look: ObjectLook,
    user: User,
    done: Option<&mut MaybeUninit<bool>>,
) -> Status {
    call(|| {
        let (done, look) = (given(done, "the pointer for the result")?, given(look, "the code")?);
        let read = |object: &Dynamic| look(Owned::of(object)?.view(), user).then_some(());
        let found = known(object)?.handle.read_here(operation, read)?;
        done.write(found.is_some());
        Ok(())
    })
}

/// Has change write the only copy, for an operation that writes, if that is here, and tells if it
/// was executed: if not, because there are other copies, it is elsewhere, or change returned false,
/// weft_object_invoke() executes it. Else as weft_object_read_here().
#[unsafe(no_mangle)]
pub extern "C" fn weft_object_write_here(
    object: Option<&Object>,
    operation: u16,
    change: ObjectChange,
    user: User,
    done: Option<&mut MaybeUninit<bool>>,
) -> Status {
    call(|| {
        let done = given(done, "the pointer for the result")?;
        let change = given(change, "the code")?;
        let write = |object: &mut Dynamic| change(Owned::of(object)?, user).then_some(());
        let found = known(object)?.handle.write_here(operation, write)?;
        done.write(found.is_some());
        Ok(())
    })
}
