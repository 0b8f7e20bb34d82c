use super::*;
use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;

fn message() -> impl Strategy<Value = Message> {
    let rank = || any::<u16>().prop_map(Rank);
    let lost = || btree_map(rank(), of(0..NO_CUT), 0..5);
    let numbers = (any::<u64>(), any::<u64>());
    prop_oneof![
        (lost(), any::<u64>()).prop_map(|(lost, next)| Message::Report(Report { lost, next })),
        (lost(), numbers, rank(), btree_map(rank(), any::<u64>(), 0..5)).prop_map(
            |(lost, (next, base), home, nexts)| {
                Message::Begin(Begin { lost, next, base, home, nexts })
            }
        ),
        (any::<u16>(), any::<u64>(), rank(), vec(any::<u8>(), 0..20)).prop_map(
            |(epoch, number, from, bytes)| {
                Message::Fill(Fill { epoch, number, from, bytes: bytes.into() })
            }
        ),
    ]
}

proptest! {
    #[test]
    fn messages_come_back_as_they_went(message in message()) {
        let bytes = message.emit();
        prop_assert_eq!(Message::parse(&bytes), Ok(message));
    }

    #[test]
    fn what_is_parsed_is_what_is_written(mut bytes in vec(0..4_u8, 0..60)) {
        for kind in REPORT..=FILL {
            bytes.insert(0, kind);
            match Message::parse(&bytes) {
                Ok(message) => prop_assert_eq!(message.emit(), bytes.clone()),
                Err(violation) => prop_assert_eq!(violation, Violation::Malformed),
            }
        }
    }
}

#[test]
fn what_nobody_writes_is_no_message() {
    let lost = BTreeMap::from([(Rank(3), None), (Rank(300), Some(7))]);
    let bytes = Message::Report(Report { lost, next: 9 }).emit();
    let swapped = [&bytes[..11], &bytes[21..], &bytes[11..21]].concat();
    let short = &bytes[..bytes.len() - 1];
    let long = [&bytes[..], &[0]].concat();
    let other = [&[FILL + 1], &bytes[1..]].concat();
    for bytes in [&swapped[..], short, &long, &other, &[]] {
        assert_eq!(Message::parse(bytes), Err(Violation::Malformed), "{bytes:?}");
    }
}
