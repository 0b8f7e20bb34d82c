//! Fuzz targets for the readers of this crate (`testing/fuzz`). Each takes any bytes and panics if
//! a reader does what it must not.

use crate::faults::{is_taken_for, on_the_wire};
use crate::frames::{Bytes, Carried, Frame};
use crate::machine::{LONGEST_NS, MachineError, MachineModel, Scheme, per_byte};
use std::collections::BTreeSet;
use weft_wire::{Tag, atomic, network};

/// A machine description: an error that says where, or costs that a clock can hold.
pub fn machine(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let machine = match MachineModel::parse(text) {
        Ok(machine) => machine,
        Err(MachineError::Syntax(error)) => return assert!(!error.is_empty()),
        Err(MachineError::Value { field, .. }) => return assert!(field.contains('.')),
        Err(error) => panic!("a description is not looked up by name: {error}"),
    };
    for scheme in [Scheme::Nrx, Scheme::Irx, Scheme::Hrx] {
        let MachineModel { host, bus, link, pools, timers, .. } = machine.for_scheme(scheme);
        assert!(host.poll_ns > 0 && timers.retransmit_after_ns > 0, "time may stand still");
        let bytes = usize::from(pools.packet_bytes) + usize::from(link.header_bytes);
        for each in [host.copy_ns_per_byte, bus.ns_per_byte, link.ns_per_byte, host.operation_ns] {
            assert!(per_byte(each, bytes) as f64 <= LONGEST_NS * bytes as f64);
        }
    }
    assert!([1, 2, 65_534].iter().all(|&ranks| machine.window_packets(ranks) > 0));
    let longer = format!("{text}\n# the end");
    assert_eq!(MachineModel::parse(&longer), Ok(machine), "a comment makes a difference");
}

/// The most flipped bits that the checksum always notices, in packets of up to 11,000 bytes.
const ALWAYS_NOTICED: usize = 3;

/// A packet and bits to flip in it: as it is it arrives, with a few bits flipped it never does.
pub fn bit_flips(data: &[u8]) {
    let Some((flips, data)) = data.split_at_checked(2 * ALWAYS_NOTICED + 1) else { return };
    let Ok((mut header, payload)) = network::parse(data) else { return };
    let carried = match header.tag {
        Tag::Ucast | Tag::Mcast => Carried::Bytes(Bytes::copy_of(payload)),
        Tag::FaRequest | Tag::FaReply => {
            Carried::Words([flips[1].into(), flips[2].into(), flips[3].into()])
        }
        _ => Carried::Empty,
    };
    if !matches!(carried, Carried::Bytes(_)) {
        let is_long = header.tag == Tag::FaRequest && flips[4] % 2 == 1;
        header.size = if is_long { atomic::WORDS_BYTES as u16 } else { 0 };
    }
    let frame = Frame { header, carried };
    let mut packet = on_the_wire(&frame);
    assert!(is_taken_for(&frame, &packet), "a packet was changed by nobody");
    let (count, places) = flips.split_at(1);
    let places =
        places.chunks(2).map(|place| usize::from(u16::from_le_bytes([place[0], place[1]])));
    let bits: BTreeSet<usize> = places
        .take(usize::from(count[0]) % ALWAYS_NOTICED + 1)
        .map(|place| place % (packet.len() * 8))
        .collect();
    for &bit in &bits {
        packet[bit / 8] ^= 1 << (bit % 8);
    }
    let small = packet.len() <= 11_000;
    assert!(!small || !is_taken_for(&frame, &packet), "flips of {bits:?} were not noticed");
}
