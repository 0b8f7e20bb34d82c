use super::*;
use weft_link_sim::MachineModel;

const COSTS: Costs = Costs {
    allocate: 12.4,
    launch: 31.6,
    launch_per_byte: 0.031_25,
    poll: 0.4,
    process: 55.0,
    copy_per_byte: 0.05,
    release: 8.0,
    interrupt: 25_000.0,
    operation: 0.25,
    latency: -3.0,
};

#[test]
fn the_simulator_reads_what_was_measured() {
    let text = describe("here", &COSTS, &Settings::new(2));
    assert!(text.starts_with("# The machine 'here': "));
    let MachineModel { host, ni, bus, link, pools, .. } = MachineModel::parse(&text).unwrap();
    assert_eq!((host.allocate_ns, host.launch_ns, host.process_ns), (12, 32, 55));
    assert_eq!((host.launch_ns_per_byte, host.copy_ns_per_byte), (0.0312, 0.05));
    assert_eq!(host.poll_ns, 1, "time must pass");
    assert_eq!(link.latency_ns, 0, "nothing arrives before it is sent");
    assert_eq!((ni.send_ns, ni.receive_ns, bus.setup_ns), (0, 0, 0), "there is no NI");
    assert_eq!((pools.ni_receive_buffers, pools.packet_bytes), (256, 49152));
}
