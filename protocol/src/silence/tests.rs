//! Heartbeats and losses, tick by tick.

use super::*;
use crate::tests::recorder::{Bench, Did, acknowledge_nothing, ucast};
use crate::{Contradiction, PacketBody, Preset, Settings, Silence, Timer};

const SILENCE: Silence = Silence { heartbeat_after: 200, lost_after: 1000 };

fn bench(preset: Preset) -> Bench {
    let settings = Settings {
        preset,
        silence: Some(SILENCE),
        retransmit_after: 1_000_000,
        acknowledge_after: 500_000,
        ..Settings::new(3, 4)
    };
    Bench::set_up(0, settings)
}

/// Receives a packet, in the NI or, if it is left to it, the host.
fn hears(bench: &mut Bench, header: weft_wire::Header, body: PacketBody<u64>) -> Vec<Did> {
    let did = bench.receive(header, body);
    if did == [Did::Defer(header.tag)] { bench.host_receive() } else { did }
}

fn heartbeat() -> Did {
    Did::Transmit(Rank(1), acknowledge_nothing(0), PacketBody::Empty)
}

#[test]
fn who_is_not_heard_of_is_lost_once() {
    for preset in [Preset::IrxImc, Preset::Pupa] {
        let mut bench = bench(preset);
        assert_eq!(bench.ni.next_deadline(), None, "nobody was met");
        bench.unicast(1, 90);
        assert_eq!(bench.ni.next_deadline(), Some((200, Timer::Silence)));
        for now in [200, 400, 600, 800] {
            assert_eq!(bench.advance(now), [heartbeat()], "{preset} at {now}");
            assert_eq!(bench.advance(now + 199), []);
        }
        assert_eq!(bench.advance(1000), [Did::Unreachable(Rank(1))]);
        assert_eq!(bench.advance(5000), []);
        assert_eq!(bench.ni.next_deadline(), Some((1_000_000, Timer::Retransmit)));
        assert_eq!((bench.ni.counters().heartbeats, bench.ni.counters().peers_lost), (4, 1));
    }
}

/// Whoever starts such a peer says if it does not come; once it has come it is like the others.
#[test]
fn a_peer_that_comes_later_may_be_silent_until_it_is_heard_of() {
    for preset in [Preset::IrxImc, Preset::Pupa] {
        let settings = *bench(preset).ni.settings();
        let mut bench = Bench::set_up(0, Settings { founders: 1, ..settings });
        bench.unicast(1, 90);
        assert_eq!(bench.ni.next_deadline(), Some((1_000_000, Timer::Retransmit)));
        assert_eq!(bench.advance(5000), [], "{preset}");
        hears(&mut bench, acknowledge_nothing(1), PacketBody::Empty);
        assert_eq!(bench.ni.next_deadline(), Some((5200, Timer::Silence)));
        assert_eq!(bench.advance(5200), [heartbeat()]);
        for now in [5400, 5600, 5800] {
            assert_eq!(bench.advance(now).len(), 1);
        }
        assert_eq!(bench.advance(6000), [Did::Unreachable(Rank(1))]);
    }
}

#[test]
fn a_peer_that_says_anything_lives_and_one_that_is_told_anything_needs_no_heartbeat() {
    let mut bench = bench(Preset::Pupa);
    bench.unicast(1, 90);
    for now in [150, 300, 450] {
        assert_eq!(bench.advance(now), []);
        bench.unicast(1, now);
    }
    assert_eq!(bench.advance(600), []);
    bench.receive(acknowledge_nothing(1), PacketBody::Empty);
    for now in [650, 850, 1050, 1250, 1450] {
        assert_eq!(bench.advance(now), [heartbeat()]);
    }
    assert_eq!(bench.advance(1600), [Did::Unreachable(Rank(1))]);
}

#[test]
fn who_does_not_listen_does_not_judge() {
    let mut bench = bench(Preset::Pupa);
    bench.receive(ucast(1, 0), PacketBody::Buffer(200));
    assert_eq!(bench.advance(7_000), [heartbeat_of_one()]);
    assert_eq!(bench.ni.counters().peers_lost, 0);
    for now in [7_200, 7_400, 7_600, 7_800] {
        assert_eq!(bench.advance(now).len(), 1);
    }
    assert_eq!(bench.advance(8_000), [Did::Unreachable(Rank(1))]);
}

/// The next packet to rank 1 once it has sent one.
fn heartbeat_of_one() -> Did {
    let header = acknowledge_nothing(0);
    let header = weft_wire::Header { sequence: 1, acknowledgement: 1, ..header };
    Did::Transmit(Rank(1), header, PacketBody::Empty)
}

