//! Model of the thesis's processors and systems: problems, times of computing, and what the
//! programming systems add to packets and messages.

use super::inputs::Inputs;
use super::run::Cell;
use crate::Targets;
use crate::systems::Charge;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use weft_bench::suite::{Application, Size};
use weft_simulator::{MachineModel, Preset};

/// Implementations: the five of the thesis, the default one first, and the one that it left out.
pub const PRESETS: [Preset; 6] = [
    Preset::NrxImc,
    Preset::NrxHmc,
    Preset::IrxImc,
    Preset::IrxHmc,
    Preset::HrxHmc,
    Preset::HrxImc,
];

/// Bytes that the second-level cache of a Pentium Pro holds (thesis 7.1.5).
const CACHE_BYTES: f64 = 256.0 * 1024.0;
/// Bytes over the memory bus of a copied byte: read, read at its destination, and written there.
const COPY_TRANSFERS: f64 = 3.0;

/// Problem that is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Problem {
    /// The one of table 8.6, or a part of it whose rest is more of the same.
    Thesis,
    /// The one of table 8.6, less of it where the rest is more of the same, so that it can be run
    /// on 1,024 simulated ranks.
    Beyond,
    /// A small one, for tests.
    Small,
}

/// A way to run an application that is not the one of figure 8.9.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variation {
    /// The way of figure 8.9.
    Usual,
    /// Broadcasts by messages along a tree, as in MPICH's default (figure 8.7).
    Tree,
    /// ASP without polls.
    NoPolls,
    /// SOR by pairs of neighbours, not all in one direction at once.
    Pairs,
    /// Acknowledgements wait ten times as long.
    LateAcknowledgements,
    /// Windows that follow demand, of as many buffers as the thesis's NIs have for 64 ranks.
    Adaptive,
    /// Puzzle with its positions in a distributed hash table (8.4.1).
    Table,
    /// Each message costs its receiver [`DEARER_NS`] more.
    Dearer,
    /// Operations take as long as on one processor, whatever is in a cache.
    Uncached,
}

/// Nanoseconds by which a message is dearer where that is tried.
pub const DEARER_NS: u64 = 10_000;
/// MiB of Puzzle's table on one rank, and on each of several: the same in all on 64.
const TABLE_MIB: [&str; 2] = ["64", "1"];

/// Time of computing, and problem, of an application.
#[derive(Clone, Debug)]
pub struct Model {
    /// The application.
    pub application: Application,
    /// Time on one processor in table 8.6, in seconds.
    pub one: f64,
    /// Part of the problem that is computed; the rest is more of the same.
    pub part: f64,
    problem: Problem,
    charge: Charge,
}

/// Data of a program.
struct Memory {
    /// Bytes of it on one processor.
    data_bytes: f64,
    /// Bytes that an operation moves over the memory bus if the data is in no cache.
    bytes_per_operation: f64,
}

impl Model {
    /// Model of an application.
    ///
    /// # Errors
    /// Table 8.6 has no time for it.
    pub fn new(application: Application, problem: Problem, targets: &Targets) -> Result<Self> {
        let id = format!("T8.6-{application}-T1");
        let one = targets.get(&id).and_then(crate::Target::number);
        let one = one.with_context(|| format!("no target {id} with a number"))?;
        let part = match (application, problem) {
            // 690 of 6,906 iterations.
            (Application::Leq, Problem::Thesis) => 690.0 / 6906.0,
            (_, Problem::Thesis | Problem::Beyond) => 1.0,
            // So that as much is computed for a packet as in the thesis, or near that.
            (_, Problem::Small) => 1e-3,
        };
        let charge = Charge::of(application.system(), targets)?;
        Ok(Model { application, one, part, problem, charge })
    }

