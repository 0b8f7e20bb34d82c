//! Layout of a segment, its creation, and its mapping by a rank or the launcher.

use crate::control::Control;
use crate::gauge::{self, GaugePage};
use crate::memory::{self, Cursor, Frames, Mapping, View, Word};
use crate::ring::SLOT_BYTES;
use crate::status::{self, StatusPage};
use crate::trace::{self, TraceRing};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64};
use weft_wire::Rank;

/// Largest number of ranks of one host: each has a bit of a word, and a byte of a line.
pub const MAX_RANKS: u16 = 64;
/// Number of fetch-and-add words of each rank.
pub const WORDS: u16 = 64;
/// Size of the shared arena of each rank, in bytes. Pages that nobody touches cost nothing.
const ARENA_BYTES: usize = 512 * 1024;

/// Events of the ring of a trace: those of some 50 ms of a rank that does nothing but communicate,
/// a multiple of the time after which they are taken.
const TRACE_EVENTS: u32 = 1 << 18;
/// Events of the largest ring.
const MOST_TRACE_EVENTS: u32 = 1 << 24;

const LINE: usize = 64;
const PAGE: usize = 4096;
const WORDS_OFFSET: usize = PAGE;
const ARENA_OFFSET: usize = WORDS_OFFSET + WORDS as usize * LINE;
/// Offset of the counts in the page that begins with the identity.
const GAUGE_OFFSET: usize = PAGE / 4;
/// Offset of the status in the page that begins with the identity.
const STATUS_OFFSET: usize = PAGE / 2;
const RELEASES_OFFSET: usize = ARENA_OFFSET + ARENA_BYTES;

/// Sizes of the segments of a job, which are the same for all ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Number of ranks, 1 to [`MAX_RANKS`].
    pub ranks: u16,
    /// Number of credits of each ordered pair: half the slots of a ring.
    pub window_packets: u16,
    /// Number of user bytes of a frame, a multiple of 64.
    pub frame_bytes: u32,
    /// Number of frames that a rank can send from.
    pub frames: u32,
    /// Number of events that the ring of a rank's trace holds, a power of two; 0 if there is none.
    pub trace_events: u32,
}

impl Settings {
    /// Default sizes for `ranks` ranks. Few ranks have longer rings: a pair then seldom waits for
    /// credits, and all rings of a rank still fit into its cache together.
    pub fn new(ranks: u16) -> Self {
        let window_packets = if ranks <= 8 { 128 } else { 64 };
        Settings { ranks, window_packets, frame_bytes: 49152, frames: 48, trace_events: 0 }
    }

    /// Sizes for ranks that have peers on a network too. A frame holds as much as one of
    /// Ethernet's, jumbo or not. There are more of them, because each is in use until it is
    /// acknowledged.
    pub fn beside_network(self) -> Self {
        Settings { frame_bytes: 8960, frames: 512, ..self }
    }

    /// Sizes with a ring for a trace of each rank.
    pub fn traced(self) -> Self {
        Settings { trace_events: TRACE_EVENTS, ..self }
    }

    /// Checks that a segment can have these sizes.
    ///
    /// # Errors
    /// A description of the first error, for a person.
    pub fn check(&self) -> Result<(), String> {
        let Settings { ranks, window_packets, frame_bytes, frames, trace_events } = *self;
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
        let is_ring = trace_events.is_power_of_two() && trace_events <= MOST_TRACE_EVENTS;
        if trace_events != 0 && !is_ring {
            return Err(format!(
                "a trace of {trace_events} events is no power of two up to {MOST_TRACE_EVENTS}"
            ));
        }
        Ok(())
    }

    /// Size of the segment of one rank, in bytes. Pages that are never touched cost nothing.
    pub fn segment_bytes(&self) -> usize {
        self.trace_offset() + trace::bytes_of(self.trace_events).next_multiple_of(PAGE)
    }

    /// Number of slots of each ring.
    pub(crate) fn slots(&self) -> usize {
        2 * usize::from(self.window_packets)
    }

    /// Offset of the part that only the owner writes: its rings, frames and identity. In bytes.
    pub fn rings_offset(&self) -> usize {
        (RELEASES_OFFSET + self.frames as usize * LINE).next_multiple_of(PAGE)
    }

    fn frames_offset(&self) -> usize {
        let rings = usize::from(self.ranks) * self.slots() * SLOT_BYTES;
        (self.rings_offset() + rings).next_multiple_of(PAGE)
    }

    fn identity_offset(&self) -> usize {
        let frames = self.frames as usize * self.frame_bytes as usize;
        (self.frames_offset() + frames).next_multiple_of(PAGE)
    }

