//! Hosts with several ranks each between threads: shared memory within, AF_XDP between.

use std::ops::Range;
use std::os::fd::OwnedFd;
use weft_link::wrap::{FaultPlan, InspectOnDrop};
use weft_link_shm::{Settings, Shm, create_memory};
use weft_mixed::{Mixed, Near};
use weft_wire::Rank;
use weft_xdp::Xdp;

use crate::ethernet::{Ethernet, Frames};
use crate::tap::Tap;

/// A rank's link, which tells the tap at the end what its far part has done.
type Seen = InspectOnDrop<Both, Box<dyn FnMut(&Both) + Send>>;
type Both = Mixed<Shm, Xdp>;

/// The hosts of a job, each with the same number of ranks.
pub(crate) struct Hosts {
    /// Of one host: how many ranks, and what they share.
    near: Settings,
    files: Vec<OwnedFd>,
    ranks: u16,
    ethernet: Ethernet,
    tap: &'static Tap,
}

impl Hosts {
    /// The bridge between them copies multicasts, and loses this share of all frames.
    pub fn new(memory: &Settings, each: u16, loss: f64, tap: Option<&'static Tap>) -> Self {
        let tap = tap.unwrap_or_else(Tap::new);
        let near = Settings { ranks: each, ..*memory };
        let faults = FaultPlan { seed: 1, loss: 0.0, duplication: 0.0 };
        let frames = Frames { each, copied: Some(loss) };
        let file = || create_memory(&near).expect("shared memory can be made");
        Hosts {
            near,
            files: (0..memory.ranks / each).map(|_| file()).collect(),
            ranks: memory.ranks,
            ethernet: Ethernet::new(memory, frames, faults, Some(tap)),
            tap,
        }
    }

    pub fn attach(&self, rank: Rank) -> Seen {
        let here = beside(rank, self.near.ranks);
        let file = &self.files[rank.index() / usize::from(self.near.ranks)];
        let near = Shm::attach(Rank(rank.0 - here.start), self.near, file);
        let far = self.ethernet.attach_alone(rank);
        let arrivals = far.arrivals().expect("there are descriptors");
        let ranks = Near { ranks: here.map(Rank).collect(), carries: true };
        let near = near.expect("a rank can attach");
        let mixed = Mixed::new(near, ranks, far, arrivals, self.ranks);
        let tap = self.tap;
        let show: Box<dyn FnMut(&Both) + Send> =
            Box::new(move |mixed| tap.detached(mixed.far().counters()));
        InspectOnDrop::new(mixed.expect("a thread can start"), show)
    }
}

/// The ranks on the host of `rank` where each host has `each`.
pub(crate) fn beside(rank: Rank, each: u16) -> Range<u16> {
    let first = rank.0 / each * each;
    first..first + each
}
