//! Fuzz target for packets of puts and gets (`testing/fuzz`), and a hostile sender of them: any
//! bytes, and a panic if a byte changes that must not.

use crate::puts::fuzzing::Receiver;
use crate::{Packets, Rank, Result, Rights};
use weft_wire::place::{PlaceHeader, PlaceKind};

/// Sends `bytes` as a packet of a put or a get, whatever they say.
///
/// # Errors
/// Those of [`Packets::packet`].
pub fn send_placed(packets: &Packets, to: Rank, bytes: &[u8]) -> Result<()> {
    let mut packet = packets.packet()?;
    packet.put(bytes)?;
    packet.unicast_put(to)
}

/// Peer, size in bytes and rights of each buffer of the fuzz target.
const BUFFERS: [(Rank, usize, Rights); 3] =
    [(Rank(1), 64, Rights::PUT), (Rank(2), 32, Rights::BOTH), (Rank(1), 16, Rights::GET)];

const KINDS: [PlaceKind; 9] = [
    PlaceKind::Put,
    PlaceKind::PutNotify,
    PlaceKind::Offer,
    PlaceKind::Accept,
    PlaceKind::Close,
    PlaceKind::Withdraw,
    PlaceKind::Refused,
    PlaceKind::Get,
    PlaceKind::Got,
];

/// Fuzzes with packets of any ranks for three buffers: most name one, and are nearly right. After
/// each packet the contents of the buffers are compared with what plain arithmetic says they must
/// be.
pub fn places(data: &[u8]) {
    let mut receiver = Receiver::new(&BUFFERS);
    let mut expected: Vec<(bool, Vec<u8>)> =
        BUFFERS.iter().map(|(_, bytes, _)| (false, vec![0; *bytes])).collect();
    for step in data.chunks_exact(8) {
        let &[kind, from, number, offset, size, length, word, odd] = step else { continue };
        let from = Rank(u16::from(from % 4));
        if odd == 255 {
            receiver.arrived(from, &step[..usize::from(size % 9)]);
            continue;
        }
        let kind = KINDS[usize::from(kind) % KINDS.len()];
        let connection = if odd == 254 { u32::from(number) << 14 } else { u32::from(number % 4) };
        let offset = if odd == 253 { u64::MAX - u64::from(offset) } else { u64::from(offset) };
        let size = usize::from(size % 80);
        let (length, word) = (u32::from(length), u32::from(word));
        let header = PlaceHeader { kind, connection, offset, length, word };
        let bytes = vec![word as u8; size];
        receiver.arrived(from, &[&header.emit()[..], &bytes].concat());
        apply(&mut expected, from, &header, &bytes);
        for (index, (_, bytes)) in expected.iter().enumerate() {
            assert_eq!(receiver.bytes(index), &bytes[..], "{from:?} sent {header:?}, {size} bytes");
        }
    }
}

/// Applies a packet to the model of the buffers: true if open, and the bytes.
fn apply(buffers: &mut [(bool, Vec<u8>)], from: Rank, header: &PlaceHeader, bytes: &[u8]) {
    let index = header.connection as usize;
    let Some(&(peer, size, rights)) = BUFFERS.get(index).filter(|(peer, ..)| *peer == from) else {
        return;
    };
    let (open, memory) = &mut buffers[index];
    let end = u128::from(header.offset) + bytes.len() as u128;
    let whole = header.kind != PlaceKind::PutNotify
        || (header.length as usize >= bytes.len() && u128::from(header.length) <= end);
    match header.kind {
        PlaceKind::Accept => *open = true,
        PlaceKind::Close => *open = false,
        PlaceKind::Put | PlaceKind::PutNotify
            if *open && peer == from && rights.put && end <= size as u128 && whole =>
        {
            memory[header.offset as usize..end as usize].copy_from_slice(bytes);
        }
        _ => {}
    }
}
