//! Packets as bytes, little-endian.
//!
//! ```text
//!             0      1       2    3      4      8     16     24       32       40
//!            ┌──────┬───────┬────┬──────┬──────┬─────┬──────┬────────┬────────┬─────────┬───────
//! eager      │ kind │ flags │ to │ from │ zero │ tag │ data │ bytes
//! registered │ kind │ flags │ to │ from │ zero │ tag │ data │ number │ bytes
//! first      │ kind │ flags │ to │ from │ zero │ tag │ data │ length │ bytes
//! request    │ kind │ flags │ to │ from │ zero │ tag │ data │ length │ number │ address │
//!            └──────┴───────┴────┴──────┴──────┴─────┴──────┴────────┴────────┴─────────┘
//! more       │ kind │ zero                     │ bytes
//! grant      │ kind │ zero                     │ number │ own number │ length │
//! part       │ kind │ zero                     │ own number │ bytes
//! done       │ kind │ zero                     │ number │
//! consumed   │ kind │ zero                     │ amount │
//! ```
//! `to` and `from` are endpoints. A message that fits into a packet is `eager`, or `registered` if its sender wants to know when it is where its
//! receive wants it, which `done` says. A longer one that need not ask is a
//! `first` and as many `more` as it takes, which belong to the last `first` of their sender. A `request` is answered by
//! a `grant`, which says how many bytes are wanted; they come as `part`s, in order; `done` says that all are there, if
//! the request wanted to know. Its `address`, unless that is 0, is where the bytes lie in the process of their sender: who can
//! fetch them from there needs no `grant`, and says `done`, whether the request wanted to know or not.

use crate::{Address, Envelope, Kind};
use std::num::NonZero;
use weft_packet::Rank;

/// Bytes before those of an eager message.
pub const EAGER: usize = 24;
/// Bytes before those of a registered message.
pub const REGISTERED: usize = 32;
/// Bytes before those of the first packet of several.
pub const FIRST: usize = 32;
/// Bytes of a request.
pub const REQUEST: usize = 48;
/// Bytes before those of a further packet.
pub const MORE: usize = 8;
/// Bytes before those of a part.
pub const PART: usize = 16;
/// Bytes of the longest head; an offer with data has it (`remote::format`).
const LONGEST: usize = 56;

const IS_TAGGED: u8 = 1;
const HAS_DATA: u8 = 2;
const WANTS_DONE: u8 = 4;

