//! Operations that all members of a team take part in.
//!
//! Every operation is a [`Recipe`]: how many bytes a member brings and gets, and how it is begun
//! with them. Those that block begin it and wait; those that begin it keep the recipe, to start it
//! again. A barrier and an all-reduce that block are the team's own, which go through shared
//! memory.
//!
//! | module | what |
//! |---|---|
//! | `pending` | operations that were begun |
//! | `varied` | those with lengths that members choose |
//! | `scan` | scans |
//! | `growing` | teams that grow |
//! | `lasting` | teams after a loss |
//! | `counter` | counters of teams |
//! | `records` | reductions by functions of C's |
//! | `numbers` | types and operations of C's in Rust |
#![allow(unsafe_code)] // For `no_mangle` only; tidy sees to that.

mod counter;
mod growing;
mod lasting;
pub(crate) mod numbers;
mod pending;
mod records;
mod scan;
mod varied;

use self::numbers::{bytes_of, numbers, with_type};
use self::pending::{Begin, Begun, Gives, Pending, Recipe, begin, outcome};
use crate::handle::{Handle, HandleKind, free, given, put};
use crate::job::{Job, state};
use crate::memory::{Bytes, OperationNumber, RankList, Room, TypeNumber, Values};
use crate::packet::ranks_of;
use crate::status::{Failure, Status, call};
use std::mem::MaybeUninit;
use std::sync::Arc;
use weft::collective;
use weft_messaging::Engine;

/// Ranks that act together, each a member with a number from 0 on. All members begin the same
/// operations in the same order, of as many values; if not, all get WEFT_DISAGREEMENT and the team
/// is of no use any more. One thread at a time begins operations. A call that blocks goes together
/// with calls that block, and one that begins with others that do.
pub struct Team(Handle<Members>);

/// Colour of a member that is in no part of a team that is split.
pub const WEFT_NO_COLOUR: u32 = u32::MAX;

/// The type of values.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    /// int8_t
    I8 = 0,
    /// int16_t
    I16,
    /// int32_t
    I32,
    /// int64_t
    I64,
    /// uint8_t: bytes of anything, where nothing is computed.
    U8,
    /// uint16_t
    U16,
    /// uint32_t
    U32,
    /// uint64_t
    U64,
    /// float
    F32,
    /// double
    F64,
}

/// Operation that combines values, in the order of members, always in the same tree: floats give
/// the same bits everywhere.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// The sum. That of integers wraps around.
    Sum = 0,
    /// The product. That of integers wraps around.
    Product,
    /// The least. Of floats that are not numbers it takes none, if there is another.
    Min,
    /// The greatest. Of floats that are not numbers it takes none, if there is another.
    Max,
    /// Bitwise and; of integers only, as the two below.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
}

/// Team in Rust.
struct Members {
    team: collective::Team,
    engine: Arc<Engine>,
}

impl HandleKind for Members {
    const MARK: u32 = 0x5445_410c;
    const NAME: &'static str = "team";
}

fn members(team: Option<&Team>) -> Result<&Members, Failure> {
    given(team, "team")?.0.get()
}

impl Team {
    fn boxed(engine: &Arc<Engine>, team: collective::Team) -> *mut Team {
        let members = Members { team, engine: Arc::clone(engine) };
        Box::into_raw(Box::new(Team(Handle::new(members))))
    }
}

impl Members {
    fn is_root(&self, root: u32) -> bool {
        root as usize == self.team.rank()
    }

    /// Begins an operation with the values that this member brings, and waits for the result.
    fn block(
        &self,
        recipe: &Recipe<impl Begin>,
        values: &Bytes<'_>,
        room: &mut Room<'_>,
    ) -> Result<(), Failure> {
        recipe.check(room)?;
        let outcome = (recipe.begin)(values.slice(recipe.brings)?)?;
        recipe.finish(&self.engine, outcome, room)
    }

