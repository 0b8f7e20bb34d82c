//! What one member has said of movements that are not begun here.

use super::format::{PIECE, Says, Signature, parse};
use super::{EAGER_BYTES, KEPT_BYTES, MOST_AHEAD};
use crate::network::Arrived;
use std::collections::VecDeque;

/// Of one member, from the next movement on.
#[derive(Debug)]
pub struct Early<K> {
    ahead: VecDeque<Option<Ahead<K>>>,
    /// Packets that are kept.
    kept: usize,
}

/// Of one movement.
#[derive(Debug)]
struct Ahead<K> {
    signature: Signature,
    pieces: Vec<Piece<K>>,
    /// Bytes of the pieces.
    length: usize,
    is_ready: bool,
}

#[derive(Debug)]
enum Piece<K> {
    Copied(Vec<u8>),
    /// The packet that it is in.
    Kept(K),
}

impl<K> Default for Early<K> {
    fn default() -> Self {
        Early { ahead: VecDeque::new(), kept: 0 }
    }
}

impl<K: AsRef<[u8]>> Early<K> {
    /// Bytes that are stored.
    pub fn stored(&self) -> usize {
        self.ahead.iter().flatten().map(|ahead| ahead.length).sum()
    }

    /// Stores a packet of the movement that is so many after the next one. It is kept, if it is long and fewer than `keeps` are.
    pub fn store(
        &mut self,
        distance: u64,
        packet: impl Arrived<Kept = K>,
        keeps: usize,
    ) -> Result<(), &'static str> {
        if distance > MOST_AHEAD {
            return Err("a part of a collective operation that is further ahead than it may be");
        }
        let Some(Says { signature, piece, .. }) = parse(packet.bytes()) else { return Ok(()) };
        let distance = distance as usize;
        if self.ahead.len() <= distance {
            self.ahead.resize_with(distance + 1, || None);
        }
        let new = || Ahead { signature, pieces: Vec::new(), length: 0, is_ready: false };
        let it = self.ahead[distance].get_or_insert_with(new);
        if it.signature != signature {
            return Err("parts of two collective operations for one");
        }
        let Some(bytes) = piece else {
            return match std::mem::replace(&mut it.is_ready, true) {
                true => Err("twice that it is ready"),
                false => Ok(()),
            };
        };
        let is_more = !it.pieces.is_empty() && bytes.is_empty();
        if is_more || (it.length + bytes.len()) as u64 > EAGER_BYTES {
            return Err("more of a collective operation than it may send unasked");
        }
        it.length += bytes.len();
        if bytes.len() >= KEPT_BYTES && self.kept < keeps {
            self.kept += 1;
            it.pieces.push(Piece::Kept(packet.keep()));
        } else if let Some(Piece::Copied(copied)) = it.pieces.last_mut() {
            copied.extend_from_slice(bytes);
        } else {
            it.pieces.push(Piece::Copied(bytes.to_vec()));
        }
        Ok(())
    }

    /// The next movement is begun: tells `came` what has come of it.
    pub fn next(
        &mut self,
        mut came: impl FnMut(Signature, Option<&[u8]>) -> Result<(), &'static str>,
    ) -> Result<(), &'static str> {
        let Some(Some(Ahead { signature, pieces, is_ready, .. })) = self.ahead.pop_front() else {
            return Ok(());
        };
        if is_ready {
            came(signature, None)?;
        }
        for piece in &pieces {
            match piece {
                Piece::Copied(bytes) => came(signature, Some(bytes))?,
                Piece::Kept(packet) => {
                    self.kept -= 1;
                    came(signature, packet.as_ref().get(PIECE..))?;
                }
            }
        }
        Ok(())
    }
}
