//! Frames between ranks that share a secret, and what becomes of all others.

use proptest::prelude::*;
use weft_datagram::seal::{FrameKind, FrameRefused, Keys, Protection, Seals, Secret};
use weft_wire::envelope::{self, Envelope};
use weft_wire::path::{self, Piece};
use weft_wire::{GroupId, Header, Rank, Tag, TreeId, network};

const ALL: [Protection; 4] =
    [Protection::Headers, Protection::Datagrams, Protection::Tagged, Protection::Encrypted];
/// Those under which nobody changes anything.
const WHOLE: [Protection; 3] = [Protection::Datagrams, Protection::Tagged, Protection::Encrypted];
const JOB: u32 = 77;

fn seals_of(job: u32, secret: u8, own: u16, protection: Protection) -> Seals {
    Seals::new(Keys::new(Secret::new([secret; 16]), job, Rank(own), protection), 4)
}

fn seals(own: u16, protection: Protection) -> Seals {
    seals_of(JOB, 9, own, protection)
}

fn packet(source: u16, body: &[u8]) -> (Header, Vec<u8>) {
    let tree = TreeId::unicast(Rank(source));
    (Header::new(Tag::Ucast, Rank(source), tree, body.len() as u16), body.to_vec())
}

/// A frame with these packets, not sealed yet.
fn layout(packets: &[(Header, Vec<u8>)], protection: Protection) -> Vec<u8> {
    let bytes: usize = packets.iter().map(|(_, body)| envelope::packet_bytes(body.len())).sum();
    let mut frame = vec![0; envelope::SIZE + bytes + protection.trailer_bytes()];
    let mut at = envelope::SIZE;
    for (header, body) in packets {
        at += envelope::put(&mut frame[at..], header, body);
    }
    frame
}

fn sealed(seals: &mut Seals, to: Rank, packets: &[(Header, Vec<u8>)]) -> Vec<u8> {
    let mut frame = layout(packets, seals.protection());
    seals.sealer(to).seal(FrameKind::PACKETS, &mut frame);
    frame
}

/// Headers and bytes that `seals` finds in the frame.
fn open(seals: &mut Seals, frame: &[u8]) -> Result<Vec<(Header, Vec<u8>)>, FrameRefused> {
    let mut frame = frame.to_vec();
    let opened = seals.open(&mut frame)?;
    Ok(opened.packets(&frame).map(|(header, body)| (header, frame[body].to_vec())).collect())
}

#[test]
fn what_was_sealed_is_found_again() {
    for protection in ALL {
        let (mut alice, mut bob) = (seals(0, protection), seals(1, protection));
        let words = Header::new(Tag::FaRequest, Rank(0), TreeId::unicast(Rank(0)), 0);
        let all =
            [packet(0, b""), packet(0, b"eight by"), (words, vec![5; 16]), packet(0, &[7; 1000])];
        for count in 1..=all.len() {
            let frame = sealed(&mut alice, Rank(1), &all[..count]);
            assert_eq!(open(&mut bob, &frame).unwrap(), all[..count], "{protection:?}");
        }
        assert_eq!(bob.refusals().total(), 0);
    }
}

#[test]
fn the_layout_of_a_frame_is_frozen() {
    let frame = sealed(&mut seals(0, Protection::Tagged), Rank(1), &[packet(0, b"weft")]);
    let parsed = envelope::parse(&frame).unwrap();
    let expected = Envelope {
        kind: FrameKind::PACKETS,
        job: JOB,
        source: Rank(0),
        destination: Rank(1),
        length: network::SIZE as u32 + 8,
        sequence: 1,
        tag: parsed.tag,
    };
    assert_eq!(parsed, expected);
    assert_eq!(frame.len(), envelope::SIZE + network::SIZE + 8);
    let twice = sealed(&mut seals(0, Protection::Tagged), Rank(1), &[packet(0, b"weft")]);
    assert_eq!(frame, twice, "the same secret, the same keys");
}

#[test]
fn an_encrypted_frame_shows_nothing_of_its_packets() {
    let body = b"nobody may read this, nobody at all";
    let frame = sealed(&mut seals(0, Protection::Encrypted), Rank(1), &[packet(0, body)]);
    assert!(!frame.windows(8).any(|bytes| bytes == &body[..8]));
}

