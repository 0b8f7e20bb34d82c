//! Packets as bytes, little-endian.
//!
//! ```text
//!             0      1       2    3      4      8     16     24       32       40
//!            ┌──────┬───────┬────┬──────┬──────┬─────┬──────┬────────┬────────┬─────────┬───────
//! eager      │ kind │ flags │ to │ from │ zero │ tag │ data │ bytes
//! registered │ kind │ flags │ to │ from │ zero │ tag │ data │ number │ bytes
//! first      │ kind │ flags │ to │ from │ zero │ tag │ data │ length │ number  │ bytes
//! request    │ kind │ flags │ to │ from │ zero │ tag │ data │ length │ number │ address │
//!            └──────┴───────┴────┴──────┴──────┴─────┴──────┴────────┴────────┴─────────┘
//! more       │ kind │ zero                     │ number │ offset │ bytes
//! grant      │ kind │ flags │ zero             │ number │ own number │ length │
//! part       │ kind │ zero                     │ own number │ offset │ bytes
//! done       │ kind │ zero                     │ number │
//! consumed   │ kind │ zero                     │ amount │
//! left       │ kind │ zero                     │
//! ```
//! `to` and `from` are endpoints. A message that fits into a packet is `eager`, or `registered` if
//! its sender wants to know when it is where its receive wants it, which `done` says. A longer one
//! that need not ask is a `first` and as many `more` as it takes, which have its number and belong
//! to the last `first` of their sender. A `request` is answered by a `grant`, which says how many
//! bytes are wanted; they come as `part`s, in order. Each of these, and of `more`, says where its
//! bytes belong, so that a network may read them there ([`crate::TaggedNetwork::post`]); `done`
//! says that all are there, if the request wanted to know. A `grant` with the flag `ZERO_COPY` has
//! memory ready for all of the bytes at once, which then come beside packets
//! ([`crate::TaggedNetwork::send_zero_copy`]), or as `part`s all the same. A request's `address`,
//! unless that is 0, is where the bytes lie in the process of their sender: a receiver that can
//! fetch them from there needs no `grant`, and says `done`, whether the request wanted to know or
//! not. A rank that has `left` the job answers nothing any more.

use crate::{Address, MessageEnvelope, Tagging};
use std::num::NonZero;
use weft_endpoint::{POSTED_HEAD_BYTES, PostedHead, Rank};

/// Bytes before those of an eager message.
pub const EAGER: usize = 24;
/// Bytes before those of a registered message.
pub const REGISTERED: usize = 32;
/// Bytes before those of the first packet of several.
pub const FIRST: usize = 40;
/// Bytes of a request.
pub const REQUEST: usize = 48;
/// Bytes before those of a further packet.
pub const MORE: usize = POSTED_HEAD_BYTES;
/// Bytes before those of a part.
pub const PART: usize = POSTED_HEAD_BYTES;
/// Bytes of the longest head; an offer with data has it (`remote::format`).
const LONGEST: usize = 56;

const EAGER_KIND: u8 = 1;
const FIRST_KIND: u8 = 2;
const REQUEST_KIND: u8 = 4;
const MORE_KIND: u8 = 3;
const GRANT_KIND: u8 = 5;
const PART_KIND: u8 = 6;
const REGISTERED_KIND: u8 = 9;
const LEFT_KIND: u8 = 10;

const IS_TAGGED: u8 = 1;
const HAS_DATA: u8 = 2;
const WANTS_DONE: u8 = 4;
/// Flag of a grant, in the place of those of an envelope.
const ZERO_COPY: u8 = 1;

/// A message that one packet brings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Whole<'a> {
    /// The endpoint that it is for.
    pub to: u8,
    /// Its envelope.
    pub envelope: MessageEnvelope,
    /// The number by which its sender wants to hear that it is where its receive wants it, if it
    /// wants to.
    pub registered: Option<NonZero<u64>>,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// A packet of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // The diagram has the names of the fields.
