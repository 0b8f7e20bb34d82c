//! The page about programs on regions.

use super::write_miss::{RANKS, round_trip_us, write_miss_us};
use super::{PROGRAMS, Program, Seen, run};
use crate::Targets;
use crate::cluster::REGION_INSTRUCTIONS;
use crate::plot::{Plot, Scale};
use crate::report::PageFile;
use crate::suite::{on_threads, threads};
use anyhow::{Context, Result};
use comfy_table::{Table, presets};
use weft_app_common::thousands;
use weft_simulator::Preset;

/// Words for CRL as the thesis had it.
const AS_IN_THE_THESIS: &[&str] = &["--two-party"];
/// Words for CRL as the thesis had it, with a check of the result.
const CHECKED: &[&str] = &["--two-party", "--verify"];
/// Ranks of the largest run.
const MOST: u16 = 64;
/// Ranks of a smaller one.
const FEWER: u16 = 16;

/// The files that [`pages`] gives.
pub const PAGES: [&str; 2] = ["regions.md", "regions-write-miss.svg"];

/// Nodes that have a copy of what is missed, of [`RANKS`] of which one misses and one is the home.
const READERS: [u16; 13] = [0, 1, 2, 4, 8, 16, 24, 31, 32, 40, 48, 56, 62];
/// Bytes of a region: small, as in CRL's applications, and of several packets.
const SIZES: [u64; 2] = [64, 4096];

/// Words for other options of regions.
const WAYS: [(&str, &[&str]); 6] = [
    ("by two parties, as in the thesis", AS_IN_THE_THESIS),
    ("by three parties", &[]),
    ("prefetch", &["--prefetch"]),
    ("hint: update", &["--hint", "update"]),
    ("hint: migratory", &["--hint", "migratory"]),
    ("hint: migratory, prefetch", &["--hint", "migratory", "--prefetch"]),
];

/// The page.
///
/// # Errors
/// What a run says.
pub fn pages() -> Result<Vec<PageFile>> {
    let curves = curves()?;
    let text = format!(
        "# Programs on regions\n\n{INTRODUCTION}\n\n## Speed-ups\n\n{SPEEDUPS}\n\n{}\n\n\
         ## What regions are told\n\n{WAYS_SAY}\n\n{}\n\nThe same on {FEWER} nodes:\n\n{}\n\n\
         ## Protocols\n\n{PROTOCOLS}\n\n{}\n\n\
         ## Write misses (figure 7.18)\n\n{}\n\n{}\n\n![]({})\n",
        speedups()?,
        ways(MOST)?,
        ways(FEWER)?,
        protocols()?,
        write_misses(&curves)?,
        curve_table(&curves),
        PAGES[1],
    );
    Ok(vec![(PAGES[0].into(), text), (PAGES[1].into(), plot(&curves).svg())])
}

/// Microseconds of write misses of regions of so many bytes, by readers.
struct Curve {
    bytes: u64,
    multicast: bool,
    us: Vec<f64>,
}

fn curves() -> Result<Vec<Curve>> {
    let ways = SIZES.iter().flat_map(|&bytes| [false, true].map(|multicast| (bytes, multicast)));
    let curve = |(bytes, multicast)| {
        let us = READERS.iter().map(|&readers| write_miss_us(RANKS, bytes, readers, multicast));
        Ok(Curve { bytes, multicast, us: us.collect::<Result<_>>()? })
    };
    ways.map(curve).collect()
}

fn name_of(curve: &Curve) -> String {
    let how = if curve.multicast { "multicast" } else { "one by one" };
    format!("{} bytes, {how}", thousands(curve.bytes))
}

fn curve_table(curves: &[Curve]) -> Table {
    let mut table = table(["readers".to_owned()].into_iter().chain(curves.iter().map(name_of)));
    for (at, readers) in READERS.iter().enumerate() {
        let figures = curves.iter().map(|curve| format!("{:.1}", curve.us[at]));
        table.add_row([readers.to_string()].into_iter().chain(figures));
    }
    table
}

