//! Rings that are written and emptied.

use super::*;
use crate::segment::{Segment, Settings, create_memory};
use std::sync::atomic::AtomicBool;
use weft_wire::Rank;

/// One ring of eight events, as its owner and as the launcher sees it.
fn rings() -> [TraceRing; 2] {
    let settings = Settings { trace_events: 8, ..Settings::new(1) };
    let file = create_memory(&settings).unwrap();
    [Some(Rank(0)), None].map(|own| {
        let mut segments = Segment::map_all(&file, settings, own).unwrap();
        segments.remove(0).trace().unwrap()
    })
}

fn spans(events: &[EventWords]) -> Vec<u32> {
    let span = |words| match Event::of_words(words).unwrap().what {
        What::SpanBegins(name) => name,
        other => panic!("{other:?} was not written"),
    };
    events.iter().map(span).collect()
}

#[test]
fn there_is_a_ring_only_if_it_was_asked_for() {
    let settings = Settings::new(1);
    let file = create_memory(&settings).unwrap();
    assert!(Segment::map_all(&file, settings, None).unwrap()[0].trace().is_none());
}

#[test]
fn events_are_taken_once_and_in_order() {
    let [own, launcher] = rings();
    let (mut next, mut events) = (0, Vec::new());
    for round in 0..5 {
        (0..4).for_each(|i| own.record(&What::SpanBegins(4 * round + i)));
        assert_eq!(launcher.take(&mut next, &mut events, false), 0);
    }
    assert_eq!(spans(&events), Vec::from_iter(0..20));
    assert!(events.is_sorted_by_key(|words| words[0]));
}

#[test]
fn of_too_many_the_oldest_are_lost_and_counted() {
    let [own, launcher] = rings();
    let (mut next, mut events) = (0, Vec::new());
    (0..21).for_each(|i| own.record(&What::SpanBegins(i)));
    assert_eq!(launcher.take(&mut next, &mut events, false), 13);
    assert_eq!((next, spans(&events)), (21, Vec::from_iter(13..21)));
}

#[test]
fn an_event_that_its_writer_never_finished_is_lost_once_it_has_ended() {
    let [own, launcher] = rings();
    own.record(&What::SpanBegins(0));
    own.record(&What::SpanBegins(1));
    own.record(&What::SpanBegins(2));
    own.slot_words(1)[0].store(BUSY, Ordering::Relaxed);
    let (mut next, mut events) = (0, Vec::new());
    assert_eq!((launcher.take(&mut next, &mut events, false), next), (0, 1));
    assert_eq!((launcher.take(&mut next, &mut events, true), next), (1, 3));
    assert_eq!(spans(&events), [0, 2]);
}

#[test]
fn a_slot_that_is_still_written_is_nobody_elses() {
    let [own, launcher] = rings();
    own.slot_words(0)[0].store(BUSY, Ordering::Relaxed);
    (0..10).for_each(|i| own.record(&What::SpanBegins(i)));
    let (mut next, mut events) = (0, Vec::new());
    assert_eq!(launcher.take(&mut next, &mut events, true), 3);
    assert_eq!(spans(&events), [2, 3, 4, 5, 6, 7, 9]);
}

#[test]
fn a_head_that_makes_no_sense_ends() {
    let [own, launcher] = rings();
    own.words[0].store(1 << 60, Ordering::Relaxed);
    let (mut next, mut events) = (0, Vec::new());
    assert_eq!(launcher.take(&mut next, &mut events, true), 1 << 60);
    assert!(events.is_empty());
}

#[test]
fn nobody_takes_halves_of_two_events() {
    let [own, launcher] = rings();
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..2u32 {
            let (own, ended) = (&own, &ended);
            scope.spawn(move || {
                for i in 0..200_000 {
                    let number = 2 * i + thread;
                    // Equal numbers in two words of the event.
                    let bytes = u128::from(number).to_le_bytes();
                    let named = weft_trace::NamedThing::Span;
                    own.record(&What::Text { named, number, part: 0, bytes });
                }
                ended.store(true, Ordering::SeqCst);
            });
        }
        let (mut next, mut taken, mut lost) = (0, 0, 0);
        while next < 400_000 {
            let mut events = Vec::new();
            let has_ended = ended.load(Ordering::SeqCst) && next + 8 > 400_000;
            lost += launcher.take(&mut next, &mut events, has_ended);
            taken += events.len() as u64;
            assert!(events.iter().all(|words| words[2] == words[3]), "{events:?}");
        }
        assert_eq!(taken + lost, 400_000);
    });
}
