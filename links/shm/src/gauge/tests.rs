//! Counts that are asked for and shown.

use super::*;
use crate::segment::{Segment, Settings, create_segment};

fn pages() -> [GaugePage; 2] {
    let settings = Settings::new(1);
    let file = create_segment(&settings).unwrap();
    [true, false].map(|owner| Segment::map(&file, settings, owner).unwrap().gauge())
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
