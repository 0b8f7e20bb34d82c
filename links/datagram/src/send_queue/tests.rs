use super::*;
use crate::ReceiveQueue;
use crate::seal::{Keys, Protection, Secret};
use weft_link::{Payload, Received};
use weft_wire::{GroupId, TreeId};

const RANKS: u16 = 6;
const ROOM: usize = 600;

fn seals(own: u16) -> Seals {
    Seals::new(Keys::new(Secret::new([1; 16]), 1, Rank(own), Protection::Tagged), RANKS)
}

/// Of rank 0; ranks 1 to 3 are reached at one address, 4 alone at another, and 5 at none.
fn outgoing() -> SendQueue<Box<[u8]>> {
    let mut outgoing = SendQueue::new(RANKS.into(), 64, 0..ROOM, 0);
    outgoing.share(vec![None, Some(1), Some(1), Some(1), Some(2), None]);
    outgoing
}

fn multicast(number: u32, size: usize) -> Header {
    let mut header =
        Header::new(Tag::Mcast, Rank(0), TreeId::multicast(GroupId::ALL, Rank(0)), size as u16);
    header.sequence = number;
    header
}

fn unicast(number: u32, size: usize) -> Header {
    let header = Header::new(Tag::Ucast, Rank(0), TreeId::unicast(Rank(0)), size as u16);
    Header { sequence: number, ..header }
}

fn put(outgoing: &mut SendQueue<Box<[u8]>>, to: u16, header: Header, body: &[u8]) {
    outgoing.put(Rank(to), &header, body, || Some(vec![0; ROOM].into_boxed_slice()));
}

/// A network that copies what is for several to all that it reaches at the address.
struct Network {
    own: Seals,
    ranks: Vec<Seals>,
    got: Vec<Vec<(Header, Vec<u8>)>>,
    frames: usize,
}

impl Network {
    fn new() -> Self {
        let ranks = (0..RANKS).map(seals).collect();
        let got = (0..RANKS).map(|_| Vec::new()).collect();
        Network { own: seals(0), ranks, got, frames: 0 }
    }

    fn carry(&mut self, outgoing: &mut SendQueue<Box<[u8]>>) {
        outgoing.seal(&mut self.own);
        while let Some(datagram) = outgoing.pop() {
            self.frames += 1;
            let address = outgoing.shared[datagram.to.index()];
            for to in 1..usize::from(RANKS) {
                let is_reached = match datagram.is_for_several() {
                    true => outgoing.shared[to] == address,
                    false => to == datagram.to.index(),
                };
                let mut frame = datagram.place[..datagram.end()].to_vec();
                if is_reached && let Ok(opened) = self.ranks[to].open(&mut frame) {
                    let packets = opened.packets(&frame);
                    self.got[to].extend(packets.map(|(header, at)| (header, frame[at].to_vec())));
                }
            }
        }
    }
}

#[test]
fn a_multicast_to_ranks_at_one_address_is_one_datagram() {
    let (mut outgoing, mut network) = (outgoing(), Network::new());
    for to in 1..RANKS {
        put(&mut outgoing, to, multicast(to.into(), 100), &[9; 100]);
    }
    network.carry(&mut outgoing);
    assert_eq!(network.frames, 3, "one for 1 to 3, one each for 4 and 5");
    for (to, got) in (0..).zip(&network.got).skip(1) {
        assert_eq!(*got, [(multicast(to, 100), vec![9; 100])], "rank {to}");
    }
    assert_eq!((outgoing.sent.several, outgoing.sent.spared), (1, 2));
}

#[test]
fn a_datagram_with_one_receiver_is_like_any_other() {
    let (mut outgoing, mut network) = (outgoing(), Network::new());
    put(&mut outgoing, 1, multicast(1, 10), &[1; 10]);
    assert!(!outgoing.waiting()[0].is_for_several());
    assert_eq!(outgoing.waiting()[0].end(), envelope::SIZE + envelope::packet_bytes(10));
    network.carry(&mut outgoing);
    assert_eq!(network.got[1], [(multicast(1, 10), vec![1; 10])]);
    assert_eq!(outgoing.sent.several, 0);
}

