//! Reductions of values whose size is known at run time only.

use super::pending::Pending;
use super::team::Team;
use super::values::{Combine, Room};
use crate::{Error, Result};
use weft_collective::{Operation, OperationCall};

/// Reductions of a team on records: values of a size that is known at run time only, as bytes, one
/// after the other. A handle, as a [`Team`] is.
///
/// Each takes a function of the program's that combines records in blocks. It is given as many
/// whole records of some members, and those at the same places of members that come after them, and
/// puts what both give in place of the second. It must be associative, and need not be commutative.
/// It runs on whatever thread polls. The addresses of records are multiples of nothing.
///
/// # Errors
/// All operations: those of a [`Team`]; [`Error::Records`] for bytes that are no whole records.
#[derive(Clone)]
pub struct Records {
    team: Team,
    size: usize,
}

/// Blocks that are combined at once.
struct Blocks<F>(F);

impl<F: Fn(&[u8], &mut [u8]) + Send + 'static> Combine<u8> for Blocks<F> {
    fn combine(&self, before: &[u8], after: &mut [u8]) {
        (self.0)(before, after);
    }
}

impl Team {
    /// Reductions of this team on records of `size` bytes each.
    pub fn records(&self, size: usize) -> Records {
        Records { team: self.clone(), size }
    }
}

impl Records {
    /// Begins a [`Team::reduce`] of records, which gives `Some` at the root.
    ///
    /// # Errors
    /// See [`Records`].
    pub fn begin_reduce(
        &self,
        root: usize,
        records: Vec<u8>,
        combine: impl Fn(&[u8], &mut [u8]) + Send + 'static,
    ) -> Result<Pending<Option<Vec<u8>>>> {
        let is_root = root == self.team.rank();
        let finish = move |all| is_root.then_some(all);
        self.begin((Operation::Reduce, root), records, combine, finish)
    }

    /// Begins a [`Team::all_reduce`] of records.
    ///
    /// # Errors
    /// See [`Records`].
    pub fn begin_all_reduce(
        &self,
        records: Vec<u8>,
        combine: impl Fn(&[u8], &mut [u8]) + Send + 'static,
    ) -> Result<Pending<Vec<u8>>> {
        self.begin((Operation::AllReduce, 0), records, combine, |all| all)
    }

    /// Begins a [`Team::scan`] of records.
    ///
    /// # Errors
    /// See [`Records`].
    pub fn begin_scan(
        &self,
        records: Vec<u8>,
        combine: impl Fn(&[u8], &mut [u8]) + Send + 'static,
    ) -> Result<Pending<Vec<u8>>> {
        self.begin((Operation::Scan, 0), records, combine, |all| all)
    }

    /// Begins a [`Team::exclusive_scan`] of records, which gives member 0 its own back.
    ///
    /// # Errors
    /// See [`Records`].
    pub fn begin_exclusive_scan(
        &self,
        records: Vec<u8>,
        combine: impl Fn(&[u8], &mut [u8]) + Send + 'static,
    ) -> Result<Pending<Vec<u8>>> {
        self.begin((Operation::ExclusiveScan, 0), records, combine, |all| all)
    }

    fn begin<O: Send + 'static>(
        &self,
        (operation, root): (Operation, usize),
        records: Vec<u8>,
        combine: impl Fn(&[u8], &mut [u8]) + Send + 'static,
        finish: impl FnOnce(Vec<u8>) -> O + Send + 'static,
    ) -> Result<Pending<O>> {
        let size = self.size;
        if !records.len().is_multiple_of(size) {
            return Err(Error::Records { bytes: records.len(), size });
        }
        let count = records.len().checked_div(size).unwrap_or(0);
        let call = OperationCall { operation, root, count, size };
        let room = Room { mine: records, result: None, parts: Vec::new() };
        self.team.shared.begin(call, room, Blocks(combine), |all, _, _| finish(all))
    }
}
