//! The page: `docs/paper/objects.md`.

use super::{operation, write_latency, write_rate};
use crate::cluster::{INSTRUCTION_NS, OBJECT_INSTRUCTIONS, Setup};
use crate::experiments::broadcast::{self, Senders};
use crate::experiments::layers::{LARGE_BYTES, RANKS, call, packets_round_trip};
use crate::experiments::panda::{Broadcast, ROUNDS, broadcast_latency, broadcast_rate};
use crate::experiments::unicast::megabytes;
use crate::regions::table;
use crate::report::PageFile;
use crate::suite::{on_threads, threads};
use crate::targets::{Target, Targets};
use anyhow::{Context, Result};
use comfy_table::Table;
use weft_app_common::thousands;

/// The files that [`pages`] gives.
pub const PAGES: [&str; 1] = ["objects.md"];

/// Arrays that operations take.
const ARRAYS: [usize; 8] = [0, 64, 256, 900, 980, 4000, 16_000, LARGE_BYTES];
/// Ranks that have a copy each.
const COPIES: [u16; 6] = [2, 4, 8, 16, 32, RANKS];

/// A figure at three layers: packets, messages and objects; LFC, Panda and Orca in the thesis.
type Layers = [f64; 3];
/// A figure of messages, and of objects.
type Pair = [f64; 2];

/// Operation whose layers are measured.
#[derive(Clone, Copy)]
enum Measured {
    /// A round trip with an array of so many bytes, in microseconds.
    RoundTrip(usize),
    /// A broadcast of it to so many ranks, in microseconds.
    Latency(u16, usize),
    /// Broadcasts in a row, in Mbyte/s.
    Rate(u16, usize),
}

/// Rows of table 7.2: what, and the thesis's figures by id.
const TABLE: [(&str, Measured, [&str; 3]); 4] = [
    (
        "copy elsewhere, empty, us",
        Measured::RoundTrip(0),
        ["T7.2-orca-lu-lfc", "T7.2-orca-lu-panda-mt", "T7.2-orca-lu-orca"],
    ),
    (
        "64 copies, empty, us",
        Measured::Latency(RANKS, 0),
        ["T7.2-orca-lb-lfc", "T7.2-orca-lb-panda-mt", "T7.2-orca-lb-orca"],
    ),
    (
        "copy elsewhere, 64 Kbyte, Mbyte/s",
        Measured::RoundTrip(LARGE_BYTES),
        ["T7.2-orca-tu-lfc", "T7.2-orca-tu-panda-mt", "T7.2-orca-tu-orca"],
    ),
    (
        "64 copies, 64 Kbyte, Mbyte/s",
        Measured::Rate(RANKS, LARGE_BYTES),
        ["T7.2-orca-tb-lfc", "T7.2-orca-tb-panda-mt", "T7.2-orca-tb-orca"],
    ),
];

/// The page.
///
/// # Errors
/// Those of [`Setup::run_messages`].
pub fn pages() -> Result<Vec<PageFile>> {
    let arrays: Vec<Measured> = by_array().collect();
    let pairs = on_threads(threads(), &arrays, |measured| measured.pair());
    let layered: Vec<Measured> = TABLE.map(|row| row.1).into_iter().chain(by_copies()).collect();
    let layers = on_threads(threads(), &layered, |measured| measured.layers());
    let pairs: Vec<Pair> = pairs.into_iter().collect::<Result<_>>()?;
    let layers: Vec<Layers> = layers.into_iter().collect::<Result<_>>()?;
    let (rows, copies) = layers.split_at(TABLE.len());
    let text = format!(
        "# Operations on objects\n\n{INTRODUCTION}\n\n{}\n\n## Table 7.2, Orca\n\n{TABLE_SAYS}\n\n{}\n\n\
         {DIFFERENCES}\n\n## By array\n\n{ARRAYS_SAY}\n\n{}\n\n\
         ## By copies\n\n{COPIES_SAY}\n\n{}\n",
        costs(),
        compared(rows)?,
        array_table(&pairs),
        copies_table(copies),
    );
    Ok(vec![(PAGES[0].into(), text)])
}

impl Measured {
    /// Figures of all three layers, in the unit of the kind.
    fn layers(self) -> Result<Layers> {
        let packets = match self {
            Measured::RoundTrip(bytes) => packets_round_trip(&Setup::lfc(2), bytes, bytes)? / 1e3,
            Measured::Latency(ranks, bytes) => broadcast::latency(&Setup::lfc(ranks), bytes)? / 1e3,
            Measured::Rate(ranks, bytes) => {
                let setup = Setup::lfc(ranks);
                in_megabytes(broadcast::blast(&setup, bytes, ROUNDS, Senders::One)?.rate)
            }
        };
        let [messages, objects] = self.pair()?;
        Ok([packets, messages, objects])
    }

