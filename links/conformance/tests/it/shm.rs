//! The suite on shared memory, bare and in every wrapper that keeps a link's promises.

use std::sync::{Arc, Mutex};
use weft_link::wrap::{Capture, Captured, Count, FaultPlan, FaultyLink, FramesOnly, Traced};
use weft_link::{Link, Payload, ReceivedPlain, ShortPackets};
use weft_link_conformance::transmit_short;
use weft_link_shm::{Settings, Shm, create_memory};
use weft_trace::{PacketEvent, Recorder, What};
use weft_wire::{Header, Protocol, Rank, Tag, TreeId};

fn shm(ranks: u16) -> Vec<Shm> {
    let settings = Settings { frames: 32, ..Settings::new(ranks) };
    let file = create_memory(&settings).unwrap();
    (0..ranks).map(|rank| Shm::attach(Rank(rank), settings, &file).unwrap()).collect()
}

fn wrapped<L: Link>(wrap: impl Fn(Shm) -> L) -> impl Fn(u16) -> Vec<L> {
    move |ranks| shm(ranks).into_iter().map(&wrap).collect()
}

#[test]
fn bare() {
    weft_link_conformance::all(shm);
}

#[test]
fn with_few_credits_and_small_frames() {
    weft_link_conformance::all(|ranks| {
        let settings =
            Settings { window_packets: 64, frame_bytes: 128, frames: 16, ..Settings::new(ranks) };
        let file = create_memory(&settings).unwrap();
        (0..ranks).map(|rank| Shm::attach(Rank(rank), settings, &file).unwrap()).collect()
    });
}

/// Keeps what is written down.
#[derive(Default)]
struct Kept(Mutex<Vec<What>>);

impl Recorder for Kept {
    fn record(&self, what: &What) {
        self.0.lock().unwrap().push(*what);
    }
}

#[test]
fn traced() {
    weft_link_conformance::all(wrapped(|link| Traced::new(link, Arc::<Kept>::default())));
}

#[test]
fn packets_are_written_down_at_both_ends() {
    let kept: [Arc<Kept>; 2] = Default::default();
    let traced = |(link, kept): (_, &Arc<Kept>)| Traced::new(link, Arc::clone(kept) as Arc<_>);
    let mut links: Vec<_> = shm(2).into_iter().zip(&kept).map(traced).collect();
    let tree = TreeId::unicast(Rank(0)).of(Protocol::MESSAGES);
    let header = Header::new(Tag::Ucast, Rank(0), tree, 20);
    let bytes: [u8; 20] = std::array::from_fn(|byte| byte as u8);
    transmit_short(&mut links[0], Rank(1), &header, &[&bytes[..]]);
    let frame = links[0].alloc(None).unwrap();
    links[0].transmit(Rank(1), &header, Payload::Buffer(frame));
    links[0].free(frame);
    assert!(matches!(receive_plain(&mut links[1]), ReceivedPlain::Short(_)));
    let second = links[1].receive().unwrap().unwrap();
    let Payload::Buffer(buffer) = second.payload else { panic!("no bytes") };
    links[1].free(buffer);
    let head = std::array::from_fn(|byte| byte as u8);
    let first = PacketEvent::new(Rank(1), &header, head);
    let sent = kept[0].0.lock().unwrap().clone();
    assert_eq!((sent.len(), sent[0]), (2, What::Sent(first)));
    let received = |head| What::Received(PacketEvent::new(Rank(0), &header, head));
    assert_eq!(*kept[1].0.lock().unwrap(), [received(head), received([0; 16])]);
}

#[test]
fn plain() {
    weft_link_conformance::all(wrapped(FramesOnly::new));
}

#[test]
fn counted_and_captured() {
    weft_link_conformance::all(wrapped(|link| Capture::new(Count::new(link), 100)));
}

#[test]
fn without_faults() {
    let plan = FaultPlan { seed: 1, loss: 0.0, duplication: 0.0 };
    weft_link_conformance::all(wrapped(|link| FaultyLink::new(link, plan)));
}

#[test]
fn faults_lose_and_double_about_as_many_as_asked_and_the_same_ones_again() {
    let run = || {
        let plan = FaultPlan { seed: 42, loss: 0.25, duplication: 0.25 };
        let mut links = wrapped(|link| Count::new(FaultyLink::new(link, plan)))(2);
        let counters = links[1].counters();
        let mut arrived = Vec::new();
        for number in 0..400u64 {
            let header = Header::new(Tag::FaReply, Rank(0), TreeId::unicast(Rank(0)), 0);
            links[0].transmit(Rank(1), &header, Payload::Words([number, 0, 0]));
            while let Some(received) = links[1].receive().unwrap() {
                let Payload::Words([number, ..]) = received.payload else { panic!("no words") };
                arrived.push(number);
            }
        }
        assert_eq!(
            counters.received.load(std::sync::atomic::Ordering::Relaxed),
            arrived.len() as u64
        );
        arrived
    };
    let arrived = run();
    assert_eq!(arrived, run(), "one seed, one outcome");
    let different = {
        let mut a = arrived.clone();
        a.dedup();
        a.len()
    };
    assert!((250..350).contains(&different), "{different} of 400 arrived at all");
    assert!(
        (30..120).contains(&(arrived.len() - different)),
        "{} of {different} arrived twice",
        arrived.len() - different
    );
}

