//! Bytes that are gathered where a packet leaves from.

/// Bytes for a packet, which are gathered where it leaves from.
pub trait Gather {
    /// How many they are.
    fn size(&self) -> usize;
    /// Writes them into as much room. It runs inside whatever is entered to
    /// send: it must enter nothing, nor panic.
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
            room = put_few(room, piece);
        }
    }
}

/// Copies `bytes` to the front of `room`, and returns the rest of it. A few are no call: that costs
/// more than they do.
///
/// # Panics
/// If they do not fit.
#[inline(always)]
pub fn put_few<'a>(room: &'a mut [u8], bytes: &[u8]) -> &'a mut [u8] {
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
