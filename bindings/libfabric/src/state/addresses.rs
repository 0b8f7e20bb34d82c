//! An address vector.

use crate::abi::ANYBODY;
use crate::refusal::{Refusal, Result};
use weft_packet::Rank;
use weft_tagged::Address;

/// Addresses of a job of so many ranks.
pub(super) struct Addresses {
    ranks: usize,
    /// What handles are places in; without it they are the addresses themselves.
    table: Option<Vec<Option<Address>>>,
}

impl Addresses {
    /// Of a table or a map.
    pub fn new(table: bool, ranks: usize) -> Self {
        Addresses { ranks, table: table.then(Vec::new) }
    }

    /// Adds an address, and returns its handle; `None` if it is of no rank of the job.
    pub fn insert(&mut self, address: Address) -> Option<u64> {
        if address.rank.index() >= self.ranks {
            return None;
        }
        Some(match &mut self.table {
            None => mapped(address),
            Some(table) => {
                table.push(Some(address));
                table.len() as u64 - 1
            }
        })
    }

    /// Takes an address out.
    pub fn remove(&mut self, handle: u64) -> Result {
        let Some(table) = &mut self.table else { return Ok(()) };
        let entry = usize::try_from(handle).ok().and_then(|place| table.get_mut(place));
        *entry.ok_or(Refusal::INVALID)? = None;
        Ok(())
    }

    /// The address with this handle.
    #[inline]
    pub fn address(&self, handle: u64) -> Result<Address> {
        let found = match &self.table {
            None => unmapped(handle).filter(|address| address.rank.index() < self.ranks),
            Some(table) => usize::try_from(handle).ok().and_then(|place| *table.get(place)?),
        };
        found.ok_or(Refusal::INVALID)
    }

    /// The handle of an address; [`ANYBODY`] if it has none.
    pub fn handle(&self, address: Address) -> u64 {
        match &self.table {
            None => mapped(address),
            Some(table) => {
                let found = table.iter().position(|entry| *entry == Some(address));
                found.map_or(ANYBODY, |place| place as u64)
            }
        }
    }
}

fn mapped(Address { rank, endpoint }: Address) -> u64 {
    u64::from(rank.0) << 8 | u64::from(endpoint)
}

fn unmapped(handle: u64) -> Option<Address> {
    let rank = u16::try_from(handle >> 8).ok()?;
    Some(Address { rank: Rank(rank), endpoint: handle as u8 })
}