/// Lengths of bodies on both sides of where contents come under the tag as a digest.
const BODIES: [usize; 9] = [0, 1, 5, 8, 103, 104, 105, 300, 1400];

#[test]
fn a_changed_bit_anywhere_is_noticed() {
    for protection in WHOLE {
        let one = BODIES.map(|bytes| vec![packet(0, &vec![9; bytes])]);
        let more = [vec![packet(0, b"1"), packet(0, b"two")], vec![packet(0, &[3; 77]); 3]];
        for packets in one.into_iter().chain(more) {
            let frame = sealed(&mut seals(0, protection), Rank(1), &packets);
            let mut bob = seals(1, protection);
            for bit in 0..frame.len() * 8 {
                let mut changed = frame.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                let refused = open(&mut bob, &changed).unwrap_err();
                assert!(bob.refusals().of(refused) > 0, "bit {bit} of {protection:?}");
                assert_eq!(bob.refusals().total(), bit as u64 + 1);
            }
            assert_eq!(open(&mut bob, &frame).unwrap(), packets, "the right one still counts");
        }
    }
}

/// Bytes of a long packet that are covered where the rest is left to whoever carries it.
const COVERED: usize = 128;

#[test]
fn of_a_long_packet_header_and_beginning_are_covered_where_bodies_are_left_to_the_carrier() {
    let bytes = 600;
    let frame = sealed(&mut seals(0, Protection::Headers), Rank(1), &[packet(0, &[9; 600])]);
    let mut taken = Vec::new();
    for at in 0..frame.len() {
        for bit in 0..8 {
            let mut changed = frame.clone();
            changed[at] ^= 1 << bit;
            let whole = open(&mut seals(1, Protection::Headers), &changed);
            let cut = envelope::SIZE + network::SIZE + HERE;
            let (head, tail) = changed.split_at_mut(cut);
            let parts = seals(1, Protection::Headers).open_parts(head, tail);
            assert_eq!(whole.is_ok(), parts.is_ok(), "byte {at}");
            if let Ok(packets) = whole {
                assert_eq!((packets[0].0, packets[0].1.len()), (packet(0, &[9; 600]).0, bytes));
                taken.push(at);
            }
        }
    }
    taken.dedup();
    assert_eq!(taken, (envelope::SIZE + COVERED..frame.len()).collect::<Vec<_>>());
}

#[test]
fn of_several_packets_and_short_ones_all_is_covered_under_any_protection() {
    for packets in [vec![packet(0, &[3; 150]); 3], vec![packet(0, &[3; 100])]] {
        let frame = sealed(&mut seals(0, Protection::Headers), Rank(1), &packets);
        for at in 0..frame.len() {
            let mut changed = frame.clone();
            changed[at] ^= 1;
            assert!(open(&mut seals(1, Protection::Headers), &changed).is_err(), "byte {at}");
        }
    }
}

#[test]
fn a_frame_under_another_protection_is_refused() {
    for (sends, receives) in ALL.into_iter().flat_map(|one| ALL.map(|other| (one, other))) {
        let packets = [packet(0, &[4; 40])];
        let frame = sealed(&mut seals(0, sends), Rank(1), &packets);
        let opened = open(&mut seals(1, receives), &frame);
        assert_eq!(opened.is_ok(), sends == receives, "{sends:?} to {receives:?}");
    }
}

/// Bytes of the body that are in the frame, where the others are elsewhere.
const HERE: usize = 24;

#[test]
fn a_frame_in_two_parts_is_the_one_that_it_is_in_one() {
    let (header, body) = packet(0, &(0..=255).cycle().take(1000).collect::<Vec<u8>>());
    let whole = sealed(&mut seals(0, Protection::Tagged), Rank(1), &[(header, body)]);
    let cut = envelope::SIZE + network::SIZE + HERE;
    let mut head = whole[..cut].to_vec();
    head[..envelope::SIZE].fill(0);
    seals(0, Protection::Tagged).sealer(Rank(1)).seal_parts(&mut head, &whole[cut..]);
    assert_eq!(head, whole[..cut]);
    let mut bob = seals(1, Protection::Tagged);
    for bit in 0..whole.len() * 8 {
        let mut changed = whole.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let (head, tail) = changed.split_at_mut(cut);
        let refused = bob.open_parts(head, tail).unwrap_err();
        assert!(bob.refusals().of(refused) > 0, "bit {bit}");
    }
    let opened = bob.open_parts(&mut head, &whole[cut..]).unwrap();
    assert_eq!((opened.source, opened.contents), (Rank(0), envelope::SIZE..cut));
    assert_eq!(bob.open_parts(&mut head, &whole[cut..]), Err(FrameRefused::Replayed));
    assert_eq!(open(&mut bob, &whole), Err(FrameRefused::Replayed), "nor in one part");
}

