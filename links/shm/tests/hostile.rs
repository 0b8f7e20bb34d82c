//! A peer that writes nonsense: it is refused with a violation, and nothing else happens.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use weft_link::{BadFrame, Link, LinkViolation, Payload};
use weft_link_shm::memory::{Cursor, Mapping, View};
use weft_link_shm::ring::{INLINE_BYTES, INLINE_WORDS, Producer};
use weft_link_shm::{AttachError, MAX_RANKS, Settings, Shm, create_memory};
use weft_wire::{Header, Rank, Tag, TreeId};

/// The sending end of the ring from rank 1 to rank 0, as a hostile rank 1 would map it.
fn hostile_ring(settings: &Settings, memory: &OwnedFd) -> Producer<Cursor> {
    let slots = 2 * usize::from(settings.window_packets);
    let mapping = Mapping::new(memory, settings.owned_part(Rank(1)), true).unwrap();
    // The first of its rings leads to rank 0.
    Producer::new(Cursor::new(View::new(&mapping.into(), 0, slots)))
}

fn victim() -> (Shm, Producer<Cursor>, Settings) {
    let settings = Settings { frames: 4, ..Settings::new(3) };
    let memory = create_memory(&settings).unwrap();
    let ring = hostile_ring(&settings, &memory);
    (Shm::attach(Rank(0), settings, &memory).unwrap(), ring, settings)
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
    let memory = create_memory(&settings).unwrap();
    let mapping = Mapping::new(&memory, settings.shared_part(Rank(0)), true).unwrap();
    let attention = View::<AtomicU64>::new(&mapping.into(), ATTENTION, 1);
    let mut link = Shm::attach(Rank(0), settings, &memory).unwrap();
    for absent in [1 << 63, 1 << 8, u64::MAX] {
        attention[0].store(absent, Ordering::SeqCst);
        assert!(link.has_arrivals(), "something is announced");
        assert_eq!(link.receive(), Ok(None));
        assert!(!link.has_arrivals());
    }
}

#[test]
fn announcements_of_groups_and_ranks_that_do_not_exist_are_passed_over() {
    /// Offsets of a rank's attention word and of the words of its groups.
    const ATTENTION: usize = 2 * 64;
    const ANNOUNCEMENTS: usize = 2048;
    let settings = Settings { frames: 4, ..Settings::new(70) };
    let memory = create_memory(&settings).unwrap();
    let mapping = Mapping::new(&memory, settings.shared_part(Rank(3)), true).unwrap().into();
    let attention = View::<AtomicU64>::new(&mapping, ATTENTION, 1);
    let announcements = View::<AtomicU64>::new(&mapping, ANNOUNCEMENTS, 2);
    let mut link = Shm::attach(Rank(3), settings, &memory).unwrap();
    for (groups, senders) in [(1 << 63, 0), (1 << 2, 0), (0b10, 1 << 6), (u64::MAX, u64::MAX)] {
        announcements.iter().for_each(|word| word.store(senders, Ordering::SeqCst));
        attention[0].store(groups, Ordering::SeqCst);
        assert!(link.has_arrivals(), "something is announced");
        assert_eq!(link.receive(), Ok(None));
        assert!(!link.has_arrivals());
    }
}

#[test]
#[cfg_attr(tsan, ignore = "memory of one process is not sealed")]
fn memory_that_could_vanish_is_refused() {
    let settings = Settings::new(2);
    let memory = create_memory(&settings).unwrap();
    let larger = Settings { frames: settings.frames + 64, ..settings };
    let error = Shm::attach(Rank(0), larger, &memory).err().expect("the memory is too short");
    assert!(matches!(error, AttachError::Map(_)), "{error}");

    let unsealed = rustix::fs::memfd_create("unsealed", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
    rustix::fs::ftruncate(&unsealed, settings.memory_bytes() as u64).unwrap();
    let error = Shm::attach(Rank(0), settings, &unsealed).err().expect("the memory may shrink");
    assert!(matches!(error, AttachError::Map(_)), "{error}");
}

#[test]
fn settings_that_make_no_sense_are_refused_in_words() {
    let sound = Settings::new(2);
    for (wrong, word) in [
        (Settings { ranks: 0, ..sound }, "ranks"),
        (Settings { ranks: MAX_RANKS + 1, ..sound }, "ranks"),
        (Settings { window_packets: 3, ..sound }, "window"),
        (Settings { frame_bytes: 100, ..sound }, "frame"),
        (Settings { frames: 1, ..sound }, "frames"),
    ] {
        assert!(wrong.check().unwrap_err().contains(word));
        assert!(create_memory(&wrong).is_err());
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
