//! Memory of this rank that others may access.

use super::access::{AccessRefused, AccessRights};
use super::format::AccessSpan;
use crate::network::SendSource;
use std::collections::BTreeMap;

/// The regions of a rank, by their keys.
#[derive(Debug)]
pub(super) struct Regions<R> {
    all: BTreeMap<u64, Region<R>>,
    /// Regions that there were.
    exposed: u64,
}

/// A region.
#[derive(Debug)]
pub(super) struct Region<R> {
    pub memory: R,
    /// Address by which others name its first byte.
    base: u64,
    rights: AccessRights,
    /// Number that tells it from others that had its key.
    pub serial: u64,
}

impl<R: SendSource> Regions<R> {
    pub fn new() -> Self {
        Regions { all: BTreeMap::new(), exposed: 0 }
    }

    /// Adds a region, unless there is one with this key.
    pub fn expose(
        &mut self,
        key: u64,
        base: u64,
        rights: AccessRights,
        memory: R,
    ) -> std::result::Result<(), R> {
        if self.all.contains_key(&key) {
            return Err(memory);
        }
        self.exposed += 1;
        self.all.insert(key, Region { memory, base, rights, serial: self.exposed });
        Ok(())
    }

    pub fn get(&self, key: u64) -> Option<&R> {
        self.all.get(&key).map(|region| &region.memory)
    }

    pub fn get_mut(&mut self, key: u64) -> Option<&mut R> {
        self.all.get_mut(&key).map(|region| &mut region.memory)
    }

    pub fn conceal(&mut self, key: u64) -> Option<R> {
        self.all.remove(&key).map(|region| region.memory)
    }

    /// The region that an access may use, and where in it the access begins.
    pub fn find(
        &mut self,
        span: &AccessSpan,
        needs: AccessRights,
    ) -> std::result::Result<(&mut Region<R>, u64), AccessRefused> {
        let region = self.all.get_mut(&span.key).ok_or(AccessRefused::NoRegion)?;
        if needs.read && !region.rights.read || needs.write && !region.rights.write {
            return Err(AccessRefused::NoRight);
        }
        let start = span.offset.checked_sub(region.base).ok_or(AccessRefused::Beyond)?;
        let end = span.end - region.base;
        if end > region.memory.length() {
            return Err(AccessRefused::Beyond);
        }
        Ok((region, start))
    }
}
