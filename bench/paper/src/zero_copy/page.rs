//! The page: `docs/paper/zero-copy.md`, and its figure.

use super::{Case, Way, miss_us, run};
use crate::plot::{Plot, Scale};
use crate::regions::{PROGRAMS, table};
use crate::report::PageFile;
use crate::results::percent;
use crate::suite::{on_threads, threads};
use anyhow::{Context, Result};
use comfy_table::Table;
use weft_app_common::thousands;

/// The files that [`pages`] gives.
pub const PAGES: [&str; 2] = ["zero-copy.md", "zero-copy-gain.svg"];

/// Nodes.
const RANKS: [u16; 2] = [16, 64];
/// Bytes of regions that are missed.
const SIZES: [u64; 7] = [1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10];

/// Programs whose regions can be larger or smaller, on as many nodes as [`RANKS`] begins with: what
/// is said to them, and the bytes of a region that this makes.
type Sized = (&'static str, [(u64, &'static [&'static str]); 3]);
const SIZED: [Sized; 3] = [
    (
        "fft",
        [
            (2 << 10, &["--points", "65536"]),
            (8 << 10, &["--points", "262144"]),
            (32 << 10, &["--points", "1048576"]),
        ],
    ),
    (
        "lu",
        [
            (2 << 10, &["--block", "16"]),
            (8 << 10, &["--block", "32"]),
            (32 << 10, &["--block", "64"]),
        ],
    ),
    (
        "radix",
        [
            (1 << 10, &["--region-bytes", "1024"]),
            (4 << 10, &["--region-bytes", "4096"]),
            (16 << 10, &["--region-bytes", "16384"]),
        ],
    ),
];

/// Seconds, or microseconds, by [`Way`].
#[derive(Clone, Copy)]
struct Times {
    messages: f64,
    puts: f64,
    free: f64,
}

impl Times {
    fn measure(of: impl Fn(Way) -> Result<f64>) -> Result<Self> {
        let [messages, puts, free] = Way::ALL.map(of);
        Ok(Times { messages: messages?, puts: puts?, free: free? })
    }

    /// Part of the time that puts take away, in percent.
    fn gained(&self) -> f64 {
        (1.0 - self.puts / self.messages) * 100.0
    }

    /// Part of the time that copies without a cost would take away.
    fn would_gain(&self) -> f64 {
        (1.0 - self.free / self.messages) * 100.0
    }
}

/// Measures everything in the simulator, and returns the page and its figure. What this machine's
/// links say follows it ([`crate::today::zero_copy`]).
///
/// # Errors
/// What a rank or the simulator says.
pub fn pages() -> Result<Vec<PageFile>> {
    let compared = PROGRAMS.iter().filter(|program| program.compared);
    let cases: Vec<Case> = compared
        .flat_map(|program| RANKS.map(|ranks| Case { program, ranks, words: &[] }))
        .collect();
    let varied = varied()?;
    let all: Vec<Case> =
        cases.iter().chain(varied.iter().flat_map(|(_, row)| row)).copied().collect();
    let one = |case: &Case| Times::measure(|way| Ok(run(case, way)?.seconds));
    let times = on_threads(threads(), &all, one).into_iter().collect::<Result<Vec<Times>>>()?;
    let misses = SIZES.iter().map(|&bytes| Times::measure(|way| miss_us(bytes, way)));
    let misses = misses.collect::<Result<Vec<Times>>>()?;
    let (programs, sized) = times.split_at(cases.len());
    let plot = plot(&misses, sized);
    let page = format!(
        "# Data by message and by put: the question of 9.6\n\n{QUESTION}\n\n{}\n\n{HOW}\n\n## The five applications\n\n\
         {APPLICATIONS}\n\n{}\n\n## Larger regions\n\n{LARGER}\n\n{}\n\n![](zero-copy-gain.svg)\n",
        verdict(&cases, programs),
        applications(&cases, programs)?,
        larger(&misses, sized),
    );
    Ok(vec![(PAGES[0].into(), page), (PAGES[1].into(), plot.svg())])
}

/// The programs whose regions are varied, with the cases of each.
fn varied() -> Result<Vec<(&'static str, [Case; 3])>> {
    let of = |&(name, sizes): &Sized| {
        let program = PROGRAMS.iter().find(|program| program.compared && program.name == name);
        let program = program.with_context(|| format!("{name} is not compared"))?;
        Ok((name, sizes.map(|(_, words)| Case { program, ranks: RANKS[0], words })))
    };
    SIZED.iter().map(of).collect()
}

fn verdict(cases: &[Case], times: &[Times]) -> String {
    let most = |of: fn(&Times) -> f64| {
        let all = cases.iter().zip(times).map(|(case, times)| (of(times), case));
        all.max_by(|a, b| a.0.total_cmp(&b.0)).map_or_else(String::new, |(gained, case)| {
            format!("{} (`{}` on {} nodes)", percent(gained), case.program.name, case.ranks)
        })
    };
    format!(
        "**Verdict.** {VERDICT} In the simulator the most that a program gains by puts is {}, and the most that it could gain, if \
         receivers copied in no time, {}.",
        most(Times::gained),
        most(Times::would_gain)
    )
}

fn applications(cases: &[Case], times: &[Times]) -> Result<Table> {
    let mut table = table([
        "program",
        "problem",
        "bytes of a region",
        "nodes",
        "by message",
        "by put",
        "gained",
        "if copies cost nothing",
        "would be gained",
    ]);
    for (case, times) in cases.iter().zip(times) {
        table.add_row([
            case.program.name.to_owned(),
            case.program.problem.to_owned(),
            case.region_bytes()?,
            case.ranks.to_string(),
            format!("{:.4} s", times.messages),
            format!("{:.4} s", times.puts),
            percent(times.gained()),
            format!("{:.4} s", times.free),
            percent(times.would_gain()),
        ]);
    }
    Ok(table)
}

fn larger(misses: &[Times], sized: &[Times]) -> Table {
    let names = SIZED.map(|(name, _)| name);
    let header = ["bytes of a region", "a read miss, by message", "by put", "gained"];
    let mut table = table(header.into_iter().chain(names));
    for (&bytes, miss) in SIZES.iter().zip(misses) {
        let of = |(index, (_, sizes)): (usize, &Sized)| {
            let at = sizes.iter().position(|&(size, _)| size == bytes)?;
            Some(percent(sized[index * sizes.len() + at].gained()))
        };
        let programs = SIZED.iter().enumerate().map(|one| of(one).unwrap_or_default());
        let miss = [
            thousands(bytes),
            format!("{:.1} us", miss.messages),
            format!("{:.1} us", miss.puts),
            percent(miss.gained()),
        ];
        table.add_row(miss.into_iter().chain(programs));
    }
    table
}

fn plot(misses: &[Times], sized: &[Times]) -> Plot {
    let axes = (("bytes of a region", Scale::Logarithmic), ("%", Scale::Linear));
    let title = "What puts take from the time by message";
    let name = PAGES[1].trim_end_matches(".svg");
    let mut plot = Plot::new(name, title, axes.0, axes.1);
    let point = |(&bytes, times): (&u64, &Times)| (bytes as f64, times.gained());
    plot.line("a read miss", SIZES.iter().zip(misses).map(point).collect());
    for ((name, sizes), times) in SIZED.iter().zip(sized.chunks(3)) {
        let points = sizes.iter().map(|(bytes, _)| bytes).zip(times).map(point).collect();
        plot.line(format!("{name}, {} nodes", RANKS[0]), points);
    }
    plot
}

const QUESTION: &str = "\
\"While zero-copy communication support for PPSs warrants further investigation, we are not aware of any study that shows significant \
*application-level* performance advantages of zero-copy communication mechanisms over message-based mechanisms. There *are* studies that \
show that parallel applications are relatively insensitive to throughput.\" (thesis 9.6)";
const VERDICT: &str = "\
Hardly anything is gained. A receiver that copies nothing saves a small part of a miss, and programs wait for misses a part of their time; those \
of the five that share small regions have nothing to put. The thesis's suspicion is right for its machine.";
const HOW: &str = "\
Measured by `make paper` (`weft-paper --zero-copy` measures this page only) in the simulator, on the cluster of the thesis's chapter 8 \
(`myrinet-compared`, windows of 8 packets, interrupts after 70 us, with what CRL takes [as in the study](applications.md)), by three parties. *By message*, the bytes of a region are copied out of \
the packets in which they come, as in the thesis's CRL: 5.61 ns a byte of the receiver's processor. *By put*, whoever misses names the place, the NI puts \
them there, and nothing is copied but the last bytes, less than a packet of them, which come with the message that says so; there are as many packets. \
How that works is in [internals](../internals/regions.md), what the simulator charges in [internals](../internals/simulator.md). Both ways \
fill packets by programmed I/O, as LFC does: what is asked for is the receiver's side. *If copies cost nothing* is by message on a machine that \
copies in no time, so that no way to avoid a receiver's copies gains more, but for chance: other times make programs wait for others.";
const APPLICATIONS: &str = "\
Times of the stretch that is measured, without making and mapping regions. Regions below 1 KiB are not put, because a message has room for them: all of \
`barnes` and `water`.";
const LARGER: &str = "\
A clean read miss on two nodes, and what the programs whose regions can be of another size gain on 16 nodes. The copy of a packet passes \
while the next one comes, so that what is waited for at the end of a miss is one copy of a packet at most, however large the region: the part that is gained is \
greatest where a region has little more than one packet, and falls from there. A byte takes 11.4 ns to be filled in and 7.5 ns to come over the bus; \
a host that copies at 5.6 ns holds nothing up.";

#[cfg(test)]
mod tests;
