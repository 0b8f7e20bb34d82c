//! Memory that nodes share, as programs see it: what a system of shared regions is judged by.
//!
//! Accesses are bracketed (thesis 7.3.1). The judge is told of each access while it holds: after it
//! was granted, before it ends. So the order in which it is told is one in which the accesses
//! happened, and it checks that in this order there is one writer or there are readers, and that
//! whoever gets in sees the last write. A memory in which this is so for all regions at once is
//! sequentially consistent.

use std::collections::BTreeMap;

/// Shared memory: regions that hold a number each, counted up by every write.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Memory {
    regions: Vec<Contents>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Contents {
    written: u64,
    writer: Option<usize>,
    /// Readers, and the number of times that each reads.
    readers: BTreeMap<usize, u32>,
    deleted: bool,
}

/// Error that no memory makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Wrong {
    /// Two nodes are in, one of them to write.
    #[error(
        "node {node} got into region {region} although node {other} is in it, and one of them writes"
    )]
    Exclusion {
        /// Node that got in.
        node: usize,
        /// Region.
        region: usize,
        /// Node that was there.
        other: usize,
    },
    /// Something else than the last write was seen.
    #[error("node {node} sees write {seen} of region {region}, of which the last was write {last}")]
    Stale {
        /// Node that got in.
        node: usize,
        /// Region.
        region: usize,
        /// Value that it saw.
        seen: u64,
        /// Value that it should have seen.
        last: u64,
    },
    /// An access to a region that is gone.
    #[error("node {node} got into region {region}, which was deleted")]
    Deleted {
        /// Node that got in.
        node: usize,
        /// Region.
        region: usize,
    },
    /// An end without a beginning.
    #[error("node {node} left region {region} without having been in it")]
    NotIn {
        /// Node.
        node: usize,
        /// Region.
        region: usize,
    },
}

impl Memory {
    /// Memory of so many regions, all of which hold 0.
    pub fn new(regions: usize) -> Self {
        Memory { regions: vec![Contents::default(); regions] }
    }

    /// The number of the last write to `region`.
    pub fn written(&self, region: usize) -> u64 {
        self.regions[region].written
    }

    /// `node` may read `region` from here on, and sees `seen` there.
    ///
    /// # Errors
    /// What is [`Wrong`] with that.
    pub fn begin_read(&mut self, node: usize, region: usize, seen: u64) -> Result<(), Wrong> {
        self.enter(node, region, seen, false)?;
        *self.regions[region].readers.entry(node).or_default() += 1;
        Ok(())
    }

    /// `node` ends one of its reads.
    ///
    /// # Errors
    /// [`Wrong::NotIn`].
    pub fn end_read(&mut self, node: usize, region: usize) -> Result<(), Wrong> {
        let readers = &mut self.regions[region].readers;
        let times = readers.get_mut(&node).ok_or(Wrong::NotIn { node, region })?;
        *times -= 1;
        if *times == 0 {
            readers.remove(&node);
        }
        Ok(())
    }

    /// `node` may write `region` from here on, and sees `seen` there. It is to write the
    /// number after that.
    ///
    /// # Errors
    /// What is [`Wrong`] with that.
    pub fn begin_write(&mut self, node: usize, region: usize, seen: u64) -> Result<(), Wrong> {
        self.enter(node, region, seen, true)?;
        self.regions[region].writer = Some(node);
        Ok(())
    }

    /// `node` has written.
    ///
    /// # Errors
    /// [`Wrong::NotIn`].
    pub fn end_write(&mut self, node: usize, region: usize) -> Result<(), Wrong> {
        let contents = &mut self.regions[region];
        if contents.writer.take() != Some(node) {
            return Err(Wrong::NotIn { node, region });
        }
        contents.written += 1;
        Ok(())
    }

    /// `node` is lost, wherever it is; nobody sees a write that it has not ended.
    pub fn lose(&mut self, node: usize) {
        for contents in &mut self.regions {
            contents.readers.remove(&node);
            contents.writer.take_if(|writer| *writer == node);
        }
    }

    /// `node` is told that `region` is gone.
    ///
    /// # Errors
    /// [`Wrong::Exclusion`] if somebody is still in it.
    pub fn delete(&mut self, node: usize, region: usize) -> Result<(), Wrong> {
        let contents = &mut self.regions[region];
        contents.deleted = true;
        match contents.anybody() {
            Some(other) => Err(Wrong::Exclusion { node, region, other }),
            None => Ok(()),
        }
    }

    fn enter(&self, node: usize, region: usize, seen: u64, writes: bool) -> Result<(), Wrong> {
        let contents = &self.regions[region];
        let last = contents.written;
        if contents.deleted {
            return Err(Wrong::Deleted { node, region });
        }
        let other = if writes { contents.anybody() } else { contents.writer };
        if let Some(other) = other {
            return Err(Wrong::Exclusion { node, region, other });
        }
        if seen != last {
            return Err(Wrong::Stale { node, region, seen, last });
        }
        Ok(())
    }
}

impl Contents {
    fn anybody(&self) -> Option<usize> {
        self.writer.or_else(|| self.readers.keys().next().copied())
    }
}

#[cfg(test)]
mod tests;
