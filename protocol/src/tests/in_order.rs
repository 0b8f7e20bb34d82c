//! The short way of numbered packets does what the long way does.

use super::recorder::*;
use crate::{Congestion, PacketBody, Preset, Pupa, Settings, Silence};
use proptest::prelude::*;
use std::hash::{DefaultHasher, Hash, Hasher};
use weft_wire::{Header, Rank};

/// An event at rank 0 of three.
#[derive(Debug, Clone)]
enum Event {
    Send { to: u16 },
    Release,
    Advance { by: u64 },
    Receive { from: u16, ahead: i8, acknowledges: u8, asks: bool, room: Option<u8> },
}

fn event() -> impl Strategy<Value = Event> {
    let peer = || 1..3_u16;
    // Most of what comes is the next packet, with nothing out of the ordinary.
    let ahead = prop_oneof![9 => Just(0_i8), 1 => -2..3_i8];
    let asks = prop::bool::weighted(0.1);
    let room = prop::option::weighted(0.05, 0..4_u8);
    let received = (peer(), ahead, 0..4_u8, asks, room);
    prop_oneof![
        4 => peer().prop_map(|to| Event::Send { to }),
        4 => Just(Event::Release),
        1 => (0..1500_u64).prop_map(|by| Event::Advance { by }),
        8 => received.prop_map(|(from, ahead, acknowledges, asks, room)| {
            Event::Receive { from, ahead, acknowledges, asks, room }
        }),
    ]
}

fn settings(silence: bool, congestion: bool) -> Settings {
    let heard = Silence { heartbeat_after: 2_000, lost_after: 20_000 };
    Settings {
        preset: Preset::Pupa,
        receive_buffers: 3,
        retransmit_after: 1_000,
        retransmit_at_least: Some(100),
        acknowledge_after: 200,
        silence: silence.then_some(heard),
        congestion: congestion.then_some(Congestion { first_packets: 2 }),
        pupa: Pupa { primary_sends: 6, primary_buffers: 2, ..Pupa::new(3, 8) },
        ..Settings::new(3, 2)
    }
}

/// State of a peer of the bench.
#[derive(Default, Clone, Copy)]
struct Peer {
    /// Number of its next packet.
    next: u32,
    /// Number that it expects.
    expects: u32,
}

/// Plays events; after each: what was done, the state, the counters.
fn play(bench: &mut Bench, events: &[Event], is_short: bool) -> Vec<String> {
    let (mut seen, mut buffer, mut now) = (Vec::new(), 100, 0);
    let mut peers = [Peer::default(); 3];
    for event in events {
        let did = match *event {
            Event::Send { to } => {
                buffer += 1;
                Ok(bench.unicast(to, buffer))
            }
            Event::Release if bench.delivered() > 0 => Ok(bench.release_first()),
            Event::Release => Ok(Vec::new()),
            Event::Advance { by } => {
                now += by;
                Ok(bench.advance(now))
            }
            Event::Receive { from, ahead, acknowledges, asks, room } => {
                let peer = &mut peers[usize::from(from)];
                let sent = bench.ni.router.traffic.flows.flow(Rank(from)).sending.next();
                let behind = sent.wrapping_sub(peer.expects).min(acknowledges.into());
                peer.expects = peer.expects.wrapping_add(behind);
                buffer += 1;
                let header = Header {
                    sequence: peer.next.wrapping_add_signed(ahead.into()),
                    acknowledgement: peer.expects,
                    asks,
                    ..ucast(from, room.map_or(0, |room| u16::from(room) + 1))
                };
                let before = bench.delivered();
                let did = match is_short {
                    true => bench.try_receive(header, PacketBody::Buffer(buffer)),
                    false => bench.try_receive_the_long_way(header, PacketBody::Buffer(buffer)),
                };
                let is_taken = bench.delivered() > before;
                peer.next = peer.next.wrapping_add(is_taken.into());
                did
            }
        };
        let mut state = DefaultHasher::new();
        bench.ni.hash(&mut state);
        seen.push(format!("{did:?} {} {:?}", state.finish(), bench.ni.counters()));
    }
    seen
}

proptest! {
    #[test]
    fn the_short_way_is_the_long_way(
        events in prop::collection::vec(event(), 1..120),
        silence in any::<bool>(),
        congestion in any::<bool>(),
    ) {
        let settings = settings(silence, congestion);
        let [mut short, mut long] = [true, false].map(|_| Bench::set_up(0, settings));
        let (short, long) = (play(&mut short, &events, true), play(&mut long, &events, false));
        for (number, (short, long)) in short.iter().zip(&long).enumerate() {
            prop_assert_eq!(short, long, "event {}: {:?}", number, events[number]);
        }
    }
}

#[test]
fn only_what_is_plain_goes_the_short_way() {
    let plain = ucast(1, 0);
    let goes = |bench: &mut Bench, header: Header| bench.goes_short(header, 100);
    let mut bench = Bench::set_up(0, settings(false, false));
    assert!(!goes(&mut bench, Header { asks: true, ..plain }), "it is to be answered");
    assert!(!goes(&mut bench, Header { credits: 1, ..plain }), "it says that there is no room");
    assert!(!goes(&mut bench, Header { sequence: 1, ..plain }), "one before it is missing");
    assert!(!goes(&mut bench, Header { acknowledgement: 1, ..plain }), "nothing was sent");
    assert!(goes(&mut bench, plain));
    assert!(!goes(&mut bench, plain), "it has come");
    assert!(goes(&mut bench, Header { sequence: 1, ..plain }), "the second buffer is its own, too");
    assert!(!goes(&mut bench, Header { sequence: 2, ..plain }), "the third is for everybody");
    bench.release_first();
    assert!(goes(&mut bench, Header { sequence: 2, ..plain }));
}
