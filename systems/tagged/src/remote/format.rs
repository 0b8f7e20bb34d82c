//! Packets of remote accesses as bytes, little-endian.
//!
//! ```text
//!          0    1     2  3    4         5       6    8   16     24  32     40      48
//!         ┌────┬─────┬──┬────┬─────────┬───────┬────┬───┬──────┬───┬──────┬───────┬─────
//! write   │kind│flags│to│from│zero                  │key│offset│end│number│data   │bytes
//! offer   │kind│flags│to│from│zero                  │key│offset│end│number│address│data│
//! read    │kind│flags│to│from│zero                  │key│offset│end│number│
//! atomic  │kind│flags│to│from│operation│element│zero│key│offset│end│number│operands
//!         └────┴─────┴──┴────┴─────────┴───────┴────┴───┴──────┴───┴──────┴───────┴─────
//! part    │kind│zero                                │number│bytes
//! ended   │kind│outcome│zero                        │number│
//! address │kind│zero                                │number│address│
//! fetched │kind│outcome│zero                        │number│
//! ```
//! `to` and `from` are endpoints; `key` and `offset` say where the bytes go, and `end` where the
//! access ends. A write has `data` if its flag says so, and takes as many packets as it needs, each
//! of which can be checked by itself. An `offer` is a packet of a write, too, but says where its
//! bytes lie in the process of their sender: [`OFFERED`] of them, or what is left. The answer to a
//! `read`, and to an `atomic` that fetches, are `part`s, in order; `ended` answers everything else,
//! and whatever was refused. To a `read` whose flag says that its sender can fetch, the answer may
//! be `address`: that of the bytes, and `fetched` says that they were fetched, or could not be and
//! are to come as `part`s. The operands of an `atomic` are as long as what it accesses; a
//! compare-and-swap has what it compares with behind them, and an operation that only reads has
//! none.

use super::access::{AccessOutcome, AccessRefused};
use super::atomic::{AtomicAccess, AtomicOperation, Element};
use crate::format::{Head, parse_address, word};
use std::num::NonZero;

/// Bytes of a read, and those before the bytes of a write without data and before operands.
pub const ACCESS: usize = 40;
/// Bytes before those of a part.
pub const PART: usize = 16;

/// Bytes of an offer at most. They are fetched when it arrives, and nothing else is done meanwhile:
/// for some 20 microseconds.
pub const OFFERED: u64 = 256 * 1024;

const WRITE: u8 = 16;
const READ: u8 = 17;
const ATOMIC: u8 = 18;
const PARTS: u8 = 19;
const ENDED: u8 = 20;
const OFFER: u8 = 21;
const LIES: u8 = 22;
const FETCHED: u8 = 23;

const HAS_DATA: u8 = 1;
const FETCHES: u8 = 1;
const IN_VAIN: u8 = 1;

/// The bytes that are accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessSpan {
    /// The endpoint that is told.
    pub to: u8,
    /// The endpoint that asks.
    pub from: u8,
    /// Key of the region.
    pub key: u64,
    /// From where.
    pub offset: u64,
    /// To where; not before `offset`.
    pub end: u64,
}

impl AccessSpan {
    /// Number of bytes.
    pub fn length(&self) -> u64 {
        self.end - self.offset
    }

    /// Number of those that one offer is of.
    pub fn offered(&self) -> u64 {
        self.length().min(OFFERED)
    }
}