    /// Does so where the result takes the place of the values.
    fn block_in_place(
        &self,
        recipe: &Recipe<impl Begin>,
        values: &mut Values<'_>,
    ) -> Result<(), Failure> {
        recipe.check(values.room())?;
        let outcome = (recipe.begin)(values.slice(recipe.brings)?)?;
        recipe.finish(&self.engine, outcome, values.room())
    }

    /// Begins an operation with the values that this member brings.
    fn start(&self, recipe: Recipe<impl Begin>, values: &Bytes<'_>) -> Result<Begun, Failure> {
        let brought = values.slice(recipe.brings)?;
        Begun::new(&self.engine, recipe, brought)
    }

    fn broadcast(&self, root: u32, length: usize) -> Recipe<impl Begin + use<>> {
        let (team, is_root) = (self.team.clone(), self.is_root(root));
        let begin = move |values: &[u8]| {
            let values = if is_root { values.to_vec() } else { vec![0; length] };
            Ok(outcome(team.begin_broadcast(root as usize, values)?, |all| all))
        };
        Recipe { brings: if is_root { length } else { 0 }, gives: Gives::Bytes(length), begin }
    }

    fn reduce(
        &self,
        root: u32,
        (length, of): (usize, Type),
        operation: OperationNumber,
    ) -> Recipe<impl Begin + use<>> {
        let team = self.team.clone();
        let begin = move |values: &[u8]| {
            with_type!(of, |T| {
                let (values, combiner) = (numbers::<T>(values), operation.combiner::<T>()?);
                let pending = team.begin_reduce(root as usize, values, combiner)?;
                Ok(outcome(pending, |all| all.map(bytes_of).unwrap_or_default()))
            })
        };
        let gives = Gives::Bytes(if self.is_root(root) { length } else { 0 });
        Recipe { brings: length, gives, begin }
    }

    fn all_reduce(
        &self,
        (length, of): (usize, Type),
        operation: OperationNumber,
    ) -> Recipe<impl Begin + use<>> {
        let team = self.team.clone();
        let begin = move |values: &[u8]| {
            with_type!(of, |T| {
                let (all, combiner) = (numbers::<T>(values), operation.combiner::<T>()?);
                Ok(outcome(team.begin_all_reduce(all, combiner)?, bytes_of::<T>))
            })
        };
        Recipe { brings: length, gives: Gives::Bytes(length), begin }
    }

    fn gather(&self, root: u32, length: usize) -> Result<Recipe<impl Begin + use<>>, Failure> {
        let gives = Gives::Bytes(if self.is_root(root) { self.of_all(length)? } else { 0 });
        let team = self.team.clone();
        let begin = move |values: &[u8]| {
            let pending = team.begin_gather(root as usize, values.to_vec())?;
            Ok(outcome(pending, |all| all.unwrap_or_default().concat()))
        };
        Ok(Recipe { brings: length, gives, begin })
    }

    fn scatter(&self, root: u32, length: usize) -> Result<Recipe<impl Begin + use<>>, Failure> {
        let brings = if self.is_root(root) { self.of_all(length)? } else { 0 };
        let team = self.team.clone();
        let begin = move |all: &[u8]| {
            let pending = team.begin_scatter(root as usize, all.to_vec(), length)?;
            Ok(outcome(pending, |part| part))
        };
        Ok(Recipe { brings, gives: Gives::Bytes(length), begin })
    }

    fn all_gather(&self, length: usize) -> Result<Recipe<impl Begin + use<>>, Failure> {
        let (team, gives) = (self.team.clone(), Gives::Bytes(self.of_all(length)?));
        let begin =
            move |values: &[u8]| Ok(outcome(team.begin_all_gather(values.to_vec())?, |all| all));
        Ok(Recipe { brings: length, gives, begin })
    }

