//! A description of this machine, in the form that the simulator reads.

use super::INTERRUPT_DELAY;
use std::fmt::Write;
use weft_link_shm::Settings;

/// Measured costs, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// Getting a packet to fill.
    pub allocate: f64,
    /// Filling and launching a small one: the send overhead.
    pub launch: f64,
    /// Filling it, a byte.
    pub launch_per_byte: f64,
    /// A poll that finds nothing.
    pub poll: f64,
    /// Part of the receive overhead above that.
    pub process: f64,
    /// Copying received bytes, a byte.
    pub copy_per_byte: f64,
    /// Giving a received packet back.
    pub release: f64,
    /// An interrupt, above the same packet received by polling.
    pub interrupt: f64,
    /// One operation of a program.
    pub operation: f64,
    /// One way, without the overheads of both ends.
    pub latency: f64,
}

/// The description called `name`. Where ranks share memory there is no NI apart from them, and no
/// bus: those cost nothing. Bytes move when somebody writes or reads them, so the link has a
/// latency and no cost a byte. What this link has no use for costs what the like of it does.
pub fn describe(name: &str, costs: &Costs, settings: &Settings) -> String {
    let whole = |ns: f64| format!("{:.0}", ns.max(0.0));
    let part = |ns: f64| format!("{:.4}", ns.max(0.0));
    let nothing = |fields: &[&'static str]| -> Vec<(&'static str, String)> {
        fields.iter().map(|&field| (field, "0".into())).collect()
    };
    let host = vec![
        ("allocate_ns", whole(costs.allocate)),
        ("launch_ns", whole(costs.launch)),
        ("launch_ns_per_byte", part(costs.launch_per_byte)),
        // A look that cost nothing would let virtual time stand still.
        ("poll_ns", whole(costs.poll.max(1.0))),
        // Counters are in memory, not in an NI's.
        ("poll_ni_ns", whole(costs.poll)),
        ("process_ns", whole(costs.process)),
        ("copy_ns_per_byte", part(costs.copy_per_byte)),
        ("reinject_ns", whole(costs.launch)),
        ("reinject_ns_per_byte", "0.0".into()),
        ("deferred_ns", whole(costs.process)),
        ("release_ns", whole(costs.release)),
        ("interrupt_ns", whole(costs.interrupt)),
        ("operation_ns", part(costs.operation)),
    ];
    let ni = nothing(&["send_ns", "send_after_ns", "receive_ns", "receive_after_ns", "copied_ns"]);
    let bus = vec![("setup_ns", "0".into()), ("ns_per_byte", "0.0".into())];
    let link = vec![
        ("header_bytes", "0".into()),
        ("latency_ns", whole(costs.latency)),
        ("ns_per_byte", "0.0".into()),
    ];
    let buffers = usize::from(settings.ranks) * usize::from(settings.window_packets);
    let pools = vec![
        ("packet_bytes", settings.frame_bytes.to_string()),
        ("ni_send_buffers", settings.frames.to_string()),
        ("ni_receive_buffers", buffers.to_string()),
        ("host_receive_buffers", buffers.to_string()),
    ];
    let timers = vec![
        ("interrupt_delay_ns", INTERRUPT_DELAY.as_nanos().to_string()),
        ("retransmit_after_ns", "1000000".into()),
        ("acknowledge_after_ns", "200000".into()),
    ];
    let tables = [
        ("host", host),
        ("ni", ni),
        ("bus", bus),
        ("link", link),
        ("pools", pools),
        ("timers", timers),
    ];
    let mut text = format!(
        "# The machine '{name}': two ranks over shared memory, as measured by `weft bench loggp`.\n"
    );
    for (table, fields) in tables {
        let _ = writeln!(text, "\n[{table}]");
        for (field, value) in fields {
            let _ = writeln!(text, "{field} = {value}");
        }
    }
    text
}

#[cfg(test)]
mod tests;
