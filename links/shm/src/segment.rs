//! Layout of the memory of a job, its creation, and its mapping by a rank or the launcher.
//!
//! ```text
//! ┌────── all ranks write ──────┬───── only its owner writes ─────┐
//! │ rank 0 │ rank 1 │ ... │ P-1 │ rank 0 │ rank 1 │   ...   │ P-1 │
//! └─────────────────────────────┴─────────────────────────────────┘
//! ```
//! It is one file, which each rank maps three times, however many ranks there are: the half that
//! all write, the other one read-only, and its own part of that to be written.

use crate::control::{Control, GROUP, groups_of};
use crate::doorbell::all_are_hot;
use crate::gauge::{self, GaugePage};
use crate::memory::{self, Cursor, Frames, MappedWord, Mapping, Shareable, View};
use crate::ring::SLOT_BYTES;
use crate::status::{self, StatusPage};
use crate::trace::{self, TraceRing};
use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use weft_wire::Rank;
use weft_wire::atomic::VARIABLES;

/// Largest number of ranks of one host.
pub const MAX_RANKS: u16 = 1024;
/// Largest number of ranks of a host of which each pair has a full window. With more all windows of
/// a rank together are as long as with this number, so that their memory does not grow.
pub const FULL_WINDOW_RANKS: u16 = 64;
/// Number of words of atomic operations of each rank, one for each variable. Pages that nobody
/// touches cost nothing.
pub const WORDS: usize = VARIABLES;
/// Size of the shared arena of each rank, in bytes. Pages that nobody touches cost nothing.
const ARENA_BYTES: usize = 512 * 1024;

/// Events of the ring of a trace: those of some 50 ms of a rank that does nothing but communicate,
/// a multiple of the time after which they are taken.
const TRACE_EVENTS: u32 = 1 << 18;
/// Events of the largest ring.
const MOST_TRACE_EVENTS: u32 = 1 << 24;

const LINE: usize = 64;
const PAGE: usize = 4096;
/// Offset of the words for senders whose rings are not polled, where there are several.
const COLD_OFFSET: usize = PAGE / 4;
/// Offset of the words for announcements, where there are several.
const ANNOUNCEMENTS_OFFSET: usize = PAGE / 2;
const WORDS_OFFSET: usize = PAGE;
const ARENA_OFFSET: usize = WORDS_OFFSET + WORDS * LINE;
/// Offset of the counts in the page that begins with the identity.
const GAUGE_OFFSET: usize = PAGE / 4;
/// Offset of the status in the page that begins with the identity.
const STATUS_OFFSET: usize = PAGE / 2;
const LOSSES_OFFSET: usize = ARENA_OFFSET + ARENA_BYTES;
/// Losses that a rank may not have taken, at most. Pages that nobody touches cost nothing.
const MOST_LOSSES: usize = 4096;
const RELEASES_OFFSET: usize = LOSSES_OFFSET + MOST_LOSSES * 8;

// Each has a word for each group of ranks, in front of what lies behind it.
const _: () = {
    let words = groups_of(MAX_RANKS as usize) * 8;
    assert!(COLD_OFFSET + words <= ANNOUNCEMENTS_OFFSET && ANNOUNCEMENTS_OFFSET + words <= PAGE);
    assert!(LINE + words <= GAUGE_OFFSET);
};