    fn all_to_all(&self, length: usize) -> Result<Recipe<impl Begin + use<>>, Failure> {
        let (team, total) = (self.team.clone(), self.of_all(length)?);
        let begin = move |values: &[u8]| {
            Ok(outcome(team.begin_all_to_all(values.to_vec())?, |parts| parts))
        };
        Ok(Recipe { brings: total, gives: Gives::Bytes(total), begin })
    }

    /// The bytes of all members, if each has `length`.
    fn of_all(&self, length: usize) -> Result<usize, Failure> {
        let too_many =
            || Failure::invalid(format!("no memory holds {length} bytes of each member"));
        length.checked_mul(self.team.size()).ok_or_else(too_many)
    }
}

/// The team of all ranks that the job began with, whose members are numbered as they are; at a rank
/// that came later the team that has grown by it. It is the caller's, to be freed
/// with weft_team_free(). Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_team_all(
    job: Option<&Job>,
    team: Option<&mut MaybeUninit<*mut Team>>,
) -> Status {
    call(|| {
        let out = given(team, "the pointer for the result")?;
        let job = state(job)?.messages()?;
        out.write(Team::boxed(job.engine(), job.everyone().clone()));
        Ok(())
    })
}

/// The team of count ranks, in this order; null if this rank is not one of them. All ranks make the
/// same teams in the same order, with groups among them, members or not. The team is the caller's,
/// to be freed with weft_team_free(). Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_team_create(
    job: Option<&Job>,
    ranks: RankList<'_>,
    count: usize,
    team: Option<&mut MaybeUninit<*mut Team>>,
) -> Status {
    call(|| {
        let out = given(team, "the pointer for the result")?;
        let job = state(job)?.messages()?;
        let team = job.team(&ranks_of(&ranks, count)?)?;
        out.write(team.map_or(std::ptr::null_mut(), |team| Team::boxed(job.engine(), team)));
        Ok(())
    })
}

/// The part of a team whose members have this colour, ordered by key, and by their order in the
/// team if keys are equal; null if the colour is WEFT_NO_COLOUR. All members of the team call it,
/// and no other ranks. The part is the caller's, to be freed with weft_team_free(). Blocks until
/// all members have called it; callbacks run meanwhile.
#[unsafe(no_mangle)]
pub extern "C" fn weft_team_split(
    team: Option<&Team>,
    colour: u32,
    key: u32,
    part: Option<&mut MaybeUninit<*mut Team>>,
) -> Status {
    call(|| {
        let out = given(part, "the pointer for the result")?;
        let Members { team, engine } = members(team)?;
        let part = team.split((colour != WEFT_NO_COLOUR).then_some(colour), key)?;
        out.write(part.map_or(std::ptr::null_mut(), |part| Team::boxed(engine, part)));
        Ok(())
    })
}

/// Frees what stands for a team in this program. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_team_free(team: Option<Box<Team>>) -> Status {
    call(|| free(team, |team| &mut team.0).map(drop))
}

/// This rank's number in a team. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_team_rank(
    team: Option<&Team>,
    rank: Option<&mut MaybeUninit<u32>>,
) -> Status {
    call(|| put(rank, members(team)?.team.rank() as u32))
}

/// Number of members of a team. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_team_size(
    team: Option<&Team>,
    size: Option<&mut MaybeUninit<u32>>,
) -> Status {
    call(|| put(size, members(team)?.team.size() as u32))
}

/// Returns when all members have called it as often as this one. As all operations of a team that
/// do not begin one: blocks; callbacks run meanwhile.
#[unsafe(no_mangle)]
pub extern "C" fn weft_team_barrier(team: Option<&Team>) -> Status {
    call(|| Ok(members(team)?.team.barrier()?))
}

/// Gives all members the count values of member root.
#[unsafe(no_mangle)]
pub extern "C" fn weft_broadcast(
    team: Option<&Team>,
    root: u32,
    mut values: Values<'_>,
    count: usize,
    of: TypeNumber,
) -> Status {
    call(|| {
        let (team, length) = (members(team)?, of.bytes(count)?);
        team.block_in_place(&team.broadcast(root, length), &mut values)
    })
}

