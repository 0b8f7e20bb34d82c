//! Operations of a team in which each member chooses how many values it brings. Nobody needs to
//! know the others' numbers before: every part says itself how long it is.

use super::pending::Pending;
use super::persistent::{Persistent, PersistentVaried, Prepare};
use super::team::{Shared, Team, nothing};
use super::values::{Each, Room, values_in};
use crate::{Error, Result};
use bytemuck::Pod;
use std::ops::Range;
use std::sync::Arc;
use weft_collective::{Operation, OperationCall};

impl Team {
    /// Does what [`Self::gather`] does, of as many values as each member wants to bring.
    ///
    /// # Errors
    /// See [`Team`].
    pub fn gather_varied<T: Pod + Send>(
        &self,
        root: usize,
        values: &[T],
    ) -> Result<Option<Vec<Vec<T>>>> {
        self.begin_gather_varied(root, values.to_vec())?.wait()
    }

    /// Begins a [`Self::gather_varied`].
    ///
    /// # Errors
    /// See [`Team`].
    pub fn begin_gather_varied<T: Pod + Send>(
        &self,
        root: usize,
        values: Vec<T>,
    ) -> Result<Pending<Option<Vec<Vec<T>>>>> {
        let (me, is_root) = (self.rank(), root == self.rank());
        let parts = vec![0..values.len(); self.size()];
        begin(&self.shared, (Operation::GatherVaried, root), values, parts, move |mine, blocks| {
            is_root.then(|| all_of(me, mine, blocks))
        })
    }

    /// Gives each member its part of what member `root` has, who alone has `parts`: one for each
    /// member, of any length. Returns the part for this one.
    ///
    /// # Errors
    /// See [`Team`]; [`Error::Parts`] at the root, if there are not as many parts as members.
    ///
    /// # Panics
    /// If `parts` are `None` at the root, or `Some` elsewhere.
    pub fn scatter_varied<T: Pod + Send>(
        &self,
        root: usize,
        parts: Option<&[Vec<T>]>,
    ) -> Result<Vec<T>> {
        assert_eq!(parts.is_some(), root == self.rank(), "the root alone has parts to scatter");
        let (values, lengths) = flat(parts.unwrap_or_default());
        self.begin_scatter_varied(root, values, &lengths)?.wait()
    }

    /// Begins a [`Self::scatter_varied`] of `values`: the first of as many `lengths` as there are
    /// members is that of the part for member 0. Both are empty but at the root.
    ///
    /// # Errors
    /// See [`Team`]; [`Error::Parts`] at the root, if the lengths are not those of a part for each
    /// member, which are all values together.
    pub fn begin_scatter_varied<T: Pod + Send>(
        &self,
        root: usize,
        values: Vec<T>,
        lengths: &[usize],
    ) -> Result<Pending<Vec<T>>> {
        let (me, is_root) = (self.rank(), root == self.rank());
        let parts = match is_root {
            true => parts_of(self.size(), values.len(), lengths)?,
            false => vec![0..0; self.size()],
        };
        let own = parts[me].clone();
        begin(&self.shared, (Operation::ScatterVaried, root), values, parts, move |mine, blocks| {
            if is_root { mine[own].to_vec() } else { values_in(&blocks[root]) }
        })
    }

    /// Brings the `values` of all members to all, of as many as each wants to bring. Returns what
    /// each member brought, in their order.
    ///
    /// # Errors
    /// See [`Team`].
    pub fn all_gather_varied<T: Pod + Send>(&self, values: &[T]) -> Result<Vec<Vec<T>>> {
        self.begin_all_gather_varied(values.to_vec())?.wait()
    }

    /// Begins an [`Self::all_gather_varied`].
    ///
    /// # Errors
    /// See [`Team`].
    pub fn begin_all_gather_varied<T: Pod + Send>(
        &self,
        values: Vec<T>,
    ) -> Result<Pending<Vec<Vec<T>>>> {
        let (me, parts) = (self.rank(), vec![0..values.len(); self.size()]);
        begin(&self.shared, (Operation::AllGatherVaried, 0), values, parts, move |mine, blocks| {
            all_of(me, mine, blocks)
        })
    }

    /// Gives each member its part of what each has: one for each member, of any length. Returns the
    /// parts for this one, in the order of members.
    ///
    /// # Errors
    /// See [`Team`]; [`Error::Parts`] if there are not as many parts as members.
    pub fn all_to_all_varied<T: Pod + Send>(&self, parts: &[Vec<T>]) -> Result<Vec<Vec<T>>> {
        let (values, lengths) = flat(parts);
        self.begin_all_to_all_varied(values, &lengths)?.wait()
    }

    /// Begins an [`Self::all_to_all_varied`] of `values`: the first of as many `lengths` as there
    /// are members is that of the part for member 0.
    ///
    /// # Errors
    /// See [`Team`]; [`Error::Parts`] if the lengths are not those of a part for each member, which
    /// are all values together.
    pub fn begin_all_to_all_varied<T: Pod + Send>(
        &self,
        values: Vec<T>,
        lengths: &[usize],
    ) -> Result<Pending<Vec<Vec<T>>>> {
        let (me, parts) = (self.rank(), parts_of(self.size(), values.len(), lengths)?);
        let own = parts[me].clone();
        begin(&self.shared, (Operation::AllToAllVaried, 0), values, parts, move |mine, blocks| {
            all_of(me, mine[own].to_vec(), blocks)
        })
    }
}