#[test]
fn a_capture_keeps_the_last_headers_in_both_directions() {
    let mut links = wrapped(|link| Capture::new(link, 2))(2);
    let frames = links[0].frames();
    let header = |credits| Header {
        credits,
        ..Header::new(Tag::Credit, Rank(0), TreeId::unicast(Rank(0)), 0)
    };
    for credits in 1..=3 {
        links[0].transmit(Rank(1), &header(credits), Payload::Empty);
    }
    let kept: Vec<_> = frames.lock().unwrap().iter().copied().collect();
    assert_eq!(kept, [2, 3].map(|credits| Captured::Transmitted(Rank(1), header(credits))));
    links[1].receive().unwrap();
    let at_receiver = links[1].frames();
    assert_eq!(at_receiver.lock().unwrap().back(), Some(&Captured::Received(header(1))));
}

/// Ranks of more groups than one, and of one that is not full.
const MANY: u16 = 130;

#[test]
fn packets_of_ranks_of_all_groups_arrive_once_and_in_order() {
    const ROUNDS: u16 = 3;
    let mut links = shm(MANY);
    let receiver = Rank(70);
    let senders: Vec<Rank> = (0..MANY).map(Rank).filter(|rank| *rank != receiver).collect();
    let mut next = vec![0; MANY.into()];
    for round in 0..ROUNDS {
        // Two of each are under way at once: some rings become hot, and give way.
        for number in [2 * round, 2 * round + 1] {
            for sender in &senders {
                let header = Header::new(Tag::Ucast, *sender, TreeId::unicast(*sender), 2);
                let bytes = number.to_le_bytes();
                transmit_short(&mut links[sender.index()], receiver, &header, &[&bytes[..]]);
            }
        }
        let link = &mut links[receiver.index()];
        for _ in 0..2 * senders.len() {
            assert!(link.has_arrivals());
            let received = link.receive().unwrap().unwrap();
            let Payload::Buffer(buffer) = received.payload else { panic!("no bytes") };
            let mut number = [0; 2];
            link.copy_out(buffer, &mut number);
            link.free(buffer);
            let next = &mut next[received.header.source.index()];
            assert_eq!(u16::from_le_bytes(number), *next, "of {:?}", received.header.source);
            *next += 1;
        }
        assert!(!link.has_arrivals());
        assert_eq!(link.receive(), Ok(None));
    }
    assert!(senders.iter().all(|sender| next[sender.index()] == 2 * ROUNDS));
}

#[test]
fn a_frame_is_free_once_readers_of_all_groups_have_released_it() {
    const SIZE: u16 = 1000;
    let mut links = shm(MANY);
    let sender = Rank(1);
    let readers: Vec<Rank> = (0..MANY).map(Rank).filter(|rank| *rank != sender).collect();
    let frames = links[sender.index()].capabilities().frames;
    // More often than a byte counts.
    for _ in 0..300 {
        let link = &mut links[sender.index()];
        let header = Header::new(Tag::Mcast, sender, TreeId::unicast(sender), SIZE);
        let frame = link.alloc(None).unwrap();
        weft_link_conformance::share(link, frame, SIZE, &readers);
        for reader in &readers {
            link.transmit(*reader, &header, Payload::Buffer(frame));
        }
        link.free(frame);
        // All other frames are taken, and this one is not free.
        let taken: Vec<_> = (1..frames).map(|_| link.alloc(None).unwrap()).collect();
        assert_eq!(link.alloc(None), None);
        for reader in readers.iter().rev() {
            assert_eq!(links[sender.index()].alloc(None), None, "{reader:?} has not read");
            let link = &mut links[reader.index()];
            let received = link.receive().unwrap().unwrap();
            let Payload::Buffer(buffer) = received.payload else { panic!("no bytes") };
            link.free(buffer);
        }
        let link = &mut links[sender.index()];
        let again = link.alloc(None).unwrap();
        taken.into_iter().chain([again]).for_each(|frame| link.free(frame));
    }
}

fn receive_plain<L: Link>(link: &mut L) -> ReceivedPlain {
    L::SHORT.expect("the link has short packets").receive(link)
}
