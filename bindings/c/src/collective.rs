//! Operations that all members of a team take part in.
//!
//! Every operation is begun and waited for, and gives bytes. A barrier and an all-reduce that block
//! are the team's own, which go through shared memory.
#![allow(unsafe_code)] // For `no_mangle` only; tidy sees to that.

pub(crate) mod numbers;

use self::numbers::{bytes_of, numbers, with_type};
use crate::awaited::Awaited;
use crate::handle::{Handle, Kind, free, given, put};
use crate::job::{Job, state};
use crate::memory::{Bytes, OperationNumber, RankList, Room, TypeNumber, Values};
use crate::packet::ranks_of;
use crate::status::{Failure, Status, call};
use std::future::Future;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use weft::collective;
use weft_messaging::Engine;

/// Ranks that act together, each a member with a number from 0 on. All members begin the same
/// operations in the same order, of as many values; if not, all get WEFT_DISAGREEMENT and the team
/// is of no use any more. One thread at a time begins operations. A call that blocks goes together
/// with calls that block, and one that begins with others that do.
pub struct Team(Handle<Members>);

/// An operation that was begun. One thread at a time uses it.
pub struct Pending(Handle<Begun>);

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

/// The bytes that an operation gives this member, and how many.
struct Begun {
    outcome: Awaited<Outcome>,
    length: usize,
}

type Outcome = Pin<Box<dyn Future<Output = weft_messaging::Result<Vec<u8>>> + Send>>;

impl Kind for Members {
    const MARK: u32 = 0x5445_410c;
    const NAME: &'static str = "team";
}

impl Kind for Begun {
    const MARK: u32 = 0x5045_4e0d;
    const NAME: &'static str = "pending operation";
}

fn members(team: Option<&Team>) -> Result<&Members, Failure> {
    given(team, "team")?.0.get()
}

impl Team {
    fn boxed(job: &weft::Weft, team: collective::Team) -> *mut Team {
        let members = Members { team, engine: Arc::clone(job.engine()) };
        Box::into_raw(Box::new(Team(Handle::new(members))))
    }
}

impl Members {
    /// Result of an operation, whichever type its Rust result has.
    fn begun<T: Send + 'static>(
        &self,
        pending: collective::Pending<T>,
        length: usize,
        bytes: impl FnOnce(T) -> Vec<u8> + Send + 'static,
    ) -> Begun {
        let outcome: Outcome = Box::pin(async move { pending.await.map(bytes) });
        Begun { outcome: Awaited::new(&self.engine, outcome), length }
    }

    fn is_root(&self, root: u32) -> bool {
        root as usize == self.team.rank()
    }

    fn barrier(&self) -> Result<Begun, Failure> {
        Ok(self.begun(self.team.begin_barrier()?, 0, |()| vec![]))
    }

    fn broadcast(&self, root: u32, values: &[u8], length: usize) -> Result<Begun, Failure> {
        let values = if self.is_root(root) { values.to_vec() } else { vec![0; length] };
        Ok(self.begun(self.team.begin_broadcast(root as usize, values)?, length, |all| all))
    }

    fn reduce(
        &self,
        root: u32,
        values: &[u8],
        of: TypeNumber,
        operation: OperationNumber,
    ) -> Result<Begun, Failure> {
        let length = if self.is_root(root) { values.len() } else { 0 };
        with_type!(of.get()?, |T| {
            let (values, combiner) = (numbers::<T>(values), operation.combiner::<T>()?);
            let pending = self.team.begin_reduce(root as usize, values, combiner)?;
            Ok(self.begun(pending, length, |all| all.map(bytes_of).unwrap_or_default()))
        })
    }

    fn all_reduce(
        &self,
        values: &[u8],
        of: TypeNumber,
        operation: OperationNumber,
    ) -> Result<Begun, Failure> {
        with_type!(of.get()?, |T| {
            let (all, combiner) = (numbers::<T>(values), operation.combiner::<T>()?);
            let pending = self.team.begin_all_reduce(all, combiner)?;
            Ok(self.begun(pending, values.len(), bytes_of::<T>))
        })
    }

    fn gather(&self, root: u32, values: &[u8]) -> Result<Begun, Failure> {
        let members = if self.is_root(root) { self.team.size() } else { 0 };
        let pending = self.team.begin_gather(root as usize, values.to_vec())?;
        Ok(self.begun(pending, values.len() * members, |all| all.unwrap_or_default().concat()))
    }

    fn scatter(&self, root: u32, all: &Bytes<'_>, length: usize) -> Result<Begun, Failure> {
        let total = if self.is_root(root) { self.of_all(length)? } else { 0 };
        let all = all.slice(total)?.to_vec();
        Ok(self.begun(self.team.begin_scatter(root as usize, all, length)?, length, |part| part))
    }

    fn all_gather(&self, values: &[u8]) -> Result<Begun, Failure> {
        let length = self.of_all(values.len())?;
        Ok(self.begun(self.team.begin_all_gather(values.to_vec())?, length, |all| all))
    }

    fn all_to_all(&self, values: &Bytes<'_>, length: usize) -> Result<Begun, Failure> {
        let total = self.of_all(length)?;
        let pending = self.team.begin_all_to_all(values.slice(total)?.to_vec())?;
        Ok(self.begun(pending, total, |parts| parts))
    }

    /// The bytes of all members, if each has so many.
    fn of_all(&self, length: usize) -> Result<usize, Failure> {
        let too_many =
            || Failure::invalid(format!("no memory holds {length} bytes of each member"));
        length.checked_mul(self.team.size()).ok_or_else(too_many)
    }
}