#[test]
fn other_bytes_another_tree_and_a_second_time_take_another_datagram() {
    let mut outgoing = outgoing();
    let elsewhere = TreeId::multicast(GroupId(3), Rank(0));
    put(&mut outgoing, 1, multicast(1, 10), &[1; 10]);
    put(&mut outgoing, 2, multicast(1, 10), &[2; 10]);
    put(&mut outgoing, 3, Header { tree: elsewhere, ..multicast(1, 10) }, &[1; 10]);
    put(&mut outgoing, 3, multicast(1, 11), &[1; 11]);
    put(&mut outgoing, 1, multicast(1, 10), &[1; 10]);
    assert_eq!(outgoing.waiting().len(), 5);
    assert!(outgoing.waiting().iter().all(|datagram| !datagram.is_for_several()));
}

#[test]
fn what_a_rank_was_sent_before_comes_before() {
    let (mut outgoing, mut network) = (outgoing(), Network::new());
    put(&mut outgoing, 1, multicast(1, 10), &[1; 10]);
    put(&mut outgoing, 2, unicast(1, 10), &[2; 10]);
    put(&mut outgoing, 2, multicast(2, 10), &[1; 10]);
    put(&mut outgoing, 1, unicast(2, 10), &[3; 10]);
    network.carry(&mut outgoing);
    assert_eq!(network.frames, 4, "rank 2 could not join what left before its own packet");
    for to in [1, 2] {
        let numbers: Vec<u32> = network.got[to].iter().map(|(header, _)| header.sequence).collect();
        assert_eq!(numbers, [1, 2]);
    }
}

#[test]
fn what_leaves_no_room_for_receivers_goes_alone() {
    let (mut outgoing, mut network) = (outgoing(), Network::new());
    let fits = several::body_room(ROOM, 2).unwrap();
    for (size, frames) in [(fits, 2), (fits + 1, 3), (ROOM - 56, 3)] {
        for to in 1..=3 {
            put(&mut outgoing, to, multicast(to.into(), size), &vec![5; size]);
        }
        let before = network.frames;
        network.carry(&mut outgoing);
        assert_eq!(network.frames - before, frames, "{size} bytes");
    }
    assert!(network.got[1..=3].iter().all(|got| got.len() == 3));
}

#[test]
fn a_frame_has_no_more_receivers_than_it_may() {
    let ranks = several::MOST as u16 + 3;
    let mut outgoing = SendQueue::new(ranks.into(), 64, 0..4000, 0);
    outgoing.share(vec![Some(7); ranks.into()]);
    for to in 1..ranks {
        let place = || Some(vec![0; 4000].into_boxed_slice());
        outgoing.put(Rank(to), &multicast(1, 8), &[0; 8], place);
    }
    let ends: Vec<usize> = outgoing.waiting().iter().map(Datagram::end).collect();
    assert_eq!(ends, [several::frame_bytes(8, several::MOST), several::frame_bytes(8, 2)]);
}

#[test]
fn any_mix_arrives_once_and_in_order() {
    let mut random = fastrand::Rng::with_seed(11);
    let (mut outgoing, mut network) = (outgoing(), Network::new());
    let mut sent: Vec<Vec<(Header, Vec<u8>)>> = (0..RANKS).map(|_| Vec::new()).collect();
    for number in 0..4000 {
        let size = random.usize(0..ROOM - 56);
        let body = vec![random.u8(0..3); size];
        let is_multicast = random.bool();
        for to in 1..RANKS {
            let gets = if is_multicast { random.u8(0..5) > 0 } else { random.u8(0..5) == 0 };
            if !gets || outgoing.is_full() {
                continue;
            }
            let header = if is_multicast { multicast(number, size) } else { unicast(number, size) };
            put(&mut outgoing, to, header, &body);
            sent[usize::from(to)].push((header, body.clone()));
        }
        if random.u8(0..4) == 0 {
            network.carry(&mut outgoing);
        }
    }
    network.carry(&mut outgoing);
    assert_eq!(network.got, sent);
    assert!(outgoing.sent.several > 500 && outgoing.sent.crowded_out == 0, "{:?}", outgoing.sent);
}

