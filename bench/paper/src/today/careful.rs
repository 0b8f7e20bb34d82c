//! Careful-protocols' tables 1 and 4 today: events under both protocols, in memory and on Ethernet.

use super::bench::{bench, find, is_more, verdict};
use super::table::markdown;
use crate::results::{listed, short};
use crate::targets::Targets;
use anyhow::Result;
use std::fmt::Write;

/// Bytes of table 1's messages: 1, 1000 and 2000 words.
const SIZES: [usize; 3] = [4, 4000, 8000];
/// Points on a side of table 4's grids.
const GRIDS: [usize; 4] = [8, 16, 32, 64];
/// Nodes.
const NODES: [usize; 3] = [2, 4, 8];
/// Bytes of a message that a packet of Ethernet holds, in one fragment.
const ONE_FRAME: usize = 1000;

/// A cell of a table: nanoseconds under both protocols, and of the floor.
#[derive(Clone, Copy, Debug)]
struct Cell {
    link: &'static str,
    nodes: usize,
    /// Bytes, or points on a side.
    size: usize,
    trad: f64,
    care: f64,
    floor: f64,
}

impl Cell {
    /// By how many percent careful is more than traditional.
    fn delta(&self) -> f64 {
        (self.care / self.trad - 1.0) * 100.0
    }
}

/// Measured figures.
#[derive(Default)]
struct Measured {
    ring: Vec<Cell>,
    grid: Vec<Cell>,
    /// Nanoseconds of an iteration on one rank, by grid.
    alone: Vec<f64>,
    reasons: Vec<String>,
}

/// The section.
pub fn section() -> String {
    match measure().and_then(|measured| text(&measured, &Targets::read()?)) {
        Ok(text) => text,
        Err(error) => format!("Not measured: {error:#}.\n"),
    }
}

fn measure() -> Result<Measured> {
    let mut measured = Measured::default();
    for size in GRIDS {
        let lines = bench(&format!("events -n 1 --rounds 51 --grid {size}"))?;
        measured.alone.push(find(&lines, "events-grid-careful")?.p50);
    }
    for nodes in NODES {
        let sizes = SIZES.into_iter().chain([SIZES[0]]);
        for (index, (size, grid)) in sizes.zip(GRIDS).enumerate() {
            let (ring, rows) = run("shm", nodes, size, grid)?;
            // The fourth grid goes with a message that there is already.
            measured.ring.extend((index < SIZES.len()).then_some(ring));
            measured.grid.push(rows);
        }
    }
    for link in ["udp", "xdp"] {
        for (size, grid) in [(SIZES[0], GRIDS[0]), (ONE_FRAME, GRIDS[3])] {
            match run(link, 2, size, grid) {
                Ok((ring, rows)) => {
                    measured.ring.push(ring);
                    measured.grid.push(rows);
                }
                Err(error) => {
                    measured.reasons.push(format!("`{link}` is not measured: {error:#}."));
                    break;
                }
            }
        }
    }
    Ok(measured)
}

/// A message of `size` bytes around the ring, and an iteration on a grid of `grid` points on a
/// side.
fn run(link: &'static str, nodes: usize, size: usize, grid: usize) -> Result<(Cell, Cell)> {
    let rounds = if nodes > 2 { 31 } else { 101 };
    let words =
        format!("events --link {link} -n {nodes} --rounds {rounds} --size {size} --grid {grid}");
    let lines = bench(&words)?;
    let cell = |name: &str, size| {
        let (care, trad) = (
            find(&lines, &format!("{name}-careful"))?,
            find(&lines, &format!("{name}-traditional"))?,
        );
        let floor = care.floor("packet")?;
        Ok::<_, anyhow::Error>(Cell { link, nodes, size, trad: trad.p50, care: care.p50, floor })
    };
    Ok((cell("events-ring", size)?, cell("events-grid", grid)?))
}

fn text(measured: &Measured, targets: &Targets) -> Result<String> {
    let mut text = String::from(
        "`weft bench events`: the same two protocols over Weft's packets, which are reliable under both, in turns in the same run; \
         medians. `shm` is ranks of one host with shared memory, of which this machine runs two at a time; `udp` and `xdp` are \
         two network namespaces that a veth pair joins. The floor is the same packet without events. The paper's percentages are \
         those without processing.\n\nA message around the ring (table 1), ns a hop:\n\n",
    );
    let mut table = markdown(&[
        "link",
        "nodes",
        "bytes",
        "floor",
        "traditional",
        "careful",
        "careful is",
        "paper",
    ]);
    for cell in &measured.ring {
        let id = format!("CP-T1-P{}-{}w-delta", cell.nodes, cell.size / 4);
        table.add_row(row(cell, None, paper(targets, cell, &id)));
    }
    let _ =
        writeln!(text, "{}\n\nAn iteration of Jacobi's method (table 4), ns:\n", table.trim_fmt());
    let mut table = markdown(&[
        "link",
        "nodes",
        "grid",
        "one node",
        "floor",
        "traditional",
        "careful",
        "careful is",
        "paper",
    ]);
    for cell in &measured.grid {
        let alone = GRIDS.iter().position(|&grid| grid == cell.size).map(|at| measured.alone[at]);
        let id = format!("CP-T4-P{}-{1}x{1}-delta", cell.nodes, cell.size);
        table.add_row(row(cell, alone, paper(targets, cell, &id)));
    }
    let _ = writeln!(text, "{}\n", table.trim_fmt());
    for reason in &measured.reasons {
        let _ = writeln!(text, "{reason}\n");
    }
    conclude(&mut text, measured);
    Ok(text)
}

