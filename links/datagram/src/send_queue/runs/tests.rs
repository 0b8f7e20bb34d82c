use super::*;
use crate::seal::{Keys, Protection, Seals, Secret};
use crate::{Landed, ReceiveQueue};
use proptest::prelude::*;
use std::collections::VecDeque;
use weft_link::{Payload, Received};
use weft_wire::{Tag, TreeId};

const RANKS: u16 = 2;
const FRAME: usize = 1472;
const MOST: usize = 6;

fn seals(own: u16, protection: Protection) -> Seals {
    Seals::new(Keys::new(Secret::new([1; 16]), 1, Rank(own), protection), RANKS)
}

fn outgoing(protection: Protection) -> SendQueue<Box<[u8]>> {
    let mut outgoing = SendQueue::new(RANKS.into(), 64, 0..FRAME, protection.trailer_bytes());
    outgoing.set_most_in_run(MOST);
    outgoing
}

fn place() -> Option<Box<[u8]>> {
    Some(vec![0xee; MOST * FRAME].into_boxed_slice())
}

fn body(number: u32, size: usize) -> Vec<u8> {
    (0..size).map(|at| (number as usize * 31 + at * 7) as u8).collect()
}

fn put(outgoing: &mut SendQueue<Box<[u8]>>, number: u32, size: usize) {
    let header = Header::new(Tag::Ucast, Rank(0), TreeId::unicast(Rank(0)), size as u16);
    let header = Header { sequence: number, ..header };
    outgoing.put(Rank(1), &header, &body(number, size), place);
}

/// The frames that a system makes of what waits.
fn frames(outgoing: &mut SendQueue<Box<[u8]>>, seals: &mut Seals) -> Vec<Vec<u8>> {
    outgoing.seal(seals);
    let mut frames = Vec::new();
    while let Some(datagram) = outgoing.pop() {
        let bytes = &datagram.place[..datagram.end()];
        let cut_at = datagram.cut_at().unwrap_or(bytes.len());
        frames.extend(bytes.chunks(cut_at).map(<[u8]>::to_vec));
    }
    frames
}

/// Frames that landed together, as many as a system joins: of one size, but for the last.
struct Joined(VecDeque<Vec<u8>>);

impl crate::ArrivalSource<Box<[u8]>> for Joined {
    fn look(
        &mut self,
        _: &mut Vec<Box<[u8]>>,
        arrived: &mut VecDeque<(Box<[u8]>, Landed)>,
    ) -> bool {
        let Some(first) = self.0.pop_front() else { return false };
        let (datagram_bytes, mut all) = (first.len(), first);
        while all.len().is_multiple_of(datagram_bytes)
            && let Some(next) = self.0.pop_front_if(|next| next.len() <= datagram_bytes)
        {
            all.extend(next);
        }
        let landed = Landed { start: 0, end: all.len(), datagram_bytes };
        arrived.push_back((all.into_boxed_slice(), landed));
        true
    }
}

/// Numbers and sizes of the packets that come of these frames; their bytes must be right.
fn take(
    incoming: &mut ReceiveQueue<Box<[u8]>>,
    frames: Vec<Vec<u8>>,
    seals: &mut Seals,
) -> Vec<(u32, usize)> {
    let (mut source, mut taken) = (Joined(frames.into()), Vec::new());
    while let Some(Received { header, payload }) = incoming.next(&mut source, seals) {
        let Payload::Buffer(buffer) = payload else { panic!("no bytes: {header:?}") };
        let size = header.size.into();
        assert_eq!(incoming.read(buffer, size).unwrap(), body(header.sequence, size));
        taken.push((header.sequence, size));
        assert!(incoming.free(buffer));
    }
    taken
}

fn protections() -> impl Strategy<Value = Protection> {
    prop_oneof![Just(Protection::Headers), Just(Protection::Tagged), Just(Protection::Encrypted)]
}

