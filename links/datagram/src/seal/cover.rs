//! Contents under a tag: a short frame's as they are, a long one's as a keyed digest.
//!
//! ```text
//! tag = SipHash-2-4(pair's key, head | cover | own)
//! head:   the envelope up to its tag: kind, job, ranks, length of the contents, number (24)
//! cover:  the contents if they are short; else AEGIS-128X4-MAC(job's key, contents) (16), or, of
//!         one packet, or a piece of one, where bodies are left to whoever carries them, its first
//!         bytes (128; 8 of a piece that is not the first)
//! own:    the receiver's entry up to its tag (24), in a frame for several; else nothing
//! ```
//! This is a keyed hash that nobody sees under a pseudorandom function (Wegman and Carter 1981;
//! Boneh and Shoup, *A Graduate Course in Applied Cryptography*, 7.3: PRF(UHF) composition):
//!
//! - *The encoding is injective.* The head has a fixed size. Its length and kind say how long cover
//!   and own are, and which form the cover has, together with the header of the packet, which it
//!   covers; a frame whose length is not what its head says is refused before. Headers, bodies,
//!   padding, and so the places where packets begin, are covered as the one string that they are in
//!   the frame, or of one long packet as its beginning.
//! - *The digests of two contents collide* with a probability of 2^-128 for who does not know the
//!   key, as far as AEGIS keeps what it promises as a MAC (draft-irtf-cfrg-aegis-aead, "AEGIS as a
//!   MAC"). It covers the length too. It is the fastest there is for frames (measured in
//!   `docs/internals/ethernet.md`): four states of eight AES blocks side by side in wide registers.
//! - *Nobody outside sees a digest*, only what SipHash makes of it with a key of the pair, and no
//!   head comes twice, because it has the frame's number. So a forgery is a guess: each attempt
//!   succeeds with a probability of 2^-64, and every failed one is counted.
//!
//! With encryption the cipher's tag is covered in place of the contents: of a fixed size too, under
//! keys of their own, and the cipher authenticates head and contents itself.
//!
//! The digest's key is one for the whole job, not for each pair, so that a frame for several is
//! hashed once by its sender. Members could derive each other's keys anyhow, as all have the job's
//! secret: tags keep out strangers, not members.

use crate::seal::Protection;
use aegis::aegis128x4::Aegis128X4Mac;
use weft_wire::envelope::{self, FrameKind};
use weft_wire::path::{self, Piece};
use weft_wire::{Header, network};

/// Longest contents that are covered as they are. Up to here SipHash takes no longer than the
/// digest and SipHash over that (74 ns and 75 ns at 192 bytes).
const DIRECT_BYTES: usize = 192;

/// Bytes that are covered of a long packet where the rest is left to whoever carries it: its
/// header, and what systems put in front of the program's bytes.
const START_BYTES: usize = 128;

/// Digest of contents, with a key of the job.
#[derive(Debug)]
pub(crate) struct Digest {
    mac: Aegis128X4Mac<16>,
    protection: Protection,
}

impl Digest {
    /// The digest with this key.
    pub fn new(key: &[u8; 16], protection: Protection) -> Self {
        Digest { mac: Aegis128X4Mac::new(key), protection }
    }

    /// Form in which `contents` of that kind come under a tag.
    #[inline]
    pub fn cover<'a>(&self, kind: FrameKind, contents: &'a [u8]) -> Cover<'a> {
        if contents.len() <= DIRECT_BYTES {
            return Cover::Direct(contents);
        }
        if let Some(bytes) = self.beginning(kind, contents) {
            return Cover::Direct(&contents[..bytes]);
        }
        let mut digest = self.mac.clone();
        digest.update(contents);
        Cover::Digest(digest.finalize())
    }

    /// Bytes that are covered of long contents of that kind, where the rest is left to whoever
    /// carries them; `None` if it must not be.
    #[inline]
    fn beginning(&self, kind: FrameKind, contents: &[u8]) -> Option<usize> {
        match kind {
            FrameKind::PACKETS if self.protection == Protection::Headers => {
                lone_packet(contents, contents.len()).map(|_| START_BYTES)
            }
            FrameKind::PIECE if self.protection <= Protection::Datagrams => {
                let (piece, _) = Piece::parse(contents)?;
                Some(if piece.offset == 0 { START_BYTES } else { path::SIZE })
            }
            _ => None,
        }
    }

    /// Form in which contents, packets, come under a tag of which `tail` is elsewhere in memory.
    ///
    /// # Panics
    /// If they are short: then they are covered as they are.
    #[inline]
    pub fn cover_parts(&self, head: &[u8], tail: &[u8]) -> Cover<'static> {
        let length = head.len() + tail.len();
        assert!(length > DIRECT_BYTES, "short contents are in one part");
        if self.protection == Protection::Headers && lone_packet(head, length).is_some() {
            return Cover::start(head, tail);
        }
        let mut digest = self.mac.clone();
        digest.update(head);
        digest.update(tail);
        Cover::Digest(digest.finalize())
    }
}

/// Header of the packet that contents of so many bytes with this beginning are, if they are one.
#[inline]
pub(crate) fn lone_packet(start: &[u8], length: usize) -> Option<Header> {
    let (header, _) = network::split(start).ok()?;
    let bytes = envelope::packet_bytes(envelope::body_bytes(&header));
    (bytes == length).then_some(header)
}

impl Drop for Digest {
    /// Wipes what follows from the key.
    fn drop(&mut self) {
        self.mac = Aegis128X4Mac::new(&[0; 16]);
        std::hint::black_box(&self.mac);
    }
}

/// Contents in the form in which they come under a tag.
pub(crate) enum Cover<'a> {
    Direct(&'a [u8]),
    Digest([u8; 16]),
    Start([u8; START_BYTES]),
}

impl Cover<'_> {
    /// The first bytes of contents in two parts, which are longer.
    #[inline]
    fn start(head: &[u8], tail: &[u8]) -> Self {
        let mut start = [0; START_BYTES];
        let (first, rest) = start.split_at_mut(head.len().min(START_BYTES));
        first.copy_from_slice(&head[..first.len()]);
        rest.copy_from_slice(&tail[..rest.len()]);
        Cover::Start(start)
    }

    /// Bytes to put under the tag.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Cover::Direct(contents) => contents,
            Cover::Digest(digest) => digest,
            Cover::Start(start) => start,
        }
    }
}
