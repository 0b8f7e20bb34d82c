//! Reductions by functions of C's, of elements of any size.
#![allow(unsafe_code)] // For `no_mangle` only; tidy sees to that.
#![allow(clippy::too_many_arguments)] // A reduction has as many, as it has in MPI.

use super::pending::{Begin, Gives, Outcome, Pending, Recipe, begin, outcome};
use super::{Members, Team, members};
use crate::handle::given;
use crate::memory::{Bytes, User, Values};
use crate::status::{Failure, Status, call};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use weft::collective::Records;

/// Function that combines count elements: makes of each of into what it and its equal of next give,
/// which comes after it in the order of members. It must be associative, and need not be
/// commutative. Both lie at multiples of 16 bytes, and are Weft's. It runs on whatever thread
/// polls, until the operation is over.
pub type Combine =
    Option<extern "C" fn(into: *mut c_void, next: *const c_void, count: usize, user: User)>;

type Called = extern "C" fn(*mut c_void, *const c_void, usize, User);

/// Bytes that are given to a function of C's at a time at most, unless an element is longer.
const BLOCK_BYTES: usize = 16 * 1024;

/// A kind of reduction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reduction {
    Reduce(u32),
    AllReduce,
    Scan,
    ExclusiveScan,
}

/// Elements as C describes them, and how they are combined.
#[derive(Clone, Copy)]
struct Elements {
    count: usize,
    bytes: usize,
    combine: Combine,
    user: User,
}

/// A function of C's on elements of so many bytes.
#[derive(Clone, Copy)]
struct Combiner {
    bytes: usize,
    function: Called,
    user: User,
}

impl Combiner {
    /// Combines elements with those after them, in place of these. They lie anywhere, and C gets
    /// them at addresses that fit every type.
    fn combine(self, before: &[u8], after: &mut [u8]) {
        let block = (BLOCK_BYTES / self.bytes).max(1) * self.bytes;
        let words = block.min(before.len()).div_ceil(size_of::<u128>());
        let (mut into, mut next) = (vec![0_u128; words], vec![0_u128; words]);
        for (before, after) in before.chunks(block).zip(after.chunks_mut(block)) {
            let length = before.len();
            bytemuck::cast_slice_mut(&mut into)[..length].copy_from_slice(before);
            bytemuck::cast_slice_mut(&mut next)[..length].copy_from_slice(after);
            let (to, from) = (into.as_mut_ptr().cast(), next.as_ptr().cast());
            (self.function)(to, from, length / self.bytes, self.user);
            after.copy_from_slice(&bytemuck::cast_slice(&into)[..length]);
        }
    }
}

impl Members {
    fn by(
        &self,
        reduction: Reduction,
        Elements { count, bytes, combine, user }: Elements,
    ) -> Result<Recipe<impl Begin + use<>>, Failure> {
        if bytes == 0 {
            return Err(Failure::invalid("elements of no bytes"));
        }
        let too_many = || Failure::invalid(format!("no memory holds {count} values"));
        let brings = count.checked_mul(bytes).ok_or_else(too_many)?;
        let combiner = Combiner { bytes, function: given(combine, "the function")?, user };
        let records = self.team.records(bytes);
        let gives = Gives::Bytes(match reduction {
            Reduction::Reduce(root) if !self.is_root(root) => 0,
            Reduction::ExclusiveScan => self.scanned(brings, true),
            _ => brings,
        });
        let begin = move |values: &[u8]| begin_with(&records, reduction, values, combiner);
        Ok(Recipe { brings, gives, begin })
    }
}

fn begin_with(
    records: &Records,
    reduction: Reduction,
    values: &[u8],
    combiner: Combiner,
) -> Result<Outcome, Failure> {
    let combine = move |before: &[u8], after: &mut [u8]| combiner.combine(before, after);
    let values = values.to_vec();
    Ok(match reduction {
        Reduction::Reduce(root) => {
            let pending = records.begin_reduce(root as usize, values, combine)?;
            outcome(pending, Option::unwrap_or_default)
        }
        Reduction::AllReduce => outcome(records.begin_all_reduce(values, combine)?, |all| all),
        Reduction::Scan => outcome(records.begin_scan(values, combine)?, |all| all),
        Reduction::ExclusiveScan => {
            outcome(records.begin_exclusive_scan(values, combine)?, |all| all)
        }
    })
}

