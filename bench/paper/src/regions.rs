//! The thesis's applications on CRL, and others, on regions: their speed-ups on its cluster, beside
//! table 8.6.
//!
//! What programs compute takes as long as they declare, which for those of table 8.6 is chosen to
//! be its `T_1`; everything else is a prediction. The page is one of its own, because most of it is
//! beside no figure of a paper.

mod page;
mod write_miss;

pub(crate) use page::table;
pub use page::{PAGES, pages};
pub(crate) use write_miss::QUIET_OPERATIONS;
pub use write_miss::write_miss_us;

use crate::Targets;
use crate::systems::Charge;
use anyhow::{Context, Result, anyhow};
use clap::Parser;
use std::error::Error;
use std::time::Duration;
use weft_app_common::{RegionRank, thousands};
use weft_bench::suite::System;
use weft_simulator::{MachineModel, Options, Preset, Simulation};

/// Packets on the way for each ordered pair (thesis 8.5.1).
const WINDOW_PACKETS: u16 = 8;

/// A program on regions.
pub struct Program {
    /// Its name.
    pub name: &'static str,
    /// Problem that it solves, for people.
    pub problem: &'static str,
    /// Problem that it solves, as command-line words.
    pub words: &'static [&'static str],
    /// Bytes of its regions on so many nodes, given these words.
    pub region_bytes: RegionBytes,
    /// True if it is measured under all hints and protocols, too: where that takes no minutes.
    pub varied: bool,
    /// True if its data travels in both ways on the page about zero-copy ([`crate::zero_copy`]).
    pub compared: bool,
    /// The target that is its speed-up on 64 processors in table 8.6, if it is there.
    pub speedup: Option<&'static str>,
    solve: Solve,
}

/// Solves on this rank and, at rank 0, says how long it took.
type Solve = fn(&RegionRank, &[&str]) -> std::result::Result<Option<Duration>, Box<dyn Error>>;

/// Bytes of a region, for people, by what is said to a program, and nodes.
type RegionBytes = fn(&[&str], u16) -> std::result::Result<String, clap::Error>;

/// Those that are measured.
pub const PROGRAMS: [Program; 7] = [
    Program {
        name: "fft",
        problem: "1,048,576 complex points",
        words: &[],
        region_bytes: fft_region,
        varied: true,
        compared: true,
        speedup: Some("T8.6-fft-S64"),
        solve: |shared, words| {
            Ok(weft_apps::fft::solve(shared, &parse(words)?)?.map(|solved| solved.times.parallel))
        },
    },
    Program {
        name: "radix",
        problem: "3,000,000 keys, radix 128",
        words: &[],
        region_bytes: radix_region,
        varied: true,
        compared: true,
        speedup: Some("T8.6-radix-S64"),
        solve: |shared, words| {
            Ok(weft_apps::radix::solve(shared, &parse(words)?)?.map(|solved| solved.times.parallel))
        },
    },
    Program {
        name: "lu",
        problem: "512 x 512, blocks of 16 x 16",
        words: &[],
        region_bytes: lu_region,
        varied: true,
        compared: false,
        speedup: None,
        solve: lu,
    },
    Program {
        name: "lu",
        problem: "1,024 x 1,024, blocks of 16 x 16",
        words: &["--order", "1024"],
        region_bytes: lu_region,
        varied: true,
        compared: true,
        speedup: None,
        solve: lu,
    },
    Program {
        name: "barnes",
        problem: "16,384 bodies, 1 step",
        words: &["--steps", "1"],
        region_bytes: barnes_region,
        varied: false,
        compared: false,
        speedup: Some("T8.6-barnes-S64"),
        solve: barnes,
    },
    Program {
        name: "barnes",
        problem: "2,048 bodies, 2 steps",
        words: &["--bodies", "2048", "--steps", "2"],
        region_bytes: barnes_region,
        varied: true,
        compared: true,
        speedup: None,
        solve: barnes,
    },
    Program {
        name: "water",
        problem: "512 molecules",
        words: &[],
        region_bytes: water_region,
        varied: true,
        compared: true,
        speedup: None,
        solve: |shared, words| {
            Ok(weft_apps::water::solve(shared, &parse(words)?)?.map(|solved| solved.times.parallel))
        },
    },
];

