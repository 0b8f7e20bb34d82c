//! Opening frames of one peer.

use crate::Refused;
use crate::keys::{Direction, Keys};
use crate::seal::{NotPackets, check_packets, head_of, tag_for_one, tag_of_packets};
use crate::window::Window;
use std::ops::Range;
use weft_wire::envelope::{self, EVERYBODY, Envelope, Kind};
use weft_wire::{Header, Rank, network, several};

/// Opens frames from one other rank to this one, be it alone or with others.
pub struct Opener {
    direction: Direction,
    source: Rank,
    trailer_bytes: usize,
    window: Window,
}

/// A frame that is what it says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Opened {
    /// Kind of its contents.
    pub kind: Kind,
    /// Sender.
    pub source: Rank,
    /// This rank, or [`crate::EVERYBODY`] if others got it too.
    pub destination: Rank,
    /// Range of its contents in the frame.
    pub contents: Range<usize>,
}

impl Opened {
    /// The packets in `frame`, which is the frame that was opened.
    pub fn packets<'a>(&self, frame: &'a [u8]) -> Packets<'a> {
        let end = if self.kind == Kind::PACKETS { self.contents.end } else { self.contents.start };
        Packets { frame: &frame[..end], at: self.contents.start }
    }
}

/// The packets of a frame: the header of each, and where in the frame its body is.
#[derive(Clone, Debug)]
pub struct Packets<'a> {
    frame: &'a [u8],
    at: usize,
}

impl Iterator for Packets<'_> {
    type Item = (Header, Range<usize>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        // Opening found packets all the way to the end, so an error here is the end.
        let (header, body, bytes) = envelope::first(self.frame.get(self.at..)?).ok()?;
        let start = self.at + network::SIZE;
        let body = start..start + body.len();
        self.at += bytes;
        Some((header, body))
    }
}

impl Opener {
    pub(crate) fn new(keys: &Keys, source: Rank) -> Self {
        Opener {
            direction: keys.direction(source, keys.own),
            source,
            trailer_bytes: keys.protection.trailer_bytes(),
            window: Window::new(),
        }
    }

    /// Checks a frame with this envelope, and decrypts it in place if it is encrypted.
    #[inline]
    pub(crate) fn open(
        &mut self,
        envelope: &Envelope,
        frame: &mut [u8],
    ) -> Result<Opened, Refused> {
        if self.window.has(envelope.sequence) {
            return Err(Refused::Replayed);
        }
        let end = frame.len().checked_sub(self.trailer_bytes).ok_or(Refused::Short)?;
        let contents = frame.get(envelope::SIZE..end).ok_or(Refused::Short)?;
        if envelope.kind == Kind::PACKETS && !self.direction.encrypts() {
            self.check_tagged(envelope, frame.first_chunk().ok_or(Refused::Short)?, contents)?;
        } else {
            self.open_other(envelope, frame)?;
        }
        self.window.mark(envelope.sequence);
        Ok(Opened {
            kind: envelope.kind,
            source: envelope.source,
            destination: envelope.destination,
            contents: envelope::SIZE..end,
        })
    }

    /// Opens a frame for several ranks, of which `own` is one: behind the envelope there is then
    /// one packet, whose header is that for this rank.
    pub(crate) fn open_several(
        &mut self,
        envelope: &Envelope,
        frame: &mut [u8],
        own: Rank,
    ) -> Result<Opened, Refused> {
        let (head, contents) = frame.split_first_chunk_mut().ok_or(Refused::Short)?;
        let head: &[u8; envelope::SIZE] = head;
        let split = several::split(contents).ok_or(Refused::Layout)?;
        let several::Contents { common, packet, entries } = split;
        let entry = entries.iter().find(|entry| several::destination(entry) == own);
        let bytes = entry.ok_or(Refused::Bystander)?;
        let entry = several::parse(bytes);
        if self.window.has(entry.number) {
            return Err(Refused::Replayed);
        }
        // No job that encrypts seals such frames: their bytes would need a key that all have.
        if self.direction.encrypts()
            || tag_for_one(&self.direction, head_of(head), packet, bytes) != entry.tag
        {
            return Err(Refused::Tag);
        }
        match check_packets(packet, self.source) {
            Err(NotPackets) => return Err(Refused::Layout),
            Ok((_, sum)) if sum != envelope.sum => return Err(Refused::Sum),
            Ok(_) => {}
        }
        self.window.mark(entry.number);
        let end = envelope::SIZE + packet.len();
        contents[..network::SIZE].copy_from_slice(&network::emit(&entry.header(&common)));
        Ok(Opened {
            kind: Kind::PACKETS,
            source: envelope.source,
            destination: EVERYBODY,
            contents: envelope::SIZE..end,
        })
    }

    #[inline]
    fn check_tagged(
        &self,
        envelope: &Envelope,
        bytes: &[u8; envelope::SIZE],
        contents: &[u8],
    ) -> Result<(), Refused> {
        // Only how many bytes the first packet takes is believed before the tag is checked, and
        // whether it is right the tag says.
        let alone = envelope::first(contents).is_ok_and(|(_, _, bytes)| bytes == contents.len());
        let count = if alone { 1 } else { usize::MAX };
        let tag = tag_of_packets(&self.direction, head_of(bytes), count, contents);
        if tag != envelope.tag {
            return Err(Refused::Tag);
        }
        match check_packets(contents, self.source) {
            Err(NotPackets) => Err(Refused::Layout),
            Ok((_, sum)) if sum != envelope.sum => Err(Refused::Sum),
            Ok(_) => Ok(()),
        }
    }

    /// A frame that is encrypted, or holds no packets.
    fn open_other(&self, envelope: &Envelope, frame: &mut [u8]) -> Result<(), Refused> {
        let bytes = *frame.first_chunk::<{ envelope::SIZE }>().ok_or(Refused::Short)?;
        let end = frame.len() - self.trailer_bytes;
        let tag = self.direction.tag(head_of(&bytes), std::iter::once(&frame[end..]));
        if tag != envelope.tag {
            return Err(Refused::Tag);
        }
        if !self.direction.encrypts() {
            let right = crc32c::crc32c(&frame[envelope::SIZE..]) == envelope.sum;
            return if right { Ok(()) } else { Err(Refused::Sum) };
        }
        if !self.direction.decrypt(head_of(&bytes), envelope.sequence, frame) {
            return Err(Refused::Sum);
        }
        if envelope.kind == Kind::PACKETS
            && check_packets(&frame[envelope::SIZE..end], self.source).is_err()
        {
            return Err(Refused::Layout);
        }
        Ok(())
    }
}