#[test]
fn nobody_is_lost_between_two_heartbeats() {
    let silence = Silence { lost_after: 500, ..SILENCE };
    let settings = Settings { silence: Some(silence), ..Settings::new(2, 2) };
    let Silence { heartbeat_after, lost_after } = silence;
    assert_eq!(settings.check(), Err(Contradiction::Silence { heartbeat_after, lost_after }));
    assert_eq!(Settings { silence: Some(Silence::default()), ..settings }.check(), Ok(()));
}

#[test]
fn who_says_farewell_may_be_silent_for_ever() {
    for preset in [Preset::IrxImc, Preset::Pupa, Preset::HrxHmc] {
        let mut bench = bench(preset);
        hears(&mut bench, ucast(1, 0), PacketBody::Buffer(200));
        let farewell = weft_wire::Header {
            sequence: 1,
            tag: Tag::Farewell,
            size: 0,
            asks: true,
            ..ucast(1, 0)
        };
        let told = hears(&mut bench, farewell, PacketBody::Empty);
        assert!(
            matches!(told[..], [Did::Transmit(Rank(1), header, PacketBody::Empty)]
                if header.tag == Tag::Acknowledge && header.acknowledgement == 2),
            "{told:?}"
        );
        let later: Vec<Did> = (1..100).flat_map(|time| bench.advance(time * 10_000)).collect();
        assert_eq!(later, [], "neither heartbeat nor loss");
        assert_eq!(bench.ni.next_deadline(), None);
    }
}

#[test]
fn a_farewell_goes_to_all_that_were_met_until_they_acknowledge_it() {
    let mut bench = bench(Preset::IrxImc);
    assert_eq!(bench.disconnect(), [], "nobody would miss this rank");
    bench.receive(ucast(1, 0), PacketBody::Buffer(200));
    let farewell = |did: &[Did]| {
        matches!(did, [Did::Transmit(Rank(1), header, PacketBody::Empty), ..]
            if header.tag == Tag::Farewell && header.sequence == 0 && header.acknowledgement == 1)
    };
    assert!(farewell(&bench.disconnect()));
    assert!(!bench.ni.is_flushed());
    bench.receive(acknowledge_nothing(1), PacketBody::Empty);
    assert!((1..5000).any(|time| farewell(&bench.advance(time * 1000))), "it is sent again");
    let acknowledgement = weft_wire::Header { acknowledgement: 1, ..acknowledge_nothing(1) };
    bench.receive(acknowledgement, PacketBody::Empty);
    assert!(bench.ni.is_flushed());
}

#[test]
fn who_has_said_farewell_takes_silence_for_the_answer() {
    for preset in [Preset::IrxImc, Preset::Pupa, Preset::HrxHmc] {
        let mut bench = bench(preset);
        bench.unicast(1, 90);
        let acknowledgement = weft_wire::Header { acknowledgement: 1, ..acknowledge_nothing(1) };
        hears(&mut bench, acknowledgement, PacketBody::Empty);
        bench.disconnect();
        assert!(!bench.ni.is_flushed());
        let did: Vec<Did> = (1..20).flat_map(|time| bench.advance(time * 100)).collect();
        assert!(!did.contains(&Did::Unreachable(Rank(1))), "{preset}");
        assert!(bench.ni.is_flushed(), "{preset}");
        assert_eq!(bench.ni.next_deadline(), None, "{preset}");
    }
}

#[test]
fn who_has_said_farewell_and_more_does_not() {
    for preset in [Preset::IrxImc, Preset::Pupa, Preset::HrxHmc] {
        let mut bench = bench(preset);
        bench.unicast(1, 90);
        bench.disconnect();
        let did: Vec<Did> = (1..20).flat_map(|time| bench.advance(time * 100)).collect();
        assert!(did.contains(&Did::Unreachable(Rank(1))), "{preset}");
    }
}

#[test]
fn what_is_sent_to_who_is_gone_is_kept_for_one_time_out() {
    for preset in [Preset::IrxImc, Preset::Pupa] {
        let mut bench = bench(preset);
        bench.receive(ucast(1, 0), PacketBody::Buffer(200));
        let farewell =
            weft_wire::Header { sequence: 1, tag: Tag::Farewell, size: 0, ..ucast(1, 0) };
        bench.receive(farewell, PacketBody::Empty);
        for buffer in 0..20 {
            bench.unicast(1, buffer);
        }
        assert!(!bench.ni.is_flushed());
        let did: Vec<Did> = (1..200).flat_map(|time| bench.advance(time * 100_000)).collect();
        let freed = (0..20).filter(|&buffer| did.contains(&Did::Free(buffer))).count();
        assert_eq!(freed, 20, "{preset}: {did:?}");
        assert!(bench.ni.is_flushed());
    }
}

/// Actions of rank 0, with their times, in 50,000 ticks after it has sent a packet of `size` bytes
/// that does not get through, while rank 1 sends `says` every 150 ticks.
fn in_vain(size: u16, says: weft_wire::Header) -> Vec<(u64, Did)> {
    in_vain_for(10, size, says)
}

