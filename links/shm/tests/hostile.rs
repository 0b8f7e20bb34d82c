//! A peer that writes nonsense: it is refused with a violation, and nothing else happens.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use weft_link::{BadFrame, Link, LinkViolation, Payload};
use weft_link_shm::memory::{Cursor, Mapping, View};
use weft_link_shm::ring::{INLINE_BYTES, INLINE_WORDS, Producer};
use weft_link_shm::{AttachError, Settings, Shm, create_segments};
use weft_wire::{Header, Rank, Tag, TreeId};

/// The sending end of the ring from rank 1 to rank 0, as a hostile rank 1 would map it.
fn hostile_ring(settings: &Settings, segments: &[OwnedFd]) -> Producer<Cursor> {
    let slots = 2 * usize::from(settings.window_packets);
    let part = settings.rings_offset()..settings.segment_bytes();
    let mapping = Mapping::new(&segments[1], part, true).unwrap();
    // The first of its rings leads to rank 0.
    Producer::new(Cursor::new(View::new(&mapping.into(), 0, slots)))
}

fn victim() -> (Shm, Producer<Cursor>, Settings) {
    let settings = Settings { frames: 4, ..Settings::new(3) };
    let segments = create_segments(&settings).unwrap();
    let ring = hostile_ring(&settings, &segments);
    (Shm::attach(Rank(0), settings, &segments).unwrap(), ring, settings)
}

fn header(size: u16) -> Header {
    Header::new(Tag::Ucast, Rank(1), TreeId::unicast(Rank(1)), size)
}

fn words(first: u64) -> [u64; INLINE_WORDS] {
    std::array::from_fn(|i| if i == 0 { first } else { 0 })
}

#[test]
fn references_outside_the_pools_are_refused() {
    let (mut link, mut ring, settings) = victim();
    let own_frame = 0u64;
    let no_such_rank = 3;
    let no_such_frame = 1 | u64::from(settings.frames) << 16;
    for reference in [own_frame, no_such_rank, no_such_frame, u64::MAX] {
        ring.push(&header(100), 1, &words(reference));
        let violation = link.receive().unwrap_err();
        assert_eq!(violation.from, Rank(1));
        assert!(matches!(violation.what, BadFrame::Reference { .. }), "{violation}");
    }
    assert_eq!(link.receive(), Ok(None));
}

#[test]
fn sizes_beyond_the_slot_or_frame_are_refused() {
    let (mut link, mut ring, settings) = victim();
    let refused = |size| Err(LinkViolation { from: Rank(1), what: BadFrame::Size(size) });
    ring.push(&header(INLINE_BYTES as u16 + 1), 0, &words(0));
    assert_eq!(link.receive(), refused(INLINE_BYTES as u16 + 1));
    let too_long = settings.frame_bytes as u16 + 1;
    ring.push(&header(too_long), 1, &words(1));
    assert_eq!(link.receive(), refused(too_long));
}

#[test]
fn unknown_payload_kinds_are_refused() {
    let (mut link, mut ring, _) = victim();
    ring.push(&header(1), 2, &words(0));
    let refused = LinkViolation { from: Rank(1), what: BadFrame::PayloadKind(2) };
    assert_eq!(link.receive(), Err(refused));
}

#[test]
fn announcements_of_ranks_that_do_not_exist_are_passed_over() {
    /// Offset of a rank's attention word in its segment.
    const ATTENTION: usize = 2 * 64;
    let settings = Settings { frames: 4, ..Settings::new(8) };
    let segments = create_segments(&settings).unwrap();
    let mapping = Mapping::new(&segments[0], 0..settings.rings_offset(), true).unwrap();
    let attention = View::<AtomicU64>::new(&mapping.into(), ATTENTION, 1);
    let mut link = Shm::attach(Rank(0), settings, &segments).unwrap();
    for absent in [1 << 63, 1 << 8, u64::MAX] {
        attention[0].store(absent, Ordering::SeqCst);
        assert!(link.has_arrivals(), "something is announced");
        assert_eq!(link.receive(), Ok(None));
        assert!(!link.has_arrivals());
    }
}

#[test]
#[cfg_attr(tsan, ignore = "memory of one process is not sealed")]
fn segments_that_could_vanish_are_refused() {
    let settings = Settings::new(2);
    let segments = create_segments(&settings).unwrap();
    let larger = Settings { frames: settings.frames + 64, ..settings };
    let error = Shm::attach(Rank(0), larger, &segments).err().expect("the segments are too short");
    assert!(matches!(error, AttachError::Map(_)), "{error}");

    let unsealed = rustix::fs::memfd_create("unsealed", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
    rustix::fs::ftruncate(&unsealed, settings.segment_bytes() as u64).unwrap();
    let mut segments = segments;
    segments[1] = unsealed;
    let error = Shm::attach(Rank(0), settings, &segments).err().expect("the segment may shrink");
    assert!(matches!(error, AttachError::Map(_)), "{error}");
}

#[test]
fn settings_that_make_no_sense_are_refused_in_words() {
    let sound = Settings::new(2);
    for (wrong, word) in [
        (Settings { ranks: 0, ..sound }, "ranks"),
        (Settings { ranks: 65, ..sound }, "ranks"),
        (Settings { window_packets: 3, ..sound }, "window"),
        (Settings { frame_bytes: 100, ..sound }, "frame"),
        (Settings { frames: 1, ..sound }, "frames"),
    ] {
        assert!(wrong.check().unwrap_err().contains(word));
        assert!(create_segments(&wrong).is_err());
    }
}

proptest! {
    /// The link refuses the words of a peer, or hands out a frame that exists, for any words.
    #[test]
    fn any_slot_is_refused_or_readable(
        tag in 1u8..=6, size in any::<u16>(), payload_kind in 0u8..4, word in any::<u64>(),
    ) {
        let (mut link, mut ring, settings) = victim();
        let header = Header { tag: Tag::try_from(tag).unwrap(), ..header(size) };
        ring.push(&header, payload_kind, &words(word));
        if let Ok(Some(received)) = link.receive()
            && let Payload::Buffer(buffer) = received.payload
        {
            let limit = if payload_kind == 0 { INLINE_BYTES } else { settings.frame_bytes as usize };
            prop_assert!(usize::from(received.header.size) <= limit);
            // Would panic if there were no such frame.
            link.bytes(buffer);
            link.free(buffer);
        }
    }
}
