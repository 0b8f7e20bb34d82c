//! Faults of the simulated network, on purpose and from one seed.

use crate::frames::{Carried, Frame};
use crate::state::{Event, Life, State};
use crate::trace::FrameEvent;
use std::fmt;
use std::time::Duration;
use weft_link::bell::{Cause, Loss};
use weft_link::clock::Nanoseconds;
use weft_wire::{Header, Rank, atomic, network};

/// Everything that goes wrong in a run. Parts of frames are numbers from 0 to 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    /// The part of all frames that is lost.
    pub loss: f64,
    /// The part that arrives twice.
    pub duplication: f64,
    /// The part that is held back for a random time, so that others overtake it.
    pub reordering: f64,
    /// Longest time for which a frame is held back.
    pub held_back: Duration,
    /// The part in which bits flip.
    pub corruption: f64,
    /// Times in which some ranks and all others do not hear of each other.
    pub partitions: Vec<Partition>,
    /// Ranks whose host work takes longer, and the factor.
    pub slow: Vec<(Rank, f64)>,
    /// Ranks that stop, and when.
    pub crashes: Vec<(Rank, Duration)>,
}

/// A time in which no frame passes between some ranks and all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// The ranks on one side.
    pub ranks: Vec<Rank>,
    /// From when.
    pub from: Duration,
    /// Until when.
    pub until: Duration,
}

/// Reason why some faults cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FaultError {
    /// A part of all frames that is none.
    #[error("{what} is a part of all frames, from 0 to 1, and cannot be {value}")]
    Part {
        /// Name of the fault.
        what: &'static str,
        /// Value that was given.
        value: f64,
    },
    /// A rank that the job does not have.
    #[error("{what} names rank {rank}; the job has ranks 0 to {}", .ranks - 1)]
    Rank {
        /// Name of the fault.
        what: &'static str,
        /// The rank.
        rank: Rank,
        /// Number of ranks.
        ranks: u16,
    },
    /// A partition that ends before it begins.
    #[error("a partition cannot last from {0:?} until {1:?}")]
    Time(Duration, Duration),
    /// A factor that is none.
    #[error("a slow rank takes 1 to 1000000 times as long, not {0} times")]
    Slowness(f64),
    /// Reordering that holds nothing back.
    #[error("reordering needs a time for which packets are held back")]
    HeldBack,
}

impl Faults {
    /// A network that loses and doubles one frame in a hundred, and holds two back, so that others
    /// overtake them.
    pub fn unreliable() -> Self {
        let held_back = Duration::from_micros(100);
        Faults { loss: 0.01, duplication: 0.01, reordering: 0.02, held_back, ..Faults::default() }
    }

    /// Refuses what cannot be in a job of `ranks`.
    ///
    /// # Errors
    /// [`FaultError`].
    pub fn check(&self, ranks: u16) -> Result<(), FaultError> {
        let parts = [
            ("loss", self.loss),
            ("duplication", self.duplication),
            ("reordering", self.reordering),
            ("corruption", self.corruption),
        ];
        for (what, value) in parts {
            if !(0.0..=1.0).contains(&value) {
                return Err(FaultError::Part { what, value });
            }
        }
        if self.reordering > 0.0 && self.held_back.is_zero() {
            return Err(FaultError::HeldBack);
        }
        let cut = self.partitions.iter().flat_map(|p| &p.ranks).map(|&rank| ("a partition", rank));
        let slow = self.slow.iter().map(|&(rank, _)| ("a slow rank", rank));
        let crashed = self.crashes.iter().map(|&(rank, _)| ("a crash", rank));
        if let Some((what, rank)) = cut.chain(slow).chain(crashed).find(|(_, r)| r.0 >= ranks) {
            return Err(FaultError::Rank { what, rank, ranks });
        }
        if let Some(&(_, factor)) = self.slow.iter().find(|(_, f)| !(1.0..=1e6).contains(f)) {
            return Err(FaultError::Slowness(factor));
        }
        match self.partitions.iter().find(|p| p.until <= p.from) {
            Some(partition) => Err(FaultError::Time(partition.from, partition.until)),
            None => Ok(()),
        }
    }

    /// True if every frame arrives, once and in order.
    pub fn is_reliable(&self) -> bool {
        let Faults { loss, duplication, reordering, corruption, partitions, .. } = self;
        [loss, duplication, reordering, corruption].iter().all(|&&part| part == 0.0)
            && partitions.is_empty()
    }
}