fn block(
    team: Option<&Team>,
    reduction: Reduction,
    values: &mut Values<'_>,
    elements: Elements,
) -> Status {
    call(|| {
        let team = members(team)?;
        team.block_in_place(&team.by(reduction, elements)?, values)
    })
}

fn start(
    team: Option<&Team>,
    reduction: Reduction,
    values: &Bytes<'_>,
    elements: Elements,
    pending: Option<&mut MaybeUninit<*mut Pending>>,
) -> Status {
    begin(pending, || {
        let team = members(team)?;
        team.start(team.by(reduction, elements)?, values)
    })
}

/// Does what weft_reduce() does, with count elements of bytes bytes each and a function.
#[unsafe(no_mangle)]
pub extern "C" fn weft_reduce_by(
    team: Option<&Team>,
    root: u32,
    mut values: Values<'_>,
    count: usize,
    bytes: usize,
    combine: Combine,
    user: User,
) -> Status {
    block(team, Reduction::Reduce(root), &mut values, Elements { count, bytes, combine, user })
}

/// Does what weft_all_reduce() does, with count elements of bytes bytes each and a function.
#[unsafe(no_mangle)]
pub extern "C" fn weft_all_reduce_by(
    team: Option<&Team>,
    mut values: Values<'_>,
    count: usize,
    bytes: usize,
    combine: Combine,
    user: User,
) -> Status {
    block(team, Reduction::AllReduce, &mut values, Elements { count, bytes, combine, user })
}

/// Does what weft_scan() does, with count elements of bytes bytes each and a function.
#[unsafe(no_mangle)]
pub extern "C" fn weft_scan_by(
    team: Option<&Team>,
    mut values: Values<'_>,
    count: usize,
    bytes: usize,
    combine: Combine,
    user: User,
) -> Status {
    block(team, Reduction::Scan, &mut values, Elements { count, bytes, combine, user })
}

/// Does what weft_exscan() does, with count elements of bytes bytes each and a function.
#[unsafe(no_mangle)]
pub extern "C" fn weft_exscan_by(
    team: Option<&Team>,
    mut values: Values<'_>,
    count: usize,
    bytes: usize,
    combine: Combine,
    user: User,
) -> Status {
    block(team, Reduction::ExclusiveScan, &mut values, Elements { count, bytes, combine, user })
}

/// Begins a weft_reduce_by(). As of all that begin an operation with a function: what user points
/// to must live until the operation is over at all members, even if its outcome is freed.
#[unsafe(no_mangle)]
pub extern "C" fn weft_reduce_by_begin(
    team: Option<&Team>,
    root: u32,
    values: Bytes<'_>,
    count: usize,
    bytes: usize,
    combine: Combine,
    user: User,
    pending: Option<&mut MaybeUninit<*mut Pending>>,
) -> Status {
    let elements = Elements { count, bytes, combine, user };
    start(team, Reduction::Reduce(root), &values, elements, pending)
}

/// Begins a weft_all_reduce_by().
#[unsafe(no_mangle)]
pub extern "C" fn weft_all_reduce_by_begin(
    team: Option<&Team>,
    values: Bytes<'_>,
    count: usize,
    bytes: usize,
    combine: Combine,
    user: User,
    pending: Option<&mut MaybeUninit<*mut Pending>>,
) -> Status {
    let elements = Elements { count, bytes, combine, user };
    start(team, Reduction::AllReduce, &values, elements, pending)
}

/// Begins a weft_scan_by().
#[unsafe(no_mangle)]
pub extern "C" fn weft_scan_by_begin(
    team: Option<&Team>,
    values: Bytes<'_>,
    count: usize,
    bytes: usize,
    combine: Combine,
    user: User,
    pending: Option<&mut MaybeUninit<*mut Pending>>,
) -> Status {
    let elements = Elements { count, bytes, combine, user };
    start(team, Reduction::Scan, &values, elements, pending)
}

/// Begins a weft_exscan_by(), which gives member 0 nothing.
#[unsafe(no_mangle)]
pub extern "C" fn weft_exscan_by_begin(
    team: Option<&Team>,
    values: Bytes<'_>,
    count: usize,
    bytes: usize,
    combine: Combine,
    user: User,
    pending: Option<&mut MaybeUninit<*mut Pending>>,
) -> Status {
    let elements = Elements { count, bytes, combine, user };
    start(team, Reduction::ExclusiveScan, &values, elements, pending)
}
