//! Times that the thesis's systems take for packets and messages beside what the simulator charges:
//! from table 7.2, for whoever runs programs on its cluster.
//!
//! A simulated host is charged for packets and copies, and knows nothing of what CRL, Orca, Panda
//! and MPI do besides. The table says what that is by two figures of each: what the system adds to
//! the latency of a small message, and what it takes from the throughput of large ones, which have
//! full packets. So a packet costs what is lost of the throughput, and a message what is left of
//! the latency.

use crate::Targets;
use crate::results::MBYTE;
use anyhow::{Context, Result};
use weft_bench::suite::System;
use weft_simulator::MachineModel;

/// User bytes of a full packet (thesis 3.1.2).
const PACKET_BYTES: f64 = 1024.0;

/// Rows of table 7.2 about a system: of LFC and of the system on it, and the messages that the
/// latency is of.
struct Rows {
    latency: [&'static str; 2],
    throughput: [&'static str; 2],
    messages: f64,
}

/// Nanoseconds that a system takes at whoever receives.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Charge {
    /// For each packet.
    pub packet_ns: u64,
    /// For each message, besides.
    pub message_ns: u64,
}

impl Charge {
    /// Charge of a system.
    ///
    /// # Errors
    /// Table 7.2 has no such row.
    pub fn of(system: System, targets: &Targets) -> Result<Self> {
        let rows = rows(system);
        let number = |id: &str| {
            let number = targets.get(id).and_then(crate::Target::number);
            number.with_context(|| format!("no target {id} with a number"))
        };
        let [below, above] = [number(rows.latency[0])?, number(rows.latency[1])?];
        let each_ns = 1e3 * (above - below) / rows.messages;
        let packet_ns = |id| Ok::<_, anyhow::Error>(PACKET_BYTES / (number(id)? * MBYTE) * 1e9);
        let packet_ns = packet_ns(rows.throughput[1])? - packet_ns(rows.throughput[0])?;
        Ok(Charge {
            packet_ns: packet_ns.round() as u64,
            message_ns: (each_ns - packet_ns).max(0.0).round() as u64,
        })
    }

    /// Adds it to what a machine's hosts take.
    pub fn add_to(self, machine: &mut MachineModel) {
        machine.host.process_ns += self.packet_ns;
        machine.host.message_ns += self.message_ns;
    }
}

/// Rows of a system: a write miss and an operation elsewhere are two messages, one there and one
/// back.
fn rows(system: System) -> Rows {
    match system {
        System::Regions => Rows {
            latency: ["T7.2-crl-lu-lfc", "T7.2-crl-lu-crl"],
            throughput: ["T7.2-crl-tu-lfc", "T7.2-crl-tu-crl"],
            messages: 2.0,
        },
        System::Objects => Rows {
            latency: ["T7.2-orca-lu-lfc", "T7.2-orca-lu-orca"],
            throughput: ["T7.2-orca-tu-lfc", "T7.2-orca-tu-orca"],
            messages: 2.0,
        },
        System::Messages => Rows {
            latency: ["T7.2-mpi-lu-lfc", "T7.2-mpi-lu-mpi"],
            throughput: ["T7.2-mpi-tu-lfc", "T7.2-mpi-tu-mpi"],
            messages: 1.0,
        },
        // Multigame is on Panda (8.4.2).
        System::Search => Rows {
            latency: ["T7.2-mpi-lu-lfc", "T7.2-mpi-lu-panda-st"],
            throughput: ["T7.2-mpi-tu-lfc", "T7.2-mpi-tu-panda-st"],
            messages: 1.0,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::Charge;
    use crate::Targets;
    use weft_bench::suite::System;
    use weft_simulator::MachineModel;

    #[test]
    fn a_small_message_is_charged_what_the_system_adds_to_its_latency() {
        let targets = Targets::read().unwrap();
        let systems =
            [System::Regions, System::Objects, System::Messages, System::Search].map(|system| {
                let charge = Charge::of(system, &targets).unwrap();
                charge.packet_ns + charge.message_ns
            });
        // (28 - 23) / 2, (46 - 24) / 2, 21 - 12 and 15 - 12 us.
        assert_eq!(systems, [2_500, 11_000, 9_000, 3_000]);
    }

    #[test]
    fn a_full_packet_is_charged_what_the_throughput_loses() {
        let charge = Charge::of(System::Messages, &Targets::read().unwrap()).unwrap();
        // 1,024 bytes at 60 and at 63 Mbyte/s.
        assert_eq!(charge, Charge { packet_ns: 775, message_ns: 8_225 });
        let mut machine = MachineModel::named("myrinet").unwrap();
        let before = machine.host;
        charge.add_to(&mut machine);
        assert_eq!(machine.host.process_ns, before.process_ns + 775);
        assert_eq!(machine.host.message_ns, 8_225);
    }
}
