use super::cost;
use crate::machine::MachineModel;
use weft_link::clock::Work;

#[test]
fn a_system_is_charged_for_a_message_at_the_packet_that_ends_it() {
    let mut machine = MachineModel::named("myrinet").unwrap();
    let full = machine.pools.packet_bytes;
    let of = |machine: &MachineModel| {
        [1, full - 1, full, 0].map(|bytes| cost(machine, Work::Process { bytes }))
    };
    let packet = of(&machine)[0];
    assert_eq!(of(&machine), [packet; 4]);
    machine.host.message_ns = 5_000;
    assert_eq!(of(&machine), [packet + 5e3, packet + 5e3, packet, packet]);
}
