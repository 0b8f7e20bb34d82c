//! One frame for several ranks: each finds what is its own, and nobody else's mistakes or lies
//! concern it.

use weft_datagram::seal::{EVERYBODY, FrameKind, FrameRefused, Keys, Protection, Seals, Secret};
use weft_wire::several::{self, Entry};
use weft_wire::{GroupId, Header, Rank, Tag, TreeId, envelope};

fn seals_of(secret: u8, own: u16) -> Seals {
    Seals::new(Keys::new(Secret::new([secret; 16]), 77, Rank(own), Protection::Tagged), 5)
}

fn seals(own: u16) -> Seals {
    seals_of(9, own)
}

/// Rank 0's multicast as it goes to `to`.
fn header(to: u16, size: usize) -> Header {
    let tree = TreeId::multicast(GroupId::ALL, Rank(0));
    let mut header = Header::new(Tag::Mcast, Rank(0), tree, size as u16);
    (header.sequence, header.acknowledgement) = (100 + u32::from(to), 200 + u32::from(to));
    (header.credits, header.asks) = (300 + to, to.is_multiple_of(2));
    header
}

fn sealed(seals: &mut Seals, to: &[u16], body: &[u8]) -> Vec<u8> {
    let mut frame = vec![0; envelope::SIZE + envelope::packet_bytes(body.len())];
    envelope::put(&mut frame[envelope::SIZE..], &several::common(&header(to[0], body.len())), body);
    for &to in to {
        frame.extend(several::emit(&Entry::new(Rank(to), &header(to, body.len()))));
    }
    seals.seal_several(&mut frame);
    frame
}

fn open(seals: &mut Seals, frame: &[u8]) -> Result<Vec<(Header, Vec<u8>)>, FrameRefused> {
    let mut frame = frame.to_vec();
    let opened = seals.open(&mut frame)?;
    assert_eq!((opened.kind, opened.destination), (FrameKind::PACKETS, EVERYBODY));
    Ok(opened.packets(&frame).map(|(header, body)| (header, frame[body].to_vec())).collect())
}

#[test]
fn each_receiver_finds_its_own_header_and_the_bytes_of_all() {
    let mut alice = seals(0);
    for body in [&b""[..], b"weft!", &[3; 1000]] {
        let frame = sealed(&mut alice, &[1, 2, 4], body);
        for to in [1, 2, 4] {
            let found = open(&mut seals(to), &frame).unwrap();
            assert_eq!(found, [(header(to, body.len()), body.to_vec())]);
        }
        let mut other = seals(3);
        assert_eq!(open(&mut other, &frame), Err(FrameRefused::Bystander));
        assert_eq!(other.refusals().of(FrameRefused::Bystander), 1);
    }
}

#[test]
fn it_counts_as_one_of_each_pairs_frames() {
    let (mut alice, mut bob) = (seals(0), seals(1));
    let mut one = vec![0; envelope::SIZE + envelope::packet_bytes(0)];
    envelope::put(&mut one[envelope::SIZE..], &header(1, 0), b"");
    let mut other = one.clone();
    alice.sealer(Rank(1)).seal(FrameKind::PACKETS, &mut one);
    let several = sealed(&mut alice, &[1, 2], b"both");
    alice.sealer(Rank(1)).seal(FrameKind::PACKETS, &mut other);
    let numbers = [&one, &other].map(|frame| envelope::parse(frame).unwrap().sequence);
    assert_eq!(numbers, [1, 3]);
    for frame in [&several, &one, &other] {
        assert!(open_any(&mut bob, frame).is_ok());
        assert_eq!(open_any(&mut bob, frame), Err(FrameRefused::Replayed));
    }
}

fn open_any(seals: &mut Seals, frame: &[u8]) -> Result<Rank, FrameRefused> {
    seals.open(&mut frame.to_vec()).map(|opened| opened.source)
}

