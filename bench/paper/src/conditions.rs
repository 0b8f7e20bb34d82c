//! Conditions of a run: what its machine and its programs cost, and what nobody says. Experiments
//! have them as their papers do; a counter-experiment turns one, and shows whether a miss comes of
//! it.

use crate::cluster::{
    MESSAGE_INSTRUCTIONS, OBJECT_INSTRUCTIONS, ObjectInstructions, REGION_INSTRUCTIONS,
};
use anyhow::{Context, Result};
use std::cell::Cell;
use weft_simulator::MachineModel;

/// Conditions that can be turned.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Conditions {
    /// Entries of the machine's file that are otherwise, as lines of TOML.
    pub machine: &'static str,
    /// Instructions of a message beside those of its packets: at its sender, at its receiver.
    pub message: [u64; 2],
    /// Instructions of operations on objects beside those of their messages.
    pub objects: ObjectInstructions,
    /// Instructions of a miss of a region beside those of its packets.
    pub region: u64,
    /// Conditions of careful-protocols' cluster.
    pub events: EventConditions,
    /// Conditions of Pupa's PCs.
    pub pupa: PupaConditions,
}

/// Conditions of careful-protocols' cluster.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventConditions {
    /// Cycles that a word costs a program that reads it on the board: a loop that is not unrolled,
    /// and an access over the bus, which waits for the answer. What that takes, the sender-based
    /// protocols measured on the same board (their figure 2, HP-UX): 33 cycles of 66 MHz.
    pub read_cycles: u64,
    /// Cycles of an iteration, whatever the grid.
    pub iteration_cycles: u64,
    /// True if a node waits for one neighbour's row before it gives the next.
    pub shifts_in_turn: bool,
    /// Receive buffers of a board.
    pub receive_buffers: usize,
    /// Cycles of the traditional protocol's send and receive path: the totals of appendix A.
    pub traditional_cycles: [u64; 2],
    /// Events for which node 1 of the chain goes on before it takes the small message of one.
    /// `None`: as many as messages pass links on the way around.
    pub ahead: Option<u32>,
}

/// Conditions of Pupa's PCs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PupaConditions {
    /// Computation between two messages of a step, in microseconds.
    pub pause_us: f64,
    /// Time of a write to a TCP socket besides its system call, in microseconds.
    pub write_us: f64,
    /// Free part of the send buffers below which a sender asks, in percent.
    pub low_water_percent: u8,
}

/// Cycles of a loop that copies words, without their accesses.
pub(crate) const LOOP_CYCLES: u64 = 4;

impl Conditions {
    /// Conditions of the papers.
    pub const STATED: Conditions = Conditions {
        machine: "",
        message: MESSAGE_INSTRUCTIONS,
        objects: OBJECT_INSTRUCTIONS,
        region: REGION_INSTRUCTIONS,
        events: EventConditions {
            read_cycles: LOOP_CYCLES + 25,
            iteration_cycles: 6400,
            shifts_in_turn: false,
            receive_buffers: 128,
            traditional_cycles: [318, 1100],
            ahead: None,
        },
        pupa: PupaConditions { pause_us: 0.0, write_us: 0.0, low_water_percent: 25 },
    };

    /// Runs `experiment` under these conditions: all that it runs on this thread.
    pub fn hold<T>(self, experiment: impl FnOnce() -> T) -> T {
        struct Restored(Conditions);
        impl Drop for Restored {
            fn drop(&mut self) {
                CONDITIONS.set(self.0);
            }
        }
        let _restored = Restored(CONDITIONS.replace(self));
        experiment()
    }
}

thread_local! {
    /// An experiment runs on one thread, its simulated ranks too, and several beside each other.
    static CONDITIONS: Cell<Conditions> = const { Cell::new(Conditions::STATED) };
}

/// Conditions that hold.
pub fn conditions() -> Conditions {
    CONDITIONS.get()
}

/// The machine of a name, under the conditions that hold.
///
/// # Errors
/// There is none, or it has no such entries.
pub fn machine(name: &str) -> Result<MachineModel> {
    let changes = conditions().machine;
    if changes.is_empty() {
        return Ok(MachineModel::named(name)?);
    }
    let mut text: toml::Table = MachineModel::description(name)?.parse()?;
    replace(&mut text, changes.parse()?);
    text.try_into().with_context(|| format!("{name} with {changes}"))
}

/// Replaces what `changes` names.
fn replace(table: &mut toml::Table, changes: toml::Table) {
    for (key, change) in changes {
        match (table.get_mut(&key), change) {
            (Some(toml::Value::Table(old)), toml::Value::Table(new)) => replace(old, new),
            (_, change) => {
                table.insert(key, change);
            }
        }
    }
}

#[cfg(test)]
mod tests;