#[test]
fn what_is_no_single_packet_is_not_opened_in_parts() {
    let mut bob = seals(1, Protection::Tagged);
    let two = [packet(0, &[1; 400]), packet(0, &[2; 400])];
    let frame = sealed(&mut seals(0, Protection::Tagged), Rank(1), &two);
    let (head, tail) = frame.split_at(envelope::SIZE + network::SIZE + HERE);
    assert_eq!(bob.open_parts(&mut head.to_vec(), tail), Err(FrameRefused::Layout));
    // What is encrypted is in one part.
    let frame = sealed(&mut seals(0, Protection::Encrypted), Rank(1), &[packet(0, &[1; 800])]);
    let (head, tail) = frame.split_at(envelope::SIZE + network::SIZE + HERE);
    let refused = seals(1, Protection::Encrypted).open_parts(&mut head.to_vec(), tail);
    assert_eq!(refused, Err(FrameRefused::Length));
}

/// Difference of two messages that have the same CRC-32C: the polynomial itself.
const SAME_CRC: [u8; 5] = [0xf1, 0x76, 0xec, 0x05, 0x01];

#[test]
fn bytes_changed_so_that_a_checksum_is_the_same_are_refused() {
    for bytes in [5, 8, 64, 200, 1400] {
        let frame =
            sealed(&mut seals(0, Protection::Tagged), Rank(1), &[packet(0, &vec![7; bytes])]);
        let body = envelope::SIZE + network::SIZE;
        for at in body..frame.len() - SAME_CRC.len() + 1 {
            let mut changed = frame.clone();
            changed[at..].iter_mut().zip(SAME_CRC).for_each(|(byte, change)| *byte ^= change);
            assert_eq!(crc32c::crc32c(&changed[body..]), crc32c::crc32c(&frame[body..]));
            assert_eq!(open(&mut seals(1, Protection::Tagged), &changed), Err(FrameRefused::Tag));
        }
    }
}

#[test]
fn truncated_and_extended_frames_are_refused() {
    for protection in ALL {
        let frame = sealed(&mut seals(0, protection), Rank(1), &[packet(0, &[1; 40])]);
        let mut bob = seals(1, protection);
        for length in 0..frame.len() {
            assert!(open(&mut bob, &frame[..length]).is_err(), "{length} bytes");
        }
        assert!(open(&mut bob, &[&frame[..], &[0; 8]].concat()).is_err());
        assert!(open(&mut bob, &frame).is_ok());
    }
}

#[test]
fn a_frame_counts_once_and_not_too_late() {
    for protection in WHOLE {
        let (mut alice, mut bob) = (seals(0, protection), seals(1, protection));
        let frames: Vec<_> = (0..2050u16)
            .map(|i| sealed(&mut alice, Rank(1), &[packet(0, &i.to_le_bytes())]))
            .collect();
        assert!(open(&mut bob, &frames[3]).is_ok(), "a later one first");
        assert!(open(&mut bob, &frames[1]).is_ok());
        assert_eq!(open(&mut bob, &frames[1]), Err(FrameRefused::Replayed));
        assert_eq!(open(&mut bob, &frames[3]), Err(FrameRefused::Replayed));
        assert!(open(&mut bob, &frames[2049]).is_ok());
        assert_eq!(open(&mut bob, &frames[0]), Err(FrameRefused::Replayed), "too old to know");
        assert!(open(&mut bob, &frames[2]).is_ok(), "just not too old");
        assert_eq!(bob.refusals().of(FrameRefused::Replayed), 3);
    }
}

