use super::*;
use proptest::prelude::*;
use weft_wire::{Header, Tag, TreeId, envelope};

const SOURCE: Rank = Rank(3);

fn packet(size: usize, fill: u8) -> Vec<u8> {
    let header = Header::new(Tag::Ucast, SOURCE, TreeId::unicast(SOURCE), size as u16);
    let mut bytes = vec![0; envelope::packet_bytes(size)];
    envelope::put(&mut bytes, &header, &vec![fill; size]);
    bytes
}

/// The contents of frames that carry `packet`.
fn cut(number: u32, packet: &[u8], room: usize) -> Vec<Vec<u8>> {
    let bytes = piece_bytes(packet.len(), room);
    let pieces = packet.chunks(bytes).zip((0..).step_by(bytes));
    let head = |offset| Piece { number, offset, total: packet.len() as u16 }.emit();
    pieces.map(|(piece, offset)| [&head(offset), piece].concat()).collect()
}

proptest! {
    #[test]
    fn a_packet_comes_out_as_it_went_in(size in 1usize..9000, room in 100usize..2000) {
        let packet = packet(size, 7);
        let pieces = cut(1, &packet, room);
        prop_assert!(pieces.iter().all(|piece| piece.len() <= room));
        let [first, .., last] = &pieces[..] else { return Ok(()) };
        prop_assert!(last.len() <= first.len());
        let mut assembly = Assembly::default();
        let mut whole = pieces.iter().map(|piece| assembly.add(SOURCE, piece));
        let end = whole.by_ref().nth(pieces.len() - 1).unwrap();
        prop_assert_eq!(end.as_deref(), Some(&packet[..]));
    }

    /// Of pieces that are lost, doubled and shuffled comes what was sent, or nothing.
    #[test]
    fn only_what_was_sent_comes_out(sizes in prop::collection::vec(600usize..3000, 1..5), seed in any::<u64>()) {
        let mut random = fastrand::Rng::with_seed(seed);
        let packets: Vec<_> = sizes.iter().zip(1..).map(|(size, fill)| packet(*size, fill)).collect();
        let mut pieces: Vec<_> =
            packets.iter().zip(0..).flat_map(|(packet, number)| cut(number, packet, 560)).collect();
        for _ in 0..random.usize(0..8) {
            let (one, other) = (random.usize(0..pieces.len()), random.usize(0..pieces.len()));
            match random.u8(0..3) {
                0 => pieces.swap(one, other),
                1 => pieces[one] = pieces[other].clone(),
                _ => { pieces.remove(one); }
            }
            if pieces.is_empty() {
                return Ok(());
            }
        }
        let mut assembly = Assembly::default();
        for piece in &pieces {
            if let Some(whole) = assembly.add(SOURCE, piece) {
                prop_assert!(packets.iter().any(|packet| packet[..] == whole[..]));
            }
        }
    }

    #[test]
    fn no_bytes_make_it_panic_or_grow(all in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..64), 0..64)) {
        let mut assembly = Assembly::default();
        for contents in all {
            assembly.add(SOURCE, &contents);
            prop_assert!(assembly.bytes.len() <= usize::from(u16::MAX));
        }
    }
}

#[test]
fn a_packet_of_another_rank_is_none() {
    let packet = packet(1000, 1);
    let mut assembly = Assembly::default();
    for piece in cut(1, &packet, 600) {
        assert_eq!(assembly.add(Rank(2), &piece), None);
    }
    assert!(cut(1, &packet, 600).iter().any(|piece| assembly.add(SOURCE, piece).is_some()));
}