/// One of two ranks, and the frames that have come to it.
struct End {
    outgoing: SendQueue<Box<[u8]>>,
    incoming: ReceiveQueue<Box<[u8]>>,
    seals: Seals,
    arrived: VecDeque<Box<[u8]>>,
}

impl End {
    fn new(own: u16) -> Self {
        End {
            outgoing: SendQueue::new(RANKS.into(), 64, 0..1472, 0),
            incoming: ReceiveQueue::new(8, Vec::new()),
            seals: seals(own),
            arrived: VecDeque::new(),
        }
    }

    /// Sends what waits over a way that takes frames of so many bytes.
    fn send(&mut self, to: &mut End, takes: usize) {
        self.outgoing.seal(&mut self.seals);
        while let Some(datagram) = self.outgoing.pop() {
            if datagram.end() <= takes {
                to.arrived.push_back(datagram.place[..datagram.end()].into());
            }
        }
    }

    /// Numbers of the packets that came; all must have bytes of that number.
    fn take(&mut self) -> Vec<u32> {
        let mut numbers = Vec::new();
        while let Some(Received { header, payload }) =
            self.incoming.next(&mut self.arrived, &mut self.seals)
        {
            let Payload::Buffer(buffer) = payload else { panic!("no bytes: {header:?}") };
            let bytes = self.incoming.read(buffer, header.size.into()).unwrap();
            assert!(bytes.iter().all(|byte| *byte == header.sequence as u8));
            numbers.push(header.sequence);
            assert!(self.incoming.free(buffer));
        }
        numbers
    }
}

/// Packets of 1,400 bytes while the way takes frames of `takes` bytes, with a tend after each ten.
fn talk(ends: &mut [End; 2], now: &mut Nanoseconds, takes: usize, turns: usize) -> usize {
    let [one, other] = ends;
    let place = || Some(vec![0; 1472].into_boxed_slice());
    let mut arrived = 0;
    for _ in 0..turns {
        for number in 0..10 {
            one.outgoing.put(Rank(1), &unicast(number, 1400), &[number as u8; 1400], place);
        }
        *now += 100_000_000;
        one.outgoing.tend(&mut one.incoming.pending_answers, *now, place);
        one.send(other, takes);
        let numbers = other.take();
        assert!(numbers.is_sorted());
        arrived = numbers.len();
        other.outgoing.answer(&mut other.incoming.pending_answers, place);
        other.send(one, takes);
        assert!(one.take().is_empty());
    }
    arrived
}

#[test]
fn packets_cross_a_way_that_takes_less_and_leave_whole_when_it_is_wide_again() {
    let (mut ends, mut now) = ([End::new(0), End::new(1)], 0);
    assert_eq!(talk(&mut ends, &mut now, 1472, 5), 10);
    assert_eq!((ends[0].outgoing.sent.cut, ends[1].incoming.counters.joined), (0, 0));
    for takes in [1300, 600] {
        assert_eq!(talk(&mut ends, &mut now, takes, 12), 10);
    }
    let cut = ends[0].outgoing.sent.cut;
    assert!(cut > 100 && ends[1].incoming.counters.joined > 100);
    assert_eq!(talk(&mut ends, &mut now, 1472, 30), 10);
    let cut = ends[0].outgoing.sent.cut;
    assert_eq!(talk(&mut ends, &mut now, 1472, 10), 10);
    assert_eq!(ends[0].outgoing.sent.cut, cut);
}
