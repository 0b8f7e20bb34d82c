//! The question that the thesis leaves open in 9.6: what do applications gain if their data is
//! moved straight to its place, instead of being copied out of messages? The five applications on
//! regions, in both ways.
//!
//! In the simulator a put is placed by the NI: its receiver's host is charged for each packet what
//! it is always charged, and for no copy (`docs/internals/simulator.md`).

mod page;

pub use page::{PAGES, pages};

use crate::regions::{Program, QUIET_OPERATIONS, Seen, machine, run_on};
use anyhow::{Context, Result, anyhow};
use weft_endpoint::{Packets, Rank};
use weft_region::coherence::Policy;
use weft_region::{DataWay, RegionId, Regions, Settings};
use weft_simulator::{MachineModel, Options, Preset, Simulation};

/// Misses in a row.
const MISSES: u32 = 4;

/// Transport of a region's bytes to the node that has asked for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// In messages, and copied out of them.
    Messages,
    /// Put by whoever has them.
    Puts,
    /// In messages, on a machine that copies in no time: no way to avoid a copy gains more.
    Free,
}

impl Way {
    /// All.
    pub const ALL: [Way; 3] = [Way::Messages, Way::Puts, Way::Free];

    fn data(self) -> DataWay {
        match self {
            Way::Messages | Way::Free => DataWay::Packets,
            Way::Puts => DataWay::Puts,
        }
    }

    fn words(self) -> [&'static str; 2] {
        match self {
            Way::Messages | Way::Free => ["--data", "packets"],
            Way::Puts => ["--data", "puts"],
        }
    }

    fn machine(self) -> Result<MachineModel> {
        let mut machine = machine()?;
        if self == Way::Free {
            machine.host.copy_ns_per_byte = 0.0;
        }
        Ok(machine)
    }
}

/// A program, and what is said to it besides.
#[derive(Clone, Copy)]
pub struct Case {
    /// Program to run.
    pub program: &'static Program,
    /// Nodes.
    pub ranks: u16,
    /// Words for its command line.
    pub words: &'static [&'static str],
}

impl Case {
    /// Bytes of its regions, for people.
    ///
    /// # Errors
    /// The program does not take what is said to it.
    pub fn region_bytes(&self) -> Result<String> {
        let words = [self.program.words, self.words].concat();
        (self.program.region_bytes)(&words, self.ranks).with_context(|| format!("{words:?}"))
    }
}

/// Runs it.
///
/// # Errors
/// What a rank or the simulator says.
pub fn run(case: &Case, way: Way) -> Result<Seen> {
    let how = [case.words, &way.words()].concat();
    run_on(way.machine()?, case.program, (case.ranks, Preset::default()), &how)
}

/// Microseconds of a clean read miss on a region of so many bytes.
///
/// # Errors
/// As above.
pub fn miss_us(bytes: u64, way: Way) -> Result<f64> {
    let context = || format!("a read miss of {bytes} bytes, {way:?}");
    let settings = Settings { data: way.data(), ..Settings::default() };
    let simulation = Simulation::new(Options::on(way.machine()?, 2)).with_context(context)?;
    let report = simulation.run_packets(move |packets| {
        misses(&packets, settings, bytes).map_err(|error| error.to_string())
    });
    let values = report.into_values().map_err(|what| anyhow!(what)).with_context(context)?;
    Ok(values[0])
}

fn misses(packets: &Packets, settings: Settings, bytes: u64) -> weft_region::Result<f64> {
    let regions = Regions::open_with(packets, settings);
    let home = Rank(1);
    if packets.rank() == home {
        regions.create(bytes, Policy::default())?;
    }
    regions.barrier()?;
    let region = regions.map::<u8>(RegionId { home, index: 0 })?;
    let mut took = 0.0;
    for _ in 0..MISSES {
        if packets.rank() != home {
            region.flush()?;
        }
        regions.barrier()?;
        if packets.rank() != home {
            packets.work(QUIET_OPERATIONS);
        }
        let start = packets.now();
        if packets.rank() != home {
            drop(region.read()?);
            took += (packets.now() - start).as_secs_f64() * 1e6;
        }
        regions.barrier()?;
    }
    drop(region);
    regions.close()?;
    Ok(took / f64::from(MISSES))
}
