//! Files for Perfetto, read again.

use super::*;
use crate::analysis::beside::tests::busy_run;
use crate::analysis::tests::traces::any_trace;
use crate::slices::tests::short_run;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Events of the file about the short run.
fn packets() -> Vec<TracePacket> {
    packets_of(&short_run())
}

fn packets_of(trace: &weft_trace::Trace) -> Vec<TracePacket> {
    let mut bytes = Vec::new();
    write(&Analysis::new(trace), &mut bytes).unwrap();
    Trace::decode(&bytes[..]).unwrap().packet
}

/// Time, type and name of the events of a rank, instants last.
fn events(packets: &[TracePacket], rank: u32) -> Vec<(u64, EventType, String)> {
    let of_rank = packets.iter().filter_map(|packet| {
        let event = packet.track_event.as_ref()?;
        let name = event.name.clone().unwrap_or_default();
        (event.track_uuid == Some(track_of(rank)))
            .then(|| (packet.timestamp.unwrap(), event.r#type(), name))
    });
    of_rank.collect()
}

#[test]
fn ranks_are_tracks_of_their_hosts() {
    let packets = packets();
    let tracks = packets.iter().filter_map(|packet| packet.track_descriptor.as_ref());
    let tracks: Vec<_> =
        tracks.map(|track| (track.uuid(), track.name(), track.parent_uuid)).collect();
    let (here, far) = (1, 2);
    assert_eq!(tracks.len(), 4);
    assert_eq!(tracks[1], (track_of(0), "rank 0", Some(here)));
    assert_eq!(tracks[2..], [(far, "far", None), (track_of(1), "rank 1", Some(far))]);
    assert!(packets.iter().all(|packet| packet.trusted_packet_sequence_id() == SEQUENCE));
}

#[test]
fn slices_lie_in_one_another_in_the_order_of_time() {
    use EventType::{Instant, SliceBegin, SliceEnd};
    let packets = packets();
    let expected = [
        (0, SliceBegin, "solve"),
        (0, SliceBegin, "computing"),
        (1_000, SliceEnd, ""),
        (1_000, SliceBegin, "waiting"),
        (5_000, SliceEnd, ""),
        (5_000, SliceBegin, "computing"),
        (9_000, SliceEnd, ""),
        (9_000, SliceEnd, ""),
        (6_000, Instant, "packet is taken"),
    ];
    let expected = expected.map(|(time, of, name)| (time, of, name.to_owned()));
    assert_eq!(events(&packets, 1), expected);
    let waits = packets.iter().filter_map(|packet| packet.track_event.as_ref());
    let waits: Vec<_> = waits.filter(|event| event.name() == "waiting").collect();
    assert_eq!(waits[0].debug_annotations, [said("for", "a message")]);
}

#[test]
fn flows_lead_from_where_packets_leave_to_where_they_are_taken() {
    let packets = packets();
    let events = packets.iter().filter_map(|packet| packet.track_event.as_ref());
    let instants: Vec<_> = events.filter(|event| event.r#type() == EventType::Instant).collect();
    let [leaves, is_taken] = instants[..] else { panic!("{instants:?}") };
    assert_eq!((leaves.name(), leaves.track_uuid()), ("packet leaves", track_of(0)));
    assert_eq!((is_taken.name(), is_taken.track_uuid()), ("packet is taken", track_of(1)));
    assert_eq!((&leaves.flow_ids[..], &is_taken.terminating_flow_ids[..]), (&[1][..], &[1][..]));
    assert!(is_taken.debug_annotations.contains(&counted("bytes", 8)));
}

#[test]
fn broadcasts_are_flows_to_all_ranks_and_copies_are_instants() {
    let packets = packets_of(&busy_run());
    let events: Vec<_> = packets.iter().filter_map(|of| of.track_event.as_ref()).collect();
    let named = |name: &str| events.iter().filter(|event| event.name() == name).collect::<Vec<_>>();
    let [first] = named("'moves' 0 submitted")[..] else { panic!("{events:?}") };
    let [second] = named("'moves' 1 submitted")[..] else { panic!("{events:?}") };
    assert_eq!((&first.flow_ids[..], &second.flow_ids[..]), (&[1, 2][..], &[3, 4][..]));
    let delivered = named("'moves' 1 delivered");
    let ends: Vec<_> = delivered.iter().map(|event| event.terminating_flow_ids[0]).collect();
    assert_eq!((first.track_uuid(), &ends[..]), (track_of(0), &[3, 4][..]));
    let puts = named("put without a packet");
    assert_eq!(puts[0].debug_annotations, [counted("to", 1), counted("bytes", 4096)]);
    assert_eq!((puts.len(), named("get without a packet").len()), (2, 1));
}

#[test]
fn popups_at_one_time_have_tracks_of_their_own() {
    let packets = packets_of(&busy_run());
    let tracks = packets.iter().filter_map(|packet| packet.track_descriptor.as_ref());
    let popups = tracks.filter(|track| track.parent_uuid == Some(track_of(1)));
    let popups: Vec<_> = popups.map(|track| track.uuid()).collect();
    assert_eq!(popups, [popup_track_of(1, 0), popup_track_of(1, 1)]);
    let times = |track| {
        let of = packets.iter().filter(move |packet| {
            packet.track_event.as_ref().is_some_and(|event| event.track_uuid() == track)
        });
        of.map(|packet| packet.timestamp.unwrap()).collect::<Vec<_>>()
    };
    assert_eq!((times(popups[0]), times(popups[1])), (vec![100, 400], vec![150, 1_100]));
}

/// Rules that the Perfetto UI and its trace processor rely on: a track is described before it is
/// used, and after its parent; slices of a track lie in one another, all end, and go forward in
/// time; a flow has one beginning and one end.
fn follows_the_rules(packets: &[TracePacket]) {
    let (mut described, mut open) = (BTreeSet::new(), BTreeMap::<u64, (u64, u64)>::new());
    let mut flows = BTreeMap::<u64, [u32; 2]>::new();
    for packet in packets {
        if let Some(track) = &packet.track_descriptor {
            assert!(
                track.parent_uuid.is_none_or(|parent| described.contains(&parent)),
                "{track:?}"
            );
            assert!(described.insert(track.uuid()), "{track:?} is described twice");
        }
        let Some(event) = &packet.track_event else { continue };
        assert!(described.contains(&event.track_uuid()), "{event:?}");
        for (flow, end) in event
            .flow_ids
            .iter()
            .map(|flow| (flow, 0))
            .chain(event.terminating_flow_ids.iter().map(|flow| (flow, 1)))
        {
            flows.entry(*flow).or_default()[end] += 1;
        }
        let (depth, last) = open.entry(event.track_uuid()).or_default();
        match event.r#type() {
            EventType::SliceBegin => *depth += 1,
            EventType::SliceEnd => *depth = depth.checked_sub(1).expect("what ends has begun"),
            _ => continue,
        }
        assert!(packet.timestamp.unwrap() >= *last, "{packet:?} goes back");
        *last = packet.timestamp.unwrap();
    }
    assert!(open.values().all(|(depth, _)| *depth == 0), "{open:?}");
    assert!(flows.values().all(|ends| *ends == [1, 1]), "{flows:?}");
}

#[test]
fn runs_follow_the_rules_of_the_viewer() {
    follows_the_rules(&packets());
    follows_the_rules(&packets_of(&busy_run()));
}

proptest! {
    #[test]
    fn any_trace_follows_the_rules_of_the_viewer(trace in any_trace()) {
        follows_the_rules(&packets_of(&trace));
    }
}
