//! Two sets of squares, as bytes and as a hash.

/// Bytes of two sets.
pub(crate) const PAIR_BYTES: usize = 16;

/// Bits of a set, the low one first.
#[derive(Clone, Copy)]
pub(crate) struct Bits(pub u64);

impl Iterator for Bits {
    type Item = u8;

    #[inline(always)]
    fn next(&mut self) -> Option<u8> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros() as u8;
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

pub(crate) fn encode(own: u64, other: u64, into: &mut [u8]) {
    into[..8].copy_from_slice(&own.to_le_bytes());
    into[8..].copy_from_slice(&other.to_le_bytes());
}

pub(crate) fn decode(bytes: &[u8]) -> Option<(u64, u64)> {
    let (own, other) = bytes.split_first_chunk()?;
    Some((u64::from_le_bytes(*own), u64::from_le_bytes(other.try_into().ok()?)))
}

/// Hash of two sets: finalizers of MurmurHash3, one behind the other.
pub(crate) fn hash(own: u64, other: u64) -> u64 {
    mix(mix(own) ^ other)
}

fn mix(mut hash: u64) -> u64 {
    hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ hash >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ hash >> 33
}
