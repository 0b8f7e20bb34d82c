//! Packets between simulated ranks: what they cost, to the nanosecond.

use std::sync::{Arc, Mutex};
use weft::{Packets, Variable};
use weft_simulator::{Faults, MachineModel, Options, Preset, Rank, Report, Shape, Simulation};

/// Time of a packet of `bytes` from launch to the end of its upcall's acceptance.
fn one_way(machine: &MachineModel, bytes: u16) -> u64 {
    let MachineModel { host, ni, bus, link, .. } = machine;
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

/// Times at which upcalls began, in virtual nanoseconds.
type Times = Arc<Mutex<Vec<u64>>>;

fn now(packets: &Packets) -> u64 {
    packets.now().as_nanos() as u64
}

/// Notes the time of every upcall.
fn arrivals(packets: &Packets) -> Times {
    let times = Times::default();
    let (seen, clock) = (Arc::clone(&times), packets.clone());
    packets.on_packet(move |_| seen.lock().unwrap().push(now(&clock)));
    times
}

fn send(packets: &Packets, bytes: u16, to: Option<Rank>) -> weft_endpoint::Result<u64> {
    let mut packet = packets.packet()?;
    packet.put(&vec![7; bytes.into()])?;
    let start = now(packets);
    match to {
        Some(rank) => packet.unicast(rank)?,
        None => packet.broadcast()?,
    }
    Ok(start)
}

/// Waits for `count` packets and returns when they came.
fn receive(packets: &Packets, times: &Times, count: usize) -> weft_endpoint::Result<Vec<u64>> {
    packets.poll_until(|| times.lock().unwrap().len() >= count)?;
    Ok(times.lock().unwrap().clone())
}

fn run(
    options: Options,
    program: impl Fn(&Packets, &Times) -> weft_endpoint::Result<Vec<u64>> + 'static,
) -> Report<Vec<u64>> {
    Simulation::new(options).unwrap().run_packets(move |packets| {
        let times = arrivals(&packets);
        program(&packets, &times)
    })
}

#[test]
fn a_packet_takes_as_long_as_the_parts_on_its_way() {
    for bytes in [0, 16, 1024] {
        let machine = MachineModel::myrinet().unwrap();
        let report =
            run(Options::on(machine.clone(), 2), move |packets, times| match packets.rank().0 {
                0 => Ok(vec![send(packets, bytes, Some(Rank(1)))?]),
                _ => receive(packets, times, 1),
            });
        let times = report.into_values().unwrap();
        assert_eq!(times[1][0] - times[0][0], one_way(&machine, bytes), "{bytes} bytes");
    }
}

#[test]
fn packets_follow_each_other_as_fast_as_the_busiest_part_allows() {
    let mut machine = MachineModel::myrinet().unwrap();
    // Where its engines do not hold up its processor.
    machine.ni.one_port = false;
    let report = run(Options::on(machine.clone(), 2), |packets, times| {
        if packets.rank() == 1 {
            return receive(packets, times, 40);
        }
        (0..40).map(|_| send(packets, 16, Some(Rank(1)))).collect()
    });
    let arrived = &report.into_values().unwrap()[1];
    let gap = machine.ni.receive_ns + machine.ni.receive_after_ns + machine.ni.copied_ns;
    // The NI takes copies and packets in turn, two and two.
    let took = arrived[39] - arrived[19];
    assert!(took.abs_diff(20 * gap) < gap / 2, "{arrived:?}");
}

#[test]
fn a_copy_beyond_the_cache_waits_for_what_the_bus_brings_meanwhile() {
    const PACKETS: u64 = 10;
    let took = |machine: &MachineModel, count: u64| {
        let options = Options { interrupt_delay: None, ..Options::on(machine.clone(), 2) };
        let report = run(options, move |packets, times| {
            if packets.rank() == 0 {
                return (0..count).map(|_| send(packets, 1024, Some(Rank(1)))).collect();
            }
            let start = now(packets);
            packets.copied(64 << 10);
            let took = now(packets) - start;
            receive(packets, times, count as usize)?;
            Ok(vec![took])
        });
        report.into_values().unwrap()[1][0]
    };
    let cached = MachineModel::myrinet().unwrap();
    let beyond = cached.beyond_cache().unwrap();
    assert_eq!(took(&cached, PACKETS), took(&cached, 0));
    let bus = beyond.bus;
    let brought = PACKETS * (bus.setup_ns + (1024.0 * bus.ns_per_byte).round() as u64);
    let waited = took(&beyond, PACKETS) - took(&beyond, 0);
    assert_eq!(waited, (brought as f64 * 0.747) as u64);
}

#[test]
fn a_full_window_stops_the_sender() {
    let mut machine = MachineModel::myrinet().unwrap();
    machine.pools.host_receive_buffers = 2;
    let mut options = Options::on(machine, 2);
    options.settings.window_packets = 4;
    let report = run(options, |packets, times| {
        if packets.rank() == 1 {
            let guard = packets.interrupts_off();
            packets.work(500_000);
            drop(guard);
            return receive(packets, times, 10);
        }
        for _ in 0..10 {
            send(packets, 16, Some(Rank(1)))?;
        }
        packets.work(50_000);
        let before = packets.statistics().protocol;
        packets.flush()?;
        let after = packets.statistics().protocol;
        Ok(vec![before.packets_sent, before.blocked_sends, after.packets_sent])
    });
    // Two in the host's buffers, whose credits came back, and a window of four in the NI's.
    assert_eq!(report.into_values().unwrap()[0], [6, 6, 10]);
}

/// Rank 0 broadcasts along a chain in whose middle rank 1 computes. Returns the machine, when rank
/// 0 sent, and when ranks 1 and 2 made the upcall.
fn chain(preset: Preset) -> (MachineModel, [u64; 3]) {
    let machine = MachineModel::myrinet().unwrap();
    let mut options = Options::on(machine.clone(), 3);
    options.settings.preset = preset;
    options.settings.shape = Shape::Chain;
    let report = run(options, |packets, times| match packets.rank().0 {
        0 => Ok(vec![send(packets, 64, None)?]),
        1 => {
            packets.work(100_000);
            receive(packets, times, 1)
        }
        _ => receive(packets, times, 1),
    });
    let interrupts: u64 = report.statistics.iter().map(|statistics| statistics.interrupts).sum();
    assert_eq!(interrupts, 1, "{preset}: only rank 1 did not poll");
    let times = report.into_values().unwrap();
    (machine, [times[0][0], times[1][0], times[2][0]])
}

#[test]
fn a_rank_that_computes_is_interrupted_when_the_watchdog_has_waited() {
    let machine = MachineModel::myrinet().unwrap();
    let report = run(Options::on(machine.clone(), 2), |packets, times| {
        if packets.rank() == 0 {
            return Ok(vec![send(packets, 16, Some(Rank(1)))?]);
        }
        packets.work(100_000);
        Ok([times.lock().unwrap()[0], now(packets)].into())
    });
    let times = report.into_values().unwrap();
    let MachineModel { ni, host, bus, timers, .. } = &machine;
    // The NI notices the copy once it has done with the packet; the watchdog counts from then.
    let copy = bus.setup_ns + (16.0 * bus.ns_per_byte).round() as u64;
    assert!(ni.receive_after_ns > copy);
    let noticed = ni.receive_after_ns - copy + ni.copied_ns;
    let upcall = times[0][0]
        + one_way(&machine, 16)
        + (noticed + timers.interrupt_delay_ns + host.interrupt_ns);
    assert_eq!(times[1][0], upcall);
    assert_eq!((timers.interrupt_delay_ns, host.interrupt_ns), (70_000, 31_000));
    // The computation took what it had to, and the interrupt besides: it found a packet, released
    // it, and looked once more.
    let computed = (100_000.0 * host.operation_ns) as u64;
    let handled = host.interrupt_ns + 2 * host.poll_ns + host.process_ns + host.release_ns;
    assert_eq!(times[1][1], computed + handled);
}

#[test]
fn an_ni_forwards_while_its_host_computes_and_a_host_does_not() {
    let (machine, [sent, _, leaf]) = chain(Preset::NrxImc);
    let MachineModel { ni, link, .. } = &machine;
    let wire = (link.ns_per_byte * f64::from(link.header_bytes + 64)).round() as u64;
    let hop = ni.receive_ns + ni.receive_after_ns + ni.send_ns + wire + link.latency_ns;
    assert_eq!(leaf - sent, one_way(&machine, 64) + hop);
    let (machine, [_, interrupted, leaf]) = chain(Preset::NrxHmc);
    assert!(leaf > interrupted, "the host forwards once it has been interrupted");
    assert!(leaf - interrupted < one_way(&machine, 64), "and then at once");
}

#[test]
fn a_second_child_waits_for_the_first_ones_bytes_and_not_for_what_they_leave_to_do() {
    let between = |queues_transmissions| {
        let mut machine = MachineModel::myrinet().unwrap();
        machine.ni.queues_transmissions = queues_transmissions;
        let mut options = Options::on(machine.clone(), 3);
        options.settings.shape = Shape::Flat;
        let report = run(options, |packets, times| match packets.rank().0 {
            0 => Ok(vec![send(packets, 64, None)?]),
            _ => receive(packets, times, 1),
        });
        let times = report.into_values().unwrap();
        (machine, times[2][0] - times[1][0])
    };
    let (MachineModel { ni, link, .. }, apart) = between(true);
    let wire = (link.ns_per_byte * f64::from(link.header_bytes + 64)).round() as u64;
    assert_eq!(apart, ni.send_ns + wire);
    assert_eq!(between(false).1, apart + ni.send_after_ns);
}

#[test]
fn a_fetch_and_add_at_home_travels_where_the_machine_says_so() {
    const OPERATIONS: u64 = 8;
    let took = |loops_back, faults: Faults| {
        let mut machine = MachineModel::myrinet().unwrap();
        machine.ni.loops_back = loops_back;
        let options = Options::with_preset(machine.clone(), 2, Preset::IrxImc);
        let report = run(Options { faults, ..options }, |packets, _| {
            let variable = Variable { home: packets.rank(), index: 1 };
            let start = now(packets);
            for before in 0..OPERATIONS {
                assert_eq!(packets.fetch_and_add(variable, 1)?, before);
            }
            Ok(vec![now(packets) - start])
        });
        (machine, report.into_values().unwrap()[0][0])
    };
    let (machine, travels) = took(true, Faults::default());
    let (_, stays) = took(false, Faults::default());
    assert!(travels > stays + 2 * OPERATIONS * machine.link.latency_ns, "{travels} {stays}");
    // Nothing is lost on the way to the first switch and back.
    assert_eq!(took(true, Faults { loss: 0.9, ..Faults::default() }).1, travels);
}

#[test]
fn the_last_events_read_as_a_story() {
    let mut options = Options::new(2).unwrap();
    options.keep_events = 10;
    let report = run(options, |packets, times| match packets.rank().0 {
        0 => Ok(vec![send(packets, 8, Some(Rank(1)))?]),
        _ => receive(packets, times, 1),
    });
    let story = report.explain(Rank(1));
    let lines: Vec<_> = story.lines().filter_map(|line| line.split_once("  ")).collect();
    let told: Vec<_> = lines.iter().map(|&(_, what)| what).collect();
    assert_eq!(
        told,
        [
            "rank 1 receives a unicast packet from rank 0",
            "rank 1 has in host memory a unicast packet from rank 0",
            "rank 1 ends",
        ]
    );
}