/// Sizes of the segments of a job, which are the same for all ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
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
            .bounded_for(ranks)
    }

    /// Sizes with windows that are short enough for a host of so many ranks: with more than
    /// [`FULL_WINDOW_RANKS`] the rings of a rank have as many slots together as with these. Of
    /// several hosts the one with most decides for all, because a window is the same at both ends.
    pub fn bounded_for(self, ranks: u16) -> Self {
        if ranks <= FULL_WINDOW_RANKS {
            return self;
        }
        let most = FULL_WINDOW_RANKS * 64 / ranks.min(MAX_RANKS);
        let most = 1 << most.ilog2();
        Settings { window_packets: self.window_packets.min(most), ..self }
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
            return Err(format!(
                "a window of {window_packets} packets is no power of two from 2 to 4096"
            ));
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

    /// Size of the memory of all ranks, in bytes. Pages that are never touched cost nothing.
    pub fn memory_bytes(&self) -> usize {
        usize::from(self.ranks) * self.segment_bytes()
    }

    /// Most memory that the segment of one rank takes whose variables are the first ones, in bytes.
    pub fn rank_bytes(&self) -> usize {
        self.segment_bytes() - (WORDS * LINE - PAGE)
    }

    /// Size of the segment of one rank, in bytes: most of it are words that few ranks have a use
    /// for.
    pub fn segment_bytes(&self) -> usize {
        self.trace_offset() + trace::bytes_of(self.trace_events).next_multiple_of(PAGE)
    }

    /// Bytes of all rings of one rank.
    pub fn rings_bytes(&self) -> usize {
        usize::from(self.ranks) * self.slots() * SLOT_BYTES
    }

    /// Part of the memory that is the half of this rank's segment that all write.
    pub fn shared_part(&self, rank: Rank) -> Range<usize> {
        let start = rank.index() * self.rings_offset();
        start..start + self.rings_offset()
    }

    /// Part of the memory that is the half of this rank's segment that only it writes: its rings,
    /// the first of them to rank 0, its frames and its identity.
    pub fn owned_part(&self, rank: Rank) -> Range<usize> {
        let bytes = self.segment_bytes() - self.rings_offset();
        let start = usize::from(self.ranks) * self.rings_offset() + rank.index() * bytes;
        start..start + bytes
    }

    /// Number of slots of each ring.
    pub(crate) fn slots(&self) -> usize {
        2 * usize::from(self.window_packets)
    }

    /// Bytes of the release counts of a frame: one for each rank, in whole lines.
    pub(crate) fn releases_bytes(&self) -> usize {
        groups_of(self.ranks.into()) * GROUP
    }

    /// Offset in a segment of the part that only the owner writes.
    fn rings_offset(&self) -> usize {
        let releases = self.frames as usize * self.releases_bytes();
        (RELEASES_OFFSET + releases).next_multiple_of(PAGE)
    }

    fn frames_offset(&self) -> usize {
        (self.rings_offset() + self.rings_bytes()).next_multiple_of(PAGE)
    }

    fn identity_offset(&self) -> usize {
        let frames = self.frames as usize * self.frame_bytes as usize;
        (self.frames_offset() + frames).next_multiple_of(PAGE)
    }

    fn trace_offset(&self) -> usize {
        self.identity_offset() + PAGE
    }
}

/// Creates the memory of a job: one sealed memfd for all of its ranks, close-on-exec, all zeros but
/// for the marks of the senders that are to announce what they write.
///
/// # Errors
/// An error of the kernel, or `InvalidInput` with the description from [`Settings::check`].
pub fn create_memory(settings: &Settings) -> io::Result<OwnedFd> {
    check(settings)?;
    let file = memory::create("weft-memory", settings.memory_bytes())?;
    if !all_are_hot(settings.ranks.into()) {
        for segment in Segment::map_all(&file, *settings, None)? {
            segment.control().cold.iter().for_each(|cold| cold.store(u64::MAX, Ordering::Relaxed));
        }
    }
    Ok(file)
}

fn check(settings: &Settings) -> io::Result<()> {
    settings.check().map_err(|what| io::Error::new(io::ErrorKind::InvalidInput, what))
}

/// Mapped segment of a rank. Its owner can write all of it, others only the first half.
pub(crate) struct Segment {
    settings: Settings,
    shared: Arc<Mapping>,
    owned: Arc<Mapping>,
    /// Begin of its halves in these mappings.
    shared_start: usize,
    owned_start: usize,
}

impl Segment {
    /// Maps the segments of all ranks, that of `own` to be written.
    pub fn map_all(
        file: &OwnedFd,
        settings: Settings,
        own: Option<Rank>,
    ) -> io::Result<Vec<Segment>> {
        let boundary = settings.owned_part(Rank(0)).start;
        let shared = Arc::new(Mapping::new(file, 0..boundary, true)?);
        let others = Arc::new(Mapping::new(file, boundary..settings.memory_bytes(), false)?);
        let own_part = own.map(|own| Mapping::new(file, settings.owned_part(own), true));
        let own_part = own_part.transpose()?.map(Arc::new);
        let segment = |rank| {
            let own_part = own_part.as_ref().filter(|_| own == Some(rank));
            let (owned, owned_start) = match own_part {
                Some(own_part) => (own_part, 0),
                None => (&others, settings.owned_part(rank).start - boundary),
            };
            let shared_start = settings.shared_part(rank).start;
            let (shared, owned) = (Arc::clone(&shared), Arc::clone(owned));
            Segment { settings, shared, owned, shared_start, owned_start }
        };
        Ok((0..settings.ranks).map(Rank).map(segment).collect())
    }