impl Prepare<'_> {
    /// Prepares a [`Team::gather_varied`], whose result is empty but at the root.
    ///
    /// # Errors
    /// See [`Prepare`].
    pub fn gather_varied<T: Pod + Send>(
        &self,
        root: usize,
        values: Vec<T>,
    ) -> Result<PersistentVaried<T>> {
        let (me, is_root) = (self.team.rank(), root == self.team.rank());
        let parts = vec![0..values.len(); self.team.size()];
        self.varied((Operation::GatherVaried, root), values, parts, move |mine: &[T], blocks| {
            if is_root { all_of(me, mine.to_vec(), blocks) } else { Vec::new() }
        })
    }

    /// Prepares a [`Team::scatter_varied`] of values and lengths as
    /// [`Team::begin_scatter_varied`] has them. Its result is one part.
    ///
    /// # Errors
    /// See [`Prepare`].
    pub fn scatter_varied<T: Pod + Send>(
        &self,
        root: usize,
        values: Vec<T>,
        lengths: &[usize],
    ) -> Result<PersistentVaried<T>> {
        let (me, is_root) = (self.team.rank(), root == self.team.rank());
        let parts = match is_root {
            true => parts_of(self.team.size(), values.len(), lengths)?,
            false => vec![0..0; self.team.size()],
        };
        let own = parts[me].clone();
        self.varied((Operation::ScatterVaried, root), values, parts, move |mine: &[T], blocks| {
            vec![if is_root { mine[own.clone()].to_vec() } else { values_in(&blocks[root]) }]
        })
    }

    /// Prepares a [`Team::all_gather_varied`].
    ///
    /// # Errors
    /// See [`Prepare`].
    pub fn all_gather_varied<T: Pod + Send>(&self, values: Vec<T>) -> Result<PersistentVaried<T>> {
        let (me, parts) = (self.team.rank(), vec![0..values.len(); self.team.size()]);
        self.varied((Operation::AllGatherVaried, 0), values, parts, move |mine: &[T], blocks| {
            all_of(me, mine.to_vec(), blocks)
        })
    }

    /// Prepares a [`Team::all_to_all_varied`] of values and lengths as
    /// [`Team::begin_all_to_all_varied`] has them.
    ///
    /// # Errors
    /// See [`Prepare`].
    pub fn all_to_all_varied<T: Pod + Send>(
        &self,
        values: Vec<T>,
        lengths: &[usize],
    ) -> Result<PersistentVaried<T>> {
        let me = self.team.rank();
        let parts = parts_of(self.team.size(), values.len(), lengths)?;
        let own = parts[me].clone();
        self.varied((Operation::AllToAllVaried, 0), values, parts, move |mine: &[T], blocks| {
            all_of(me, mine[own.clone()].to_vec(), blocks)
        })
    }

    fn varied<T: Pod + Send>(
        &self,
        (operation, root): (Operation, usize),
        values: Vec<T>,
        parts: Vec<Range<usize>>,
        finish: impl Fn(&[T], Vec<Vec<u8>>) -> Vec<Vec<T>> + Clone + Send + 'static,
    ) -> Result<PersistentVaried<T>> {
        let shared = Arc::clone(&self.team.shared);
        shared.check(OperationCall { operation, root, count: 0, size: size_of::<T>() })?;
        Ok(Persistent::new(values, Vec::new(), move |(mine, _)| {
            let finish = finish.clone();
            begin(&shared, (operation, root), mine, parts.clone(), move |mine, blocks| {
                let result = finish(&mine, blocks);
                (mine, result)
            })
        }))
    }
}

/// Begins an operation on `values`, of which each member gets those of one of the `parts`.
fn begin<T: Pod + Send, O: Send + 'static>(
    shared: &Shared,
    (operation, root): (Operation, usize),
    values: Vec<T>,
    parts: Vec<Range<usize>>,
    finish: impl FnOnce(Vec<T>, Vec<Vec<u8>>) -> O + Send + 'static,
) -> Result<Pending<O>> {
    let size = size_of::<T>();
    let bytes = |part: Range<usize>| part.start * size..part.end * size;
    let parts = parts.into_iter().map(bytes).collect();
    let call = OperationCall { operation, root, count: 0, size };
    let room = Room { mine: values, result: Some(Vec::new()), parts };
    shared.begin(call, room, Each(nothing), |mine, _, blocks| finish(mine, blocks))
}

/// Values of all members: of this one `mine`, of the others their blocks.
fn all_of<T: Pod>(me: usize, mine: Vec<T>, blocks: Vec<Vec<u8>>) -> Vec<Vec<T>> {
    let mut all: Vec<Vec<T>> = blocks.iter().map(|block| values_in(block)).collect();
    all[me] = mine;
    all
}

/// The parts one after the other, and how long each is.
fn flat<T: Pod>(parts: &[Vec<T>]) -> (Vec<T>, Vec<usize>) {
    (parts.concat(), parts.iter().map(Vec::len).collect())
}

/// The parts of so many values that have these lengths.
fn parts_of(members: usize, values: usize, lengths: &[usize]) -> Result<Vec<Range<usize>>> {
    let mut total = 0_usize;
    let parts: Vec<Range<usize>> = lengths
        .iter()
        .map(|&length| {
            let start = total;
            total = total.saturating_add(length);
            start..total
        })
        .collect();
    match parts.len() == members && total == values {
        true => Ok(parts),
        false => Err(Error::Parts { values, parts: parts.len(), members, total }),
    }
}
