//! The values of one operation as bytes, and how they are combined.

use super::pending::{Panic, Promise};
use super::reduction::Reduction;
use crate::Error;
use bytemuck::Pod;
use std::ops::Range;
use std::sync::Arc;
use weft_collective::schedule::Area;
use weft_collective::{OperationMemory, RunningOperation, combine_elements};

/// End of an operation at this member.
pub(super) enum Ended {
    /// Well, with these blocks of other members.
    Well(Vec<Vec<u8>>),
    /// For all of the team, or because of something below.
    Failed(Error),
    /// The program's reduction panicked.
    Panicked(Panic),
}

/// Values of any type.
pub(super) trait Values: OperationMemory + Send {
    /// Combines what comes next in a run.
    fn combine(&self, run: &mut RunningOperation<Vec<u8>>);

    /// Gives the outcome to the thread or task that waits for it.
    fn conclude(self: Box<Self>, ended: Ended);
}

/// Combination of the values of one member with those of the members after it.
pub(super) trait Combine<T>: Send + 'static {
    /// Combines values with those that come after them, in place of these. They lie anywhere.
    fn combine(&self, before: &[u8], after: &mut [u8]);
}

/// Values one by one.
pub(super) struct Each<R>(pub R);

impl<T: Pod, R: Reduction<T>> Combine<T> for Each<R> {
    fn combine(&self, before: &[u8], after: &mut [u8]) {
        combine_bytes(&self.0, before, after);
    }
}

impl<T, C: Combine<T> + Sync> Combine<T> for Arc<C> {
    fn combine(&self, before: &[u8], after: &mut [u8]) {
        (**self).combine(before, after);
    }
}

/// Values that a member brings to an operation, and the room for its result.
pub(super) struct Room<T> {
    pub mine: Vec<T>,
    /// `None`: in the place of `mine`.
    pub result: Option<Vec<T>>,
    /// Bytes of `mine` for each member, where lengths vary.
    pub parts: Vec<Range<usize>>,
}

/// Values of type `T`.
pub(super) struct Typed<T, C, F, O> {
    pub room: Room<T>,
    pub combine: C,
    /// Makes the outcome of the room's `mine` and `result`, and of the blocks of other members.
    pub finish: F,
    pub promise: Promise<O>,
}

impl<T: Pod, C, F, O> OperationMemory for Typed<T, C, F, O> {
    fn read(&self, area: Area, at: usize, length: usize, take: &mut dyn FnMut(&[u8])) {
        let values = match area {
            Area::Result => self.room.result.as_ref().unwrap_or(&self.room.mine),
            _ => &self.room.mine,
        };
        take(&bytemuck::cast_slice(values)[at..at + length]);
    }

    fn write(&mut self, at: usize, bytes: &[u8]) {
        let values: &mut [T] = self.room.result.as_mut().unwrap_or(&mut self.room.mine);
        bytemuck::cast_slice_mut(values)[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn copy(&mut self, from: usize, length: usize, at: usize) {
        if let Some(result) = &mut self.room.result {
            let mine: &[u8] = bytemuck::cast_slice(&self.room.mine);
            let result: &mut [u8] = bytemuck::cast_slice_mut(result);
            result[at..at + length].copy_from_slice(&mine[from..from + length]);
        }
    }

    fn part(&self, member: usize) -> Range<usize> {
        self.room.parts[member].clone()
    }
}

impl<T, C, F, O> Values for Typed<T, C, F, O>
where
    T: Pod + Send,
    C: Combine<T>,
    F: FnOnce(Vec<T>, Option<Vec<T>>, Vec<Vec<u8>>) -> O + Send,
    O: Send,
{
    fn combine(&self, run: &mut RunningOperation<Vec<u8>>) {
        run.combine(self, |before, after| self.combine.combine(before, after));
    }

    fn conclude(self: Box<Self>, ended: Ended) {
        let Typed { room: Room { mine, result, .. }, finish, promise, .. } = *self;
        promise.complete(match ended {
            Ended::Well(blocks) => Ok(Ok(finish(mine, result, blocks))),
            Ended::Failed(error) => Err(error),
            Ended::Panicked(panic) => Ok(Err(panic)),
        });
    }
}

impl OperationMemory for Box<dyn Values> {
    fn read(&self, area: Area, at: usize, length: usize, take: &mut dyn FnMut(&[u8])) {
        (**self).read(area, at, length, take);
    }

    fn write(&mut self, at: usize, bytes: &[u8]) {
        (**self).write(at, bytes);
    }

    fn copy(&mut self, from: usize, length: usize, at: usize) {
        (**self).copy(from, length, at);
    }

    fn part(&self, member: usize) -> Range<usize> {
        (**self).part(member)
    }
}

/// Combines values with those that come after them, in place of these. They lie anywhere.
pub(super) fn combine_bytes<T: Pod>(
    reduction: &impl Reduction<T>,
    before: &[u8],
    after: &mut [u8],
) {
    combine_elements(before, after, |mut value: T, next| {
        reduction.combine(&mut value, &next);
        value
    });
}

/// The values that `bytes` are, wherever they lie.
pub(super) fn values_in<T: Pod>(bytes: &[u8]) -> Vec<T> {
    let mut values = vec![T::zeroed(); bytes.len() / size_of::<T>().max(1)];
    bytemuck::cast_slice_mut(&mut values).copy_from_slice(bytes);
    values
}
