//! Bytes of messages, calls, orders and teams, which ranks of other builds read:
//! `messaging/golden.txt` has them.

use crate::format::{PacketHeader, PacketKind, SIZE, port_number};
use crate::rpc::format::{CallHeader, CallKind, CallNumber, emit_port};
use crate::selective::emit_key;
use std::path::Path;
use weft_golden::{BETWEEN_RANKS, Entries, add, hold};

/// Kinds of packets, all that are read.
fn packet_kinds() -> Vec<PacketKind> {
    let kind = |byte| {
        // A request announces bytes, and a whole message has them.
        [0, 1].into_iter().find_map(|length| {
            let mut packet = [0; SIZE];
            (packet[8], packet[SIZE - 1]) = (length, byte);
            PacketHeader::parse(&packet).map(|(header, _)| header.kind)
        })
    };
    let mut kinds: Vec<PacketKind> = (0..=u8::MAX).filter_map(kind).collect();
    // Each is read without and with the bit for aligned bytes.
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// A header whose every field can be told from all others.
fn header(kind: PacketKind, aligned: bool) -> PacketHeader {
    PacketHeader {
        port: 0x0102_0304,
        message: 0x1112_1314,
        bytes: 0x2122_2324_2526,
        header_bytes: 0x31,
        kind,
        aligned,
    }
}

fn add_messages(entries: &mut Entries) {
    for kind in packet_kinds() {
        add(entries, format!("packet {kind:?}"), header(kind, false).emit());
    }
    add(entries, "packet First, aligned", header(PacketKind::First, true).emit());
    for (name, group) in [("unicasts", None), ("multicasts", Some(0x2122))] {
        let window = PacketHeader::window(0x0102_0304, group, 0x1112_1314);
        add(entries, format!("packet Window of {name}"), window.emit());
    }
    add(entries, "key", emit_key(0x0102_0304_0506_0708));
    // Ranks compute it of a name, and agree.
    add(entries, "number of the port 'weft.rpc'", port_number("weft.rpc").to_le_bytes());
}

/// Kinds of messages of calls, all that are read.
fn call_kinds() -> impl Iterator<Item = CallKind> {
    let kind = |byte| CallHeader::parse([0, 0, 0, 0, 0, 0, 0, byte]).map(|header| header.kind);
    (0..=u8::MAX).filter_map(kind)
}

fn add_calls(entries: &mut Entries) {
    let number = CallNumber::new(0x01_0203, 0x1112_1314).unwrap();
    for kind in call_kinds() {
        add(entries, format!("call {kind:?}"), CallHeader { kind, number }.emit());
    }
    add(entries, "call Cancel, body", emit_port(0x0102_0304));
}

#[test]
fn all_is_written_as_other_builds_read_it() {
    let mut entries = Entries::new();
    add_messages(&mut entries);
    add_calls(&mut entries);
    crate::order::golden::add_to(&mut entries);
    crate::collective::golden::add_to(&mut entries);
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden.txt");
    hold(&list, &entries, BETWEEN_RANKS);
}