proptest! {
    /// Packets of any sizes come out as they went in, and in order.
    #[test]
    fn packets_cross_in_runs(
        sizes in prop::collection::vec(1usize..12_000, 1..12),
        protection in protections(),
    ) {
        let (mut outgoing, mut own) = (outgoing(protection), seals(0, protection));
        let (mut incoming, mut other) = (ReceiveQueue::new(16, Vec::new()), seals(1, protection));
        let most = outgoing.most_payload_in_run(0);
        for (number, size) in (0..).zip(&sizes) {
            put(&mut outgoing, number, *size);
            let whole = envelope::SIZE + envelope::packet_bytes(*size) + protection.trailer_bytes();
            let last = outgoing.waiting().back().unwrap();
            prop_assert_eq!(last.cut_at().is_some(), whole > FRAME && *size <= most, "{}", size);
        }
        let frames = frames(&mut outgoing, &mut own);
        prop_assert!(frames.iter().all(|frame| frame.len() <= FRAME));
        let expected: Vec<(u32, usize)> = (0..).zip(sizes).collect();
        prop_assert_eq!(take(&mut incoming, frames, &mut other), expected);
        prop_assert_eq!(other.refusals().total(), 0);
    }

    /// Of frames that are lost, doubled and shuffled come packets that were sent, each once.
    #[test]
    fn only_what_was_sent_comes_out(
        sizes in prop::collection::vec(1usize..9_000, 1..8),
        seed in any::<u64>(),
    ) {
        let protection = Protection::Headers;
        let (mut outgoing, mut own) = (outgoing(protection), seals(0, protection));
        let (mut incoming, mut other) = (ReceiveQueue::new(16, Vec::new()), seals(1, protection));
        for (number, size) in (0..).zip(&sizes) {
            put(&mut outgoing, number, *size);
        }
        let mut frames = frames(&mut outgoing, &mut own);
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..random.usize(0..6) {
            let (one, two) = (random.usize(0..frames.len()), random.usize(0..frames.len()));
            match random.u8(0..4) {
                0 => frames.swap(one, two),
                1 => frames[one] = frames[two].clone(),
                2 => frames[one][24] ^= 1,
                _ if frames.len() > 1 => { frames.remove(one); }
                _ => {}
            }
        }
        let mut taken = take(&mut incoming, frames, &mut other);
        prop_assert!(taken.iter().all(|(number, size)| sizes[*number as usize] == *size));
        taken.sort_unstable();
        taken.dedup();
        prop_assert_eq!(taken.len() as u64, incoming.counters.joined
            + taken.iter().filter(|(_, size)| envelope::SIZE + envelope::packet_bytes(*size) <= FRAME).count() as u64);
    }
}

#[test]
fn a_run_that_comes_in_several_parts_is_put_together() {
    let protection = Protection::Tagged;
    let (mut outgoing, mut own) = (outgoing(protection), seals(0, protection));
    let (mut incoming, mut other) = (ReceiveQueue::new(4, Vec::new()), seals(1, protection));
    put(&mut outgoing, 0, 8000);
    let frames = frames(&mut outgoing, &mut own);
    assert_eq!(frames.len(), MOST);
    for (at, part) in [0..1, 1..3, 3..5, 5..6].into_iter().enumerate() {
        let taken = take(&mut incoming, frames[part].to_vec(), &mut other);
        assert_eq!(taken, if at == 3 { vec![(0, 8000)] } else { vec![] });
    }
    assert_eq!(incoming.counters.joined, 1);
}

#[test]
fn what_is_longer_than_a_run_leaves_in_pieces_of_their_own() {
    let mut outgoing = outgoing(Protection::Tagged);
    let most = outgoing.most_payload_in_run(0);
    assert!((8_500..MOST * FRAME).contains(&most), "{most}");
    put(&mut outgoing, 0, most);
    assert_eq!(outgoing.waiting().len(), 1);
    put(&mut outgoing, 1, most + 64);
    assert_eq!(outgoing.waiting().len(), 1 + MOST + 1);
    outgoing.set_most_in_run(0);
    assert_eq!(outgoing.most_payload_in_run(1416), 1416);
    put(&mut outgoing, 2, 2000);
    assert_eq!(outgoing.waiting().len(), 1 + MOST + 1 + 2);
}