/// What a packet says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // The diagram has the names of the fields.
pub enum Says<'a> {
    /// Here is a message.
    Eager { to: u8, envelope: Envelope, bytes: &'a [u8] },
    /// Here is a message; say when it is where it belongs.
    Registered { to: u8, envelope: Envelope, number: u64, bytes: &'a [u8] },
    /// Here begins a message.
    First { to: u8, envelope: Envelope, bytes: &'a [u8] },
    /// Here it goes on.
    More { bytes: &'a [u8] },
    /// May this message come, or do you fetch it from here?
    Request {
        to: u8,
        envelope: Envelope,
        number: u64,
        lies_at: Option<NonZero<u64>>,
        wants_done: bool,
    },
    /// These bytes of it may.
    Grant { number: u64, own: u64, length: u64 },
    /// Here are some.
    Part { own: u64, bytes: &'a [u8] },
    /// They are all there.
    Done { number: u64 },
    /// So much of what came eagerly is consumed.
    Consumed { amount: u64 },
}

/// A packet without bytes of messages, or what stands before them.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    bytes: [u8; LONGEST],
    length: u8,
}

impl Head {
    #[inline]
    pub(crate) fn new(kind: u8) -> Self {
        Head { bytes: [0; LONGEST], length: 8 }.octet(0, kind)
    }

    /// With this in one of its first eight bytes, which is 0.
    #[inline]
    pub(crate) fn octet(mut self, at: usize, octet: u8) -> Self {
        // By words, as links read it: a processor waits when it loads a word that was just stored in parts.
        if let Some(first) = self.bytes.first_chunk_mut() {
            *first = (u64::from_le_bytes(*first) | u64::from(octet) << (8 * at)).to_le_bytes();
        }
        self
    }

    #[inline]
    pub(crate) fn word(mut self, word: u64) -> Self {
        let at = usize::from(self.length);
        self.bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
        self.length += 8;
        self
    }

    /// Its bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl Says<'_> {
    /// The packet, or what stands before its bytes.
    #[inline]
    pub fn head(&self) -> Head {
        match *self {
            Says::Eager { to, envelope, .. } => enveloped(1, to, &envelope, 0),
            Says::First { to, envelope, .. } => {
                enveloped(2, to, &envelope, 0).word(envelope.length)
            }
            Says::Registered { to, envelope, number, .. } => {
                enveloped(9, to, &envelope, 0).word(number)
            }
            Says::More { .. } => Head::new(3),
            Says::Request { to, envelope, number, lies_at, wants_done } => {
                let flags = if wants_done { WANTS_DONE } else { 0 };
                let head = enveloped(4, to, &envelope, flags).word(envelope.length).word(number);
                head.word(lies_at.map_or(0, NonZero::get))
            }
            Says::Grant { number, own, length } => Head::new(5).word(number).word(own).word(length),
            Says::Part { own, .. } => Head::new(6).word(own),
            Says::Done { number } => Head::new(7).word(number),
            Says::Consumed { amount } => Head::new(8).word(amount),
        }
    }
}

#[inline]
fn enveloped(kind: u8, to: u8, envelope: &Envelope, flags: u8) -> Head {
    let tagged = if envelope.kind == Kind::Tagged { IS_TAGGED } else { 0 };
    let data = if envelope.data.is_some() { HAS_DATA } else { 0 };
    let head = Head::new(kind)
        .octet(1, flags | tagged | data)
        .octet(2, to)
        .octet(3, envelope.source.endpoint);
    head.word(envelope.tag).word(envelope.data.unwrap_or(0))
}

/// What a packet of `from` says; `None` if no peer says that.
#[inline]
pub fn parse(from: Rank, packet: &[u8]) -> Option<Says<'_>> {
    let (start, rest) = packet.split_first_chunk::<8>()?;
    let [kind, flags, to, endpoint, zero @ ..] = *start;
    if zero != [0; 4] {
        return None;
    }
    if !matches!(kind, 1 | 2 | 4 | 9) {
        return (flags | to | endpoint == 0).then(|| parse_bare(kind, rest)).flatten();
    }
    let allowed = IS_TAGGED | HAS_DATA | if kind == 4 { WANTS_DONE } else { 0 };
    let (tag, rest) = word(rest)?;
    let (data, rest) = word(rest)?;
    let kind_of_message = if flags & IS_TAGGED != 0 { Kind::Tagged } else { Kind::Untagged };
    let (length, rest) = if kind == 1 { (rest.len() as u64, rest) } else { word(rest)? };
    // In its place a registered message has its number.
    let (length, number) = if kind == 9 { (rest.len() as u64, length) } else { (length, 0) };
    let envelope = Envelope {
        kind: kind_of_message,
        source: Address { rank: from, endpoint },
        tag,
        data: (flags & HAS_DATA != 0).then_some(data),
        length,
    };
    let is_odd = flags & !allowed != 0
        || (kind_of_message == Kind::Untagged && tag != 0)
        || (envelope.data.is_none() && data != 0);
    match kind {
        _ if is_odd => None,
        1 => Some(Says::Eager { to, envelope, bytes: rest }),
        2 => Some(Says::First { to, envelope, bytes: rest }),
        9 => Some(Says::Registered { to, envelope, number, bytes: rest }),
        _ => {
            let (number, rest) = word(rest)?;
            let (lies_at, rest) = parse_address(rest, length)?;
            let wants_done = flags & WANTS_DONE != 0;
            let request = Says::Request { to, envelope, number, lies_at, wants_done };
            rest.is_empty().then_some(request)
        }
    }
}

/// Where so many bytes lie, if they are somewhere; and what follows it.
pub(crate) fn parse_address(bytes: &[u8], length: u64) -> Option<(Option<NonZero<u64>>, &[u8])> {
    let (address, rest) = word(bytes)?;
    let lies_at = NonZero::new(address);
    let is_odd = lies_at.is_some() && (length == 0 || address.checked_add(length).is_none());
    (!is_odd).then_some((lies_at, rest))
}

fn parse_bare(kind: u8, rest: &[u8]) -> Option<Says<'_>> {
    if kind == 3 {
        return Some(Says::More { bytes: rest });
    }
    let (number, rest) = word(rest)?;
    match (kind, rest) {
        (5, rest) => {
            let (own, rest) = word(rest)?;
            let (length, rest) = word(rest)?;
            rest.is_empty().then_some(Says::Grant { number, own, length })
        }
        (6, bytes) => Some(Says::Part { own: number, bytes }),
        (7, []) => Some(Says::Done { number }),
        (8, []) => Some(Says::Consumed { amount: number }),
        _ => None,
    }
}

#[inline]
pub(crate) fn word(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (word, rest) = bytes.split_first_chunk::<8>()?;
    Some((u64::from_le_bytes(*word), rest))
}

#[cfg(test)]
mod tests;