    fn shared_view<T: Shareable>(&self, offset: usize, count: usize) -> View<T> {
        View::new(&self.shared, self.shared_start + offset, count)
    }

    fn shared_word<T: Shareable>(&self, offset: usize) -> MappedWord<T> {
        MappedWord::new(&self.shared, self.shared_start + offset)
    }

    /// View of what is at this offset in the segment, in its second half.
    fn owned_view<T: Shareable>(&self, offset: usize, count: usize) -> View<T> {
        View::new(&self.owned, self.owned_start + offset - self.settings.rings_offset(), count)
    }

    pub fn control(&self) -> Control {
        let words = |offset: usize, count: usize| -> Arc<[MappedWord<AtomicU64>]> {
            (0..count).map(|group| self.shared_word(offset + 8 * group)).collect()
        };
        // One group has its bits in the words that are polled.
        let (cold, announcements) = match groups_of(self.settings.ranks.into()) {
            1 => (words(LINE + 8, 1), words(ANNOUNCEMENTS_OFFSET, 0)),
            groups => (words(COLD_OFFSET, groups), words(ANNOUNCEMENTS_OFFSET, groups)),
        };
        Control {
            bells: self.shared_view(0, 2),
            armed: self.shared_word(LINE),
            cold,
            attention: self.shared_word(2 * LINE),
            announcements,
            loss: self.shared_word(3 * LINE),
            losses: self.shared_view(LOSSES_OFFSET, MOST_LOSSES),
            wanted: self.shared_word(4 * LINE),
        }
    }

    /// Words of atomic operations, one a line: word `i` is entry `8 * i`.
    pub fn words(&self) -> View<AtomicU64> {
        self.shared_view(WORDS_OFFSET, WORDS * LINE / 8)
    }

    /// Shared arena: words whose use ranks agree on.
    pub fn arena(&self) -> View<AtomicU64> {
        self.shared_view(ARENA_OFFSET, ARENA_BYTES / 8)
    }

    /// Release counts: for each frame some lines, and in them one byte a reader, who counts there
    /// how often it released the frame.
    pub fn releases(&self) -> View<AtomicU8> {
        let frames = self.settings.frames as usize;
        self.shared_view(RELEASES_OFFSET, frames * self.settings.releases_bytes())
    }

    /// Ring from the owner of this segment to `to`.
    pub fn ring(&self, to: Rank) -> Cursor {
        let slots = self.settings.slots();
        let offset = self.settings.rings_offset() + to.index() * slots * SLOT_BYTES;
        Cursor::new(self.owned_view(offset, slots))
    }

    /// Frames of the owner of this segment.
    pub fn frames(&self) -> Frames {
        let base = self.settings.frames_offset() - self.settings.rings_offset();
        let Settings { frame_bytes, frames, .. } = self.settings;
        Frames::new(&self.owned, self.owned_start + base, frame_bytes as usize, frames)
    }

    /// Status of its owner.
    pub fn status(&self) -> StatusPage {
        let base = self.settings.identity_offset();
        StatusPage(self.owned_view(base + STATUS_OFFSET, status::WORDS))
    }

    /// Counts of its owner.
    pub fn gauge(&self) -> GaugePage {
        let words = self.owned_view(self.settings.identity_offset() + GAUGE_OFFSET, gauge::WORDS);
        GaugePage { words, control: self.control() }
    }

    /// Trace of its owner, if there is one.
    pub fn trace(&self) -> Option<TraceRing> {
        let events = Some(self.settings.trace_events).filter(|events| *events > 0)?;
        let words = trace::bytes_of(events) / 8;
        Some(TraceRing::new(self.owned_view(self.settings.trace_offset(), words)))
    }

    /// Identity of its owner's process, as the owner published it.
    pub fn identity(&self) -> ProcessIdentity {
        let base = self.settings.identity_offset();
        ProcessIdentity {
            process: self.owned_view(base, 1),
            token_address: self.owned_view(base + 8, 1),
            token: self.owned_view(base + 16, TOKEN_WORDS),
            fetched_from: self.owned_view(base + LINE, groups_of(self.settings.ranks.into())),
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
    /// Ranks from whose processes this one has fetched, a bit each, a word a group.
    pub fetched_from: View<AtomicU64>,
}
