//! Opening frames of one peer.

use crate::seal::FrameRefused;
use crate::seal::cover::lone_packet;
use crate::seal::keys::{Direction, Keys};
use crate::seal::sealer::{head_of, holds_packets, length_of};
use crate::seal::window::Window;
use std::ops::Range;
use weft_wire::envelope::{self, EVERYBODY, Envelope, FrameKind};
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
    pub kind: FrameKind,
    /// Sender.
    pub source: Rank,
    /// This rank, or [`crate::seal::EVERYBODY`] if others got it too.
    pub destination: Rank,
    /// Range of its contents in the frame.
    pub contents: Range<usize>,
    /// Header of the packet, if it holds one and nothing else, all of it in the frame.
    pub alone: Option<Header>,
}

impl Opened {
    /// The packets in `frame`, which is the frame that was opened.
    pub fn packets<'a>(&self, frame: &'a [u8]) -> FramePackets<'a> {
        let end =
            if self.kind == FrameKind::PACKETS { self.contents.end } else { self.contents.start };
        FramePackets { frame: &frame[..end], at: self.contents.start }
    }
}

/// The packets of a frame: the header of each, and where in the frame its body is.
#[derive(Clone, Debug)]
pub struct FramePackets<'a> {
    frame: &'a [u8],
    at: usize,
}

impl Iterator for FramePackets<'_> {
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
    ) -> Result<Opened, FrameRefused> {
        let (bytes, contents) = frame.split_first_chunk().ok_or(FrameRefused::Length)?;
        if length_of(contents) != envelope.length || contents.len() < self.trailer_bytes {
            return Err(FrameRefused::Length);
        }
        if self.window.has(envelope.sequence) {
            return Err(FrameRefused::Replayed);
        }
        let bytes: [u8; envelope::SIZE] = *bytes;
        let head = head_of(&bytes);
        if self.direction.tag(envelope.kind, head, contents) != envelope.tag
            || !self.direction.decrypt(head, envelope.sequence, frame)
        {
            return Err(FrameRefused::Tag);
        }
        let contents = envelope::SIZE..frame.len() - self.trailer_bytes;
        let alone = match envelope.kind {
            FrameKind::PACKETS => self.look_at(&frame[contents.clone()])?,
            _ => None,
        };
        Ok(self.opened(envelope, contents, alone))
    }

    /// Checks that contents are packets of the sender; returns the header if there is one only.
    #[inline]
    fn look_at(&self, contents: &[u8]) -> Result<Option<Header>, FrameRefused> {
        match envelope::first(contents) {
            Ok((header, _, bytes)) if header.source == self.source && bytes == contents.len() => {
                Ok(Some(header))
            }
            _ if holds_packets(contents, self.source) => Ok(None),
            _ => Err(FrameRefused::Layout),
        }
    }

    /// Checks a frame with this envelope that holds one packet, of whose body the bytes from
    /// somewhere on are `tail`, elsewhere in memory ([`crate::seal::Sealer::seal_parts`]). Its
    /// contents are then those that are in the frame.
    #[inline]
    pub(crate) fn open_parts(
        &mut self,
        envelope: &Envelope,
        frame: &[u8],
        tail: &[u8],
    ) -> Result<Opened, FrameRefused> {
        let (bytes, contents) = frame.split_first_chunk().ok_or(FrameRefused::Length)?;
        let length = contents.len() + tail.len();
        if length != envelope.length as usize || self.direction.encrypts() {
            return Err(FrameRefused::Length);
        }
        if self.window.has(envelope.sequence) {
            return Err(FrameRefused::Replayed);
        }
        let cover = self.direction.cover_parts(contents, tail);
        if self.direction.tag_of_entry(head_of(bytes), &cover, &[]) != envelope.tag {
            return Err(FrameRefused::Tag);
        }
        let right = |header: Header| header.source == self.source;
        if envelope.kind != FrameKind::PACKETS || !lone_packet(contents, length).is_some_and(right)
        {
            return Err(FrameRefused::Layout);
        }
        Ok(self.opened(envelope, envelope::SIZE..frame.len(), None))
    }

    /// Notes that the frame with this envelope has come.
    #[inline]
    fn opened(
        &mut self,
        envelope: &Envelope,
        contents: Range<usize>,
        alone: Option<Header>,
    ) -> Opened {
        self.window.mark(envelope.sequence);
        let &Envelope { kind, source, destination, .. } = envelope;
        Opened { kind, source, destination, contents, alone }
    }

    /// Opens a frame for several ranks, of which `own` is one: behind the envelope there is then
    /// one packet, whose header is that for this rank.
    pub(crate) fn open_several(
        &mut self,
        envelope: &Envelope,
        frame: &mut [u8],
        own: Rank,
    ) -> Result<Opened, FrameRefused> {
        let (bytes, contents) = frame.split_first_chunk_mut().ok_or(FrameRefused::Length)?;
        let split = several::split(contents).ok_or(FrameRefused::Layout)?;
        let several::Contents { common, packet, entries } = split;
        if length_of(packet) != envelope.length {
            return Err(FrameRefused::Length);
        }
        let entry = entries.iter().find(|entry| several::destination(entry) == own);
        let own = entry.ok_or(FrameRefused::Bystander)?;
        let entry = several::parse(own);
        if self.window.has(entry.number) {
            return Err(FrameRefused::Replayed);
        }
        let cover = self.direction.cover(FrameKind::SEVERAL, packet);
        let tag = self.direction.tag_of_entry(head_of(bytes), &cover, &own[several::TAGGED]);
        // No job that encrypts seals such frames: their bytes would need a key that all have.
        if self.direction.encrypts() || tag != entry.tag || envelope.tag != 0 {
            return Err(FrameRefused::Tag);
        }
        if !holds_packets(packet, self.source) {
            return Err(FrameRefused::Layout);
        }
        self.window.mark(entry.number);
        let end = envelope::SIZE + packet.len();
        contents[..network::SIZE].copy_from_slice(&network::emit(&entry.header(&common)));
        Ok(Opened {
            kind: FrameKind::PACKETS,
            source: envelope.source,
            destination: EVERYBODY,
            contents: envelope::SIZE..end,
            alone: None,
        })
    }
}
