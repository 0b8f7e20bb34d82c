//! Addresses as C has them: which rank and which of its endpoints, in 16 bytes.
//!
//! ```text
//!  0      4         5          6      8       12
//! ┌──────┬─────────┬──────────┬──────┬───────┬─────┐
//! │ WEFT │ version │ endpoint │ rank │ ranks │ job │
//! └──────┴─────────┴──────────┴──────┴───────┴─────┘
//! ```

use weft_endpoint::Rank;
use weft_tagged::Address;

/// Bytes of an address.
pub(crate) const ADDRESS_BYTES: usize = 16;
const MAGIC: [u8; 4] = *b"WEFT";
const VERSION: u8 = 2;

/// Address in memory of C.
pub(crate) type Bytes = [u8; ADDRESS_BYTES];

/// The name of a job in addresses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JobName {
    /// Number of ranks.
    pub ranks: usize,
    /// Number that tells it from other jobs.
    pub number: u32,
}

impl JobName {
    /// An address as C has it.
    pub fn emit(self, address: Address) -> Bytes {
        let mut bytes = [0; ADDRESS_BYTES];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..6].copy_from_slice(&[VERSION, address.endpoint]);
        bytes[6..8].copy_from_slice(&address.rank.0.to_le_bytes());
        bytes[8..12].copy_from_slice(&(self.ranks as u32).to_le_bytes());
        bytes[12..].copy_from_slice(&self.number.to_le_bytes());
        bytes
    }

    /// The address that C gives, if it is one of this job.
    pub fn parse(self, bytes: &Bytes) -> Option<Address> {
        let rank = Rank(u16::from_le_bytes([bytes[6], bytes[7]]));
        let address = Address { rank, endpoint: bytes[5] };
        (*bytes == self.emit(address) && rank.index() < self.ranks).then_some(address)
    }

    /// True for what is an address, and of another job.
    pub fn is_foreign(self, bytes: &Bytes) -> bool {
        bytes[..4] == MAGIC && bytes[4] == VERSION && bytes[12..] != self.number.to_le_bytes()
    }
}

#[cfg(test)]
mod tests;