pub enum TaggedPacket<'a> {
    /// A whole message.
    Whole(Whole<'a>),
    /// The first packet of a message.
    First { to: u8, envelope: MessageEnvelope, number: u64, bytes: &'a [u8] },
    /// The next packet of a message.
    More { number: u64, offset: u64, bytes: &'a [u8] },
    /// A request to send a message, or to have it fetched from an address.
    Request {
        to: u8,
        envelope: MessageEnvelope,
        number: u64,
        lies_at: Option<NonZero<u64>>,
        wants_done: bool,
    },
    /// The answer: so many bytes of it may be sent, and perhaps without a copy.
    Grant { number: u64, own: u64, length: u64, zero_copy: bool },
    /// Some of them.
    Part { own: u64, offset: u64, bytes: &'a [u8] },
    /// The report that they are all there.
    Done { number: u64 },
    /// The report that so much is consumed of the messages that were received eagerly.
    Consumed { amount: u64 },
    /// The last packet of a rank, which leaves the job.
    Left,
}

/// A packet without bytes of messages, or what stands before them.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    bytes: [u8; LONGEST],
    length: u8,
}

impl Head {
    #[inline(always)]
    pub(crate) fn new(kind: u8) -> Self {
        Head { bytes: [0; LONGEST], length: 8 }.octet(0, kind)
    }

    /// With this in one of its first eight bytes, which is 0.
    #[inline(always)]
    pub(crate) fn octet(mut self, at: usize, octet: u8) -> Self {
        // By words, as links read it: a processor waits when it loads a word that was just stored
        // in parts.
        if let Some(first) = self.bytes.first_chunk_mut() {
            *first = (u64::from_le_bytes(*first) | u64::from(octet) << (8 * at)).to_le_bytes();
        }
        self
    }

    #[inline(always)]
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

impl TaggedPacket<'_> {
    /// The packet, or what stands before its bytes.
    #[inline(always)]
    pub fn head(&self) -> Head {
        match *self {
            TaggedPacket::Whole(Whole { to, envelope, registered: None, .. }) => {
                enveloped(EAGER_KIND, to, &envelope, 0)
            }
            TaggedPacket::Whole(Whole { to, envelope, registered: Some(number), .. }) => {
                enveloped(REGISTERED_KIND, to, &envelope, 0).word(number.get())
            }
            TaggedPacket::First { to, envelope, number, .. } => {
                enveloped(FIRST_KIND, to, &envelope, 0).word(envelope.length).word(number)
            }
            TaggedPacket::More { number, offset, .. } => {
                Head::new(MORE_KIND).word(number).word(offset)
            }
            TaggedPacket::Request { to, envelope, number, lies_at, wants_done } => {
                let flags = if wants_done { WANTS_DONE } else { 0 };
                let head = enveloped(REQUEST_KIND, to, &envelope, flags)
                    .word(envelope.length)
                    .word(number);
                head.word(lies_at.map_or(0, NonZero::get))
            }
            TaggedPacket::Grant { number, own, length, zero_copy } => {
                let flags = if zero_copy { ZERO_COPY } else { 0 };
                Head::new(GRANT_KIND).octet(1, flags).word(number).word(own).word(length)
            }
            TaggedPacket::Part { own, offset, .. } => Head::new(PART_KIND).word(own).word(offset),
            TaggedPacket::Done { number } => Head::new(7).word(number),
            TaggedPacket::Consumed { amount } => Head::new(8).word(amount),
            TaggedPacket::Left => Head::new(LEFT_KIND),
        }
    }
}

/// First bytes of all parts of the message that is received as this.
pub(crate) fn part_head(own: u64) -> PostedHead {
    start_of(TaggedPacket::Part { own, offset: 0, bytes: &[] })
}

/// First bytes of all packets but the first of the message with this number.
pub(crate) fn more_head(number: u64) -> PostedHead {
    start_of(TaggedPacket::More { number, offset: 0, bytes: &[] })
}

fn start_of(packet: TaggedPacket<'_>) -> PostedHead {
    let mut start = PostedHead::default();
    start.copy_from_slice(&packet.head().bytes()[..size_of::<PostedHead>()]);
    start
}

/// True if the packet is one of several of a message that bring its bytes.
#[inline]
pub(crate) fn is_one_of_several(packet: &[u8]) -> bool {
    matches!(packet.first(), Some(&(FIRST_KIND | MORE_KIND | PART_KIND)))
}

fn enveloped(kind: u8, to: u8, envelope: &MessageEnvelope, flags: u8) -> Head {
    let [start, tag, data] = words(kind, to, envelope, flags);
    let mut head = Head::new(0).word(tag).word(data);
    head.bytes[..8].copy_from_slice(&start.to_le_bytes());
    head
}

/// All that stands before the bytes of an eager message, in words as the machine has them.
#[inline(always)]
pub(crate) fn short_head(to: u8, envelope: &MessageEnvelope) -> [u64; 3] {
    words(EAGER_KIND, to, envelope, 0)
}

#[inline(always)]
fn words(kind: u8, to: u8, envelope: &MessageEnvelope, flags: u8) -> [u64; 3] {
    let tagged = if envelope.kind == Tagging::Tagged { IS_TAGGED } else { 0 };
    let data = if envelope.data.is_some() { HAS_DATA } else { 0 };
    let start = [kind, flags | tagged | data, to, envelope.source.endpoint, 0, 0, 0, 0];
    [u64::from_le_bytes(start), envelope.tag, envelope.data.unwrap_or(0)]
}

/// The message that a packet of `from` brings; `None` if it brings none, or not a whole one.
#[inline(always)]
pub fn parse_whole(from: Rank, packet: &[u8]) -> Option<Whole<'_>> {
    let (Start { kind, to, .. }, mut envelope, rest) = parse_envelope(from, packet, 0)?;
    let (registered, bytes) = match kind {
        EAGER_KIND => (None, rest),
        REGISTERED_KIND => {
            let (number, bytes) = word(rest)?;
            (Some(NonZero::new(number)?), bytes)
        }
        _ => return None,
    };
    envelope.length = bytes.len() as u64;
    Some(Whole { to, envelope, registered, bytes })
}

/// Parses a packet of `from`; `None` if it is none that a peer sends.
pub fn parse(from: Rank, packet: &[u8]) -> Option<TaggedPacket<'_>> {
    match *packet.first()? {
        EAGER_KIND | REGISTERED_KIND => parse_whole(from, packet).map(TaggedPacket::Whole),
        FIRST_KIND => {
            let (Start { to, .. }, mut envelope, rest) = parse_envelope(from, packet, 0)?;
            let (length, rest) = word(rest)?;
            let (number, bytes) = word(rest)?;
            envelope.length = length;
            Some(TaggedPacket::First { to, envelope, number, bytes })
        }
        REQUEST_KIND => {
            let (start, mut envelope, rest) = parse_envelope(from, packet, WANTS_DONE)?;
            let (length, rest) = word(rest)?;
            let (number, rest) = word(rest)?;
            let (lies_at, rest) = parse_address(rest, length)?;
            let (to, wants_done) = (start.to, start.flags & WANTS_DONE != 0);
            envelope.length = length;
            let request = TaggedPacket::Request { to, envelope, number, lies_at, wants_done };
            rest.is_empty().then_some(request)
        }
        GRANT_KIND => {
            let (words, []) = packet.as_chunks::<8>() else { return None };
            let &[start, number, own, length] = words else { return None };
            let [number, own, length] = [number, own, length].map(u64::from_le_bytes);
            let zero_copy = start[1] == ZERO_COPY;
            let is_known = start == [GRANT_KIND, start[1] & ZERO_COPY, 0, 0, 0, 0, 0, 0];
            is_known.then_some(TaggedPacket::Grant { number, own, length, zero_copy })
        }
        kind => {
            let (start, rest) = word(packet)?;
            (start == u64::from(kind)).then(|| parse_bare(kind, rest)).flatten()
        }
    }
}