    fn trace_offset(&self) -> usize {
        self.identity_offset() + PAGE
    }
}

/// Creates the segments of a job: one sealed memfd a rank, close-on-exec, all zeros.
///
/// # Errors
/// An error of the kernel, or `InvalidInput` with the description from [`Settings::check`].
pub fn create_segments(settings: &Settings) -> io::Result<Vec<OwnedFd>> {
    check(settings)?;
    (0..settings.ranks).map(|_| create_segment(settings)).collect()
}

/// Creates the segment of one rank.
///
/// # Errors
/// An error of the kernel, or `InvalidInput` with the description from [`Settings::check`].
pub fn create_segment(settings: &Settings) -> io::Result<OwnedFd> {
    check(settings)?;
    memory::create("weft-segment", settings.segment_bytes())
}

fn check(settings: &Settings) -> io::Result<()> {
    settings.check().map_err(|what| io::Error::new(io::ErrorKind::InvalidInput, what))
}

/// Mapped segment of a rank. Its owner can write all of it, others only the first half.
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
            armed: Word::new(&self.shared, LINE),
            cold: Word::new(&self.shared, LINE + 8),
            attention: Word::new(&self.shared, 2 * LINE),
            loss: Word::new(&self.shared, 3 * LINE),
            wanted: Word::new(&self.shared, 4 * LINE),
        }
    }

    /// Fetch-and-add words, one a line: word `i` is entry `8 * i`.
    pub fn words(&self) -> View<AtomicU64> {
        View::new(&self.shared, WORDS_OFFSET, usize::from(WORDS) * LINE / 8)
    }

    /// Shared arena: words whose use ranks agree on.
    pub fn arena(&self) -> View<AtomicU64> {
        View::new(&self.shared, ARENA_OFFSET, ARENA_BYTES / 8)
    }

    /// Release counts: one line a frame, and in it one byte a reader, who counts there how often it
    /// released the frame.
    pub fn releases(&self) -> View<AtomicU8> {
        View::new(&self.shared, RELEASES_OFFSET, self.settings.frames as usize * LINE)
    }

    /// Ring from the owner of this segment to `to`.
    pub fn ring(&self, to: Rank) -> Cursor {
        let slots = self.settings.slots();
        Cursor::new(View::new(&self.owned, to.index() * slots * SLOT_BYTES, slots))
    }

    /// Frames of the owner of this segment.
    pub fn frames(&self) -> Frames {
        let base = self.settings.frames_offset() - self.settings.rings_offset();
        let Settings { frame_bytes, frames, .. } = self.settings;
        Frames::new(&self.owned, base, frame_bytes as usize, frames)
    }

    /// Status of its owner.
    pub fn status(&self) -> StatusPage {
        let base = self.settings.identity_offset() - self.settings.rings_offset();
        StatusPage(View::new(&self.owned, base + STATUS_OFFSET, status::WORDS))
    }

    /// Counts of its owner.
    pub fn gauge(&self) -> GaugePage {
        let base = self.settings.identity_offset() - self.settings.rings_offset();
        let words = View::new(&self.owned, base + GAUGE_OFFSET, gauge::WORDS);
        GaugePage { words, control: self.control() }
    }

    /// Trace of its owner, if there is one.
    pub fn trace(&self) -> Option<TraceRing> {
        let events = Some(self.settings.trace_events).filter(|events| *events > 0)?;
        let base = self.settings.trace_offset() - self.settings.rings_offset();
        Some(TraceRing::new(View::new(&self.owned, base, trace::bytes_of(events) / 8)))
    }

    /// Identity of its owner's process, as the owner published it.
    pub fn identity(&self) -> ProcessIdentity {
        let base = self.settings.identity_offset() - self.settings.rings_offset();
        ProcessIdentity {
            process: View::new(&self.owned, base, 1),
            token_address: View::new(&self.owned, base + 8, 1),
            token: View::new(&self.owned, base + 16, TOKEN_WORDS),
            fetched_from: View::new(&self.owned, base + LINE, 1),
        }
    }
}

/// Number of words of the token that identifies a process.
pub(crate) const TOKEN_WORDS: usize = 2;

/// Identity of a rank's process. Only the rank itself writes it.
pub(crate) struct ProcessIdentity {
    /// Process number, once the rest is there; 0 before.
    pub process: View<AtomicU64>,
    /// Address of the token in its memory.
    pub token_address: View<AtomicU64>,
    /// Token.
    pub token: View<AtomicU64>,
    /// Ranks from whose processes this one has fetched, a bit each.
    pub fetched_from: View<AtomicU64>,
}