/// Combines the count values of all members, one by one: values are the result at member root
/// afterwards, and elsewhere what they were.
#[unsafe(no_mangle)]
pub extern "C" fn weft_reduce(
    team: Option<&Team>,
    root: u32,
    mut values: Values<'_>,
    count: usize,
    of: TypeNumber,
    operation: OperationNumber,
) -> Status {
    call(|| {
        let (team, all) = (members(team)?, (of.bytes(count)?, of.get()?));
        team.block_in_place(&team.reduce(root, all, operation), &mut values)
    })
}

/// Combines the count values of all members, one by one, and gives all of them the same result.
#[unsafe(no_mangle)]
pub extern "C" fn weft_all_reduce(
    team: Option<&Team>,
    mut values: Values<'_>,
    count: usize,
    of: TypeNumber,
    operation: OperationNumber,
) -> Status {
    call(|| {
        let length = of.bytes(count)?;
        with_type!(of.get()?, |T| {
            let mut all = numbers::<T>(values.slice(length)?);
            members(team)?.team.all_reduce(&mut all, operation.combiner::<T>()?)?;
            values.room().fill(bytemuck::cast_slice(&all));
        });
        Ok(())
    })
}

/// Brings the count values of all members, one member's after the other's, to member root: to all,
/// which has room for them there and may be null elsewhere.
#[unsafe(no_mangle)]
pub extern "C" fn weft_gather(
    team: Option<&Team>,
    root: u32,
    values: Bytes<'_>,
    count: usize,
    of: TypeNumber,
    mut all: Room<'_>,
) -> Status {
    call(|| {
        let team = members(team)?;
        team.block(&team.gather(root, of.bytes(count)?)?, &values, &mut all)
    })
}

/// Gives each member its part of what member root has, count values for each, one member's after
/// the other's: from all, which may be null elsewhere, to values.
#[unsafe(no_mangle)]
pub extern "C" fn weft_scatter(
    team: Option<&Team>,
    root: u32,
    all: Bytes<'_>,
    mut values: Room<'_>,
    count: usize,
    of: TypeNumber,
) -> Status {
    call(|| {
        let team = members(team)?;
        team.block(&team.scatter(root, of.bytes(count)?)?, &all, &mut values)
    })
}

/// Brings the count values of all members, one member's after the other's, to all of them: to all,
/// which has room for them.
#[unsafe(no_mangle)]
pub extern "C" fn weft_all_gather(
    team: Option<&Team>,
    values: Bytes<'_>,
    count: usize,
    of: TypeNumber,
    mut all: Room<'_>,
) -> Status {
    call(|| {
        let team = members(team)?;
        team.block(&team.all_gather(of.bytes(count)?)?, &values, &mut all)
    })
}

/// Gives each member count of the values of each: those for member 0 first. Those for this one come
/// to received, in the order of members. Both hold count values for each member.
#[unsafe(no_mangle)]
pub extern "C" fn weft_all_to_all(
    team: Option<&Team>,
    values: Bytes<'_>,
    count: usize,
    of: TypeNumber,
    mut received: Room<'_>,
) -> Status {
    call(|| {
        let team = members(team)?;
        team.block(&team.all_to_all(of.bytes(count)?)?, &values, &mut received)
    })
}

/// Begins a barrier. As all that begin an operation: what it brings is copied, and the outcome is
/// the caller's, who ends it with weft_pending_wait() or weft_pending_free(). It goes on by itself,
/// whenever this rank polls, waits or is interrupted, and can be started again with
/// weft_pending_start(). Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_barrier_begin(
    team: Option<&Team>,
    pending: Option<&mut MaybeUninit<*mut Pending>>,
) -> Status {
    begin(pending, || {
        let Members { team, engine } = members(team)?;
        let team = team.clone();
        let begin = move |_: &[u8]| Ok(outcome(team.begin_barrier()?, |()| vec![]));
        Begun::new(engine, Recipe { brings: 0, gives: Gives::Bytes(0), begin }, &[])
    })
}

