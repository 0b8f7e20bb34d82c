//! Brief form of a short frame, for carriers that deliver what was sent, in order, and copy what is
//! short at once: 24 bytes less than an [`envelope`] and a [`network`] header say.
//!
//! ```text
//!  0      1          6        8     16               32
//! ┌──────┬──────────┬────────┬─────┬────────────────┬──────
//! │ mark │ sequence │ source │ tag │ header, 0 - 16 │ rest
//! └──────┴──────────┴────────┴─────┴────────────────┴──────
//! ```
//! What is left out the receiver knows: the magic and the version, the job, that it is the
//! destination, and the length. So are the last 8 bytes of the first header, which are zero where
//! nothing is acknowledged. The frame is put together again as it was, and its tag covers it
//! all; so whoever made up a brief frame has made up a frame.

use crate::envelope::{self, Envelope, Kind};
use crate::{Rank, network};
use std::ops::Range;

/// Bytes by which a frame becomes shorter.
pub const SAVED: usize = 24;

/// First byte of a brief frame, which is not that of [`envelope::MAGIC`].
const MARK: u8 = b'b';
/// Bytes in front of the header.
const START: usize = 16;
const SEQUENCE: Range<usize> = 1..6;
const SOURCE: Range<usize> = 6..8;
const TAG: Range<usize> = 8..16;
/// Bytes of the first header that travel.
const HEAD: usize = 16;
/// Bytes of a frame of which something is left out, and of what becomes of them.
const FULL_HEAD: usize = envelope::SIZE + network::SIZE;
const BRIEF_HEAD: usize = START + HEAD;

const _: () = assert!(FULL_HEAD - BRIEF_HEAD == SAVED);
const _: () = assert!(envelope::MAGIC[0] != MARK && TAG.end == START);

/// Writes the brief form of `frame`, of packets of this job, into `brief`; its length. `None` if it
/// has none, or no room.
#[inline]
pub fn shorten(frame: &[u8], job: u32, brief: &mut [u8]) -> Option<usize> {
    let (head, rest) = frame.split_at_checked(FULL_HEAD)?;
    let Envelope { kind, job: of, source, length, sequence, tag, .. } =
        envelope::parse(head).ok()?;
    let is_usual = kind == Kind::PACKETS && of == job;
    let is_whole = length as usize == frame.len() - envelope::SIZE;
    let acknowledges_nothing = head[envelope::SIZE + HEAD..] == [0; network::SIZE - HEAD];
    let fits = sequence >> (8 * SEQUENCE.len()) == 0;
    if !(is_usual && is_whole && acknowledges_nothing && fits) {
        return None;
    }
    let length = frame.len() - SAVED;
    let brief = brief.get_mut(..length)?;
    brief[0] = MARK;
    brief[SEQUENCE].copy_from_slice(&sequence.to_le_bytes()[..SEQUENCE.len()]);
    brief[SOURCE].copy_from_slice(&source.0.to_le_bytes());
    brief[TAG].copy_from_slice(&tag.to_le_bytes());
    brief[START..BRIEF_HEAD].copy_from_slice(&head[envelope::SIZE..][..HEAD]);
    brief[BRIEF_HEAD..].copy_from_slice(rest);
    Some(length)
}

/// Puts the frame together again whose brief form are the first `length` bytes here, for
/// `destination` in this job; its length. `None` if they are no brief form, or there is no room.
#[inline]
pub fn restore(bytes: &mut [u8], length: usize, job: u32, destination: Rank) -> Option<usize> {
    let brief = bytes.get(..length)?;
    let head = brief.first_chunk::<BRIEF_HEAD>().copied()?;
    let frame = bytes.get_mut(..length + SAVED)?;
    if head[0] != MARK {
        return None;
    }
    frame.copy_within(BRIEF_HEAD..length, FULL_HEAD);
    let mut sequence = [0; 8];
    sequence[..SEQUENCE.len()].copy_from_slice(&head[SEQUENCE]);
    let envelope = Envelope {
        kind: Kind::PACKETS,
        job,
        source: Rank(u16::from_le_bytes([head[SOURCE.start], head[SOURCE.start + 1]])),
        destination,
        length: (length + SAVED - envelope::SIZE) as u32,
        sequence: u64::from_le_bytes(sequence),
        tag: u64::from_le_bytes(std::array::from_fn(|at| head[TAG.start + at])),
    };
    frame[..envelope::SIZE].copy_from_slice(&envelope::emit(&envelope));
    let (sent, left_out) = frame[envelope::SIZE..FULL_HEAD].split_at_mut(HEAD);
    sent.copy_from_slice(&head[START..]);
    left_out.fill(0);
    Some(length + SAVED)
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: u32 = 0x0102_0304;

    fn frame(change: impl FnOnce(&mut Envelope), rest: usize) -> Vec<u8> {
        let contents = network::SIZE + rest;
        let mut envelope = Envelope {
            kind: Kind::PACKETS,
            job: JOB,
            source: Rank(0x0708),
            destination: Rank(9),
            length: contents as u32,
            sequence: 0xff_ffff_fffe,
            tag: 0x1112_1314_1516_1718,
        };
        change(&mut envelope);
        let mut frame = envelope::emit(&envelope).to_vec();
        frame.extend((0..HEAD as u8).chain([0; network::SIZE - HEAD]).chain(1..=rest as u8));
        frame
    }

    fn there_and_back(frame: &[u8]) -> Option<Vec<u8>> {
        let mut place = [0xaa; 256];
        let length = shorten(frame, JOB, &mut place)?;
        assert_eq!(length, frame.len() - SAVED);
        let restored = restore(&mut place, length, JOB, Rank(9))?;
        Some(place[..restored].to_vec())
    }

    #[test]
    fn a_frame_is_what_it_was() {
        for rest in [0, 8, 32, 100] {
            let frame = frame(|_| {}, rest);
            assert_eq!(there_and_back(&frame), Some(frame));
        }
    }

    #[test]
    fn what_says_more_has_no_brief_form() {
        let no = |frame: &[u8]| assert_eq!(shorten(frame, JOB, &mut [0; 256]), None);
        no(&frame(|envelope| envelope.kind = Kind::HEARTBEAT, 8));
        no(&frame(|envelope| envelope.job += 1, 8));
        no(&frame(|envelope| envelope.length -= 8, 8));
        no(&frame(|envelope| envelope.sequence = 1 << 40, 8));
        no(&frame(|_| {}, 8)[..FULL_HEAD - 1]);
        let mut acknowledges = frame(|_| {}, 8);
        acknowledges[FULL_HEAD - 1] = 1;
        no(&acknowledges);
    }

    #[test]
    fn nothing_is_written_where_there_is_no_room() {
        let frame = frame(|_| {}, 8);
        assert_eq!(shorten(&frame, JOB, &mut [0; 39]), None);
        let mut place = [0; 63];
        let length = shorten(&frame, JOB, &mut place).unwrap();
        assert_eq!(restore(&mut place, length, JOB, Rank(9)), None);
        assert_eq!(restore(&mut frame.clone(), frame.len(), JOB, Rank(9)), None, "no brief form");
        assert_eq!(restore(&mut [MARK; 64], BRIEF_HEAD - 1, JOB, Rank(9)), None);
    }
}