/// Faults that were injected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Injected {
    /// Frames lost.
    pub lost: u64,
    /// Frames doubled.
    pub duplicated: u64,
    /// Frames held back.
    pub delayed: u64,
    /// Frames corrupted, all of them noticed.
    pub corrupted: u64,
    /// Frames stopped by a partition.
    pub cut: u64,
    /// Ranks crashed.
    pub crashes: u64,
}

impl fmt::Display for Injected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Injected { lost, duplicated, delayed, corrupted, cut, crashes } = self;
        let kinds = [
            (lost, "lost"),
            (duplicated, "doubled"),
            (delayed, "held back"),
            (corrupted, "corrupted"),
            (cut, "cut off"),
            (crashes, "crashed"),
        ];
        let some = kinds.into_iter().filter(|(count, _)| **count > 0);
        for (i, (count, what)) in some.enumerate() {
            write!(f, "{}{count} {what}", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl Injected {
    /// All of them.
    pub fn total(&self) -> u64 {
        let Injected { lost, duplicated, delayed, corrupted, cut, crashes } = self;
        lost + duplicated + delayed + corrupted + cut + crashes
    }
}

/// Time until the survivors know that a rank is gone: what Weft promises on one host.
const LOSS_KNOWN_AFTER: Nanoseconds = 100_000_000;

/// Decides which faults happen.
pub(crate) struct Injector {
    faults: Faults,
    /// For each partition, which ranks are on its side.
    sides: Vec<Vec<bool>>,
    random: fastrand::Rng,
    pub injected: Injected,
}

impl Injector {
    pub fn new(faults: Faults, ranks: u16, seed: u64) -> Self {
        let side = |partition: &Partition| {
            let mut side = vec![false; usize::from(ranks)];
            partition.ranks.iter().for_each(|rank| side[rank.index()] = true);
            side
        };
        let sides = faults.partitions.iter().map(side).collect();
        Injector {
            faults,
            sides,
            random: fastrand::Rng::with_seed(seed),
            injected: Injected::default(),
        }
    }

    pub fn is_reliable(&self) -> bool {
        self.faults.is_reliable()
    }

    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    fn happens(&mut self, part: f64) -> bool {
        part > 0.0 && self.random.f64() < part
    }

    fn is_cut(&self, from: Rank, to: Rank, time: Nanoseconds) -> bool {
        let time = Duration::from_nanos(time);
        self.faults.partitions.iter().zip(&self.sides).any(|(partition, side)| {
            (partition.from..partition.until).contains(&time)
                && side[from.index()] != side[to.index()]
        })
    }

    fn hold_back(&mut self) -> Nanoseconds {
        let most = self.faults.held_back.as_nanos() as u64;
        self.random.u64(1..=most.max(1))
    }

    /// Flips some bits of a frame as a network would carry it, with its checksum, and says whether
    /// the receiver's link takes it for the frame that was sent.
    fn survives_bit_flips(&mut self, frame: &Frame) -> bool {
        let mut packet = on_the_wire(frame);
        for _ in 0..self.random.u32(1..=8) {
            let bit = self.random.usize(0..packet.len() * 8);
            packet[bit / 8] ^= 1 << (bit % 8);
        }
        is_taken_for(frame, &packet)
    }
}

/// A frame as a network would carry it, with its checksum.
pub(crate) fn on_the_wire(frame: &Frame) -> Vec<u8> {
    let mut packet = network::emit(&frame.header).to_vec();
    match &frame.carried {
        Carried::Empty => {}
        Carried::Words(words) => {
            packet.extend(&atomic::to_bytes(*words)[..frame.user_bytes()]);
        }
        Carried::Bytes(bytes) => packet.extend(bytes.to_vec(frame.header.size.into())),
    }
    let checksum = crc32fast::hash(&packet);
    packet.extend(checksum.to_le_bytes());
    packet
}

/// True if a link that gets `packet`, of four bytes at least, takes it for `frame`.
pub(crate) fn is_taken_for(frame: &Frame, packet: &[u8]) -> bool {
    let (content, sum) = packet.split_at(packet.len() - 4);
    let noticed = crc32fast::hash(content).to_le_bytes() != *sum;
    !noticed && network::parse(content).is_ok_and(|(header, _)| header == frame.header)
}

impl State {
    /// Puts a frame on its way; it leaves at `start` and arrives at `end`, if nothing goes wrong.
    /// What goes `again` is the last frame to another receiver, and lost if that was.
    pub(crate) fn launch(
        &mut self,
        (from, to): (Rank, Rank),
        frame: Frame,
        (start, end): (Nanoseconds, Nanoseconds),
        again: bool,
    ) {
        let header = frame.header;
        if self.ranks[to.index()].life == Life::Crashed {
            self.note_fault(start, from, to, FrameEvent::Unheard, &header);
            return;
        }
        // A frame that comes back from the first switch meets no other.
        if self.injector.is_reliable() || from == to {
            self.schedule(end, Event::Arrive(to, Box::new(frame)));
            return;
        }
        let Faults { loss, duplication, reordering, corruption, .. } = self.injector.faults;
        if self.injector.is_cut(from, to, start) {
            self.injector.injected.cut += 1;
            self.note_fault(start, from, to, FrameEvent::Cut, &header);
            return;
        }
        let State { injector, token, .. } = self;
        if token.lose(again, || injector.happens(loss)) {
            self.injector.injected.lost += 1;
            self.note_fault(start, from, to, FrameEvent::Lost, &header);
            return;
        }
        if self.injector.happens(corruption) && !self.injector.survives_bit_flips(&frame) {
            self.injector.injected.corrupted += 1;
            self.note_fault(start, from, to, FrameEvent::Corrupted, &header);
            return;
        }
        if self.injector.happens(duplication) {
            self.injector.injected.duplicated += 1;
            self.note_fault(start, from, to, FrameEvent::Duplicated, &header);
            self.deliver_late(from, to, frame.clone(), start, end, reordering);
        }
        self.deliver_late(from, to, frame, start, end, reordering);
    }

    fn deliver_late(
        &mut self,
        from: Rank,
        to: Rank,
        frame: Frame,
        start: Nanoseconds,
        end: Nanoseconds,
        reordering: f64,
    ) {
        let mut end = end;
        if self.injector.happens(reordering) {
            self.injector.injected.delayed += 1;
            end += self.injector.hold_back();
            self.note_fault(start, from, to, FrameEvent::Delayed, &frame.header);
        }
        self.schedule(end, Event::Arrive(to, Box::new(frame)));
    }

    fn note_fault(
        &mut self,
        time: Nanoseconds,
        from: Rank,
        to: Rank,
        what: FrameEvent,
        header: &Header,
    ) {
        self.trace.note(time, from, what, Some((to, header)));
    }

    /// Schedules what the faults say will happen to ranks.
    pub(crate) fn plan_crashes(&mut self) {
        let Faults { slow, crashes, .. } = self.injector.faults().clone();
        for (rank, factor) in slow {
            self.rank(rank).slowness = factor;
        }
        for (rank, time) in crashes {
            self.schedule(time.as_nanos() as Nanoseconds, Event::Crash(rank));
        }
    }

    /// `rank` stops here and now, unless its program has ended before.
    pub(crate) fn crash(&mut self, rank: Rank) {
        let now = self.now;
        let parts = self.rank(rank);
        if parts.life != Life::Alive {
            return;
        }
        parts.life = Life::Crashed;
        parts.ni_queue.clear();
        parts.arrived.clear();
        parts.arrived_frames = 0;
        parts.deadline = None;
        self.injector.injected.crashes += 1;
        self.trace.note(now, rank, FrameEvent::Crashed, None);
        // What a rank dies of does not matter to the others; a kill is what it looks like.
        self.lose(Loss { rank, cause: Cause::Killed(9) });
    }

    /// The others will know of a loss in a while.
    pub(crate) fn lose(&mut self, loss: Loss) {
        let time = self.time_of(loss.rank) + LOSS_KNOWN_AFTER;
        self.schedule(time, Event::Announce(loss));
    }

    /// The others know of it now.
    pub(crate) fn announce(&mut self, loss: Loss) {
        self.losses.push(loss);
        let now = self.now;
        for rank in 0..self.ranks.len() as u16 {
            self.ring(Rank(rank), now);
        }
    }
}

#[cfg(test)]
mod tests;
