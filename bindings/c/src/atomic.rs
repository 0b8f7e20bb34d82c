//! Atomic operations on variables that the ranks of a job share.
#![allow(unsafe_code)] // For `no_mangle` only; tidy sees to that.

use crate::handle::put;
use crate::job::{Job, rank, state};
use crate::status::{Status, call};
use std::mem::MaybeUninit;
use weft::{Atomic, Variable};

/// Place for the value before an operation, or null if nobody wants it.
type Before<'a> = Option<&'a mut MaybeUninit<u64>>;

fn atomic(
    job: Option<&Job>,
    home: u32,
    index: u32,
    operation: Atomic,
    before: Before<'_>,
) -> Status {
    call(|| {
        let state = state(job)?;
        // The error names the index that C gave.
        let no_such = |_| weft_endpoint::Error::NoSuchVariable(index);
        let variable = Variable::new(rank(home)?, u16::try_from(index).map_err(no_such)?);
        variable.check()?;
        let packets = state.packets();
        let held = match operation {
            Atomic::Add(amount) => packets.fetch_and_add(variable, amount)?,
            operation => packets.atomic(variable, operation)?,
        };
        before.map_or(Ok(()), |before| put(Some(before), held))
    })
}

/// Adds amount to a variable of 64 bits that rank home keeps, and gives what it held before, if
/// before is not null. Programs have the variables 0 to 64511 of each rank, which cost nothing
/// unless they are used; all begin with 0. Additions go round. The home serves the variable without
/// its program. Atomic across the job: this and the functions like it take place one after the
/// other. Blocks for a round trip at most.
#[unsafe(no_mangle)]
pub extern "C" fn weft_fetch_and_add(
    job: Option<&Job>,
    home: u32,
    index: u32,
    amount: u64,
    before: Option<&mut MaybeUninit<u64>>,
) -> Status {
    atomic(job, home, index, Atomic::Add(amount), before)
}

/// Does what weft_fetch_and_add() does, but makes the variable desired if it is expected, and
/// leaves it alone if it is anything else: it was made desired if before is expected.
#[unsafe(no_mangle)]
pub extern "C" fn weft_compare_and_swap(
    job: Option<&Job>,
    home: u32,
    index: u32,
    expected: u64,
    desired: u64,
    before: Option<&mut MaybeUninit<u64>>,
) -> Status {
    atomic(job, home, index, Atomic::CompareSwap { expected, new: desired }, before)
}

/// Does what weft_fetch_and_add() does, but makes the variable value.
#[unsafe(no_mangle)]
pub extern "C" fn weft_swap(
    job: Option<&Job>,
    home: u32,
    index: u32,
    value: u64,
    before: Option<&mut MaybeUninit<u64>>,
) -> Status {
    atomic(job, home, index, Atomic::Swap(value), before)
}

/// Does what weft_fetch_and_add() does, but makes the variable the smaller of itself and value.
#[unsafe(no_mangle)]
pub extern "C" fn weft_fetch_and_min(
    job: Option<&Job>,
    home: u32,
    index: u32,
    value: u64,
    before: Option<&mut MaybeUninit<u64>>,
) -> Status {
    atomic(job, home, index, Atomic::Min(value), before)
}

/// Does what weft_fetch_and_add() does, but makes the variable the larger of itself and value.
#[unsafe(no_mangle)]
pub extern "C" fn weft_fetch_and_max(
    job: Option<&Job>,
    home: u32,
    index: u32,
    value: u64,
    before: Option<&mut MaybeUninit<u64>>,
) -> Status {
    atomic(job, home, index, Atomic::Max(value), before)
}

/// Does what weft_fetch_and_add() does, but leaves set the bits that mask has, too.
#[unsafe(no_mangle)]
pub extern "C" fn weft_fetch_and_and(
    job: Option<&Job>,
    home: u32,
    index: u32,
    mask: u64,
    before: Option<&mut MaybeUninit<u64>>,
) -> Status {
    atomic(job, home, index, Atomic::And(mask), before)
}

/// Does what weft_fetch_and_add() does, but sets the bits that mask has.
#[unsafe(no_mangle)]
pub extern "C" fn weft_fetch_and_or(
    job: Option<&Job>,
    home: u32,
    index: u32,
    mask: u64,
    before: Option<&mut MaybeUninit<u64>>,
) -> Status {
    atomic(job, home, index, Atomic::Or(mask), before)
}

/// Does what weft_fetch_and_add() does, but changes the bits that mask has.
#[unsafe(no_mangle)]
pub extern "C" fn weft_fetch_and_xor(
    job: Option<&Job>,
    home: u32,
    index: u32,
    mask: u64,
    before: Option<&mut MaybeUninit<u64>>,
) -> Status {
    atomic(job, home, index, Atomic::Xor(mask), before)
}
