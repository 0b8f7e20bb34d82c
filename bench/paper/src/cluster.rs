//! What experiments run on: ranks, their packets, and one clock.

use anyhow::{Context, Result};
use std::sync::{Arc, Mutex, PoisonError};
use weft_packet::Packets;
use weft_protocol::tree::Shape;
use weft_protocol::{Preset, Recovery};

/// A point in time or a stretch of it, in nanoseconds.
pub type Nanoseconds = u64;

/// Which of the thesis's calibrations the machine has: it measured the default LFC and, in other
/// versions, the three reliability schemes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Machine {
    /// Table 5.1.
    Chapter5,
    /// Table 8.4: a row for each reliability scheme.
    Chapter8,
}

/// How a job is set up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setup {
    /// The machine.
    pub machine: Machine,
    /// Ranks.
    pub ranks: u16,
    /// The protocols.
    pub preset: Preset,
    /// The shape of multicast trees.
    pub shape: Shape,
    /// When a deadlock is suspected.
    pub recovery: Recovery,
    /// Credits, or unacknowledged packets, for each ordered pair.
    pub window_packets: u16,
}

/// Bytes that a packet holds (thesis 5.3.1, 8.5.1).
pub const PACKET_BYTES: usize = 1024;

impl Setup {
    /// The default LFC of the thesis's chapter 5: careful, binary trees, no recovery, 512 receive
    /// buffers divided among the senders.
    pub fn lfc(ranks: u16) -> Self {
        Setup {
            machine: Machine::Chapter5,
            ranks,
            preset: Preset::NrxImc,
            shape: Shape::Binary,
            recovery: Recovery::Off,
            window_packets: 512 / ranks.max(1),
        }
    }

    /// One of the implementations that chapter 8 compares, with its window of 8 packets.
    pub fn version(preset: Preset, ranks: u16) -> Self {
        Setup { machine: Machine::Chapter8, preset, window_packets: 8, ..Setup::lfc(ranks) }
    }
}

/// The clock of a cluster, at one rank.
pub trait Clock: Send + Sync {
    /// The time; one time for all ranks.
    fn now(&self) -> Nanoseconds;
    /// The rank computes for so long.
    fn compute(&self, time: Nanoseconds);
    /// The rank copies so many received bytes to where it wants them (the thesis's copy receive
    /// strategy, 5.1.1).
    fn copy(&self, bytes: usize);
}

/// What a rank of an experiment has.
#[derive(Clone)]
pub struct Seat {
    /// Its packet interface.
    pub packets: Packets,
    /// Its clock.
    pub clock: Arc<dyn Clock>,
}

/// What every rank of a job runs.
pub type Program = Arc<dyn Fn(&Seat) -> Result<()> + Send + Sync>;

/// Runs jobs.
pub trait Cluster {
    /// Runs `program` on every rank of a job, until all have returned.
    ///
    /// # Errors
    /// The cluster cannot be set up so, or what a rank returned.
    fn run(&self, setup: &Setup, program: Program) -> Result<()>;
}

/// Runs `program` on every rank and returns what they return, by rank. Interrupts are off, as in
/// all measurements of the thesis that receive by polling.
///
/// # Errors
/// As [`Cluster::run`].
pub fn on_every_rank<T: Send + 'static>(
    cluster: &dyn Cluster,
    setup: &Setup,
    program: impl Fn(&Seat) -> Result<T> + Send + Sync + 'static,
) -> Result<Vec<T>> {
    let slots: Vec<Option<T>> = (0..setup.ranks).map(|_| None).collect();
    let returned = Arc::new(Mutex::new(slots));
    let slots = Arc::clone(&returned);
    let run: Program = Arc::new(move |seat| {
        let quiet = seat.packets.interrupts_off();
        let value = program(seat)?;
        // Others may still wait for credits of this rank's, or for what it forwards.
        seat.packets.flush()?;
        drop(quiet);
        let mut slots = slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots[seat.packets.rank().index()] = Some(value);
        Ok(())
    });
    cluster.run(setup, run).with_context(|| format!("{setup:?}"))?;
    let slots = std::mem::take(&mut *returned.lock().unwrap_or_else(PoisonError::into_inner));
    slots.into_iter().collect::<Option<_>>().context("a rank returned nothing")
}