/// The first bytes of a packet with an envelope.
struct Start {
    kind: u8,
    flags: u8,
    to: u8,
}

/// Parses the beginning of a packet with an envelope, and returns it with the bytes that follow.
/// `allowed` are flags that it may have, besides those of all such. The length of the message,
/// which stands elsewhere, is left 0.
#[inline(always)]
fn parse_envelope(
    from: Rank,
    packet: &[u8],
    allowed: u8,
) -> Option<(Start, MessageEnvelope, &[u8])> {
    let (head, rest) = packet.split_first_chunk::<EAGER>()?;
    let (&[start, tag, data], _) = head.as_chunks::<8>() else { return None };
    let [start, tag, data] = [start, tag, data].map(u64::from_le_bytes);
    let [kind, flags, to, endpoint, ..] = start.to_le_bytes();
    let (is_tagged, has_data) = (flags & IS_TAGGED != 0, flags & HAS_DATA != 0);
    let known = u64::from(IS_TAGGED | HAS_DATA | allowed) << 8 | 0xffff_00ff;
    if start & !known != 0 || (!is_tagged && tag != 0) || (!has_data && data != 0) {
        return None;
    }
    let envelope = MessageEnvelope {
        kind: if is_tagged { Tagging::Tagged } else { Tagging::Untagged },
        source: Address { rank: from, endpoint },
        tag,
        data: has_data.then_some(data),
        length: 0,
    };
    Some((Start { kind, flags, to }, envelope, rest))
}

/// Parses the address of so many bytes, if there is one; returns it with the bytes that follow it.
pub(crate) fn parse_address(bytes: &[u8], length: u64) -> Option<(Option<NonZero<u64>>, &[u8])> {
    let (address, rest) = word(bytes)?;
    let lies_at = NonZero::new(address);
    let is_odd = lies_at.is_some() && (length == 0 || address.checked_add(length).is_none());
    (!is_odd).then_some((lies_at, rest))
}

fn parse_bare(kind: u8, rest: &[u8]) -> Option<TaggedPacket<'_>> {
    if kind == LEFT_KIND {
        return rest.is_empty().then_some(TaggedPacket::Left);
    }
    let (number, rest) = word(rest)?;
    match (kind, rest) {
        (MORE_KIND, rest) => {
            let (offset, bytes) = word(rest)?;
            Some(TaggedPacket::More { number, offset, bytes })
        }
        (PART_KIND, rest) => {
            let (offset, bytes) = word(rest)?;
            Some(TaggedPacket::Part { own: number, offset, bytes })
        }
        (7, []) => Some(TaggedPacket::Done { number }),
        (8, []) => Some(TaggedPacket::Consumed { amount: number }),
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
