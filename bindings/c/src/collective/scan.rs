//! Scans.
#![allow(unsafe_code)] // For `no_mangle` only; tidy sees to that.

use super::numbers::{bytes_of, numbers, with_type};
use super::pending::{Begin, Gives, Pending, Recipe, begin, outcome};
use super::{Members, Team, Type, members};
use crate::memory::{Bytes, OperationNumber, TypeNumber, Values};
use crate::status::{Failure, Status, call};
use std::mem::MaybeUninit;

impl Members {
    /// A scan of so many bytes of a type.
    fn scan(
        &self,
        (length, of): (usize, Type),
        operation: OperationNumber,
        is_exclusive: bool,
    ) -> Recipe<impl Begin + use<>> {
        let team = self.team.clone();
        let begin = move |values: &[u8]| {
            with_type!(of, |T| {
                let (values, combiner) = (numbers::<T>(values), operation.combiner::<T>()?);
                let pending = match is_exclusive {
                    true => team.begin_exclusive_scan(values, combiner)?,
                    false => team.begin_scan(values, combiner)?,
                };
                Ok(outcome(pending, bytes_of::<T>))
            })
        };
        Recipe { brings: length, gives: Gives::Bytes(self.scanned(length, is_exclusive)), begin }
    }

    /// Bytes that a scan of so many gives this member: there is nothing before member 0.
    pub(super) fn scanned(&self, length: usize, is_exclusive: bool) -> usize {
        if is_exclusive && self.team.rank() == 0 { 0 } else { length }
    }
}

fn block(
    team: Option<&Team>,
    values: &mut Values<'_>,
    (count, of): (usize, TypeNumber),
    operation: OperationNumber,
    is_exclusive: bool,
) -> Result<(), Failure> {
    let (team, all) = (members(team)?, (of.bytes(count)?, of.get()?));
    team.block_in_place(&team.scan(all, operation, is_exclusive), values)
}

/// Combines the count values of the members up to this one and its own, one by one and in the order
/// of members: values are the result afterwards.
#[unsafe(no_mangle)]
pub extern "C" fn weft_scan(
    team: Option<&Team>,
    mut values: Values<'_>,
    count: usize,
    of: TypeNumber,
    operation: OperationNumber,
) -> Status {
    call(|| block(team, &mut values, (count, of), operation, false))
}

/// Combines the count values of the members before this one, without its own, as weft_scan() does.
/// There are none before member 0, whose values stay what they were.
#[unsafe(no_mangle)]
pub extern "C" fn weft_exscan(
    team: Option<&Team>,
    mut values: Values<'_>,
    count: usize,
    of: TypeNumber,
    operation: OperationNumber,
) -> Status {
    call(|| block(team, &mut values, (count, of), operation, true))
}

/// Begins a weft_scan().
#[unsafe(no_mangle)]
pub extern "C" fn weft_scan_begin(
    team: Option<&Team>,
    values: Bytes<'_>,
    count: usize,
    of: TypeNumber,
    operation: OperationNumber,
    pending: Option<&mut MaybeUninit<*mut Pending>>,
) -> Status {
    begin(pending, || {
        let (team, all) = (members(team)?, (of.bytes(count)?, of.get()?));
        team.start(team.scan(all, operation, false), &values)
    })
}

/// Begins a weft_exscan(), which gives member 0 nothing.
#[unsafe(no_mangle)]
pub extern "C" fn weft_exscan_begin(
    team: Option<&Team>,
    values: Bytes<'_>,
    count: usize,
    of: TypeNumber,
    operation: OperationNumber,
    pending: Option<&mut MaybeUninit<*mut Pending>>,
) -> Status {
    begin(pending, || {
        let (team, all) = (members(team)?, (of.bytes(count)?, of.get()?));
        team.start(team.scan(all, operation, true), &values)
    })
}