fn barnes(
    shared: &RegionRank,
    words: &[&str],
) -> std::result::Result<Option<Duration>, Box<dyn Error>> {
    Ok(weft_apps::barnes::solve(shared, &parse(words)?)?.map(|solved| solved.times.parallel))
}

fn lu(
    shared: &RegionRank,
    words: &[&str],
) -> std::result::Result<Option<Duration>, Box<dyn Error>> {
    Ok(weft_apps::lu::solve(shared, &parse(words)?)?.map(|solved| solved.times.parallel))
}

/// A block of P x P (thesis 8.5.5).
fn fft_region(words: &[&str], ranks: u16) -> std::result::Result<String, clap::Error> {
    let options: weft_apps::fft::Options = parse(words)?;
    let side = options.side() / usize::from(ranks);
    Ok(thousands((side * side * size_of::<weft_apps::fft::Complex>()) as u64))
}

fn radix_region(words: &[&str], _: u16) -> std::result::Result<String, clap::Error> {
    let options: weft_apps::radix::Options = parse(words)?;
    Ok(thousands(options.region_bytes.into()))
}

fn lu_region(words: &[&str], _: u16) -> std::result::Result<String, clap::Error> {
    let options: weft_apps::lu::Options = parse(words)?;
    let side = options.block as usize;
    Ok(thousands((side * side * size_of::<f64>()) as u64))
}

fn barnes_region(_: &[&str], _: u16) -> std::result::Result<String, clap::Error> {
    let sizes =
        (size_of::<weft_apps::barnes::CellWords>(), size_of::<weft_apps::barnes::BodyWords>());
    Ok(format!("{} and {}", sizes.0, sizes.1))
}

fn water_region(_: &[&str], _: u16) -> std::result::Result<String, clap::Error> {
    Ok(size_of::<weft_apps::water::Words>().to_string())
}

fn parse<O: Parser>(words: &[&str]) -> std::result::Result<O, clap::Error> {
    O::try_parse_from(["program"].iter().chain(words))
}

/// Results of a run.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Time of the run, without making and mapping regions.
    pub seconds: f64,
    /// Data packets of the whole run, with that.
    pub packets: u64,
}

/// The cluster of the thesis's chapter 8, with what CRL takes there.
///
/// # Errors
/// Its description is wrong.
pub fn machine() -> Result<MachineModel> {
    let mut machine = MachineModel::named("myrinet-compared")?;
    Charge::of(System::Regions, &Targets::read()?)?.add_to(&mut machine);
    Ok(machine)
}

/// Runs a program on the cluster of the thesis's chapter 8. `how` is what is said about its
/// regions.
///
/// # Errors
/// What a rank or the simulator says.
pub fn run(program: &Program, ranks: u16, preset: Preset, how: &[&'static str]) -> Result<Seen> {
    run_on(machine()?, program, (ranks, preset), how)
}

/// Runs it on another machine.
///
/// # Errors
/// Those of [`run`].
pub fn run_on(
    machine: MachineModel,
    program: &Program,
    (ranks, preset): (u16, Preset),
    how: &[&'static str],
) -> Result<Seen> {
    let context = || format!("{} on {ranks} ranks, {preset} {how:?}", program.name);
    let mut options = Options::with_preset(machine, ranks, preset);
    options.settings.window_packets = WINDOW_PACKETS;
    let (solve, words) = (program.solve, [program.words, how].concat());
    let simulation = Simulation::new(options).with_context(context)?;
    let report = simulation.run_packets(move |packets| {
        RegionRank::run(&packets, |shared| solve(shared, &words)).map_err(|error| error.to_string())
    });
    let packets = report.packets();
    let values = report.into_values().map_err(|what| anyhow!(what)).with_context(context)?;
    let time = values.into_iter().flatten().next().ok_or_else(|| anyhow!("rank 0 said nothing"));
    Ok(Seen { seconds: time.with_context(context)?.as_secs_f64(), packets })
}
