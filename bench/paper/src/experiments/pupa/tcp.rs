//! TCP's bandwidth beside Pupa's (Pupa 3.2, figure 4).
//!
//! A model, as TCP's delays are (see `latency`): of what a message of 4 bytes takes besides its
//! transmission, each end takes half, for each segment, which is as long as Pupa's packets; it
//! copies the bytes and sums them up. Ends and wire work at the same time, so that the slowest
//! counts. A message that does not fill a segment waits for others to fill it (TCP coalesces), and
//! costs a system call each. That each end takes half is assumed.

use super::latency::TCP_US;
use super::testbed::{CALL_US, PACKET_BYTES};
use crate::claim::Claim;
use crate::conditions::conditions;
use crate::results::{Quantity, Results, short};
use weft_simulator::MachineModel;

/// Reason why Pupa overtakes TCP later.
const CALLS: &str = "what TCP takes for a message that it coalesces is a system call here, 4 us; what else a write to a socket costs, \
    and when TCP sends a segment that is not full, the paper does not say";

/// Rows about TCP's bandwidth.
pub(super) const CLAIMS: [Claim; 11] = [
    Claim::figure("PU-32-tcp").percent(25.0),
    Claim::figure("PU-0-thr").percent(25.0),
    Claim::figure("PU-4-thr").percent(25.0),
    Claim::statement("PU-32-order"),
    Claim::statement("PU-32-2k4k"),
    Claim::statement("PU-32-tcp2k"),
    Claim::statement("PU-32-2kboth"),
    Claim::figure("PU-32-256").percent(25.0).misses(CALLS),
    Claim::statement("PU-32-256order"),
    Claim::figure("PU-32-1k").percent(25.0),
    Claim::statement("PU-32-1korder"),
];

/// Part of the peak from which on a rate is close to it.
const CLOSE: f64 = 0.95;

/// Bytes a second of a stream of messages of `bytes` bytes.
fn rate(machine: &MachineModel, bytes: usize) -> f64 {
    let copy_us = machine.host.copy_ns_per_byte * PACKET_BYTES as f64 / 1e3;
    let others = (PACKET_BYTES as f64 / bytes as f64 - 1.0).max(0.0);
    let calls_us = others * (CALL_US + conditions().pupa.write_us);
    PACKET_BYTES as f64 / (TCP_US / 2.0 + 1.5 * copy_us + calls_us) * 1e6
}

/// Compares the rates of both of Pupa's modes at these sizes, in bytes a second.
pub(super) fn compare(
    machine: &MachineModel,
    sizes: &[usize],
    (asked, individual): (&[f64], &[f64]),
    results: &mut Results,
) {
    let tcp: Vec<f64> = sizes.iter().map(|&bytes| rate(machine, bytes)).collect();
    let highest = |curve: &[f64]| curve.iter().copied().fold(0.0, f64::max);
    let (peak, pupa) = (highest(&tcp), highest(asked));
    results.figure("PU-32-tcp", Quantity::BytesPerSecond(peak));
    results.figure("PU-0-thr", Quantity::Count(pupa / peak));
    results.figure("PU-4-thr", Quantity::Count(pupa / peak));
    let shown: Vec<String> = tcp.iter().map(|rate| short(rate * 8e-6)).collect();
    let evidence = format!("TCP, Mbit/s: {}", shown.join(", "));
    let mut holds = |id, is| results.statement(id, is, evidence.clone());
    holds("PU-32-order", pupa > peak);
    let at = |bytes| sizes.iter().position(|&size| size == bytes).unwrap_or(0);
    let (two, four) = (at(2048), at(4096));
    holds("PU-32-2k4k", asked[four] - asked[two] > 2.0 * (tcp[four] - tcp[two]).abs());
    holds("PU-32-tcp2k", tcp[two] > CLOSE * peak);
    holds("PU-32-2kboth", asked[two].min(individual[two]) > tcp[two]);
    let below = sizes.iter().position(|&size| size >= 256).unwrap_or(0);
    let mut smaller = (0..below).map(|size| asked[size].max(individual[size]) < tcp[size]);
    holds("PU-32-256order", smaller.all(|less| less));
    // The first size of those that are measured at which Pupa is not below TCP.
    let overtakes = |curve: &[f64]| curve.iter().zip(&tcp).position(|(pupa, tcp)| pupa >= tcp);
    let (soon, late) = (overtakes(asked), overtakes(individual));
    holds("PU-32-1korder", late.is_some_and(|size| size > 0));
    let size = |at: Option<usize>| at.map_or(f64::NAN, |at| sizes[at] as f64);
    results.figure("PU-32-256", Quantity::Count(size(soon)));
    results.figure("PU-32-1k", Quantity::Count(size(late) / 1024.0));
}