#[test]
fn adversaries_do_not_get_in() {
    for protection in WHOLE {
        let packets = [packet(0, b"let me in")];
        let mut bob = seals(1, protection);
        let other_job = sealed(&mut seals_of(78, 9, 0, protection), Rank(1), &packets);
        assert_eq!(open(&mut bob, &other_job), Err(FrameRefused::Job));
        let other_secret = sealed(&mut seals_of(JOB, 8, 0, protection), Rank(1), &packets);
        assert_eq!(open(&mut bob, &other_secret), Err(FrameRefused::Tag));
        let for_another = sealed(&mut seals(0, protection), Rank(2), &packets);
        assert_eq!(open(&mut bob, &for_another), Err(FrameRefused::Destination));
        let mut turned = sealed(&mut seals(0, protection), Rank(2), &packets);
        turned[10] = 1;
        assert_eq!(open(&mut bob, &turned), Err(FrameRefused::Tag), "another pair has another key");
        let own = sealed(&mut seals(1, protection), Rank(0), &[packet(1, b"mine")]);
        assert_eq!(open(&mut bob, &own), Err(FrameRefused::Source), "sent back as it was");
        let mut reflected = own;
        reflected[8..12].copy_from_slice(&[0, 0, 1, 0]);
        assert_eq!(open(&mut bob, &reflected), Err(FrameRefused::Tag), "with its ranks exchanged");
        let mut nobody = sealed(&mut seals(0, protection), Rank(1), &packets);
        nobody[8..10].copy_from_slice(&[4, 0]);
        assert_eq!(open(&mut bob, &nobody), Err(FrameRefused::Source));
    }
}

#[test]
fn packets_of_another_rank_than_the_sender_of_the_frame_are_refused() {
    // Only when it encrypts does a sealer not look at what it seals.
    let frame = sealed(&mut seals(2, Protection::Encrypted), Rank(1), &[packet(0, b"from 0?")]);
    assert_eq!(open(&mut seals(1, Protection::Encrypted), &frame), Err(FrameRefused::Layout));
    let nothing = sealed(&mut seals(2, Protection::Encrypted), Rank(1), &[]);
    assert_eq!(open(&mut seals(1, Protection::Encrypted), &nothing), Err(FrameRefused::Layout));
}

#[test]
#[should_panic(expected = "packets of the rank that seals it")]
fn a_rank_does_not_seal_packets_of_another() {
    sealed(&mut seals(2, Protection::Tagged), Rank(1), &[packet(0, b"from 0?")]);
}

#[test]
fn other_kinds_hold_anything_and_no_packets() {
    for protection in WHOLE {
        let (mut alice, mut bob) = (seals(0, protection), seals(1, protection));
        for contents in [&b""[..], b"0123456789"] {
            let mut frame = vec![0; envelope::SIZE + contents.len() + protection.trailer_bytes()];
            frame[envelope::SIZE..envelope::SIZE + contents.len()].copy_from_slice(contents);
            alice.sealer(Rank(1)).seal(FrameKind::HEARTBEAT, &mut frame);
            let opened = bob.open(&mut frame).unwrap();
            assert_eq!((opened.kind, opened.source), (FrameKind::HEARTBEAT, Rank(0)));
            assert_eq!(opened.packets(&frame).count(), 0);
            assert_eq!(&frame[opened.contents], contents);
        }
        let mut frame = vec![0; envelope::SIZE + 200 + protection.trailer_bytes()];
        alice.sealer(Rank(1)).seal(FrameKind::HEARTBEAT, &mut frame);
        for bit in 0..frame.len() * 8 {
            let mut changed = frame.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(bob.open(&mut changed).is_err(), "bit {bit}");
        }
        frame[3] = FrameKind::PACKETS.0;
        assert!(bob.open(&mut frame).is_err(), "a heartbeat is no packet");
    }
}

#[test]
fn sealing_and_opening_a_frame_allocates_nothing() {
    for protection in WHOLE {
        let (mut alice, mut bob) = (seals(0, protection), seals(1, protection));
        let mut frames: Vec<_> =
            (0..3).map(|_| layout(&[packet(0, b"8 bytes!")], protection)).collect();
        let mut met = sealed(&mut alice, Rank(1), &[packet(0, b"")]);
        bob.open(&mut met).unwrap();
        let allocations = allocation_counter::measure(|| {
            for frame in &mut frames {
                alice.sealer(Rank(1)).seal(FrameKind::PACKETS, frame);
                let opened = bob.open(frame).unwrap();
                assert_eq!(opened.packets(frame).count(), 1);
            }
        });
        assert_eq!(allocations.count_total, 0, "{protection:?}");
    }
}