fn plot(curves: &[Curve]) -> Plot {
    let axes = (("readers", Scale::Linear), ("us", Scale::Linear));
    let title = format!("Write misses on {RANKS} nodes (figure 7.18)");
    let mut plot = Plot::new(PAGES[1].trim_end_matches(".svg"), &title, axes.0, axes.1);
    for curve in curves {
        let points = READERS.iter().zip(&curve.us).map(|(&x, &y)| (f64::from(x), y));
        plot.line(name_of(curve), points.collect());
    }
    plot
}

/// Compares the text of 7.3.3 about the figure with what is measured.
fn write_misses(curves: &[Curve]) -> Result<String> {
    let targets = Targets::read()?;
    let printed = |id: &str| targets.get(id).map_or_else(|| "-".into(), |row| row.value.clone());
    let bare = round_trip_us(SIZES[0] as usize)?;
    let [.., before, last] = READERS;
    let each = |multicast| {
        let curve = curves.iter().find(|curve| curve.multicast == multicast);
        let [.., fewer, most] = curve?.us[..] else { return None };
        Some((most - fewer) / f64::from(last - before))
    };
    let (one_by_one, together) =
        each(false).zip(each(true)).context("both ways are measured, with some readers")?;
    Ok(format!(
        "{WRITE_MISSES} Each of many readers adds {one_by_one:.1} us one by one, and {together:.1} us with a multicast, which leaves the \
         acknowledgements. With no readers, {} bytes take {:.1} us where bare packets of the same sizes, not answered in the upcall, take {bare:.1} us there and back: \
         what the protocol computes is charged by Weft's own {REGION_INSTRUCTIONS} instructions of a miss beside its packets (`bench/instructions.toml`). The thesis has {} and {} us: CRL adds {} us, {} %. Its \
         text has no figures for readers.",
        SIZES[0],
        curves[0].us[0],
        printed("T7.2-crl-lu-crl"),
        printed("T7.2-crl-lu-lfc"),
        printed("S7.3.3-add"),
        printed("S7.3.3-pct"),
    ))
}

/// A run: what, on how many nodes, under which protocol, and what is said about regions.
type Run = (&'static Program, u16, Preset, &'static [&'static str]);

/// Results of each of `runs`.
fn all(runs: &[Run]) -> Result<Vec<Seen>> {
    let one = |&(program, ranks, preset, how): &Run| run(program, ranks, preset, how);
    on_threads(threads(), runs, one).into_iter().collect()
}

fn speedups() -> Result<Table> {
    let targets = Targets::read()?;
    let mut table =
        table(["program", "problem", "one node", "4", "16", "64", "table 8.6", "packets"]);
    let nodes = [1, 4, FEWER, MOST].map(|ranks| (ranks, AS_IN_THE_THESIS));
    let ways: Vec<_> = nodes.into_iter().chain([(MOST, CHECKED)]).collect();
    let of =
        |program| ways.iter().map(move |&(ranks, how)| (program, ranks, Preset::default(), how));
    let seen = all(&PROGRAMS.iter().flat_map(of).collect::<Vec<Run>>())?;
    for (program, seen) in PROGRAMS.iter().zip(seen.chunks(ways.len())) {
        let paper = program.speedup.and_then(|id| targets.get(id));
        let speedup = |at: usize| format!("{:.2}", seen[0].seconds / seen[at].seconds);
        table.add_row([
            program.name.to_owned(),
            program.problem.to_owned(),
            format!("{:.2} s", seen[0].seconds),
            speedup(1),
            speedup(2),
            speedup(3),
            paper.map_or("-", |paper| paper.value.as_str()).into(),
            thousands(seen[3].packets),
        ]);
    }
    Ok(table)
}

fn ways(ranks: u16) -> Result<Table> {
    let names = varied().map(name).collect::<Vec<_>>();
    let mut table = table(["".to_owned()].into_iter().chain(names));
    let one = varied().map(|program| (program, 1, Preset::default(), AS_IN_THE_THESIS));
    let of = |(_, how)| varied().map(move |program| (program, ranks, Preset::default(), how));
    let seen = all(&one.chain(WAYS.into_iter().flat_map(of)).collect::<Vec<Run>>())?;
    let (one, seen) = seen.split_at(varied().count());
    for ((what, _), seen) in WAYS.into_iter().zip(seen.chunks(one.len())) {
        let speedups = one.iter().zip(seen).map(|(one, seen)| one.seconds / seen.seconds);
        let speedups = speedups.map(|speedup| format!("{speedup:.2}"));
        table.add_row([what.to_owned()].into_iter().chain(speedups));
    }
    Ok(table)
}

fn protocols() -> Result<Table> {
    let names = varied().map(name).collect::<Vec<_>>();
    let mut table = table(["".to_owned()].into_iter().chain(names));
    // The default first. Pupa is not among what the thesis compares.
    let others = Preset::ALL.into_iter().filter(|&preset| preset != Preset::default());
    let others = others.filter(|preset| !preset.is_optimistic());
    let presets: Vec<Preset> = [Preset::default()].into_iter().chain(others).collect();
    let of =
        |&preset: &Preset| varied().map(move |program| (program, MOST, preset, AS_IN_THE_THESIS));
    let seen = all(&presets.iter().flat_map(of).collect::<Vec<Run>>())?;
    let default = &seen[..varied().count()];
    for (preset, seen) in presets.iter().zip(seen.chunks(default.len())) {
        let ratios = seen.iter().zip(default).map(|(seen, default)| seen.seconds / default.seconds);
        let ratios = ratios.map(|ratio| format!("{ratio:.3}"));
        table.add_row([preset.to_string()].into_iter().chain(ratios));
    }
    Ok(table)
}

/// The programs that are measured in all these ways.
fn varied() -> impl Iterator<Item = &'static Program> {
    PROGRAMS.iter().filter(|program| program.varied)
}

fn name(program: &Program) -> String {
    format!("{}, {}", program.name, program.problem)
}

/// A table for a page.
pub(crate) fn table<S: Into<comfy_table::Cell>>(header: impl IntoIterator<Item = S>) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::ASCII_MARKDOWN);
    table.set_header(header.into_iter().map(Into::into).collect::<Vec<comfy_table::Cell>>());
    table
}

