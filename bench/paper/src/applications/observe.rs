//! Packets by type, as NIs receive them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use weft_simulator::{FrameEvent, Happened, Observer, Tag};

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
}

/// Length of the stretches that are counted apart.
const STRETCH_NS: u64 = 100_000;

/// Counts of a run, in short stretches of its time. Clones are handles to the same.
#[derive(Clone, Default)]
pub struct Counts(Arc<Mutex<Vec<Rates>>>);

impl Counts {
    /// Sum of the stretches from one time to another.
    pub fn between(&self, from: Duration, to: Duration) -> Rates {
        let stretch = |time: Duration| (time.as_nanos() as u64 / STRETCH_NS) as usize;
        let all = self.lock();
        let part = all.iter().take(stretch(to) + 1).skip(stretch(from));
        part.fold(Rates::default(), |sum, next| Rates {
            packets: std::array::from_fn(|kind| sum.packets[kind] + next.packets[kind]),
            bytes: std::array::from_fn(|kind| sum.bytes[kind] + next.bytes[kind]),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Rates>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Counts {
    fn see(&mut self, happened: &Happened) {
        let (FrameEvent::Received, Some((_, header))) = (happened.what, happened.frame) else {
            return;
        };
        let stretch = (happened.time / STRETCH_NS) as usize;
        let mut all = self.lock();
        if all.len() <= stretch {
            all.resize(stretch + 1, Rates::default());
        }
        let kind = Kind::of(header.tag) as usize;
        all[stretch].packets[kind] += 1;
        all[stretch].bytes[kind] += u64::from(header.size);
    }
}
