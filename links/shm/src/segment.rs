//! The layout of a segment, how it is made, and how a rank or the launcher maps it.

use crate::memory::{Cursor, Frames, Mapping, View, Word};
use crate::ring::SLOT_BYTES;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};
use weft_wire::Rank;

/// Ranks that can share a host: one bit of a word, one byte of a line each.
pub const MAX_RANKS: u16 = 64;
/// Fetch-and-add words of each rank.
pub const WORDS: u16 = 64;
/// Bytes of each rank's board. Pages of it that nobody touches cost nothing.
const BOARD_BYTES: usize = 512 * 1024;

const LINE: usize = 64;
const PAGE: usize = 4096;
const WORDS_OFFSET: usize = PAGE;
const BOARD_OFFSET: usize = WORDS_OFFSET + WORDS as usize * LINE;
const RELEASES_OFFSET: usize = BOARD_OFFSET + BOARD_BYTES;

/// The sizes of a job's segments; the same for all ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Ranks, 1 to [`MAX_RANKS`].
    pub ranks: u16,
    /// Credits of each ordered pair; half the slots of a ring.
    pub window_packets: u16,
    /// User bytes in a frame; a multiple of 64.
    pub frame_bytes: u32,
    /// Frames that a rank can send from.
    pub frames: u32,
}

impl Settings {
    /// The default sizes for `ranks` ranks. Few ranks have longer rings: a pair then seldom waits for
    /// credits, and all rings of a rank still fit beside each other in its cache.
    pub fn new(ranks: u16) -> Self {
        let window_packets = if ranks <= 8 { 128 } else { 64 };
        Settings { ranks, window_packets, frame_bytes: 49152, frames: 48 }
    }

    /// The same for ranks that reach others over a network too: frames hold what fits into one of
    /// Ethernet's, jumbo or not, and are more, because they are in use until they are acknowledged.
    pub fn beside_network(self) -> Self {
        Settings { frame_bytes: 8960, frames: 512, ..self }
    }

    /// Whether a segment can be made of this.
    ///
    /// # Errors
    /// What is wrong, for a person.
    pub fn check(&self) -> Result<(), String> {
        let Settings { ranks, window_packets, frame_bytes, frames } = *self;
        if !(1..=MAX_RANKS).contains(&ranks) {
            return Err(format!("{ranks} ranks cannot share memory: 1 to {MAX_RANKS} can"));
        }
        if !(window_packets.is_power_of_two() && (2..=4096).contains(&window_packets)) {
            return Err(format!("a window of {window_packets} is no power of two in 2..=4096"));
        }
        if !frame_bytes.is_multiple_of(64) || !(128..=65_472).contains(&frame_bytes) {
            return Err(format!(
                "a frame of {frame_bytes} bytes is no multiple of 64 in 128..=65472"
            ));
        }
        if !(2..=65_536).contains(&frames) {
            return Err(format!("{frames} frames are outside 2..=65536"));
        }
        Ok(())
    }

    /// Bytes of one rank's segment. A job has one a rank; pages that are never touched cost nothing.
    pub fn segment_bytes(&self) -> usize {
        self.card_offset() + PAGE
    }

    /// Slots of each ring.
    pub(crate) fn slots(&self) -> usize {
        2 * usize::from(self.window_packets)
    }

    /// Where the part begins that only the owner writes: its rings, then its frames. In bytes.
    pub fn rings_offset(&self) -> usize {
        (RELEASES_OFFSET + self.frames as usize * LINE).next_multiple_of(PAGE)
    }

    fn frames_offset(&self) -> usize {
        let rings = usize::from(self.ranks) * self.slots() * SLOT_BYTES;
        (self.rings_offset() + rings).next_multiple_of(PAGE)
    }

    fn card_offset(&self) -> usize {
        let frames = self.frames as usize * self.frame_bytes as usize;
        (self.frames_offset() + frames).next_multiple_of(PAGE)
    }
}

/// Makes the segments of a job: one sealed memfd a rank, close-on-exec, all zeros.
///
/// # Errors
/// What the kernel says, or `InvalidInput` with [`Settings::check`]'s words.
pub fn create_segments(settings: &Settings) -> io::Result<Vec<OwnedFd>> {
    check(settings)?;
    (0..settings.ranks).map(|_| create_segment(settings)).collect()
}

