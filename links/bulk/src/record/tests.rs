use super::*;
use proptest::collection::vec;
use proptest::prelude::*;

const EXPECTED: Expected = Expected { job: 7, source: None, own: Rank(1), trailer_bytes: 0 };
const KNOWN: Expected = Expected { source: Some(Rank(0)), ..EXPECTED };

fn envelope(kind: FrameKind, length: u32) -> Envelope {
    let (source, destination) = (Rank(0), Rank(1));
    Envelope { kind, job: 7, source, destination, length, sequence: 1, tag: 2 }
}

fn bytes_of(expected: &Expected, envelope: &Envelope) -> Result<Option<usize>, BadRecord> {
    expected.record_bytes(&envelope::emit(envelope))
}

#[test]
fn records_say_how_long_they_are() {
    let longest = (network::SIZE + PAYLOAD_MAX) as u32;
    assert_eq!(bytes_of(&EXPECTED, &envelope(FrameKind::HELLO, 8)), Ok(Some(40)));
    assert_eq!(bytes_of(&KNOWN, &envelope(FrameKind::PACKETS, 24)), Ok(Some(56)));
    let whole = envelope::SIZE + longest as usize;
    assert_eq!(bytes_of(&KNOWN, &envelope(FrameKind::PACKETS, longest)), Ok(Some(whole)));
    assert_eq!(KNOWN.record_bytes(&[0; envelope::SIZE - 1]), Ok(None));
}

#[test]
fn everything_else_is_refused() {
    let longest = (network::SIZE + PAYLOAD_MAX) as u32;
    let packets = envelope(FrameKind::PACKETS, 24);
    let refused = [
        (Envelope { job: 8, ..packets }, BadRecord::Ranks),
        (Envelope { source: Rank(2), ..packets }, BadRecord::Ranks),
        (Envelope { source: Rank(1), ..packets }, BadRecord::Ranks),
        (Envelope { destination: Rank(0), ..packets }, BadRecord::Ranks),
        (Envelope { destination: envelope::EVERYBODY, ..packets }, BadRecord::Ranks),
        (envelope(FrameKind::HELLO, 8), BadRecord::Kind),
        (envelope(FrameKind::PIECE, 24), BadRecord::Kind),
        (envelope(FrameKind::PACKETS, 23), BadRecord::Length),
        (envelope(FrameKind::PACKETS, longest + 1), BadRecord::Length),
        (envelope(FrameKind::PACKETS, u32::MAX), BadRecord::Length),
    ];
    for (record, reason) in refused {
        assert_eq!(bytes_of(&KNOWN, &record), Err(reason), "{record:?}");
    }
    assert_eq!(bytes_of(&EXPECTED, &packets), Err(BadRecord::Kind));
    assert_eq!(bytes_of(&EXPECTED, &envelope(FrameKind::HELLO, 9)), Err(BadRecord::Length));
    assert_eq!(KNOWN.record_bytes(&[0; 64]), Err(BadRecord::Foreign));
}

proptest! {
    #[test]
    fn no_bytes_announce_more_than_a_record(
        bytes in vec(any::<u8>(), 0..64),
        kind in 0..8u8,
        length in any::<u32>(),
        known in any::<bool>(),
        trailer_bytes in prop_oneof![Just(0usize), Just(16)],
    ) {
        let expected = Expected { trailer_bytes, ..if known { KNOWN } else { EXPECTED } };
        let head = envelope::emit(&envelope(FrameKind(kind), length));
        for start in [&bytes[..], &head[..]] {
            if let Ok(Some(bytes)) = expected.record_bytes(start) {
                prop_assert!(bytes > envelope::SIZE && bytes <= RECORD_MAX);
            }
        }
    }
}
