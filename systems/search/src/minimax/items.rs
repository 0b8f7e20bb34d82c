//! Requests, answers and cuts, byte by byte. A message has any number of them behind its header,
//! one after the other, each with a byte that says what it is. Numbers have the low byte first.

use super::Window;
use crate::error::{Error, Result};
use crate::game::Game;
use weft_endpoint::Rank;

/// First byte of a request: position, depth (2 bytes), window (2 and 2), and who asks (7).
const REQUEST: u8 = 1;

/// First byte of an answer: who has asked (7), value (2), nodes (4), the highest bit of which says
/// that there is an estimate in the value.
const ANSWER: u8 = 2;

/// First byte of a cut: the record (6).
const CUT: u8 = 3;

/// Most nodes that an answer tells, and the bit above.
const NODES_MAX: u32 = u32::MAX >> 1;

/// Value of an answer to a request that was cut.
const NO_VALUE: i16 = i16::MIN;

/// Bytes of a request, which no answer and no cut is longer than.
pub(crate) const fn request_bytes<G: Game>() -> usize {
    1 + G::BYTES + 2 + 4 + 7
}

/// A record of some rank: a place, and the number of records that were there before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct RecordId {
    pub slot: u16,
    pub turn: u32,
}

/// Sender of a request: the move of a record that leads to its position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Requester {
    pub rank: Rank,
    pub record: RecordId,
    pub index: u8,
}

/// A position to be searched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Request<G> {
    pub position: G,
    pub depth: u16,
    pub window: Window,
    pub requester: Requester,
}

/// Result of a request: for the player to move there, as a search with its window has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Answer {
    pub record: RecordId,
    pub index: u8,
    /// `None` if it was cut.
    pub value: Option<i16>,
    /// True if there is an estimate in it.
    pub is_cut: bool,
    /// Positions made for it, up to [`NODES_MAX`].
    pub nodes: u32,
}

/// A thing that ranks send each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Item<G> {
    Request(Request<G>),
    Answer(Answer),
    /// Word that a record needs none of its answers any more.
    Cut(RecordId),
}

impl RecordId {
    fn emit(self, into: &mut Vec<u8>) {
        into.extend(self.slot.to_le_bytes());
        into.extend(self.turn.to_le_bytes());
    }

    fn parse([a, b, c, d, e, f]: [u8; 6]) -> Self {
        let (slot, turn) = (u16::from_le_bytes([a, b]), u32::from_le_bytes([c, d, e, f]));
        RecordId { slot, turn }
    }
}

impl<G: Game> Item<G> {
    /// Appends the item's bytes.
    pub fn emit(&self, into: &mut Vec<u8>) {
        match self {
            Item::Request(Request { position, depth, window, requester }) => {
                into.push(REQUEST);
                let begin = into.len();
                into.resize(begin + G::BYTES, 0);
                position.encode(&mut into[begin..]);
                into.extend(depth.to_le_bytes());
                into.extend(window.alpha.to_le_bytes());
                into.extend(window.beta.to_le_bytes());
                requester.record.emit(into);
                into.push(requester.index);
            }
            Item::Answer(Answer { record, index, value, is_cut, nodes }) => {
                into.push(ANSWER);
                record.emit(into);
                into.push(*index);
                into.extend(value.unwrap_or(NO_VALUE).to_le_bytes());
                let is_cut = if *is_cut { !NODES_MAX } else { 0 };
                into.extend((*nodes.min(&NODES_MAX) | is_cut).to_le_bytes());
            }
            Item::Cut(record) => {
                into.push(CUT);
                record.emit(into);
            }
        }
    }

    /// The item at the beginning of what rank `from` sent; what follows is left in `bytes`.
    ///
    /// # Errors
    /// [`Error::Format`] if there is none, or one that no rank makes.
    pub fn parse(from: Rank, bytes: &mut &[u8]) -> Result<Self> {
        let [kind] = take(from, bytes)?;
        match kind {
            REQUEST => Self::parse_request(from, bytes),
            ANSWER => {
                let record = RecordId::parse(take(from, bytes)?);
                let [index] = take(from, bytes)?;
                let value = Some(i16::from_le_bytes(take(from, bytes)?));
                let value = value.filter(|value| *value != NO_VALUE);
                if value.is_some_and(|value| value < -G::MOST || value > G::MOST) {
                    return Err(Error::Format { from, what: "has a value that no position has" });
                }
                let nodes = u32::from_le_bytes(take(from, bytes)?);
                let (is_cut, nodes) = (nodes > NODES_MAX, nodes & NODES_MAX);
                Ok(Item::Answer(Answer { record, index, value, is_cut, nodes }))
            }
            CUT => Ok(Item::Cut(RecordId::parse(take(from, bytes)?))),
            _ => Err(Error::Format { from, what: "has something that no rank of a search sends" }),
        }
    }

    fn parse_request(from: Rank, bytes: &mut &[u8]) -> Result<Self> {
        let (position, rest) = bytes.split_at_checked(G::BYTES).ok_or_else(|| ends(from))?;
        *bytes = rest;
        let position = G::decode(position);
        let depth = u16::from_le_bytes(take(from, bytes)?);
        let alpha = i16::from_le_bytes(take(from, bytes)?);
        let beta = i16::from_le_bytes(take(from, bytes)?);
        let (record, [index]) = (RecordId::parse(take(from, bytes)?), take(from, bytes)?);
        let (window, requester) = (Window { alpha, beta }, Requester { rank: from, record, index });
        match position {
            Some(position) if window.is_sound(G::MOST) => {
                Ok(Item::Request(Request { position, depth, window, requester }))
            }
            Some(_) => Err(Error::Format { from, what: "has a window that no rank uses" }),
            None => Err(Error::Format { from, what: "has a position that there is not" }),
        }
    }
}

fn take<const N: usize>(from: Rank, bytes: &mut &[u8]) -> Result<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk::<N>().ok_or_else(|| ends(from))?;
    *bytes = rest;
    Ok(*taken)
}

fn ends(from: Rank) -> Error {
    Error::Format { from, what: "ends within a request, an answer or a cut" }
}

#[cfg(test)]
pub(crate) mod tests;