/// Begins a weft_broadcast(): values may be null but at member root.
#[unsafe(no_mangle)]
pub extern "C" fn weft_broadcast_begin(
    team: Option<&Team>,
    root: u32,
    values: Bytes<'_>,
    count: usize,
    of: TypeNumber,
    pending: Option<&mut MaybeUninit<*mut Pending>>,
) -> Status {
    begin(pending, || {
        let (team, length) = (members(team)?, of.bytes(count)?);
        team.start(team.broadcast(root, length), &values)
    })
}

/// Begins a weft_reduce(), which gives its result at member root, and elsewhere nothing.
#[unsafe(no_mangle)]
pub extern "C" fn weft_reduce_begin(
    team: Option<&Team>,
    root: u32,
    values: Bytes<'_>,
    count: usize,
    of: TypeNumber,
    operation: OperationNumber,
    pending: Option<&mut MaybeUninit<*mut Pending>>,
) -> Status {
    begin(pending, || {
        let (team, all) = (members(team)?, (of.bytes(count)?, of.get()?));
        team.start(team.reduce(root, all, operation), &values)
    })
}

/// Begins a weft_all_reduce().
#[unsafe(no_mangle)]
pub extern "C" fn weft_all_reduce_begin(
    team: Option<&Team>,
    values: Bytes<'_>,
    count: usize,
    of: TypeNumber,
    operation: OperationNumber,
    pending: Option<&mut MaybeUninit<*mut Pending>>,
) -> Status {
    begin(pending, || {
        let (team, all) = (members(team)?, (of.bytes(count)?, of.get()?));
        team.start(team.all_reduce(all, operation), &values)
    })
}

/// Begins a weft_gather(), which gives what all brought at member root, and elsewhere nothing.
#[unsafe(no_mangle)]
pub extern "C" fn weft_gather_begin(
    team: Option<&Team>,
    root: u32,
    values: Bytes<'_>,
    count: usize,
    of: TypeNumber,
    pending: Option<&mut MaybeUninit<*mut Pending>>,
) -> Status {
    begin(pending, || {
        let team = members(team)?;
        team.start(team.gather(root, of.bytes(count)?)?, &values)
    })
}

/// Begins a weft_scatter(), of count values to each: all may be null but at member root.
#[unsafe(no_mangle)]
pub extern "C" fn weft_scatter_begin(
    team: Option<&Team>,
    root: u32,
    all: Bytes<'_>,
    count: usize,
    of: TypeNumber,
    pending: Option<&mut MaybeUninit<*mut Pending>>,
) -> Status {
    begin(pending, || {
        let team = members(team)?;
        team.start(team.scatter(root, of.bytes(count)?)?, &all)
    })
}

/// Begins a weft_all_gather().
#[unsafe(no_mangle)]
pub extern "C" fn weft_all_gather_begin(
    team: Option<&Team>,
    values: Bytes<'_>,
    count: usize,
    of: TypeNumber,
    pending: Option<&mut MaybeUninit<*mut Pending>>,
) -> Status {
    begin(pending, || {
        let team = members(team)?;
        team.start(team.all_gather(of.bytes(count)?)?, &values)
    })
}

/// Begins a weft_all_to_all(), of count values to each.
#[unsafe(no_mangle)]
pub extern "C" fn weft_all_to_all_begin(
    team: Option<&Team>,
    values: Bytes<'_>,
    count: usize,
    of: TypeNumber,
    pending: Option<&mut MaybeUninit<*mut Pending>>,
) -> Status {
    begin(pending, || {
        let team = members(team)?;
        team.start(team.all_to_all(of.bytes(count)?)?, &values)
    })
}
