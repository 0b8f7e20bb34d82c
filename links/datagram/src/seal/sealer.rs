//! Sealing frames for one peer.

use crate::seal::cover::{Cover, lone_packet};
use crate::seal::keys::{Direction, Head, Keys};
use weft_wire::envelope::{self, Envelope, FrameKind};
use weft_wire::{Header, Rank, several};

/// Seals frames from this rank to one other.
pub struct Sealer {
    direction: Direction,
    job: u32,
    source: Rank,
    destination: Rank,
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
            next: 1,
        }
    }

    /// Writes the envelope of `frame` into its first [`envelope::SIZE`] bytes, and what the
    /// protection needs into its last ([`crate::seal::Protection::trailer_bytes`]). What is between
    /// them, packets as [`envelope::put`] writes them or anything for other kinds, must be there
    /// already; encryption changes it, so a frame is sealed once.
    ///
    /// # Panics
    /// If the frame is shorter than that; in debug builds also if it does not hold packets of this
    /// rank and nothing else, which its receiver refuses.
    #[inline]
    pub fn seal(&mut self, kind: FrameKind, frame: &mut [u8]) {
        let contents = &frame[envelope::SIZE..];
        let is_clear = kind == FrameKind::PACKETS && !self.direction.encrypts();
        debug_assert!(
            !is_clear || holds_packets(contents, self.source),
            "a frame holds packets of the rank that seals it"
        );
        let mut bytes = self.envelope(kind, length_of(contents));
        self.direction.encrypt(head_of(&bytes), self.next, frame);
        let tag = self.direction.tag(kind, head_of(&bytes), &frame[envelope::SIZE..]);
        self.next += 1;
        bytes[envelope::TAG].copy_from_slice(&tag.to_le_bytes());
        frame[..envelope::SIZE].copy_from_slice(&bytes);
    }

    /// Does what [`Self::seal`] does, for a frame with one packet, of whose body the bytes from
    /// somewhere on are `tail`, elsewhere in memory. Without any it is `seal`.
    ///
    /// # Panics
    /// If the two do not hold one packet of this rank and nothing else, or frames are encrypted.
    #[inline]
    pub fn seal_parts(&mut self, frame: &mut [u8], tail: &[u8]) {
        if tail.is_empty() {
            return self.seal(FrameKind::PACKETS, frame);
        }
        assert!(!self.direction.encrypts(), "what is elsewhere in memory is not encrypted");
        let contents = &frame[envelope::SIZE..];
        let length = contents.len() + tail.len();
        let right = |header: Header| header.source == self.source;
        assert!(
            lone_packet(contents, length).is_some_and(right),
            "a frame in parts holds one packet of the rank that seals it"
        );
        let length = u32::try_from(length).expect("a frame has no 4 GB");
        let mut bytes = self.envelope(FrameKind::PACKETS, length);
        let cover = self.direction.cover_parts(contents, tail);
        let tag = self.direction.tag_of_entry(head_of(&bytes), &cover, &[]);
        self.next += 1;
        bytes[envelope::TAG].copy_from_slice(&tag.to_le_bytes());
        frame[..envelope::SIZE].copy_from_slice(&bytes);
    }

    /// The envelope of the next frame, without a tag.
    #[inline]
    fn envelope(&self, kind: FrameKind, length: u32) -> [u8; envelope::SIZE] {
        envelope::emit(&Envelope {
            kind,
            job: self.job,
            source: self.source,
            destination: self.destination,
            length,
            sequence: self.next,
            tag: 0,
        })
    }

    /// Completes the entry for this sealer's receiver in a frame for several, of which `head` is
    /// the head of the envelope and `cover` what is covered of the packet.
    pub(crate) fn seal_entry(
        &mut self,
        head: &Head,
        cover: &Cover<'_>,
        entry: &mut [u8; several::ENTRY],
    ) {
        entry[several::NUMBER].copy_from_slice(&self.next.to_le_bytes());
        self.next += 1;
        let tag = self.direction.tag_of_entry(head, cover, &entry[several::TAGGED]);
        entry[several::TAG].copy_from_slice(&tag.to_le_bytes());
    }
}

/// The part of an envelope that the tag covers.
#[inline]
pub(crate) fn head_of(bytes: &[u8; envelope::SIZE]) -> &Head {
    match bytes.first_chunk() {
        Some(head) => head,
        None => unreachable!("the head is a part of the envelope"),
    }
}

/// Number of bytes, as an envelope says it.
#[inline]
pub(crate) fn length_of(contents: &[u8]) -> u32 {
    u32::try_from(contents.len()).expect("a frame has no 4 GB")
}

/// True if `contents` are packets, one at least and nothing else, and all come from `source`.
#[inline]
pub(crate) fn holds_packets(contents: &[u8], source: Rank) -> bool {
    let mut rest = contents;
    loop {
        match envelope::first(rest) {
            Ok((header, _, bytes)) if header.source == source => rest = &rest[bytes..],
            _ => return false,
        }
        if rest.is_empty() {
            return true;
        }
    }
}