/// Makes the segment of one rank.
///
/// # Errors
/// As above.
pub fn create_segment(settings: &Settings) -> io::Result<OwnedFd> {
    check(settings)?;
    let file = memfd_create("weft-segment", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    ftruncate(&file, settings.segment_bytes() as u64)?;
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(file)
}

fn check(settings: &Settings) -> io::Result<()> {
    settings.check().map_err(|what| io::Error::new(io::ErrorKind::InvalidInput, what))
}

/// A rank's segment, mapped: by its owner writable, by others read-only in the second half.
pub(crate) struct Segment {
    settings: Settings,
    shared: Arc<Mapping>,
    owned: Arc<Mapping>,
}

impl Segment {
    pub fn map(file: &OwnedFd, settings: Settings, as_owner: bool) -> io::Result<Self> {
        let boundary = settings.rings_offset();
        let shared = Arc::new(Mapping::new(file, 0..boundary, true)?);
        let end = settings.segment_bytes();
        let owned = Arc::new(Mapping::new(file, boundary..end, as_owner)?);
        Ok(Segment { settings, shared, owned })
    }

    pub fn control(&self) -> Control {
        Control {
            bells: View::new(&self.shared, 0, 2),
            wants: Word::new(&self.shared, LINE),
            cold: Word::new(&self.shared, LINE + 8),
            attention: Word::new(&self.shared, 2 * LINE),
            loss: Word::new(&self.shared, 3 * LINE),
        }
    }

    /// Fetch-and-add words, one a line: word `i` is entry `8 * i`.
    pub fn words(&self) -> View<AtomicU64> {
        View::new(&self.shared, WORDS_OFFSET, usize::from(WORDS) * LINE / 8)
    }

    /// Words for what ranks agree to keep there.
    pub fn board(&self) -> View<AtomicU64> {
        View::new(&self.shared, BOARD_OFFSET, BOARD_BYTES / 8)
    }

    /// One line a frame, one byte a reader: how often that reader has given the frame back.
    pub fn releases(&self) -> View<AtomicU8> {
        View::new(&self.shared, RELEASES_OFFSET, self.settings.frames as usize * LINE)
    }

    /// The ring from this segment's owner to `to`.
    pub fn ring(&self, to: Rank) -> Cursor {
        let slots = self.settings.slots();
        Cursor::new(View::new(&self.owned, to.index() * slots * SLOT_BYTES, slots))
    }

    /// The frames of this segment's owner.
    pub fn frames(&self) -> Frames {
        let base = self.settings.frames_offset() - self.settings.rings_offset();
        let Settings { frame_bytes, frames, .. } = self.settings;
        Frames::new(&self.owned, base, frame_bytes as usize, frames)
    }

    /// What its owner says of its process.
    pub fn card(&self) -> Card {
        let base = self.settings.card_offset() - self.settings.rings_offset();
        Card {
            process: View::new(&self.owned, base, 1),
            token_at: View::new(&self.owned, base + 8, 1),
            token: View::new(&self.owned, base + 16, TOKEN_WORDS),
            reaches: View::new(&self.owned, base + LINE, 1),
        }
    }
}

/// Words of the token by which a process is known.
pub(crate) const TOKEN_WORDS: usize = 2;

/// What a rank says of its process. Only the rank itself writes it.
pub(crate) struct Card {
    /// Its number, once the rest is there; 0 before.
    pub process: View<AtomicU64>,
    /// Where in its memory the token lies.
    pub token_at: View<AtomicU64>,
    /// The token.
    pub token: View<AtomicU64>,
    /// Out of which ranks' processes this one has fetched, a bit each.
    pub reaches: View<AtomicU64>,
}

/// The words by which ranks tell one another something outside the rings.
pub(crate) struct Control {
    /// Futexes that count rings.
    pub bells: View<AtomicU32>,
    /// Which bells want to be rung on arrival, a bit each.
    pub wants: Word<AtomicU32>,
    /// The senders whose rings are not polled, a bit each; they announce what they write.
    pub cold: Word<AtomicU64>,
    /// Announcements of such senders, a bit each.
    pub attention: Word<AtomicU64>,
    /// The rank that the job lost: its number + 1, and the cause above bit 32.
    pub loss: Word<AtomicU64>,
}
