//! Gather lists: bytes in pieces, which are put together where a packet leaves from.

/// Gather list of a packet.
pub trait Gather {
    /// Number of bytes.
    fn size(&self) -> usize;
    /// Writes the bytes into `room`, which has as many. It runs inside the lock of the sender: it
    /// must enter nothing, and must not panic.
    fn gather(&self, room: &mut [u8]);
}

impl<const N: usize> Gather for [&[u8]; N] {
    #[inline(always)]
    fn size(&self) -> usize {
        self.iter().map(|piece| piece.len()).sum()
    }

    #[inline(always)]
    fn gather(&self, mut room: &mut [u8]) {
        for piece in self {
            room = copy_short(room, piece);
        }
    }
}

/// Copies `bytes` to the front of `room`, and returns the rest of it. Up to 16 bytes take no call,
/// which would cost more than they do.
///
/// # Panics
/// If `bytes` do not fit.
#[inline(always)]
pub fn copy_short<'a>(room: &'a mut [u8], bytes: &[u8]) -> &'a mut [u8] {
    const WORD: usize = size_of::<u64>();
    let (to, rest) = room.split_at_mut(bytes.len());
    match (bytes.first_chunk::<WORD>(), bytes.last_chunk::<WORD>()) {
        (Some(first), Some(last)) if bytes.len() <= 2 * WORD => {
            let at = to.len() - WORD;
            to[..WORD].copy_from_slice(first);
            to[at..].copy_from_slice(last);
        }
        _ => to.copy_from_slice(bytes),
    }
    rest
}