/// A packet of a remote access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // The diagram has the names of the fields.
pub enum RemotePacket<'a> {
    /// Bytes to write.
    Write { span: AccessSpan, number: u64, data: Option<u64>, bytes: &'a [u8] },
    /// The address of bytes to write.
    Offer { span: AccessSpan, number: u64, lies_at: NonZero<u64>, data: Option<u64> },
    /// A request for the bytes of a span. Maybe they can be fetched.
    Read { span: AccessSpan, number: u64, fetches: bool },
    /// An operation on the bytes of a span.
    Atomic {
        span: AccessSpan,
        number: u64,
        atomic: AtomicAccess,
        fetches: bool,
        operands: &'a [u8],
    },
    /// Bytes that were there.
    Part { number: u64, bytes: &'a [u8] },
    /// The end of an access.
    Ended { number: u64, outcome: AccessOutcome },
    /// The address of bytes to read.
    Address { number: u64, lies_at: NonZero<u64> },
    /// The end of a fetch: of all of it, or not.
    Fetched { number: u64, all: bool },
}

/// True if a packet is one of remote accesses, if it is one at all and none of operations of all
/// members of a [team](crate::collectives::is_collective).
#[inline]
pub fn is_access(packet: &[u8]) -> bool {
    packet.first().is_some_and(|kind| *kind >= WRITE)
}

impl<'a> RemotePacket<'a> {
    /// The packet, or what stands before its bytes.
    pub fn head(&self) -> Head {
        match *self {
            RemotePacket::Write { span, number, data, .. } => {
                let flags = if data.is_some() { HAS_DATA } else { 0 };
                let head = spanned(Head::new(WRITE).octet(1, flags), span, number);
                data.map_or(head, |data| head.word(data))
            }
            RemotePacket::Offer { span, number, lies_at, data } => {
                let flags = if data.is_some() { HAS_DATA } else { 0 };
                let head = spanned(Head::new(OFFER).octet(1, flags), span, number);
                let head = head.word(lies_at.get());
                data.map_or(head, |data| head.word(data))
            }
            RemotePacket::Read { span, number, fetches } => {
                spanned(Head::new(READ).octet(1, if fetches { FETCHES } else { 0 }), span, number)
            }
            RemotePacket::Atomic { span, number, atomic, fetches, .. } => {
                let head = Head::new(ATOMIC).octet(1, if fetches { FETCHES } else { 0 });
                let head = head.octet(4, atomic.operation as u8).octet(5, atomic.element as u8);
                spanned(head, span, number)
            }
            RemotePacket::Part { number, .. } => Head::new(PARTS).word(number),
            RemotePacket::Ended { number, outcome } => {
                Head::new(ENDED).octet(1, outcome_number(outcome)).word(number)
            }
            RemotePacket::Address { number, lies_at } => {
                Head::new(LIES).word(number).word(lies_at.get())
            }
            RemotePacket::Fetched { number, all } => {
                Head::new(FETCHED).octet(1, if all { 0 } else { IN_VAIN }).word(number)
            }
        }
    }

    /// The bytes behind the head.
    pub fn bytes(&self) -> &'a [u8] {
        match *self {
            RemotePacket::Write { bytes, .. } | RemotePacket::Part { bytes, .. } => bytes,
            RemotePacket::Atomic { operands, .. } => operands,
            RemotePacket::Offer { .. }
            | RemotePacket::Read { .. }
            | RemotePacket::Ended { .. }
            | RemotePacket::Address { .. }
            | RemotePacket::Fetched { .. } => &[],
        }
    }
}

fn spanned(head: Head, span: AccessSpan, number: u64) -> Head {
    let head = head.octet(2, span.to).octet(3, span.from);
    head.word(span.key).word(span.offset).word(span.end).word(number)
}

fn outcome_number(outcome: AccessOutcome) -> u8 {
    match outcome {
        Ok(()) => 0,
        Err(AccessRefused::NoRegion) => 1,
        Err(AccessRefused::NoRight) => 2,
        Err(AccessRefused::Beyond) => 3,
        Err(AccessRefused::Unfetchable) => 4,
    }
}

fn outcome(number: u8) -> Option<AccessOutcome> {
    Some(match number {
        0 => Ok(()),
        1 => Err(AccessRefused::NoRegion),
        2 => Err(AccessRefused::NoRight),
        3 => Err(AccessRefused::Beyond),
        4 => Err(AccessRefused::Unfetchable),
        _ => return None,
    })
}