#[test]
fn a_tag_that_is_right_for_another_opens_nothing() {
    let frame = sealed(&mut seals(0), &[1, 2], b"for two");
    let first = frame.len() - 2 * several::ENTRY;
    // Somebody without keys: rank 2's entry is right, rank 1's is made up, or rank 2's under rank
    // 1's name.
    let mut forged = frame.clone();
    forged[first..][several::TAG].fill(7);
    let mut borrowed = frame.clone();
    let entry = frame[first + several::ENTRY..].to_vec();
    borrowed[first..first + several::ENTRY].copy_from_slice(&entry);
    borrowed[first..first + 2].copy_from_slice(&1u16.to_le_bytes());
    for changed in [forged, borrowed] {
        let mut bob = seals(1);
        assert_eq!(open(&mut bob, &changed), Err(FrameRefused::Tag));
        assert_eq!(open(&mut seals(2), &changed).unwrap()[0].1, b"for two");
        assert!(open(&mut bob, &frame).is_ok(), "the right one still counts");
    }
    assert_eq!(open(&mut seals_of(8, 1), &frame), Err(FrameRefused::Tag), "another secret");
}

#[test]
fn a_changed_bit_is_noticed_by_all_whom_it_concerns() {
    for body in [&b""[..], b"1234567", &[6; 104], &[6; 105], &[6; 1000]] {
        let frame = sealed(&mut seals(0), &[1, 2], body);
        let table = frame.len() - 2 * several::ENTRY;
        for (to, own) in [(1, table), (2, table + several::ENTRY)] {
            let mut receiver = seals(to);
            for bit in 0..frame.len() * 8 {
                let mut changed = frame.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                let concerned = bit / 8 < table || (own..own + several::ENTRY).contains(&(bit / 8));
                match open(&mut receiver, &changed) {
                    Err(refused) => assert!(concerned, "bit {bit} for {to}: {refused}"),
                    Ok(found) => {
                        assert!(!concerned, "bit {bit} for {to}");
                        assert_eq!(found, [(header(to, body.len()), body.to_vec())]);
                        receiver = seals(to);
                    }
                }
            }
            assert!(open(&mut receiver, &frame).is_ok(), "the right one still counts");
        }
    }
}

#[test]
fn what_is_cut_or_extended_is_refused_or_means_the_same() {
    let frame = sealed(&mut seals(0), &[1, 2, 3], b"12345678");
    for length in 0..frame.len() {
        // Without the last entry it is a frame for the others.
        let found = open(&mut seals(1), &frame[..length]);
        let without_last = length == frame.len() - several::ENTRY;
        assert_eq!(found.is_ok(), without_last, "{length} bytes: {found:?}");
        assert!(open(&mut seals(3), &frame[..length]).is_err(), "{length} bytes");
    }
    let longer = [&frame[..], &[0; 8]].concat();
    assert_eq!(open(&mut seals(1), &longer), Err(FrameRefused::Layout));
    let many = [&frame[..], &vec![0; several::MOST * several::ENTRY]].concat();
    assert_eq!(
        open(&mut seals(1), &many),
        Err(FrameRefused::Layout),
        "more entries than there may be"
    );
}

#[test]
fn sealing_and_opening_allocates_nothing() {
    let (mut alice, mut bob) = (seals(0), seals(1));
    let mut met = sealed(&mut alice, &[1, 2], b"");
    bob.open(&mut met).unwrap();
    let mut frame = sealed(&mut seals(0), &[1, 2], b"8 bytes!");
    let allocations = allocation_counter::measure(|| {
        alice.seal_several(&mut frame);
        assert!(bob.open(&mut frame).is_ok());
    });
    assert_eq!(allocations.count_total, 0);
}

#[test]
#[should_panic(expected = "not encrypted")]
fn a_job_that_encrypts_has_no_such_frames() {
    let keys = Keys::new(Secret::new([9; 16]), 77, Rank(0), Protection::Encrypted);
    sealed(&mut Seals::new(keys, 5), &[1, 2], b"");
}
