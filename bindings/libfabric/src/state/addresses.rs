//! An address vector.

use crate::abi::ANYBODY;
use crate::refusal::{Refusal, Result};
use weft_endpoint::Rank;
use weft_tagged::Address;

/// Addresses of the ranks of a job.
#[derive(Default)]
pub(super) struct Addresses {
    ranks: u64,
    /// True if handles are indexes of the table; otherwise they are the addresses themselves.
    is_table: bool,
    table: Vec<u32>,
}

/// The entry in place of an address that was taken out: no rank's.
const GONE: u32 = u32::MAX;

impl Addresses {
    /// Of a table or a map.
    pub fn new(table: bool, ranks: usize) -> Self {
        Addresses { ranks: ranks as u64, is_table: table, table: Vec::new() }
    }

    /// Adds an address, and returns its handle; `None` if it is of no rank of the job.
    pub fn insert(&mut self, address: Address) -> Option<u64> {
        let handle = mapped(address);
        self.unmapped(handle.into())?;
        if !self.is_table {
            return Some(handle.into());
        }
        self.table.push(handle);
        Some(self.table.len() as u64 - 1)
    }

    /// Takes an address out.
    pub fn remove(&mut self, handle: u64) -> Result {
        if self.is_table {
            let entry = self.table.get_mut(handle as usize);
            *entry.ok_or(Refusal::INVALID)? = GONE;
        }
        Ok(())
    }

    /// The address with this handle.
    #[inline(always)]
    pub fn address(&self, handle: u64) -> Result<Address> {
        let found = match self.table.get(handle as usize) {
            Some(entry) => self.unmapped((*entry).into()),
            None if self.is_table => None,
            None => self.unmapped(handle),
        };
        found.ok_or(Refusal::INVALID)
    }

    /// The handle of an address; [`ANYBODY`] if it has none.
    pub fn handle(&self, address: Address) -> u64 {
        let handle = mapped(address);
        if !self.is_table {
            return handle.into();
        }
        let found = self.table.iter().position(|entry| *entry == handle);
        found.map_or(ANYBODY, |place| place as u64)
    }

    #[inline(always)]
    fn unmapped(&self, handle: u64) -> Option<Address> {
        let rank = handle >> 8;
        let address = Address { rank: Rank(rank as u16), endpoint: handle as u8 };
        (rank < self.ranks).then_some(address)
    }
}

fn mapped(Address { rank, endpoint }: Address) -> u32 {
    u32::from(rank.0) << 8 | u32::from(endpoint)
}