const INTRODUCTION: &str = "\
Measured by `make paper` (`weft-paper --regions` measures this page only) in the simulator, on the cluster of the thesis's chapter 8 \
(`myrinet-compared`, windows of 8 packets, interrupts after 70 us), with what CRL takes by table 7.2 (2.5 us a message, [as in the study](applications.md)). `fft`, `radix` and `barnes` are the applications that the thesis ran on \
CRL; `lu` and `water` are others of SPLASH's. They are in `apps/`, and each run on 64 nodes of the first table was done once more with `--verify`.";
const SPEEDUPS: &str = "\
What is computed takes the time that programs declare; for `fft`, `radix` and `barnes` that is chosen to be the execution time on one processor in table 8.6 \
(4.46 s, 3.20 s, and 123.24 s, for the four steps that are the default), for `lu` and `water` it is a guess. How long that takes on more nodes is a prediction; \
the machine has no caches, of which 64 nodes have more than one. As in the thesis's CRL, data that \
another node wrote comes by way of its home. Regions are made, filled and mapped before the time is taken, except those that `radix` writes for \
the first time. Packets are those of the whole run on 64 nodes.";
const WAYS_SAY: &str = "\
Speed-ups on 64 nodes; all but the first by three parties. Prefetches overlap what would be one round trip after the other. `fft` reads nothing that it does not write: a copy to read \
that was prefetched has to be upgraded, so that prefetching pays with the hint `migratory` only, where it brings the only copy. A hint that does not \
fit costs: `lu`'s blocks and `barnes`' bodies are read by many, and as migratory ones they travel from reader to reader.";
const PROTOCOLS: &str = "\
Run times on 64 nodes, divided by those under `nrx-imc`. The thesis (8.5.5, 8.5.9, table 8.7): `fft` shows no large differences, and retransmission is \
slightly slower; `radix` is best without retransmission, then comes `hrx`, and `irx` is slowest; who forwards multicasts hardly matters, \
because there are hardly any; `barnes` (8.5.4) is as `radix`. So it is here, except that for `fft` it is `hrx` that is slowest.";
const WRITE_MISSES: &str = "\
Microseconds of a clean write miss on 64 nodes (one misses, one is the home, so many others have copies), on the machine of the thesis's chapters 5 to 7. The home invalidates all \
copies, one by one as in the thesis or, where at least half of all others have one, by a multicast, and answers when all have acknowledged.";
