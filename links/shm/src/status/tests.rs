//! A status that is written and read.

use super::*;
use crate::segment::{Segment, Settings, create_memory};
use std::sync::atomic::AtomicBool;
use weft_link::status::TEXT_BYTES;
use weft_wire::Rank;

/// One page, as its owner and as another process sees it.
fn pages() -> [StatusPage; 2] {
    let settings = Settings { window_packets: 2, frame_bytes: 128, frames: 2, ..Settings::new(1) };
    let file = create_memory(&settings).unwrap();
    [Some(Rank(0)), None].map(|own| {
        let mut segments = Segment::map_all(&file, settings, own).unwrap();
        segments.remove(0).status()
    })
}

fn says(page: &StatusPage, what: &str) {
    page.waits(&Awaited::of_unknown(what));
}

fn read(page: &StatusPage) -> Option<String> {
    page.read()?.awaited.map(|awaited| awaited.what)
}

#[test]
fn others_read_what_a_rank_waits_for() {
    let [own, others] = pages();
    assert_eq!(others.read(), None);
    says(&own, "a message on 'rows'");
    assert_eq!(read(&others).as_deref(), Some("a message on 'rows'"));
    says(&own, "a reply");
    assert_eq!(read(&others).as_deref(), Some("a reply"));
    own.goes_on();
    assert_eq!(others.read().map(|status| status.awaited), Some(None));
}

#[test]
fn who_is_woken_and_who_polls_are_told_apart() {
    let [own, others] = pages();
    let polls = || others.read().map(|status| status.polls);
    says(&own, "a message");
    own.sleeps();
    assert_eq!(polls(), Some(false));
    own.looks();
    own.sleeps();
    assert_eq!(polls(), Some(true));
    says(&own, "a reply");
    assert_eq!(polls(), Some(false));
}

#[test]
fn nobody_reads_halves_of_two_texts() {
    let [own, others] = pages();
    let ended = AtomicBool::new(false);
    let text = |letter: &str| letter.repeat(TEXT_BYTES);
    std::thread::scope(|scope| {
        for letter in ["a", "b"] {
            let (own, ended) = (&own, &ended);
            scope.spawn(move || {
                while !ended.load(Ordering::Relaxed) {
                    says(own, &text(letter));
                }
            });
        }
        let seen = (0..10_000).filter_map(|_| read(&others));
        let wrong = seen.filter(|what| ![text("a"), text("b")].contains(what)).count();
        ended.store(true, Ordering::Relaxed);
        assert_eq!(wrong, 0);
    });
}

#[test]
fn a_page_that_another_process_has_broken_is_read_without_harm() {
    let [own, others] = pages();
    says(&own, "a");
    own.0[2].store(u64::MAX, Ordering::Relaxed);
    assert_eq!(read(&others).map(|what| what.starts_with('a')), Some(true));
    own.0[HEAD].store(u64::MAX, Ordering::Relaxed);
    assert_eq!(others.read(), None);
    // It is being written for ever.
    own.0[0].store(1, Ordering::Relaxed);
    assert_eq!(others.read(), None);
    says(&own, "nothing happens");
    assert_eq!(others.read(), None);
}