/// Parses a packet; `None` if it is none that a peer sends.
pub fn parse(packet: &[u8]) -> Option<RemotePacket<'_>> {
    let (start, rest) = packet.split_first_chunk::<8>()?;
    let [kind, flags, to, from, operation, element, zero @ ..] = *start;
    let bare = [to, from, operation, element, zero[0], zero[1]] == [0; 6];
    match kind {
        PARTS | ENDED | LIES | FETCHED if bare => {
            let (number, bytes) = word(rest)?;
            match (kind, flags) {
                (PARTS, 0) => Some(RemotePacket::Part { number, bytes }),
                (LIES, 0) => {
                    let (address, rest) = word(bytes)?;
                    let lies_at = NonZero::new(address).filter(|_| rest.is_empty())?;
                    Some(RemotePacket::Address { number, lies_at })
                }
                (PARTS | LIES, _) => None,
                _ if !bytes.is_empty() => None,
                (FETCHED, flags) => {
                    (flags <= IN_VAIN).then_some(RemotePacket::Fetched { number, all: flags == 0 })
                }
                (_, flags) => outcome(flags).map(|outcome| RemotePacket::Ended { number, outcome }),
            }
        }
        WRITE | OFFER | READ | ATOMIC if zero == [0; 2] => {
            let (key, rest) = word(rest)?;
            let (offset, rest) = word(rest)?;
            let (end, rest) = word(rest)?;
            let (number, rest) = word(rest)?;
            let span = AccessSpan { to, from, key, offset, end };
            match (kind, operation, element) {
                _ if offset > end => None,
                (WRITE, 0, 0) => parse_write(span, number, flags, rest),
                (OFFER, 0, 0) => parse_offer(span, number, flags, rest),
                (READ, 0, 0) => (flags <= FETCHES && rest.is_empty())
                    .then_some(RemotePacket::Read { span, number, fetches: flags == FETCHES }),
                (ATOMIC, ..) => {
                    let atomic = AtomicAccess {
                        operation: AtomicOperation::of_number(operation)?,
                        element: Element::of_number(element)?,
                    };
                    parse_atomic(span, number, flags, atomic, rest)
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn parse_write(span: AccessSpan, number: u64, flags: u8, rest: &[u8]) -> Option<RemotePacket<'_>> {
    let (data, bytes) = match flags {
        0 => (None, rest),
        HAS_DATA => word(rest).map(|(data, rest)| (Some(data), rest))?,
        _ => return None,
    };
    let fits = bytes.len() as u64 <= span.length() && (!bytes.is_empty() || span.length() == 0);
    fits.then_some(RemotePacket::Write { span, number, data, bytes })
}

fn parse_offer(
    span: AccessSpan,
    number: u64,
    flags: u8,
    rest: &[u8],
) -> Option<RemotePacket<'static>> {
    let (lies_at, rest) = parse_address(rest, span.offered())?;
    let (data, rest) = match flags {
        0 => (None, rest),
        HAS_DATA => word(rest).map(|(data, rest)| (Some(data), rest))?,
        _ => return None,
    };
    let lies_at = lies_at.filter(|_| rest.is_empty())?;
    Some(RemotePacket::Offer { span, number, lies_at, data })
}

fn parse_atomic(
    span: AccessSpan,
    number: u64,
    flags: u8,
    atomic: AtomicAccess,
    operands: &[u8],
) -> Option<RemotePacket<'_>> {
    let fetches = match flags {
        0 => false,
        FETCHES => true,
        _ => return None,
    };
    let length = usize::try_from(span.length()).ok()?;
    let expected = length.checked_mul(atomic.operation.operands())?;
    let fits = atomic.is_valid(fetches)
        && length.is_multiple_of(atomic.element.size())
        && operands.len() == expected;
    fits.then_some(RemotePacket::Atomic { span, number, atomic, fetches, operands })
}

#[cfg(test)]
mod tests;