    /// Words that state the problem of a run to the application.
    pub fn words(&self, cell: &Cell) -> Vec<&'static str> {
        let size = match self.problem {
            Problem::Thesis | Problem::Beyond => Size::Thesis,
            Problem::Small => Size::Small,
        };
        let own = self.application.words(size).to_vec();
        let whole: Vec<&str> = match (self.application, self.problem) {
            (Application::Asp, Problem::Thesis | Problem::Beyond) => {
                vec!["--sample", "1026", "--to", "SYD"]
            }
            (Application::Leq, Problem::Thesis) => {
                vec!["--unknowns", "1000", "--iterations", "690", "--tolerance", "0"]
            }
            (Application::Puzzle4, Problem::Thesis) => board(cell.inputs, "4"),
            (Application::Puzzle64, Problem::Thesis) => board(cell.inputs, "64"),
            (_, Problem::Beyond) => beyond(self.application).unwrap_or(own),
            _ => own,
        };
        [whole, self.manner(cell)].concat()
    }

    /// Words that state how it is solved.
    fn manner(&self, cell: &Cell) -> Vec<&'static str> {
        let by_host = !matches!(cell.preset, Preset::NrxImc | Preset::IrxImc);
        let words: &[&str] = match self.application {
            Application::Asp => match cell.variation {
                Variation::Tree => &["--batch", "1", "--on", "tree", "--polls"],
                Variation::NoPolls => &["--batch", "1"],
                _ if by_host => &["--batch", "1", "--polls"],
                _ => &["--batch", "1"],
            },
            Application::Qr if cell.variation == Variation::Tree => &["--tree"],
            Application::Sor => match cell.variation {
                Variation::Pairs => &["--whole-rows", "--order", "pairs"],
                _ => &["--whole-rows", "--order", "same-way"],
            },
            Application::Awari => &["--calls", "1"],
            Application::Puzzle4 | Application::Puzzle64 => {
                &["--grain", "0", "--delay-us", "1000000"]
            }
            _ => &[],
        };
        let table = [TABLE_MIB[usize::from(cell.ranks > 1)]];
        let more =
            if cell.variation == Variation::Table { &["--table", table[0]][..] } else { &[] };
        [words, more].concat()
    }

    /// The machine that a run is on: `operation_ns` for an operation, and the system's part of
    /// packets and messages.
    ///
    /// # Errors
    /// The machine's description is wrong.
    pub fn machine(&self, operation_ns: f64, variation: Variation) -> Result<MachineModel> {
        let mut machine = MachineModel::named("myrinet-compared")?;
        machine.host.operation_ns = operation_ns;
        self.charge.add_to(&mut machine);
        if variation == Variation::Dearer {
            machine.host.message_ns += DEARER_NS;
        }
        Ok(machine)
    }

    /// Time of an operation where a processor's part of the data is in its cache, if it is not on
    /// one processor: less by what the memory takes. An operation takes `operation_ns` on one
    /// processor.
    ///
    /// # Errors
    /// The machine's description is wrong.
    pub fn cached_ns(&self, operation_ns: f64, ranks: u16) -> Result<f64> {
        let Some(memory) = self.memory() else { return Ok(operation_ns) };
        if memory.data_bytes <= CACHE_BYTES || memory.data_bytes / f64::from(ranks) > CACHE_BYTES {
            return Ok(operation_ns);
        }
        let machine = MachineModel::named("myrinet-compared")?;
        let beyond = machine.clone().beyond_cache().context("the machine's file knows no cache")?;
        let byte_ns = beyond.host.copy_ns_per_byte - machine.host.copy_ns_per_byte;
        let missing_ns = memory.bytes_per_operation * byte_ns / COPY_TRANSFERS;
        Ok(operation_ns - missing_ns)
    }

    /// Data of programs that go through a matrix from its one end to the other, again and again.
    fn memory(&self) -> Option<Memory> {
        if self.problem == Problem::Small {
            return None;
        }
        let (data_bytes, bytes_per_operation) = match self.application {
            // A distance of 4 bytes is read for each way that is tried.
            Application::Asp => (1024.0 * 1024.0 * 4.0, 4.0),
            // A coefficient of 8 bytes is read for each product.
            Application::Leq => (1000.0 * 1000.0 * 8.0, 8.0),
            // An element of 8 bytes is read once and written once for two operations: the column
            // stays in the cache between its product and its reflection.
            Application::Qr => (1024.0 * 1024.0 * 8.0, 8.0),
            _ => return None,
        };
        Some(Memory { data_bytes, bytes_per_operation })
    }
}

/// Puzzle's board, of which iterations are done up to so many moves, with so many jobs in a
/// message.
fn board(inputs: Inputs, jobs: &'static str) -> Vec<&'static str> {
    let moves = inputs.most_moves();
    vec!["--korf", "4", "--most-moves", moves, "--jobs-per-message", jobs]
}

/// Problem that 1,024 ranks are given, if it is not that of table 8.6.
fn beyond(application: Application) -> Option<Vec<&'static str>> {
    let words: &[&str] = match application {
        Application::Awari => &["--stones", "11"],
        Application::Barnes => &["--two-party", "--steps", "1"],
        Application::Leq => &["--unknowns", "1024", "--iterations", "6", "--tolerance", "0"],
        Application::Puzzle4 => &["--korf", "4", "--most-moves", "52", "--jobs-per-message", "4"],
        Application::Puzzle64 => &["--korf", "4", "--most-moves", "52", "--jobs-per-message", "64"],
        Application::Sor => &["--iterations", "10"],
        _ => return None,
    };
    Some(words.to_vec())
}
