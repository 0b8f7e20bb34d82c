//! Processes that are forked on ranks and share objects (thesis 7.1.2).
#![allow(unsafe_code)] // For `no_mangle` only; tidy sees to that.

use crate::aligned::Aligned;
use crate::handle::given;
use crate::job::rank;
use crate::memory::{Bytes, List, Text, User};
use crate::object::{Objects, Part, part};
use crate::status::{Failure, Status, call};
use std::ffi::c_void;
use std::sync::{Arc, PoisonError};
use weft::Rank;
use weft_object::Types;

/// Code of a process. It runs on a thread of its own, with the objects of its rank, which are its
/// own until it returns, and arguments: length bytes from an address that is a multiple of 8, never
/// null, until it returns.
pub type ProcessCode =
    Option<extern "C" fn(objects: &Objects, arguments: *const c_void, length: usize, user: User)>;

/// A process type. Nothing in it may be null but user.
#[repr(C)]
pub struct ProcessType<'a> {
    /// Its name, by which ranks agree on it.
    pub(crate) name: Text<'a>,
    /// Its code.
    code: ProcessCode,
    /// Pointer that is handed to the code.
    user: User,
}

/// `const weft_process_type *`: types of processes.
///
/// cbindgen:ignore
pub type ProcessTypes<'a> = List<'a, ProcessType<'a>>;

impl ProcessType<'_> {
    /// These types and this one. `users` are counted while it runs.
    pub(crate) fn add(
        &self,
        types: Types,
        users: &Arc<()>,
        place: (Rank, usize),
    ) -> Result<Types, Failure> {
        let name = self.name.get("the name of a process type")?;
        let code = given(self.code, &format!("the code of the process '{name}'"))?;
        let (user, users) = (self.user, Arc::downgrade(users));
        Ok(types.with_process(name, move |objects, arguments| {
            let Some(users) = users.upgrade() else {
                return Err("the objects of its rank were destroyed".into());
            };
            let lent = Objects::lent(objects.clone(), users, place);
            let arguments = Aligned::new(arguments);
            code(&lent, arguments.start(), arguments.len(), user);
            lent.failure().map_or(Ok(()), |text| Err(text.into()))
        }))
    }
}

/// Starts a process of that type on a rank, with arguments of length bytes. Returns when this rank
/// knows of it; it may not have begun. Blocks; callbacks run meanwhile. Not to be called in a
/// callback.
#[unsafe(no_mangle)]
pub extern "C" fn weft_object_fork(
    objects: Option<&Objects>,
    process: Text<'_>,
    on: u32,
    arguments: Bytes<'_>,
    length: usize,
) -> Status {
    call(|| {
        let (objects, process) = (&part(objects)?.objects, process.get("the process")?);
        Ok(objects.fork(process, rank(on)?, arguments.slice(length)?)?)
    })
}

/// Runs a program: rank 0 forks a process of type main on itself. All ranks call it, and it returns
/// when no process is left anywhere. If one has failed it is WEFT_ABANDONED, and so is, meanwhile,
/// what waits for guards; both are WEFT_WAITS_FOR_ITSELF if all processes wait for guards. Blocks;
/// callbacks run meanwhile.
#[unsafe(no_mangle)]
pub extern "C" fn weft_objects_run(
    objects: Option<&Objects>,
    main: Text<'_>,
    arguments: Bytes<'_>,
    length: usize,
) -> Status {
    call(|| {
        let (objects, main) = (&part(objects)?.objects, main.get("the process")?);
        Ok(objects.run(main, arguments.slice(length)?)?)
    })
}

/// Has the process that was given these objects fail when its code returns, which is to be soon:
/// the program ends with this text. The first text counts. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_process_fail(objects: Option<&Objects>, text: Text<'_>) -> Status {
    call(|| part(objects)?.fail(text.get("the text")?))
}

impl Part {
    fn fail(&self, text: &str) -> Result<(), Failure> {
        let Some(failure) = &self.failure else {
            return Err(Failure::invalid("these objects were not given to a process"));
        };
        let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert_with(|| text.to_owned());
        Ok(())
    }
}
