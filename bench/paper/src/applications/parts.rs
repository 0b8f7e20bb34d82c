//! Parts of a run's time, from what was counted and what the machine takes for it.

use super::model::Model;
use super::run::{Cell, Seen};
use anyhow::Result;
use weft_app_common::Traffic;
use weft_simulator::{MachineModel, Options};

/// Parts of the time of all ranks, in percent, beside one another.
pub struct Parts {
    /// Declared operations.
    pub computing: f64,
    /// Packets sent and received, and interrupts, by hosts.
    pub host: f64,
    /// Packets by NIs.
    pub ni: f64,
    /// Copies to hosts and from them.
    pub bus: f64,
    /// Data packets by the host that had most of them, of its own time.
    pub busiest_host: f64,
    /// Data packets by its NI.
    pub busiest_ni: f64,
}

impl Parts {
    /// Parts of a run of which one rank takes so many seconds at so many nanoseconds an operation.
    ///
    /// # Errors
    /// The machine's description is wrong.
    pub fn of(
        cell: &Cell,
        model: &Model,
        seen: &Seen,
        one: f64,
        operation_ns: f64,
    ) -> Result<Self> {
        let cached = model.cached_ns(operation_ns, cell.ranks)? / operation_ns;
        let ranks = f64::from(cell.ranks);
        let machine = model.machine(operation_ns, cell.variation)?;
        let machine = Options::with_preset(machine, cell.ranks, cell.preset).machine;
        let time = seen.seconds * seen.part * 1e9;
        let percent = |ns: f64| 100.0 * ns / time;
        let [unicast, multicast, acknowledgements, others] =
            seen.rates.packets.map(|count| count as f64);
        let ending = seen.rates.messages as f64 / (unicast + multicast).max(1.0);
        let control = (acknowledgements + others) * control_ns(&machine);
        Ok(Parts {
            computing: 100.0 * one * cached / ranks / seen.seconds,
            host: percent(host_ns(&machine, &seen.traffic, ending) / ranks),
            ni: percent((ni_ns(&machine, &seen.traffic) + control) / ranks),
            bus: percent(bus_ns(&machine, &seen.traffic) / ranks),
            busiest_host: percent(host_ns(&machine, &seen.busiest, ending)),
            busiest_ni: percent(ni_ns(&machine, &seen.busiest)),
        })
    }
}

/// Packets of which such a part ends a message.
fn host_ns(machine: &MachineModel, traffic: &Traffic, ending: f64) -> f64 {
    let host = &machine.host;
    let received_ns = host.poll_ns + host.process_ns + host.release_ns + host.deferred_ns;
    let received_ns = received_ns as f64 + ending * host.message_ns as f64;
    traffic.packets_sent as f64 * (host.allocate_ns + host.launch_ns) as f64
        + traffic.bytes_sent as f64 * host.launch_ns_per_byte
        + traffic.packets_received as f64 * received_ns
        + traffic.bytes_received as f64 * host.copy_ns_per_byte
        + traffic.interrupts as f64 * host.interrupt_ns as f64
}

fn ni_ns(machine: &MachineModel, traffic: &Traffic) -> f64 {
    let ni = &machine.ni;
    traffic.packets_sent as f64 * (ni.send_ns + ni.send_after_ns) as f64
        + traffic.packets_received as f64
            * (ni.receive_ns + ni.receive_after_ns + ni.copied_ns) as f64
}

/// A packet without data, at both of its ends.
fn control_ns(machine: &MachineModel) -> f64 {
    (machine.ni.send_ns + machine.ni.receive_ns) as f64
}

fn bus_ns(machine: &MachineModel, traffic: &Traffic) -> f64 {
    traffic.packets_received as f64 * machine.bus.setup_ns as f64
        + (traffic.bytes_received + traffic.bytes_sent) as f64 * machine.bus.ns_per_byte
}
