//! Packets by type, as NIs receive them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use weft_simulator::{FrameEvent, Happened, Observer, Rank, Tag};

/// Type of packet, as figure 8.8 tells them apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Data for one rank.
    Unicast,
    /// Data for many, once for each.
    Multicast,
    /// Acknowledgements and credits in packets of their own.
    Acknowledgement,
    /// Fetch-and-adds and all else.
    Synchronization,
}

impl Kind {
    /// All.
    pub const ALL: [Kind; 4] =
        [Kind::Unicast, Kind::Multicast, Kind::Acknowledgement, Kind::Synchronization];

    fn of(tag: Tag) -> Self {
        match tag {
            Tag::Ucast => Kind::Unicast,
            Tag::Mcast => Kind::Multicast,
            Tag::Credit | Tag::Acknowledge | Tag::Nack => Kind::Acknowledgement,
            _ => Kind::Synchronization,
        }
    }
}

/// Packets and user bytes by type, in the order of [`Kind::ALL`]; of all ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rates {
    /// Packets received.
    pub packets: [u64; 4],
    /// User bytes in them.
    pub bytes: [u64; 4],
    /// Data packets that are not full, each of which ends a message.
    pub messages: u64,
}

/// Length of the stretches that are counted apart.
const STRETCH_NS: u64 = 100_000;

/// Counts of a run. Clones are handles to the same.
#[derive(Clone)]
pub struct Counts {
    /// In short stretches of its time.
    stretches: Arc<Mutex<Vec<Rates>>>,
    full: Arc<Mutex<Full>>,
}

/// Full packets with data for one rank, in a row, by sender and receiver.
struct Full {
    packet_bytes: u16,
    in_a_row: BTreeMap<(Rank, Rank), u64>,
    most: u64,
}

impl Full {
    fn see(&mut self, ends: (Rank, Rank), bytes: u16) {
        let in_a_row = self.in_a_row.entry(ends).or_default();
        *in_a_row = if bytes < self.packet_bytes { 0 } else { *in_a_row + 1 };
        self.most = self.most.max(*in_a_row);
    }
}

impl Counts {
    /// Counts of a run whose packets have so many bytes at most.
    pub fn new(packet_bytes: u16) -> Self {
        let full = Full { packet_bytes, in_a_row: BTreeMap::new(), most: 0 };
        Counts { stretches: Arc::default(), full: Arc::new(Mutex::new(full)) }
    }

    /// Full packets with data that one rank received from another in a row at most.
    pub fn most_full(&self) -> u64 {
        self.full.lock().unwrap_or_else(PoisonError::into_inner).most
    }

    /// Sum of the stretches from one time to another.
    pub fn between(&self, from: Duration, to: Duration) -> Rates {
        let stretch = |time: Duration| (time.as_nanos() as u64 / STRETCH_NS) as usize;
        let all = self.lock();
        let part = all.iter().take(stretch(to) + 1).skip(stretch(from));
        part.fold(Rates::default(), |sum, next| Rates {
            packets: std::array::from_fn(|kind| sum.packets[kind] + next.packets[kind]),
            bytes: std::array::from_fn(|kind| sum.bytes[kind] + next.bytes[kind]),
            messages: sum.messages + next.messages,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Rates>> {
        self.stretches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Counts {
    fn see(&mut self, happened: &Happened) {
        let (FrameEvent::Received, Some((from, header))) = (happened.what, happened.frame) else {
            return;
        };
        let mut full = self.full.lock().unwrap_or_else(PoisonError::into_inner);
        if header.tag == Tag::Ucast {
            full.see((from, happened.rank), header.size);
        }
        let ends = header.tag.is_data() && header.size < full.packet_bytes;
        drop(full);
        let stretch = (happened.time / STRETCH_NS) as usize;
        let mut all = self.lock();
        if all.len() <= stretch {
            all.resize(stretch + 1, Rates::default());
        }
        let kind = Kind::of(header.tag) as usize;
        all[stretch].packets[kind] += 1;
        all[stretch].bytes[kind] += u64::from(header.size);
        all[stretch].messages += u64::from(ends);
    }
}
