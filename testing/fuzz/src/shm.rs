//! The shared-memory link, whose peer writes any slot into its ring and references any frame.

use arbitrary::{Result, Unstructured};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use weft_link::{Buffer, Link, Payload, SharedFrames};
use weft_link_shm::memory::{Cursor, Mapping, View};
use weft_link_shm::ring::{INLINE_BYTES, INLINE_WORDS, Producer};
use weft_link_shm::{Settings, Shm, create_memory};
use weft_wire::{Header, Rank, Tag, TreeId};

/// Offset of the attention word in a rank's segment.
const ATTENTION: usize = 2 * 64;

/// Slots that the peer writes, and the reader's use of what it received.
pub fn slots(data: &[u8]) {
    let _ = play(&mut Unstructured::new(data));
}

fn play(script: &mut Unstructured<'_>) -> Result<()> {
    let settings = Settings { frames: 4, window_packets: 4, frame_bytes: 256, ..Settings::new(3) };
    let memory = create_memory(&settings).expect("shared memory can be made");
    let mut ring = ring_to_rank_0(&settings, &memory);
    let control = Mapping::new(&memory, settings.shared_part(Rank(0)), true);
    let control = control.expect("a segment can be mapped").into();
    let attention = View::<AtomicU64>::new(&control, ATTENTION, 1);
    let mut link = Shm::attach(Rank(0), settings, &memory).expect("a rank can attach");
    let mut kept: Vec<(Buffer, u16)> = Vec::new();
    while !script.is_empty() {
        if script.ratio(2, 3)? {
            let (header, payload_kind, words) = slot(script, &settings)?;
            ring.push(&header, payload_kind, &words);
            // Announcements may be of any rank, and of any that does not exist.
            if script.ratio(1, 4)? {
                attention[0].fetch_or(script.arbitrary()?, Ordering::SeqCst);
            }
            if let Ok(received) = link.receive() {
                let received = received.expect("a slot was written");
                assert_eq!(received.header.source, Rank(1));
                kept.extend(read(&link, &settings, received.payload, received.header.size));
            }
        } else if !kept.is_empty() {
            let (buffer, size) = kept.swap_remove(script.choose_index(kept.len())?);
            let buffer = if script.arbitrary()? { link.detach(buffer, size) } else { buffer };
            link.bytes(buffer);
            link.free(buffer);
        }
        assert_eq!(link.receive(), Ok(None));
    }
    Ok(())
}

/// The sending end of the ring from rank 1 to rank 0, as a hostile rank 1 maps it.
fn ring_to_rank_0(settings: &Settings, memory: &OwnedFd) -> Producer<Cursor> {
    let slots = 2 * usize::from(settings.window_packets);
    let mapping = Mapping::new(memory, settings.owned_part(Rank(1)), true);
    let mapping = mapping.expect("a segment can be mapped");
    // The first of its rings leads to rank 0.
    Producer::new(Cursor::new(View::new(&mapping.into(), 0, slots)))
}

fn slot(
    script: &mut Unstructured<'_>,
    settings: &Settings,
) -> Result<(Header, u8, [u64; INLINE_WORDS])> {
    let tag = Tag::try_from(script.int_in_range(1..=6)?).unwrap_or(Tag::Ucast);
    let mut header = Header::new(tag, Rank(1), TreeId::from_bits(script.arbitrary()?), 0);
    header.size = match script.arbitrary::<bool>()? {
        true => script.int_in_range(0..=settings.frame_bytes as u16 + 1)?,
        false => script.arbitrary()?,
    };
    header.credits = script.arbitrary()?;
    let payload_kind =
        if script.ratio(7, 8)? { script.int_in_range(0..=1)? } else { script.arbitrary()? };
    // A reference is the owner's rank, and the frame above bit 16.
    let reference = match script.ratio(3, 4)? {
        true => script.int_in_range(0..=3)? | script.int_in_range(0..=4u64)? << 16,
        false => script.arbitrary()?,
    };
    let mut words = [0; INLINE_WORDS];
    words[..2].copy_from_slice(&[reference, script.arbitrary()?]);
    Ok((header, payload_kind, words))
}

/// Checks that what was received is within its bounds; a frame of it is to be given back.
fn read(link: &Shm, settings: &Settings, payload: Payload, size: u16) -> Option<(Buffer, u16)> {
    let Payload::Buffer(buffer) = payload else { return None };
    assert!(usize::from(size) <= INLINE_BYTES.max(settings.frame_bytes as usize));
    link.bytes(buffer);
    Some((buffer, size))
}
