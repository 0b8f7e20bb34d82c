//! Scans of a team: what the members up to each one bring, combined.

use super::pending::Pending;
use super::reduction::Reduction;
use super::team::Team;
use crate::Result;
use bytemuck::Pod;
use weft_collective::Operation;

impl Team {
    /// Combines the `values` of the members up to this one and its own, one by one and in the order
    /// of members: they are the result afterwards. It has the same bits in every run on as many
    /// members.
    ///
    /// # Errors
    /// See [`Team`].
    ///
    /// # Panics
    /// With what `reduction` panics.
    pub fn scan<T: Pod + Send>(
        &self,
        values: &mut [T],
        reduction: impl Reduction<T>,
    ) -> Result<()> {
        values.copy_from_slice(&self.begin_scan(values.to_vec(), reduction)?.wait()?);
        Ok(())
    }

    /// Begins a [`Self::scan`].
    ///
    /// # Errors
    /// See [`Team`].
    pub fn begin_scan<T: Pod + Send>(
        &self,
        values: Vec<T>,
        reduction: impl Reduction<T>,
    ) -> Result<Pending<Vec<T>>> {
        let call = (Operation::Scan, 0, values.len());
        self.begin(call, (values, None), reduction, |values, _, _| values)
    }

    /// Combines the `values` of the members before this one, without its own, as [`Self::scan`]
    /// does. There are none before member 0, whose `values` stay what they were.
    ///
    /// # Errors
    /// See [`Team`].
    ///
    /// # Panics
    /// With what `reduction` panics.
    pub fn exclusive_scan<T: Pod + Send>(
        &self,
        values: &mut [T],
        reduction: impl Reduction<T>,
    ) -> Result<()> {
        values.copy_from_slice(&self.begin_exclusive_scan(values.to_vec(), reduction)?.wait()?);
        Ok(())
    }

    /// Begins an [`Self::exclusive_scan`], which gives member 0 its `values` back.
    ///
    /// # Errors
    /// See [`Team`].
    pub fn begin_exclusive_scan<T: Pod + Send>(
        &self,
        values: Vec<T>,
        reduction: impl Reduction<T>,
    ) -> Result<Pending<Vec<T>>> {
        let call = (Operation::ExclusiveScan, 0, values.len());
        self.begin(call, (values, None), reduction, |values, _, _| values)
    }
}