#[test]
fn hosts_that_protect_differently_do_not_understand_each_other() {
    for (protection, other) in [(WHOLE[0], WHOLE[1]), (WHOLE[1], WHOLE[0])] {
        let frame = sealed(&mut seals(0, protection), Rank(1), &[packet(0, &[1; 40])]);
        assert_eq!(open(&mut seals(1, other), &frame), Err(FrameRefused::Tag));
    }
}

#[test]
fn a_secret_for_another_purpose_is_another() {
    let secret = Secret::new([9; 16]);
    let [one, other] = ["one", "other"].map(|purpose| secret.derive(purpose));
    assert!(one != other && one != secret && other != secret);
    assert_eq!(one, Secret::new([9; 16]).derive("one"));
}

#[test]
fn a_secret_does_not_show_itself() {
    assert_eq!(format!("{:?}", Secret::new([0xab; 16])), "Secret(hidden)");
}

fn any_packets() -> impl Strategy<Value = Vec<(Header, Vec<u8>)>> {
    let body = prop::collection::vec(any::<u8>(), 0..60);
    prop::collection::vec((body, any::<bool>()), 1..5).prop_map(|packets| {
        let one = |(body, multicast): (Vec<u8>, bool)| {
            let (mut header, body) = packet(0, &body);
            if multicast {
                header.tag = Tag::Mcast;
                header.tree = TreeId::multicast(GroupId::ALL, Rank(3));
            }
            (header, body)
        };
        packets.into_iter().map(one).collect()
    })
}

proptest! {
    #[test]
    fn any_packets_come_through(packets in any_packets(), encrypted in any::<bool>()) {
        let protection = WHOLE[usize::from(encrypted)];
        let frame = sealed(&mut seals(0, protection), Rank(1), &packets);
        prop_assert_eq!(open(&mut seals(1, protection), &frame), Ok(packets));
    }

    #[test]
    fn changed_bytes_are_refused(packets in any_packets(), encrypted in any::<bool>(), at in any::<prop::sample::Index>(), change in 1u8.., several in any::<bool>()) {
        let protection = WHOLE[usize::from(encrypted)];
        let mut frame = sealed(&mut seals(0, protection), Rank(1), &packets);
        let at = at.index(frame.len());
        let end = if several { frame.len() } else { at + 1 };
        frame[at..end].iter_mut().for_each(|byte| *byte ^= change);
        prop_assert!(open(&mut seals(1, protection), &frame).is_err());
    }

    #[test]
    fn any_bytes_are_refused(mut frame in prop::collection::vec(any::<u8>(), 0..200), right in 0usize..13, encrypted in any::<bool>()) {
        // The beginning of a right frame gets past the first checks.
        let start = [b'W', b'F', 2, 0, 77, 0, 0, 0, 0, 0, 1, 0];
        let right = right.min(frame.len()).min(start.len());
        frame[..right].copy_from_slice(&start[..right]);
        let mut bob = seals(1, WHOLE[usize::from(encrypted)]);
        prop_assert!(open(&mut bob, &frame).is_err());
        prop_assert_eq!(bob.refusals().total(), 1);
    }
}

#[test]
fn of_a_long_piece_the_beginning_is_covered_where_bodies_are_left_to_the_carrier() {
    let bytes = envelope::SIZE + 600;
    // Offsets at which a change is not noticed, of a piece that begins there in its packet.
    let free = |protection, offset| -> Vec<usize> {
        let mut frame = vec![7; bytes];
        let piece = Piece { number: 7, offset, total: 7000 };
        frame[envelope::SIZE..][..path::SIZE].copy_from_slice(&piece.emit());
        seals(0, protection).sealer(Rank(1)).seal(FrameKind::PIECE, &mut frame);
        let is_taken = |at: &usize| {
            let mut changed = frame.clone();
            changed[*at] ^= 1;
            seals(1, protection).open(&mut changed).is_ok()
        };
        (0..bytes).filter(is_taken).collect()
    };
    for (offset, covered) in [(0, COVERED), (1400, path::SIZE)] {
        let rest = envelope::SIZE + covered..bytes;
        let rest: Vec<_> = rest.collect();
        assert_eq!(free(Protection::Headers, offset), rest);
        assert_eq!(free(Protection::Datagrams, offset), rest);
        assert_eq!(free(Protection::Tagged, offset), [0; 0]);
    }
}
