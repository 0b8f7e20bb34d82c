//! The suite on shared memory, bare and in every wrapper that keeps a link's promises.

use std::sync::{Arc, Mutex};
use weft_link::wrap::{Capture, Captured, Count, FaultPlan, Faults, FramesOnly, Traced};
use weft_link::{Link, Payload, ReceivedPlain};
use weft_link_shm::{Settings, Shm, create_segments};
use weft_trace::{PacketEvent, Recorder, What};
use weft_wire::{Header, Protocol, Rank, Tag, TreeId};

fn shm(ranks: u16) -> Vec<Shm> {
    let settings = Settings { frames: 32, ..Settings::new(ranks) };
    let segments = create_segments(&settings).unwrap();
    (0..ranks).map(|rank| Shm::attach(Rank(rank), settings, &segments).unwrap()).collect()
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
        let segments = create_segments(&settings).unwrap();
        (0..ranks).map(|rank| Shm::attach(Rank(rank), settings, &segments).unwrap()).collect()
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
    links[0].transmit_short(Rank(1), &header, &[&bytes[..]]);
    let frame = links[0].alloc().unwrap();
    links[0].transmit(Rank(1), &header, Payload::Buffer(frame));
    links[0].free(frame);
    assert!(matches!(links[1].receive_plain(), ReceivedPlain::Short(_)));
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
    weft_link_conformance::all(wrapped(|link| Faults::new(link, plan)));
}

#[test]
fn faults_lose_and_double_about_as_many_as_asked_and_the_same_ones_again() {
    let run = || {
        let plan = FaultPlan { seed: 42, loss: 0.25, duplication: 0.25 };
        let mut links = wrapped(|link| Count::new(Faults::new(link, plan)))(2);
        let counters = links[1].counters();
        let mut arrived = Vec::new();
        for number in 0..400u64 {
            let header = Header::new(Tag::FaReply, Rank(0), TreeId::unicast(Rank(0)), 0);
            links[0].transmit(Rank(1), &header, Payload::Words([number, 0]));
            while let Some(received) = links[1].receive().unwrap() {
                let Payload::Words([number, _]) = received.payload else { panic!("no words") };
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
