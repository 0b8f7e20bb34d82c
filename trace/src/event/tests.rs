//! Tests of the words of events.

use super::*;
use proptest::prelude::*;

fn packet() -> impl Strategy<Value = PacketEvent> {
    let numbers = (any::<u16>(), 1..=12u8, 0..16u8, any::<u16>(), any::<u32>(), any::<u16>());
    (numbers, proptest::option::of(0..u16::MAX), any::<[u8; TEXT_BYTES]>()).prop_map(
        |((peer, tag, protocol, size, sequence, root), group, head)| PacketEvent {
            peer: Rank(peer),
            tag: Tag::try_from(tag).unwrap(),
            protocol: Protocol::numbered(protocol).unwrap(),
            size,
            sequence,
            root: Rank(root),
            group: group.map(GroupId),
            head,
        },
    )
}

fn named() -> impl Strategy<Value = NamedThing> {
    prop_oneof![
        Just(NamedThing::Span),
        Just(NamedThing::Port),
        Just(NamedThing::Wait),
        Just(NamedThing::Order)
    ]
}

/// Events of a number, a count, or a peer.
fn numbered() -> impl Strategy<Value = What> {
    (0..10u8, any::<u32>(), any::<u64>(), any::<u16>()).prop_map(|(kind, number, count, peer)| {
        match kind {
            0 => What::HandlerGoesOn(number),
            1 => What::PopupBegins { port: number, run: count },
            2 => What::PopupEnds { port: number, run: count },
            3 => What::Submitted { order: number, number: count },
            4 => What::Delivered { order: number, number: count, from: Rank(peer) },
            5 => What::Put { to: Rank(peer), bytes: count },
            6 => What::WaitsFor(Rank(peer)),
            7 => What::Counted { counter: number as u8, more: count },
            8 => What::Looked { times: count, longest_ns: number.into() },
            _ => What::Got { from: Rank(peer), bytes: count },
        }
    })
}

fn what() -> impl Strategy<Value = What> {
    let text = (named(), any::<u32>(), any::<u8>(), any::<[u8; TEXT_BYTES]>())
        .prop_map(|(named, number, part, bytes)| What::Text { named, number, part, bytes });
    prop_oneof![
        packet().prop_map(What::Sent),
        packet().prop_map(What::Received),
        Just(What::WaitBegins),
        Just(What::WaitEnds),
        Just(What::SleepBegins),
        Just(What::SleepEnds),
        any::<u32>().prop_map(What::SpanBegins),
        any::<u32>().prop_map(What::SpanEnds),
        any::<u32>().prop_map(What::HandlerBegins),
        any::<u32>().prop_map(What::HandlerEnds),
        Just(What::Interrupted),
        any::<u32>().prop_map(What::Meets),
        any::<u32>().prop_map(What::Unexpected),
        (any::<u64>(), any::<u64>())
            .prop_map(|(on_core_ns, run_delay_ns)| What::Scheduled { on_core_ns, run_delay_ns }),
        text,
        numbered(),
    ]
}

proptest! {
    #[test]
    fn words_are_the_event_again(time: u64, what in what()) {
        let event = Event { time, what };
        prop_assert_eq!(Event::of_words(&event.to_words()), Some(event));
    }

    #[test]
    fn any_words_are_an_event_or_none(words: EventWords) {
        if let Some(event) = Event::of_words(&words) {
            prop_assert_eq!(Event::of_words(&event.to_words()), Some(event));
        }
    }
}
