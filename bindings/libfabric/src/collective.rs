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
use crate::transfer::{Buffers, EndNotice, Ended, Ranges};
use std::ffi::{c_int, c_void};
use std::sync::{Arc, OnceLock};
use weft_collective::{Operation, OperationCall, TeamId};
use weft_endpoint::Rank;

/// Of the table. Callers of another one get none.
const VERSION: u32 = 3;

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
    run: extern "C" fn(u64, Option<&Call<'_>>) -> c_int,
    start: extern "C" fn(u64, Option<&Call<'_>>, Ended, Context) -> c_int,
}

/// `struct weft_coll_call`: an operation, and one member's memory for it.
#[repr(C)]
pub struct Call<'a> {
    operation: c_int,
    root: usize,
    mine: Buffer,
    into: Buffer,
    count: usize,
    size: usize,
    combine: Option<Combine>,
    context: Context,
    parts: List<'a, Part>,
    rooms: List<'a, Part>,
}

/// `enum weft_coll_operation`.
const OPERATIONS: [Operation; 15] = [
    Operation::Barrier,
    Operation::Broadcast,
    Operation::AllGather,
    Operation::Reduce,
    Operation::AllReduce,
    Operation::Gather,
    Operation::Scatter,
    Operation::AllToAll,
    Operation::Scan,
    Operation::ExclusiveScan,
    Operation::ReduceScatter,
    Operation::GatherVaried,
    Operation::ScatterVaried,
    Operation::AllGatherVaried,
    Operation::AllToAllVaried,
];

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
        && std::mem::offset_of!(Table, start) == 56
        && std::mem::offset_of!(Call<'_>, root) == 8
        && std::mem::offset_of!(Call<'_>, rooms) == 72
);

static TABLE: Table = Table { version: VERSION, place, beside, name, open, close, run, start };

static BESIDE: OnceLock<Progress> = OnceLock::new();

/// The table, if this process is in a job of Weft's or may be; it stays where it is.
// SAFETY: no other library has a function of this name; a lookup takes it from this one.
#[unsafe(no_mangle)]
pub extern "C" fn weft_coll_table(version: u32) -> Option<&'static Table> {
    (version == VERSION).then_some(&TABLE)
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

/// Carries out an operation of all members.
extern "C" fn run(team: u64, call: Option<&Call<'_>>) -> c_int {
    with(team, |team| {
        let call = call.ok_or(Refusal::INVALID)?;
        let mut buffers = Buffers::default();
        let operation = call.prepare(team, &mut buffers)?;
        team.operate(&operation, &mut buffers, &mut call.combining())
    })
}

/// Begins an operation of all members, and has `ended` be told of its end.
extern "C" fn start(team: u64, call: Option<&Call<'_>>, ended: Ended, context: Context) -> c_int {
    with(team, |team| {
        let call = call.ok_or(Refusal::INVALID)?;
        let mut buffers = Buffers::default();
        let operation = call.prepare(team, &mut buffers)?;
        team.start(&operation, buffers, (Box::new(call.combining()), EndNotice { ended, context }))
    })
}

impl Call<'_> {
    /// The operation as the engine knows it, and in `buffers`, which are empty, the memory of this
    /// member.
    #[inline(always)]
    fn prepare(&self, team: &Team<'_>, buffers: &mut Buffers) -> Result<OperationCall> {
        let operation = usize::try_from(self.operation).ok().and_then(|it| OPERATIONS.get(it));
        let operation = *operation.ok_or(Refusal::INVALID)?;
        let (members, is_root) = (team.size(), self.root == team.me());
        let bytes = self.count.checked_mul(self.size).ok_or(Refusal::INVALID)?;
        let whole = bytes.checked_mul(members).ok_or(Refusal::INVALID)?;
        let (mut count, mut size) = (self.count, self.size);
        let (gives, takes) = match operation {
            Operation::Barrier => (None, None),
            Operation::Broadcast => (is_root.then_some(bytes), (!is_root).then_some(bytes)),
            Operation::Reduce => (Some(bytes), is_root.then_some(bytes)),
            Operation::Gather => (Some(bytes), is_root.then_some(whole)),
            Operation::Scatter => (is_root.then_some(whole), Some(bytes)),
            Operation::AllGather => (Some(bytes), Some(whole)),
            Operation::ExclusiveScan => (Some(bytes), (team.me() > 0).then_some(bytes)),
            Operation::AllToAll => {
                count *= members;
                (Some(whole), Some(whole))
            }
            Operation::ReduceScatter => {
                count *= members;
                (Some(whole), Some(bytes))
            }
            varied if varied.is_varied() => {
                self.prepare_varied((varied, is_root), members, buffers)?;
                (count, size) = (0, 1);
                (None, None)
            }
            _ => (Some(bytes), Some(bytes)),
        };
        if let Some(length) = gives {
            buffers.mine = self.mine.memory(length)?;
        }
        if let Some(length) = takes {
            buffers.into = self.into.memory(length)?;
        }
        Ok(OperationCall { operation, root: self.root, count, size })
    }

    /// Memory of this member, of parts that each have a length of their own.
    #[inline(never)]
    fn prepare_varied(
        &self,
        (operation, is_root): (Operation, bool),
        members: usize,
        buffers: &mut Buffers,
    ) -> Result {
        let bytes = self.count * self.size;
        let each = || vec![0..bytes; members];
        match operation {
            Operation::GatherVaried | Operation::AllGatherVaried => {
                (buffers.mine, buffers.parts) = (self.mine.memory(bytes)?, each());
            }
            Operation::ScatterVaried => {
                (buffers.into, buffers.rooms) = (self.into.memory(bytes)?, each());
            }
            _ => {}
        }
        let has_all = is_root || operation == Operation::AllGatherVaried;
        let (gives, takes) = match operation {
            Operation::AllToAllVaried => (true, true),
            Operation::ScatterVaried => (is_root, false),
            _ => (false, has_all),
        };
        if gives {
            (buffers.mine, buffers.parts) = varied(self.mine, &self.parts, members)?;
        }
        if takes {
            (buffers.into, buffers.rooms) = varied(self.into, &self.rooms, members)?;
        }
        Ok(())
    }

    /// C's function, for blocks of elements.
    fn combining(&self) -> impl FnMut(&[u8], &mut [u8]) + Send + 'static {
        let (combine, size, context) = (self.combine, self.size, self.context);
        move |block, rest| {
            let count = rest.len().checked_div(size).unwrap_or(0);
            if let Some(combine) = combine {
                combine(block.as_ptr().cast(), rest.as_mut_ptr().cast(), count, context);
            }
        }
    }
}

/// Bytes of which each member has a part.
fn varied(all: Buffer, parts: &List<'_, Part>, members: usize) -> Result<(Memory, Ranges)> {
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
