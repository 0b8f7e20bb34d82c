use super::*;
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

fn message() -> impl Strategy<Value = AgreementMessage> {
    let kind = prop_oneof![Just(BallotKind::Contribution), Just(BallotKind::Decision)];
    let lost = btree_set(any::<u16>(), 0..9);
    (kind, any::<u32>(), any::<u16>(), any::<u64>(), lost).prop_map(
        |(kind, number, ballot, flags, lost)| {
            let lost = lost.into_iter().map(Rank).collect();
            AgreementMessage { kind, number, ballot: Rank(ballot), flags, lost }
        },
    )
}

/// Bytes of nearly the right form.
fn nearly() -> impl Strategy<Value = Vec<u8>> {
    (26..30_u8, vec(any::<u8>(), FRONT - 1), vec(0..4_u8, 0..8))
        .prop_map(|(kind, front, lost)| [vec![kind], front, lost].concat())
}

proptest! {
    #[test]
    fn messages_come_back_as_they_went(message in message()) {
        let bytes = message.emit();
        prop_assert_eq!(AgreementMessage::parse(&bytes), Ok(message));
        for length in 0..FRONT {
            prop_assert_eq!(AgreementMessage::parse(&bytes[..length]), Err(AgreementViolation::Malformed));
        }
    }

    #[test]
    fn what_is_parsed_is_what_is_written(
        bytes in prop_oneof![nearly(), vec(any::<u8>(), 0..40)],
    ) {
        match AgreementMessage::parse(&bytes) {
            Ok(message) => prop_assert_eq!(message.emit(), bytes),
            Err(violation) => prop_assert_eq!(violation, AgreementViolation::Malformed),
        }
    }
}

#[test]
fn what_nobody_writes_is_no_message() {
    let lost = vec![Rank(3), Rank(300)];
    let kind = BallotKind::Contribution;
    let bytes = AgreementMessage { kind, number: 7, ballot: Rank(1), flags: 5, lost }.emit();
    assert_eq!(bytes.len(), FRONT + 4);
    let swapped = [&bytes[..FRONT], &bytes[FRONT + 2..], &bytes[FRONT..FRONT + 2]].concat();
    let twice = [&bytes[..], &bytes[FRONT + 2..]].concat();
    let odd = &bytes[..FRONT + 3];
    for bytes in [&swapped[..], &twice, odd, &[]] {
        assert_eq!(AgreementMessage::parse(bytes), Err(AgreementViolation::Malformed), "{bytes:?}");
    }
    for kind in (0..=u8::MAX).filter(|kind| ![CONTRIBUTION, DECISION].contains(kind)) {
        let mut bytes = bytes.clone();
        bytes[0] = kind;
        assert_eq!(
            AgreementMessage::parse(&bytes),
            Err(AgreementViolation::Malformed),
            "kind {kind}"
        );
    }
}

/// Adds a message of each kind that is read to the list of bytes.
#[cfg(not(loom))]
pub(crate) fn add_to(entries: &mut weft_golden::Entries) {
    for byte in 0..=u8::MAX {
        let Ok(message) = AgreementMessage::parse(&[&[byte][..], &[0; FRONT - 1]].concat()) else {
            continue;
        };
        let message = AgreementMessage {
            kind: message.kind,
            number: 0x0102_0304,
            ballot: Rank(0x1112),
            flags: 0x2122_2324_2526_2728,
            lost: vec![Rank(0x3132), Rank(0x4142)],
        };
        weft_golden::add(entries, format!("agreement {:?}", message.kind), message.emit());
    }
}
