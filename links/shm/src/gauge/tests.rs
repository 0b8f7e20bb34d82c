//! Counts that are asked for and shown.

use super::*;
use crate::segment::{Segment, Settings, create_memory};
use weft_wire::Rank;

fn pages() -> [GaugePage; 2] {
    let settings = Settings::new(1);
    let file = create_memory(&settings).unwrap();
    [Some(Rank(0)), None].map(|own| {
        let mut segments = Segment::map_all(&file, settings, own).unwrap();
        segments.remove(0).gauge()
    })
}

#[test]
fn counts_are_wanted_once_somebody_asks() {
    let [own, launcher] = pages();
    assert!(!own.is_wanted());
    launcher.ask();
    assert!(own.is_wanted());
}

#[test]
fn counts_are_read_as_they_were_shown() {
    let [own, launcher] = pages();
    assert_eq!(launcher.read(), None);
    let mut counts = Counts::of_words(std::array::from_fn(|word| word as u64 + 1));
    own.show(&counts);
    let (first, read) = launcher.read().unwrap();
    assert_eq!(read, counts);
    counts.sleeps = 77;
    own.show(&counts);
    let (second, read) = launcher.read().unwrap();
    assert_eq!(read, counts);
    assert_ne!(first, second);
    own.words[0].store(5, Ordering::Relaxed);
    assert_eq!(launcher.read(), None, "they are being written");
}
