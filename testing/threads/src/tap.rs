//! What a test may do to the network of a job while the job runs, and see of it.

use crate::wire::lock;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use weft_seal::Refused;
use weft_udp::Counters;
use weft_wire::Rank;

/// Datagrams that are kept at most, for whoever wants to send them again.
const KEPT: usize = 64;

/// The network of one job, as others get at it. Ranks above 63 cannot be cut off.
#[derive(Debug, Default)]
pub struct Tap {
    cut: AtomicU64,
    pub(crate) passed: AtomicU64,
    pub(crate) touched: AtomicU64,
    /// Whether datagrams are kept, and strangers send.
    hostile: AtomicBool,
    kept: Mutex<VecDeque<Kept>>,
    attacks: [AtomicU64; Attack::ALL.len()],
    counters: Mutex<Vec<Counters>>,
}

/// A datagram that passed.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub to: usize,
    pub bytes: Vec<u8>,
}

impl Kept {
    /// The rank that says that it sent it.
    pub fn from(&self) -> usize {
        source_of(&self.bytes)
    }
}

/// What strangers send.
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

    /// Why such a frame is refused.
    pub fn refused(self) -> Refused {
        match self {
            Attack::Forged => Refused::Tag,
            Attack::Replayed => Refused::Replayed,
            Attack::Truncated => Refused::Short,
            Attack::WrongJob => Refused::Job,
            Attack::WrongVersion => Refused::Version,
            Attack::Noise => Refused::Magic,
            Attack::Reflected => Refused::Source,
            Attack::Misdirected => Refused::Destination,
        }
    }

    /// What comes of `kept`, and the rank that it is for now.
    pub(crate) fn make(
        self,
        mut kept: Kept,
        ranks: usize,
        random: &mut fastrand::Rng,
    ) -> (usize, Vec<u8>) {
        let (from, to) = (kept.from(), kept.to);
        let bytes = &mut kept.bytes;
        let mut target = to;
        match self {
            Attack::Forged => bytes[16..24].copy_from_slice(&random.u64(1 << 40..).to_le_bytes()),
            Attack::Replayed => {}
            Attack::Truncated => bytes.truncate(random.usize(0..32)),
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

impl Tap {
    /// A tap that stays for as long as the test's process.
    pub fn new() -> &'static Tap {
        Box::leak(Box::default())
    }

    /// From here on nothing gets to `rank` or from it.
    pub fn cut(&self, rank: Rank) {
        self.cut.fetch_or(1 << rank.0, Relaxed);
    }

    /// All can be reached again.
    pub fn mend(&self) {
        self.cut.store(0, Relaxed);
    }

    /// Datagrams that ranks have sent so far.
    pub fn passed(&self) -> u64 {
        self.passed.load(Relaxed)
    }

    /// Strangers begin to send as much as they can, or end it.
    pub fn set_hostile(&self, hostile: bool) {
        self.hostile.store(hostile, Relaxed);
    }

    /// How many frames of this kind were sent by strangers.
    pub fn attacks(&self, kind: Attack) -> u64 {
        self.attacks[kind as usize].load(Relaxed)
    }

    /// What the links of all ranks have done, once the job is over, in no order.
    pub fn counters(&self) -> Vec<Counters> {
        lock(&self.counters).clone()
    }

    pub(crate) fn is_hostile(&self) -> bool {
        self.hostile.load(Relaxed)
    }

    pub(crate) fn is_cut(&self, from: usize, to: usize) -> bool {
        let cut = self.cut.load(Relaxed);
        [from, to].into_iter().any(|rank| rank < 64 && cut >> rank & 1 != 0)
    }

    pub(crate) fn keep(&self, to: usize, bytes: &[u8]) {
        let mut kept = lock(&self.kept);
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back(Kept { to, bytes: bytes.to_vec() });
    }

    /// One of the datagrams that passed before the last few, which may be under way still.
    pub(crate) fn any_kept(&self, random: &mut fastrand::Rng) -> Option<Kept> {
        let kept = lock(&self.kept);
        let old = kept.len().checked_sub(KEPT / 2).filter(|&old| old > 0)?;
        kept.get(random.usize(0..old)).cloned()
    }

    pub(crate) fn attacked(&self, kind: Attack) {
        self.attacks[kind as usize].fetch_add(1, Relaxed);
    }

    pub(crate) fn detached(&self, counters: Counters) {
        lock(&self.counters).push(counters);
    }
}

/// The rank that a datagram says it is from.
pub(crate) fn source_of(bytes: &[u8]) -> usize {
    bytes
        .get(8..10)
        .map_or(usize::MAX, |source| usize::from(u16::from_le_bytes([source[0], source[1]])))
}
