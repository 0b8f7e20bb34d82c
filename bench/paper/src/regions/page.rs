//! The page about programs on regions.

use super::{PROGRAMS, Program, run};
use crate::Targets;
use crate::report::PageFile;
use anyhow::Result;
use comfy_table::{Table, presets};
use weft_kit::thousands;
use weft_simulator::Preset;

/// How CRL, as the thesis had it, does it.
const AS_IN_THE_THESIS: &[&str] = &["--two-party"];
/// The same, and it says whether the result is right.
const CHECKED: &[&str] = &["--two-party", "--verify"];
/// Ranks of the largest run.
const MOST: u16 = 64;

/// What else can be said about regions.
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
    let text = format!(
        "# Programs on regions\n\n{INTRODUCTION}\n\n## Speed-ups\n\n{SPEEDUPS}\n\n{}\n\n\
         ## What regions are told\n\n{WAYS_SAY}\n\n{}\n\n\
         ## Protocols\n\n{PROTOCOLS}\n\n{}\n",
        speedups()?,
        ways()?,
        protocols()?
    );
    Ok(vec![("regions.md".into(), text)])
}

fn speedups() -> Result<Table> {
    let targets = Targets::read()?;
    let mut table =
        table(["program", "problem", "one node", "4", "16", "64", "table 8.6", "packets"]);
    for program in &PROGRAMS {
        let of = |ranks| run(program, ranks, Preset::default(), AS_IN_THE_THESIS);
        let (one, most) = (of(1)?, of(MOST)?);
        run(program, MOST, Preset::default(), CHECKED)?;
        let paper = program.speedup.and_then(|id| targets.get(id));
        let speedup = |seconds: f64| format!("{:.2}", one.seconds / seconds);
        table.add_row([
            program.name.to_owned(),
            program.problem.to_owned(),
            format!("{:.2} s", one.seconds),
            speedup(of(4)?.seconds),
            speedup(of(16)?.seconds),
            speedup(most.seconds),
            paper.map_or("-", |paper| paper.value.as_str()).into(),
            thousands(most.packets),
        ]);
    }
    Ok(table)
}

fn ways() -> Result<Table> {
    let names = varied().map(name).collect::<Vec<_>>();
    let mut table = table(["".to_owned()].into_iter().chain(names));
    let one = varied().map(|program| run(program, 1, Preset::default(), AS_IN_THE_THESIS));
    let one = one.collect::<Result<Vec<_>>>()?;
    for (what, how) in WAYS {
        let mut row = vec![what.to_owned()];
        for (program, one) in varied().zip(&one) {
            let most = run(program, MOST, Preset::default(), how)?;
            row.push(format!("{:.2}", one.seconds / most.seconds));
        }
        table.add_row(row);
    }
    Ok(table)
}

fn protocols() -> Result<Table> {
    let names = varied().map(name).collect::<Vec<_>>();
    let mut table = table(["".to_owned()].into_iter().chain(names));
    let of = |preset| {
        let times = varied().map(|program| run(program, MOST, preset, AS_IN_THE_THESIS));
        times.map(|seen| Ok(seen?.seconds)).collect::<Result<Vec<f64>>>()
    };
    let default = of(Preset::default())?;
    // Pupa is not among what the thesis compares.
    for preset in Preset::ALL.into_iter().filter(|preset| !preset.is_optimistic()) {
        let times = of(preset)?;
        let ratios =
            times.iter().zip(&default).map(|(time, default)| format!("{:.3}", time / default));
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

fn table<S: Into<comfy_table::Cell>>(header: impl IntoIterator<Item = S>) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::ASCII_MARKDOWN);
    table.set_header(header.into_iter().map(Into::into).collect::<Vec<comfy_table::Cell>>());
    table
}

const INTRODUCTION: &str = "\
Measured by `make paper` (`weft-paper --regions` measures this page only) in the simulator, on the cluster of the thesis's chapter 8 \
(`myrinet-compared`, windows of 8 packets, interrupts after 70 us). `fft`, `radix` and `barnes` are the applications that the thesis ran on \
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