    /// Figures of messages and objects.
    fn pair(self) -> Result<Pair> {
        let us = |times: Pair| times.map(|nanoseconds| nanoseconds / 1e3);
        let setup = |ranks| Setup::lfc(ranks);
        Ok(match self {
            Measured::RoundTrip(bytes) => {
                us([call(&setup(2), bytes)?, operation(&setup(2), bytes)?])
            }
            Measured::Latency(ranks, bytes) => {
                let ordered = broadcast_latency(&setup(ranks), Broadcast::Ordered, bytes)?;
                us([ordered, write_latency(&setup(ranks), bytes)?])
            }
            Measured::Rate(ranks, bytes) => {
                let ordered = broadcast_rate(&setup(ranks), Broadcast::Ordered, bytes)?;
                [ordered, write_rate(&setup(ranks), bytes)?].map(in_megabytes)
            }
        })
    }
}

fn in_megabytes(rate: f64) -> f64 {
    megabytes(rate).unwrap_or(f64::NAN)
}

/// Mbyte/s of a round trip with so many bytes that takes so long (7.1.5).
fn rate(bytes: usize, us: f64) -> f64 {
    in_megabytes(2.0 * bytes as f64 / us * 1e6)
}

/// Costs of an operation at its hosts.
fn costs() -> String {
    let charged = OBJECT_INSTRUCTIONS;
    let us = |instructions: u64| (instructions * INSTRUCTION_NS) as f64 / 1e3;
    format!(
        "{COSTS} So an operation on a copy elsewhere is charged {} instructions ({:.1} us), a write {} at its writer ({:.1} us) and {} at each copy, its own too ({:.1} us).",
        thousands(charged.call),
        us(charged.call),
        thousands(charged.write),
        us(charged.write),
        thousands(charged.copy),
        us(charged.copy),
    )
}

fn compared(seen: &[Layers]) -> Result<Table> {
    let targets = Targets::read()?;
    let mut table = table([
        "",
        "LFC",
        "Panda",
        "Orca",
        "Orca / Panda",
        "packets",
        "messages",
        "objects",
        "objects / messages",
    ]);
    for ((name, measured, ids), seen) in TABLE.into_iter().zip(seen) {
        let printed = |id: &&str| targets.get(id).and_then(Target::number);
        let thesis = ids.iter().map(printed).collect::<Option<Vec<f64>>>();
        let thesis = thesis.context("table 7.2 is among the targets")?;
        let seen = match measured {
            Measured::RoundTrip(bytes) if bytes > 0 => seen.map(|us| rate(bytes, us)),
            _ => *seen,
        };
        let mut row = vec![name.to_owned()];
        row.extend(thesis.iter().map(|figure| format!("{figure}")));
        row.push(format!("{:.2}", thesis[2] / thesis[1]));
        row.extend(seen.map(|figure| format!("{figure:.1}")));
        row.push(format!("{:.2}", seen[2] / seen[1]));
        table.add_row(row);
    }
    Ok(table)
}

/// Round trips, broadcasts and rates of all arrays, on as many ranks as table 7.2 has.
fn by_array() -> impl Iterator<Item = Measured> {
    let kinds: [fn(usize) -> Measured; 3] = [
        Measured::RoundTrip,
        |bytes| Measured::Latency(RANKS, bytes),
        |bytes| Measured::Rate(RANKS, bytes),
    ];
    ARRAYS.into_iter().flat_map(move |bytes| kinds.map(|kind| kind(bytes)))
}

fn array_table(seen: &[Pair]) -> Table {
    let mut table = table([
        "bytes",
        "call, us",
        "operation",
        "ratio",
        "Mbyte/s",
        "operation",
        "ratio",
        "ordered broadcast, us",
        "write",
        "ratio",
        "Mbyte/s",
        "write",
        "ratio",
    ]);
    for (bytes, seen) in ARRAYS.into_iter().zip(seen.chunks(3)) {
        let rates = seen[0].map(|us| rate(bytes, us));
        let pairs = [seen[0], rates, seen[1], seen[2]];
        let cells = pairs.into_iter().zip([false, true, false, true]).flat_map(pair_of(bytes));
        table.add_row([thousands(bytes as u64)].into_iter().chain(cells));
    }
    table
}

