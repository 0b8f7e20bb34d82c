//! Packets between simulated ranks: what they cost, to the nanosecond.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use weft_simulator::{Machine, Options, Rank, Simulation};

/// What a packet of `bytes` costs from launch to the end of its upcall's acceptance.
fn one_way(machine: &Machine, bytes: u16) -> u64 {
    let Machine { host, ni, bus, link, .. } = machine;
    let per_byte = |each: f64, count: u16| (each * f64::from(count)).round() as u64;
    host.launch_ns
        + per_byte(host.launch_ns_per_byte, bytes)
        + ni.send_ns
        + per_byte(link.ns_per_byte, link.header_bytes + bytes)
        + link.latency_ns
        + ni.receive_ns
        + bus.setup_ns
        + per_byte(bus.ns_per_byte, bytes)
        + host.poll_ns
        + host.process_ns
}

#[test]
fn a_packet_takes_as_long_as_the_parts_on_its_way() {
    for bytes in [0, 16, 1024] {
        let machine = Machine::myrinet().unwrap();
        let simulation = Simulation::new(Options::on(machine.clone(), 2)).unwrap();
        let report = simulation.run_packets(move |packets| {
            let arrived = Arc::new(AtomicU64::new(0));
            let (seen, clock) = (Arc::clone(&arrived), packets.clone());
            packets.on_packet(move |_| {
                seen.store(clock.now().as_nanos() as u64, Ordering::Relaxed);
            });
            if packets.rank() == 0 {
                let mut packet = packets.packet()?;
                packet.put(&vec![7; bytes.into()])?;
                let start = packets.now().as_nanos() as u64;
                packet.unicast(Rank(1))?;
                return Ok(start);
            }
            packets.poll_until(|| arrived.load(Ordering::Relaxed) > 0)?;
            weft::Result::Ok(arrived.load(Ordering::Relaxed))
        });
        let times = report.into_values().unwrap();
        assert_eq!(times[1] - times[0], one_way(&machine, bytes), "{bytes} bytes");
    }
}