impl Begun {
    /// Waits, and writes what it gives.
    fn finish(self, room: &mut Room<'_>) -> Result<(), Failure> {
        room.check(self.length)?;
        let outcome = self.outcome.wait()?;
        if self.length > 0 {
            room.fill(&outcome[..self.length]);
        }
        Ok(())
    }
}

/// The team of all ranks, whose members are numbered as they are. It is the caller's, to be freed
/// with weft_team_free(). Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_team_all(
    job: Option<&Job>,
    team: Option<&mut MaybeUninit<*mut Team>>,
) -> Status {
    call(|| {
        let out = given(team, "the pointer for the result")?;
        let job = state(job)?.messages()?;
        out.write(Team::boxed(job, job.everyone().clone()));
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
        out.write(team.map_or(std::ptr::null_mut(), |team| Team::boxed(job, team)));
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
        let mine = values.slice(if team.is_root(root) { length } else { 0 })?;
        team.broadcast(root, mine, length)?.finish(values.room())
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
        let mine = values.slice(of.bytes(count)?)?;
        members(team)?.reduce(root, mine, of, operation)?.finish(values.room())
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
    call(|| members(team)?.gather(root, values.slice(of.bytes(count)?)?)?.finish(&mut all))
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
    call(|| members(team)?.scatter(root, &all, of.bytes(count)?)?.finish(&mut values))
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
    call(|| members(team)?.all_gather(values.slice(of.bytes(count)?)?)?.finish(&mut all))
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
    call(|| members(team)?.all_to_all(&values, of.bytes(count)?)?.finish(&mut received))
}

/// Begins a barrier. As all that begin an operation: what it brings is copied, and the outcome is
/// the caller's, who ends it with weft_pending_wait() or weft_pending_free(). It goes on by itself,
/// whenever this rank polls, waits or is interrupted. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_barrier_begin(
    team: Option<&Team>,
    pending: Option<&mut MaybeUninit<*mut Pending>>,
) -> Status {
    begin(pending, || members(team)?.barrier())
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
        team.broadcast(root, values.slice(if team.is_root(root) { length } else { 0 })?, length)
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
    begin(pending, || members(team)?.reduce(root, values.slice(of.bytes(count)?)?, of, operation))
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
    begin(pending, || members(team)?.all_reduce(values.slice(of.bytes(count)?)?, of, operation))
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
    begin(pending, || members(team)?.gather(root, values.slice(of.bytes(count)?)?))
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
    begin(pending, || members(team)?.scatter(root, &all, of.bytes(count)?))
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
    begin(pending, || members(team)?.all_gather(values.slice(of.bytes(count)?)?))
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
    begin(pending, || members(team)?.all_to_all(&values, of.bytes(count)?))
}

/// Tells if an operation is over, well or not, so that weft_pending_wait() does not block. Polls
/// once.
#[unsafe(no_mangle)]
pub extern "C" fn weft_pending_test(
    pending: Option<&mut Pending>,
    done: Option<&mut MaybeUninit<bool>>,
) -> Status {
    call(|| put(done, given(pending, "pending operation")?.0.get_mut()?.outcome.is_done()?))
}

/// Waits for an operation and frees it, even when it fails. Its result comes to values, which have
/// room for it, and may be null if it gives this member nothing. Blocks; callbacks run meanwhile.
#[unsafe(no_mangle)]
pub extern "C" fn weft_pending_wait(pending: Option<Box<Pending>>, mut values: Room<'_>) -> Status {
    call(|| free(pending, |pending| &mut pending.0)?.finish(&mut values))
}

/// Gives up on the result of an operation, which goes on all the same, and frees it. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_pending_free(pending: Option<Box<Pending>>) -> Status {
    call(|| free(pending, |pending| &mut pending.0).map(drop))
}

fn begin(
    pending: Option<&mut MaybeUninit<*mut Pending>>,
    operation: impl FnOnce() -> Result<Begun, Failure>,
) -> Status {
    call(|| {
        let out = given(pending, "the pointer for the result")?;
        out.write(Box::into_raw(Box::new(Pending(Handle::new(operation()?)))));
        Ok(())
    })
}