/// Cells of a pair of figures, and of their ratio; there is no rate of arrays of nothing.
fn pair_of(bytes: usize) -> impl Fn((Pair, bool)) -> [String; 3] {
    move |([below, above], is_rate)| {
        if is_rate && bytes == 0 {
            return ["-"; 3].map(String::from);
        }
        [format!("{below:.1}"), format!("{above:.1}"), format!("{:.2}", above / below)]
    }
}

/// Empty writes, and those of large arrays in a row, by ranks.
fn by_copies() -> impl Iterator<Item = Measured> {
    let kinds: [fn(u16) -> Measured; 2] =
        [|ranks| Measured::Latency(ranks, 0), |ranks| Measured::Rate(ranks, LARGE_BYTES)];
    COPIES.into_iter().flat_map(move |ranks| kinds.map(|kind| kind(ranks)))
}

fn copies_table(seen: &[Layers]) -> Table {
    let mut table = table([
        "ranks",
        "packets, us",
        "ordered broadcast",
        "write",
        "added",
        "ratio",
        "packets, Mbyte/s",
        "ordered broadcast",
        "write",
        "ratio",
    ]);
    for (ranks, seen) in COPIES.into_iter().zip(seen.chunks(2)) {
        let [times, rates] = [seen[0], seen[1]];
        let mut row = vec![ranks.to_string()];
        row.extend(times.map(|us| format!("{us:.1}")));
        row.push(format!("{:.1}", times[2] - times[1]));
        row.push(format!("{:.2}", times[2] / times[1]));
        row.extend(rates.map(|rate| format!("{rate:.1}")));
        row.push(format!("{:.2}", rates[2] / rates[1]));
        table.add_row(row);
    }
    table
}

const INTRODUCTION: &str = "\
Measured by `make paper` (`weft-paper --objects` measures this page only) in the simulator, on the cluster of the thesis's chapters 5 to 7 (`myrinet`, the default LFC, messages polled \
for), with the program of 7.1.5: an operation takes an array of bytes; on a copy elsewhere it returns it, too, and copies everywhere store it. Beside it stand what Panda's \
rows of the table are here, a call and an ordered broadcast with the same array ([6.2 to 6.5](thesis.md)), and packets. \
A round trip's throughput is two arrays in its time; a broadcast ends at its last reader. The table knows one protocol. Bands, and what misses them, are on [the thesis's page](thesis.md).";
const COSTS: &str = "\
What the object layer computes the machine knows nothing of. As for messages, it is charged what Weft itself takes, in instructions of which a Pentium Pro at 200 MHz does one a cycle, which is \
assumed: by `make count` (`bench/instructions.toml`) what an operation takes beside a call, and what a write takes beside an ordered broadcast, at its writer and at \
each copy. They are of today's processor and compiler, without Orca's one lock for all and without its statistics of accesses, which Weft keeps for objects that are placed automatically only. \
Headers, 24 bytes and the length of the array on the way out and 16 back, travel as bytes do, and each array is copied once: one that is longer than a packet as it comes (6.5.2), to where it is used; any other, and the writer's own copy, where it is used. An \
operation that is one packet is executed where that lies, and the packet given back behind it (0.7 us), which is off the way; what is called or broadcast bare is read before.";
const TABLE_SAYS: &str =
    "On the left the thesis's figures, on the right the same here; 64 ranks have copies.";
const DIFFERENCES: &str = "\
So the shape is the thesis's: objects add a fixed time to what carries them, the more visible the less that is, and nothing to speak of to large arrays. How much they add is not: Orca's run-time system takes \
15 us for an operation elsewhere (3,000 cycles, in which 7.1.5 names the lock, the headers, room for the array, the look for the object, the statistics and the reply) and 18 us for a write; Weft's takes \
half of that or less, most of it the instructions above, the rest headers. Nothing here was fitted to the 15 and 18 us. Had each of Weft's instructions taken two to three cycles, there would be no difference; no figure of the \
thesis says how many they take.\n\n\
Arrays of 64 Kbyte travel nearly as fast by call as by packets: whoever reads them copies each packet as it comes, as Panda does (6.5.2).";
const ARRAYS_SAY: &str = "\
Round trips with two ranks, and writes on 64. Of each pair the second is the object's; the ratio is of the second to the first. An array of 980 bytes is one packet in a call or a broadcast, and two in an operation, \
where the thesis loses most as well (15 %); one of 4,000 is five packets instead of four.";
const COPIES_SAY: &str = "\
Empty writes, and writes of 64 Kbyte in a row. What a write adds grows with the ranks because headers travel down each level of the tree. With two ranks there is no tree, which is the slowest part with more of them, and the \
writer's own copy of the array, which a broadcast does not make, is what a write loses.";