/// Figure of the paper for this cell; it had one network only.
fn paper(targets: &Targets, cell: &Cell, id: &str) -> String {
    let target = targets.get(id).filter(|_| cell.link == "shm");
    target.map_or("".into(), |target| format!("{} %", target.value))
}

fn row(cell: &Cell, alone: Option<f64>, paper: String) -> Vec<String> {
    let mut row = vec![cell.link.into(), cell.nodes.to_string(), cell.size.to_string()];
    row.extend(alone.map(short));
    row.extend([cell.floor, cell.trad, cell.care].map(short));
    row.extend([format!("{:+.1} %", cell.delta()), paper]);
    row
}

fn conclude(text: &mut String, measured: &Measured) {
    let Measured { ring, grid, alone, .. } = measured;
    let mut said = |what: &str, holds: bool, evidence: String| {
        let _ = writeln!(text, "- {what}: {} here ({evidence}).", verdict(holds));
    };
    let slower = |cells: &[Cell]| cells.iter().filter(|cell| is_more(cell.care, cell.trad)).count();
    let of = |cells: &[Cell]| {
        format!("careful is slower by more than 5 % in {} of {} cells", slower(cells), cells.len())
    };
    said(
        "`CP-T1-order`, a message takes careful less than traditional",
        slower(ring) == 0,
        of(ring),
    );
    let words: Vec<&Cell> = ring.iter().filter(|cell| cell.size == SIZES[0]).collect();
    let gains = words.iter().map(|cell| (format!("{} {}", cell.link, cell.nodes), -cell.delta()));
    let gains: Vec<(String, f64)> = gains.collect();
    let named: Vec<(&str, f64)> = gains.iter().map(|(name, gain)| (&**name, *gain)).collect();
    said(
        "at one word careful saves a fifth to a quarter (18.9 to 24.5 %; here at least 15 is meant)",
        gains.iter().all(|(_, gain)| *gain >= 15.0),
        format!("percent: {}", listed(&named)),
    );
    let at = |nodes, size| {
        ring.iter().find(|cell| (cell.link, cell.nodes, cell.size) == ("shm", nodes, size))
    };
    if let (Some(small), Some(large)) = (at(4, SIZES[0]), at(4, SIZES[2])) {
        let saved = |cell: &Cell| cell.trad - cell.care;
        said(
            "what careful saves grows with the message where traditional has to copy what it keeps (four nodes)",
            saved(large) > saved(small),
            listed(&[("ns saved at 4 bytes", saved(small)), ("at 8000", saved(large))]),
        );
    }
    said("`CP-T4-order`, careful is never slower in Jacobi's method", slower(grid) == 0, of(grid));
    let two: Vec<&Cell> = GRIDS.iter().filter_map(|&size| cell_of(grid, 2, size)).collect();
    let [small, sixteen, _, large] = two[..] else { return };
    said(
        "`CP-T4-order-gain`, what it is better by shrinks as the grid grows",
        small.delta() < large.delta(),
        listed(&[("percent saved at 8x8", -small.delta()), ("at 64x64", -large.delta())]),
    );
    let times =
        |cell: &Cell, alone| listed(&[("ns alone", alone), ("two nodes, careful", cell.care)]);
    let far = "`CP-6-jac-8single`, a grid of 8x8 is faster on one node";
    said(far, alone[0] < small.care, times(small, alone[0]));
    let near = "`CP-6-jac-16two`, one of 16x16 is faster on two under careful";
    said(near, sixteen.care < alone[1], times(sixteen, alone[1]));
    said(
        "`CP-T4-order-64`, one of 64x64 is faster on two nodes than on one (this machine has two processors)",
        large.care < alone[3],
        times(large, alone[3]),
    );
    let _ = writeln!(
        text,
        "- `CP-6-fl-livelock`, traditional livelocks under a flood: not asked here, because a run that never ends prints nothing; table 3 \
         above is the same code in the simulator, where it does."
    );
}

fn cell_of(grid: &[Cell], nodes: usize, size: usize) -> Option<&Cell> {
    grid.iter().find(|cell| (cell.link, cell.nodes, cell.size) == ("shm", nodes, size))
}
