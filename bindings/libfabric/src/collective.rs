//! `struct weft_coll` (`include/weft-coll.h`): collective operations, for libraries between a
//! program and its MPI library.
#![allow(unsafe_code)] // For `no_mangle` only.

pub(crate) mod team;

use self::team::Team;
use crate::entry::call;
use crate::job::Job;
use crate::memory::{Buffer, Memory};
use crate::pointer::{Context, List, Out};
use crate::refusal::{Refusal, Result};
use crate::transfer::{Buffers, Ranges};
use std::ffi::{c_int, c_void};
use std::sync::{Arc, OnceLock};
use weft_collective::{BARRIER, Operation, OperationCall, TeamId};
use weft_endpoint::Rank;

/// Of the table, as far as it is here.
const VERSION: u32 = 2;

/// The name of a team, and what its leader says of it.
type Name = [u64; 2];

/// `weft_coll_combine`.
type Combine = extern "C" fn(*const c_void, *mut c_void, usize, Context);

/// Function by which the library reads completions.
type Progress = extern "C" fn();

/// The table of functions.
#[repr(C)]
pub struct Table {
    version: u32,
    place: extern "C" fn(Out<u32>, Out<u32>) -> c_int,
    beside: extern "C" fn(Progress) -> c_int,
    name: extern "C" fn(usize, Out<Name>) -> c_int,
    open: extern "C" fn(List<'_, u64>, List<'_, u32>, usize) -> c_int,
    close: extern "C" fn(u64) -> c_int,
    barrier: extern "C" fn(u64) -> c_int,
    broadcast: extern "C" fn(u64, usize, Buffer, usize) -> c_int,
    all_gather: extern "C" fn(u64, Buffer, usize, Buffer) -> c_int,
    reduce: extern "C" fn(u64, usize, Buffer, Buffer, usize, usize, Combine, Context) -> c_int,
    all_reduce: extern "C" fn(u64, Buffer, Buffer, usize, usize, Combine, Context) -> c_int,
    gather: extern "C" fn(u64, usize, Buffer, usize, Buffer) -> c_int,
    scatter: extern "C" fn(u64, usize, Buffer, usize, Buffer) -> c_int,
    all_to_all: extern "C" fn(u64, Buffer, usize, Buffer) -> c_int,
    scan: extern "C" fn(u64, c_int, Buffer, Buffer, usize, usize, Combine, Context) -> c_int,
    reduce_scatter: extern "C" fn(u64, Buffer, Buffer, usize, usize, Combine, Context) -> c_int,
    gather_varied: extern "C" fn(u64, usize, Buffer, usize, Buffer, List<'_, Part>) -> c_int,
    scatter_varied: extern "C" fn(u64, usize, Buffer, List<'_, Part>, Buffer, usize) -> c_int,
    all_gather_varied: extern "C" fn(u64, Buffer, usize, Buffer, List<'_, Part>) -> c_int,
    all_to_all_varied: extern "C" fn(u64, Buffer, List<'_, Part>, Buffer, List<'_, Part>) -> c_int,
}

/// `struct weft_coll_part`: place of one member's bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Part {
    at: usize,
    bytes: usize,
}

// The numbers stand in tests/layouts.c too, where they are compared with the header.
const _: () = assert!(
    std::mem::offset_of!(Table, place) == 8
        && std::mem::offset_of!(Table, all_reduce) == 80
        && std::mem::offset_of!(Table, all_to_all_varied) == 152
);

static TABLE: Table = Table {
    version: VERSION,
    place,
    beside,
    name,
    open,
    close,
    barrier,
    broadcast,
    all_gather,
    reduce,
    all_reduce,
    gather,
    scatter,
    all_to_all,
    scan,
    reduce_scatter,
    gather_varied,
    scatter_varied,
    all_gather_varied,
    all_to_all_varied,
};

static BESIDE: OnceLock<Progress> = OnceLock::new();

/// The table, if this process is in a job of Weft's or may be; it stays where it is.
// SAFETY: no other library has a function of this name; a lookup takes it from this one.
#[unsafe(no_mangle)]
pub extern "C" fn weft_coll_table(version: u32) -> Option<&'static Table> {
    (version <= VERSION).then_some(&TABLE)
}

/// Has whoever reads completions read them.
pub(crate) fn progress() {
    if let Some(progress) = BESIDE.get() {
        progress();
    }
}

fn job() -> Result<Arc<Job>> {
    Job::current().ok_or(Refusal::UNREACHABLE)
}

fn with(team: u64, work: impl FnOnce(&Team<'_>) -> Result) -> c_int {
    call(|| work(&Team::of(&*job()?, named(team))?))
}

/// Tells this rank's number, and the number of ranks.
extern "C" fn place(rank: Out<u32>, ranks: Out<u32>) -> c_int {
    call(|| {
        let job = job()?;
        rank.set(u32::from(job.packets().rank().0));
        ranks.set(job.packets().size() as u32);
        Ok(())
    })
}

extern "C" fn beside(progress: Progress) -> c_int {
    call(|| {
        BESIDE.get_or_init(|| progress);
        Ok(())
    })
}

/// A name for a team of `members` that this rank leads.
extern "C" fn name(members: usize, out: Out<Name>) -> c_int {
    call(|| {
        let (TeamId { leader, count }, area) = team::name(&*job()?, members);
        out.set([u64::from(leader.0) << 32 | u64::from(count), area]);
        Ok(())
    })
}

extern "C" fn open(name: List<'_, u64>, ranks: List<'_, u32>, count: usize) -> c_int {
    call(|| {
        let &[team, area] = name.slice(size_of::<Name>() / 8)? else {
            return Err(Refusal::INVALID);
        };
        let ranks = ranks.slice(count)?.iter();
        let members: Option<Vec<Rank>> =
            ranks.map(|&rank| u16::try_from(rank).ok().map(Rank)).collect();
        let members = members.ok_or(Refusal::INVALID)?;
        team::open(&*job()?, named(team), area, &members)
    })
}

extern "C" fn close(team: u64) -> c_int {
    call(|| {
        let closed = team::close(&*job()?, named(team));
        if closed { Ok(()) } else { Err(Refusal::NOT_FOUND) }
    })
}

extern "C" fn barrier(team: u64) -> c_int {
    with(team, |team| team.operate(&BARRIER, Memory::NONE, Memory::NONE, &mut |_, _| ()))
}

extern "C" fn broadcast(team: u64, root: usize, buffer: Buffer, bytes: usize) -> c_int {
    with(team, |team| team.broadcast(root, buffer.memory(bytes)?))
}

extern "C" fn all_gather(team: u64, mine: Buffer, bytes: usize, all: Buffer) -> c_int {
    with(team, |team| {
        let whole = bytes.checked_mul(team.size()).ok_or(Refusal::INVALID)?;
        let call =
            OperationCall { operation: Operation::AllGather, root: 0, count: bytes, size: 1 };
        team.operate(&call, mine.memory(bytes)?, all.memory(whole)?, &mut |_, _| ())
    })
}

extern "C" fn reduce(
    team: u64,
    root: usize,
    mine: Buffer,
    into: Buffer,
    count: usize,
    size: usize,
    combine: Combine,
    context: Context,
) -> c_int {
    with(team, |team| {
        let bytes = bytes_of(count, size, team.size())?;
        let into = if root == team.me() { into.memory(bytes)? } else { Memory::NONE };
        let mut combine = combining(combine, size, context);
        let call = OperationCall { operation: Operation::Reduce, root, count, size };
        team.operate(&call, mine.memory(bytes)?, into, &mut combine)
    })
}

extern "C" fn all_reduce(
    team: u64,
    mine: Buffer,
    into: Buffer,
    count: usize,
    size: usize,
    combine: Combine,
    context: Context,
) -> c_int {
    with(team, |team| {
        let bytes = bytes_of(count, size, team.size())?;
        let mut combine = combining(combine, size, context);
        let call = OperationCall { operation: Operation::AllReduce, root: 0, count, size };
        team.operate(&call, mine.memory(bytes)?, into.memory(bytes)?, &mut combine)
    })
}

extern "C" fn gather(team: u64, root: usize, mine: Buffer, bytes: usize, all: Buffer) -> c_int {
    with(team, |team| {
        let whole = bytes.checked_mul(team.size()).ok_or(Refusal::INVALID)?;
        let all = if root == team.me() { all.memory(whole)? } else { Memory::NONE };
        let call = OperationCall { operation: Operation::Gather, root, count: bytes, size: 1 };
        team.operate(&call, mine.memory(bytes)?, all, &mut |_, _| ())
    })
}

extern "C" fn scatter(team: u64, root: usize, all: Buffer, bytes: usize, mine: Buffer) -> c_int {
    with(team, |team| {
        let whole = bytes.checked_mul(team.size()).ok_or(Refusal::INVALID)?;
        let all = if root == team.me() { all.memory(whole)? } else { Memory::NONE };
        team.scatter(root, all, mine.memory(bytes)?)
    })
}

extern "C" fn all_to_all(team: u64, mine: Buffer, bytes: usize, into: Buffer) -> c_int {
    with(team, |team| {
        let whole = bytes.checked_mul(team.size()).ok_or(Refusal::INVALID)?;
        let call = OperationCall { operation: Operation::AllToAll, root: 0, count: whole, size: 1 };
        team.operate(&call, mine.memory(whole)?, into.memory(whole)?, &mut |_, _| ())
    })
}

extern "C" fn scan(
    team: u64,
    is_exclusive: c_int,
    mine: Buffer,
    into: Buffer,
    count: usize,
    size: usize,
    combine: Combine,
    context: Context,
) -> c_int {
    with(team, |team| {
        let bytes = bytes_of(count, size, team.size())?;
        let mut combine = combining(combine, size, context);
        let operation = if is_exclusive == 0 { Operation::Scan } else { Operation::ExclusiveScan };
        let call = OperationCall { operation, root: 0, count, size };
        let has_result = operation == Operation::Scan || team.me() > 0;
        let into = if has_result { into.memory(bytes)? } else { Memory::NONE };
        team.operate(&call, mine.memory(bytes)?, into, &mut combine)
    })
}

extern "C" fn reduce_scatter(
    team: u64,
    mine: Buffer,
    into: Buffer,
    count: usize,
    size: usize,
    combine: Combine,
    context: Context,
) -> c_int {
    with(team, |team| {
        let share = bytes_of(count, size, team.size())?;
        let (count, bytes) = (count * team.size(), share * team.size());
        let mut combine = combining(combine, size, context);
        let call = OperationCall { operation: Operation::ReduceScatter, root: 0, count, size };
        team.operate(&call, mine.memory(bytes)?, into.memory(share)?, &mut combine)
    })
}

extern "C" fn gather_varied(
    team: u64,
    root: usize,
    mine: Buffer,
    bytes: usize,
    all: Buffer,
    rooms: List<'_, Part>,
) -> c_int {
    with(team, |team| {
        let (into, rooms) = match root == team.me() {
            true => varied(all, rooms, team.size())?,
            false => (Memory::NONE, Ranges::new()),
        };
        let (mine, parts) = (mine.memory(bytes)?, vec![0..bytes; team.size()]);
        team.operate_varied(Operation::GatherVaried, root, Buffers { mine, into, parts, rooms })
    })
}

extern "C" fn scatter_varied(
    team: u64,
    root: usize,
    all: Buffer,
    parts: List<'_, Part>,
    mine: Buffer,
    bytes: usize,
) -> c_int {
    with(team, |team| {
        let (all, parts) = match root == team.me() {
            true => varied(all, parts, team.size())?,
            false => (Memory::NONE, Ranges::new()),
        };
        let (into, rooms) = (mine.memory(bytes)?, vec![0..bytes; team.size()]);
        let buffers = Buffers { mine: all, into, parts, rooms };
        team.operate_varied(Operation::ScatterVaried, root, buffers)
    })
}

extern "C" fn all_gather_varied(
    team: u64,
    mine: Buffer,
    bytes: usize,
    all: Buffer,
    rooms: List<'_, Part>,
) -> c_int {
    with(team, |team| {
        let (into, rooms) = varied(all, rooms, team.size())?;
        let (mine, parts) = (mine.memory(bytes)?, vec![0..bytes; team.size()]);
        team.operate_varied(Operation::AllGatherVaried, 0, Buffers { mine, into, parts, rooms })
    })
}

extern "C" fn all_to_all_varied(
    team: u64,
    mine: Buffer,
    parts: List<'_, Part>,
    into: Buffer,
    rooms: List<'_, Part>,
) -> c_int {
    with(team, |team| {
        let (mine, parts) = varied(mine, parts, team.size())?;
        let (into, rooms) = varied(into, rooms, team.size())?;
        team.operate_varied(Operation::AllToAllVaried, 0, Buffers { mine, into, parts, rooms })
    })
}

/// Bytes of which each member has a part.
fn varied(all: Buffer, parts: List<'_, Part>, members: usize) -> Result<(Memory, Ranges)> {
    let range = |part: &Part| Some(part.at..part.at.checked_add(part.bytes)?);
    let parts: Option<Ranges> = parts.slice(members)?.iter().map(range).collect();
    let parts = parts.ok_or(Refusal::INVALID)?;
    let ends = parts.iter().filter(|part| !part.is_empty()).map(|part| part.end);
    Ok((all.memory(ends.max().unwrap_or(0))?, parts))
}

/// A team, as C names it.
fn named(team: u64) -> TeamId {
    TeamId { leader: Rank((team >> 32) as u16), count: team as u32 }
}

/// Bytes of so many elements, if those of all members together can still be counted.
fn bytes_of(count: usize, size: usize, members: usize) -> Result<usize> {
    let bytes = count.checked_mul(size).ok_or(Refusal::INVALID)?;
    bytes.checked_mul(members).ok_or(Refusal::INVALID)?;
    Ok(bytes)
}

/// C's function, for blocks of elements of `size` bytes.
fn combining(combine: Combine, size: usize, context: Context) -> impl FnMut(&[u8], &mut [u8]) {
    move |block, rest| {
        let count = rest.len().checked_div(size).unwrap_or(0);
        combine(block.as_ptr().cast(), rest.as_mut_ptr().cast(), count, context);
    }
}
