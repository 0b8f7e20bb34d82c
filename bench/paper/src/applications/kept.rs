//! Runs of the study, as a file beside the page keeps them, so that some can be done again and what
//! was seen can be judged again.

use super::inputs::Inputs;
use super::model::Variation;
use super::observe::Rates;
use super::run::{Cell, Seen};
use super::study::Run;
use crate::lines;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use weft_app_common::Traffic;

/// The file.
pub const FILE: &str = "applications.csv";

/// A run, in a line.
#[derive(Serialize, Deserialize)]
struct Line {
    application: String,
    preset: String,
    variation: Variation,
    inputs: Inputs,
    operation_ns: f64,
    seconds: f64,
    part: f64,
    unicasts: u64,
    multicasts: u64,
    acknowledgements: u64,
    synchronizations: u64,
    unicast_bytes: u64,
    multicast_bytes: u64,
    acknowledgement_bytes: u64,
    synchronization_bytes: u64,
    messages: u64,
    packets_sent: u64,
    packets_received: u64,
    bytes_sent: u64,
    bytes_received: u64,
    blocked_sends: u64,
    interrupts: u64,
    busiest_packets_sent: u64,
    busiest_packets_received: u64,
    busiest_bytes_sent: u64,
    busiest_bytes_received: u64,
    busiest_blocked_sends: u64,
    busiest_interrupts: u64,
    late_acknowledgements: u64,
    retransmissions: u64,
    no_buffer: u64,
    most_full: u64,
    trace: u64,
}

/// Runs that a folder has, on so many ranks; none, if it has no file.
///
/// # Errors
/// The file is wrong.
pub fn read(folder: &Path, ranks: u16) -> Result<BTreeMap<Cell, Run>> {
    let path = folder.join(FILE);
    let lines: Vec<Line> = lines::read(&path)?;
    let runs = lines.iter().map(|line| run(line, ranks)).collect::<Result<_>>();
    runs.with_context(|| format!("cannot read {}", path.display()))
}

/// Writes them there.
///
/// # Errors
/// The file cannot be written.
pub fn write(folder: &Path, runs: &BTreeMap<Cell, Run>) -> Result<()> {
    lines::write(&folder.join(FILE), runs.iter().map(|(cell, run)| line(cell, run)))
}

fn line(cell: &Cell, (operation_ns, seen): &Run) -> Line {
    let Seen { rates, traffic, busiest, .. } = seen;
    let [unicasts, multicasts, acknowledgements, synchronizations] = rates.packets;
    let bytes = rates.bytes;
    Line {
        application: cell.application.to_string(),
        preset: cell.preset.to_string(),
        variation: cell.variation,
        inputs: cell.inputs,
        operation_ns: *operation_ns,
        seconds: seen.seconds,
        part: seen.part,
        unicasts,
        multicasts,
        acknowledgements,
        synchronizations,
        unicast_bytes: bytes[0],
        multicast_bytes: bytes[1],
        acknowledgement_bytes: bytes[2],
        synchronization_bytes: bytes[3],
        messages: rates.messages,
        packets_sent: traffic.packets_sent,
        packets_received: traffic.packets_received,
        bytes_sent: traffic.bytes_sent,
        bytes_received: traffic.bytes_received,
        blocked_sends: traffic.blocked_sends,
        interrupts: traffic.interrupts,
        busiest_packets_sent: busiest.packets_sent,
        busiest_packets_received: busiest.packets_received,
        busiest_bytes_sent: busiest.bytes_sent,
        busiest_bytes_received: busiest.bytes_received,
        busiest_blocked_sends: busiest.blocked_sends,
        busiest_interrupts: busiest.interrupts,
        late_acknowledgements: seen.late_acknowledgements,
        retransmissions: seen.retransmissions,
        no_buffer: seen.no_buffer,
        most_full: seen.most_full,
        trace: seen.trace,
    }
}

fn run(line: &Line, ranks: u16) -> Result<(Cell, Run)> {
    let (application, preset) = (line.application.parse()?, line.preset.parse()?);
    let cell = Cell { variation: line.variation, ..Cell::new(application, ranks, preset) };
    let seen = Seen {
        seconds: line.seconds,
        part: line.part,
        rates: rates(line),
        traffic: Traffic {
            packets_sent: line.packets_sent,
            packets_received: line.packets_received,
            bytes_sent: line.bytes_sent,
            bytes_received: line.bytes_received,
            blocked_sends: line.blocked_sends,
            interrupts: line.interrupts,
        },
        busiest: Traffic {
            packets_sent: line.busiest_packets_sent,
            packets_received: line.busiest_packets_received,
            bytes_sent: line.busiest_bytes_sent,
            bytes_received: line.busiest_bytes_received,
            blocked_sends: line.busiest_blocked_sends,
            interrupts: line.busiest_interrupts,
        },
        late_acknowledgements: line.late_acknowledgements,
        retransmissions: line.retransmissions,
        no_buffer: line.no_buffer,
        most_full: line.most_full,
        trace: line.trace,
    };
    Ok((Cell { inputs: line.inputs, ..cell }, (line.operation_ns, seen)))
}

fn rates(line: &Line) -> Rates {
    Rates {
        packets: [line.unicasts, line.multicasts, line.acknowledgements, line.synchronizations],
        bytes: [
            line.unicast_bytes,
            line.multicast_bytes,
            line.acknowledgement_bytes,
            line.synchronization_bytes,
        ],
        messages: line.messages,
    }
}
