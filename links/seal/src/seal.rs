//! Sealing frames for one peer.

use crate::keys::{Direction, Keys};
use weft_wire::envelope::{self, Envelope, Kind};
use weft_wire::{Malformed, Rank, network, several};

/// Seals frames from this rank to one other.
pub struct Sealer {
    direction: Direction,
    job: u32,
    source: Rank,
    destination: Rank,
    trailer_bytes: usize,
    /// The number of the next frame.
    next: u64,
}

impl Sealer {
    pub(crate) fn new(keys: &Keys, destination: Rank) -> Self {
        Sealer {
            direction: keys.direction(keys.own, destination),
            job: keys.job,
            source: keys.own,
            destination,
            trailer_bytes: keys.protection.trailer_bytes(),
            next: 1,
        }
    }

    /// Writes the envelope of `frame` into its first [`envelope::SIZE`] bytes, and what the
    /// protection needs into its last ([`crate::Protection::trailer_bytes`]). What is between them,
    /// packets as [`envelope::put`] writes them or anything for other kinds, must be there already;
    /// encryption changes it, so a frame is sealed once.
    ///
    /// # Panics
    /// If the frame is shorter than that, or does not hold packets of this rank and nothing else.
    #[inline]
    pub fn seal(&mut self, kind: Kind, frame: &mut [u8]) {
        let end = frame.len() - self.trailer_bytes;
        let sequence = self.next;
        self.next += 1;
        let mut envelope = Envelope {
            kind,
            job: self.job,
            source: self.source,
            destination: self.destination,
            sum: 0,
            sequence,
            tag: 0,
        };
        let contents = &frame[envelope::SIZE..end];
        if kind == Kind::PACKETS && !self.direction.encrypts() {
            let found = check_packets(contents, self.source);
            let (count, sum) = found.expect("a frame holds packets of the rank that seals it");
            envelope.sum = sum;
            let mut bytes = envelope::emit(&envelope);
            let tag = self.tag(&bytes, count, contents);
            bytes[envelope::TAG].copy_from_slice(&tag.to_le_bytes());
            frame[..envelope::SIZE].copy_from_slice(&bytes);
        } else {
            self.seal_other(envelope, frame);
        }
    }

    /// Completes the entry for this sealer's receiver in a frame for several, of which `head` is
    /// the head of the envelope and `packet` the packet.
    pub(crate) fn seal_entry(
        &mut self,
        head: &crate::keys::Head,
        packet: &[u8],
        entry: &mut [u8; several::ENTRY],
    ) {
        entry[several::NUMBER].copy_from_slice(&self.next.to_le_bytes());
        self.next += 1;
        let tag = tag_for_one(&self.direction, head, packet, entry);
        entry[several::TAG].copy_from_slice(&tag.to_le_bytes());
    }

    #[inline]
    fn tag(&self, bytes: &[u8; envelope::SIZE], count: usize, contents: &[u8]) -> u64 {
        tag_of_packets(&self.direction, head_of(bytes), count, contents)
    }

    /// A frame that is encrypted, or holds no packets.
    fn seal_other(&self, mut envelope: Envelope, frame: &mut [u8]) {
        if self.direction.encrypts() {
            let bytes = envelope::emit(&envelope);
            self.direction.encrypt(head_of(&bytes), envelope.sequence, frame);
        } else {
            envelope.sum = crc32c::crc32c(&frame[envelope::SIZE..]);
        }
        let bytes = envelope::emit(&envelope);
        let trailer = &frame[frame.len() - self.trailer_bytes..];
        envelope.tag = self.direction.tag(head_of(&bytes), std::iter::once(trailer));
        frame[..envelope::SIZE].copy_from_slice(&envelope::emit(&envelope));
    }
}

/// The part of an envelope that the tag covers.
#[inline]
pub(crate) fn head_of(bytes: &[u8; envelope::SIZE]) -> &crate::keys::Head {
    match bytes.first_chunk() {
        Some(head) => head,
        None => unreachable!("the head is a part of the envelope"),
    }
}

/// Walks through packets that fill `contents` and all come from `source`. Returns how many there
/// are, one at least, and the checksum over their bodies, padding included.
#[inline]
pub(crate) fn check_packets(contents: &[u8], source: Rank) -> Result<(usize, u32), NotPackets> {
    let (mut rest, mut count, mut sum) = (contents, 0, 0);
    loop {
        let (header, _, bytes) = envelope::first(rest)?;
        if header.source != source {
            return Err(NotPackets);
        }
        sum = crc32c::crc32c_append(sum, &rest[network::SIZE..bytes]);
        count += 1;
        rest = &rest[bytes..];
        if rest.is_empty() {
            return Ok((count, sum));
        }
    }
}

/// The tag over an envelope and the headers of the packets after it. Packets that do not fill
/// `contents` give a tag that is right for nothing.
#[inline]
pub(crate) fn tag_of_packets(
    direction: &Direction,
    head: &crate::keys::Head,
    count: usize,
    contents: &[u8],
) -> u64 {
    match contents.first_chunk() {
        Some(header) if count == 1 => direction.tag_of_one(head, header),
        _ => direction.tag(head, Headers(contents)),
    }
}

/// The tag for one receiver of a frame for several: over the envelope, the header that all have in
/// common, and what is this receiver's own. The kind, which is in the envelope, keeps it apart from
/// all others.
#[inline]
pub(crate) fn tag_for_one(
    direction: &Direction,
    head: &crate::keys::Head,
    packet: &[u8],
    entry: &[u8; several::ENTRY],
) -> u64 {
    direction.tag(head, [&packet[..network::SIZE], &entry[several::TAGGED]].into_iter())
}

/// The encoded headers in `0`, as far as there are any.
struct Headers<'a>(&'a [u8]);

impl<'a> Iterator for Headers<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (_, _, bytes) = envelope::first(self.0).ok()?;
        let (packet, rest) = self.0.split_at(bytes);
        self.0 = rest;
        Some(&packet[..network::SIZE])
    }
}

/// These bytes are not packets of that rank.
#[derive(Debug)]
pub(crate) struct NotPackets;

impl From<Malformed> for NotPackets {
    fn from(_: Malformed) -> Self {
        NotPackets
    }
}
