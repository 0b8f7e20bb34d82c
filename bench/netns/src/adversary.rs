//! Adversary on a network: frames of its own, made of frames that it saw pass.
//!
//! Tests and benchmarks send them, each over what it has; [`Middle`] is a whole man in the middle,
//! who does what he likes with the frames between hosts. May use `links/datagram` and `wire`, for
//! the reason why each kind is refused and where its fields are. Keeps: a frame that
//! [`Attack::make`] returns is one that no rank may take for its own.

mod act;
mod frame;
mod icmp;
mod middle;

pub use act::Act;
pub use middle::{Done, Middle, Plan, open};

use fastrand::Rng;
use weft_datagram::seal::FrameRefused;
use weft_wire::envelope;

/// A frame that passed.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The rank that it was for.
    pub to: usize,
    /// All its bytes.
    pub bytes: Vec<u8>,
}

impl Kept {
    /// The rank that says that it sent it.
    pub fn from(&self) -> usize {
        source_of(&self.bytes)
    }
}

/// The rank that a frame says it is from; no rank at all if it is too short for that.
pub fn source_of(frame: &[u8]) -> usize {
    envelope::parse(frame).map_or(usize::MAX, |envelope| envelope.source.index())
}

/// Difference of two messages of which CRC-32C is the same: its polynomial.
const SAME_CRC: [u8; 5] = [0xf1, 0x76, 0xec, 0x05, 0x01];

/// Changes a bit of `frame`, or some of them so that no CRC-32C of what they are in changes.
pub fn corrupt(frame: &mut [u8], random: &mut Rng) {
    let last = frame.len().saturating_sub(SAME_CRC.len());
    let (at, change): (_, &[u8]) = match random.bool() {
        true => (random.usize(..=last), &SAME_CRC),
        false => (random.usize(..frame.len()), &[1 << random.u8(..8)]),
    };
    frame[at..].iter_mut().zip(change).for_each(|(byte, change)| *byte ^= change);
}

/// Attack of an adversary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attack {
    /// A frame of the job's, with another number and without the key for it.
    Forged,
    /// A frame that passed, again.
    Replayed,
    /// The beginning of one.
    Truncated,
    /// One of another job.
    WrongJob,
    /// One of another version.
    WrongVersion,
    /// Noise.
    Noise,
    /// One that goes back to its sender.
    Reflected,
    /// One that goes to somebody else.
    Misdirected,
}

impl Attack {
    /// All of them.
    pub const ALL: [Attack; 8] = [
        Attack::Forged,
        Attack::Replayed,
        Attack::Truncated,
        Attack::WrongJob,
        Attack::WrongVersion,
        Attack::Noise,
        Attack::Reflected,
        Attack::Misdirected,
    ];

    /// Reason for which such a frame is refused.
    pub fn refused(self) -> FrameRefused {
        match self {
            Attack::Forged => FrameRefused::Tag,
            Attack::Replayed => FrameRefused::Replayed,
            Attack::Truncated => FrameRefused::Length,
            Attack::WrongJob => FrameRefused::Job,
            Attack::WrongVersion => FrameRefused::Version,
            Attack::Noise => FrameRefused::Magic,
            Attack::Reflected => FrameRefused::Source,
            Attack::Misdirected => FrameRefused::Destination,
        }
    }

    /// Frame made of `kept` in a job of so many ranks, and the rank that it is for now.
    pub fn make(self, mut kept: Kept, ranks: usize, random: &mut Rng) -> (usize, Vec<u8>) {
        let (from, to) = (kept.from(), kept.to);
        let bytes = &mut kept.bytes;
        let mut target = to;
        match self {
            Attack::Forged => bytes[16..24].copy_from_slice(&random.u64(1 << 40..).to_le_bytes()),
            Attack::Replayed => {}
            Attack::Truncated => bytes.truncate(random.usize(0..envelope::SIZE)),
            Attack::WrongJob => bytes[4] ^= 0x80,
            Attack::WrongVersion => bytes[2] ^= 0x80,
            Attack::Noise => {
                random.fill(bytes);
                bytes[0] = 0;
            }
            Attack::Reflected => target = from,
            Attack::Misdirected => {
                target = (0..ranks).find(|rank| ![from, to].contains(rank)).unwrap_or(from);
            }
        }
        (target, kept.bytes)
    }
}
