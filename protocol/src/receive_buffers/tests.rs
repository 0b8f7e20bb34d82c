use super::*;
use crate::preset::Preset;
use crate::settings::Pupa;

/// Two primary buffers of each sender, and three for all.
fn settings() -> Settings {
    Settings {
        preset: Preset::Pupa,
        receive_buffers: 3,
        pupa: Pupa { primary_buffers: 2, ..Pupa::new(3, 100) },
        ..Settings::new(3, 8)
    }
}

#[test]
fn a_sender_fills_its_own_buffers_before_those_for_all() {
    let settings = settings();
    let (mut buffers, mut one, mut other) =
        (ReceiveBuffers::default(), Receiving::default(), Receiving::default());
    for room in [5, 4, 3, 2, 1] {
        assert_eq!(buffers.room(&one, &settings), room);
        assert!(buffers.has_any(Some(&one), &settings));
        buffers.fill(&mut one, &settings);
    }
    assert!(!buffers.has_any(Some(&one), &settings));
    assert_eq!((buffers.room(&one, &settings), buffers.room(&other, &settings)), (0, 2));
    buffers.fill(&mut other, &settings);
    assert_eq!(buffers.used(), 6);
    let shared: Vec<bool> = (0..5).map(|_| buffers.vacate(&mut one, &settings)).collect();
    assert_eq!(shared, [true, true, true, false, false]);
    assert_eq!((buffers.used(), buffers.room(&one, &settings)), (1, 5));
}

#[test]
fn buffers_for_all_are_shared_with_those_who_were_refused_one() {
    let (settings, receiving) = (settings(), Receiving::default());
    let mut buffers = ReceiveBuffers::default();
    buffers.refused.extend([Rank(1), Rank(2)]);
    assert_eq!(buffers.room(&receiving, &settings), 2 + 1);
    buffers.refused.push_back(Rank(3));
    assert_eq!(buffers.room(&receiving, &settings), 2 + 1, "one, if there is any");
}

#[test]
#[should_panic(expected = "I4 one owner")]
fn a_buffer_is_released_once() {
    let (settings, mut receiving) = (settings(), Receiving::default());
    ReceiveBuffers::default().vacate(&mut receiving, &settings);
}