/// Does what [`in_vain`] does, where a packet is sent again after so many ticks.
fn in_vain_for(retransmit_after: u64, size: u16, says: weft_wire::Header) -> Vec<(u64, Did)> {
    let settings = Settings {
        preset: Preset::Pupa,
        silence: Some(SILENCE),
        retransmit_after,
        retransmit_at_least: None,
        ..Settings::new(3, 4)
    };
    let mut bench = Bench::set_up(0, settings);
    bench.unicast_of(1, 90, size);
    let mut did = Vec::new();
    for now in (10..50_000).step_by(10) {
        did.extend(bench.advance(now).into_iter().map(|did| (now, did)));
        if now % 150 == 0 {
            did.extend(bench.receive(says, PacketBody::Empty).into_iter().map(|did| (now, did)));
        }
    }
    did
}

#[test]
fn a_long_packet_that_never_gets_through_though_short_ones_do_is_said_once() {
    let did = in_vain(600, acknowledge_nothing(1));
    let narrow = |(_, did): &&(u64, Did)| matches!(did, Did::MtuExceeded(..));
    let said: Vec<_> = did.iter().filter(narrow).collect();
    let [(when, Did::MtuExceeded(Rank(1), 600))] = said[..] else { panic!("{said:?}") };
    assert!(*when >= 2 * SILENCE.lost_after, "{when}");
    let sent = |(at, did): &&(u64, Did)| {
        at <= when && matches!(did, Did::Transmit(_, header, _) if header.tag == Tag::Ucast)
    };
    assert_eq!(did.iter().filter(sent).count(), 21);
}

#[test]
fn a_narrow_way_is_known_as_soon_where_packets_are_sent_again_late() {
    for retransmit_after in [20, 60, 120] {
        let did = in_vain_for(retransmit_after, 600, acknowledge_nothing(1));
        let said = did.iter().find(|(_, did)| matches!(did, Did::MtuExceeded(..)));
        let (when, _) = said.expect("it is said");
        assert!(*when <= 4 * SILENCE.lost_after, "{retransmit_after}: {when}");
    }
}

#[test]
fn nobody_is_accused_of_a_narrow_way_for_a_short_packet_or_one_that_has_come_or_finds_no_room() {
    let nothing = acknowledge_nothing(1);
    let accepted = weft_wire::Header { sequence: 1, ..nothing };
    let no_room = weft_wire::Header { credits: 1, ..nothing };
    for (size, says) in [(512, nothing), (600, accepted), (600, no_room)] {
        let did = in_vain(size, says);
        let accused =
            |(_, did): &(u64, Did)| matches!(did, Did::MtuExceeded(..) | Did::Unreachable(_));
        assert!(!did.iter().any(accused), "{size}, {says:?}");
    }
}

/// The news that rank 2 was lost, from rank 1, for the cause with number 777.
fn news() -> weft_wire::Header {
    let tree = TreeId::unicast(Rank(2));
    weft_wire::Header { tag: Tag::Lost, tree, sequence: 777, ..acknowledge_nothing(1) }
}

#[test]
fn a_loss_is_told_to_all_but_the_lost() {
    let mut bench = bench(Preset::IrxImc);
    let header = weft_wire::Header { source: Rank(0), ..news() };
    assert_eq!(bench.tell_loss(2, 777), [Did::Transmit(Rank(1), header, PacketBody::Empty)]);
    bench.receive(ucast(1, 0), PacketBody::Buffer(200));
    bench.unicast(2, 90);
    let header = weft_wire::Header { acknowledgement: 1, ..header };
    assert_eq!(bench.tell_loss(2, 777), [Did::Transmit(Rank(1), header, PacketBody::Empty)]);
}

#[test]
fn the_first_news_of_a_loss_is_believed() {
    for preset in [Preset::IrxImc, Preset::Pupa, Preset::HrxHmc, Preset::HrxImc] {
        let mut bench = bench(preset);
        assert_eq!(hears(&mut bench, news(), PacketBody::Empty), [Did::Lost(Rank(2), 777)]);
        assert_eq!(bench.tell_loss(2, 777), [], "{preset}: all know");
        assert_eq!(
            hears(&mut bench, news(), PacketBody::Empty),
            [],
            "{preset}: it comes several times"
        );
    }
}

#[test]
fn nobody_is_told_of_its_own_loss_or_of_that_of_nobody() {
    for tree in [0, 3].map(|rank| TreeId::unicast(Rank(rank))) {
        let mut bench = bench(Preset::IrxImc);
        let header = weft_wire::Header { tree, ..news() };
        let violation = crate::Violation::Tree(Rank(1), tree);
        assert_eq!(bench.try_receive(header, PacketBody::Empty), Err(violation));
    }
}
