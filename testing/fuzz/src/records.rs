//! Bytes that come on a TCP connection: a hello, then records, from anybody.

use weft_bulk::{Expected, PAYLOAD_MAX};
use weft_wire::{Rank, envelope, network};

/// Bytes that no record is longer than.
const MOST: usize = envelope::SIZE + network::SIZE + PAYLOAD_MAX + 16;

/// The first byte says what is known of the other end and how records are protected; the rest is
/// what comes. As in a reader, nothing behind what is no record is looked at.
pub fn stream(data: &[u8]) {
    let Some((&first, mut rest)) = data.split_first() else { return };
    let source = (first & 1 != 0).then_some(Rank(0));
    let trailer_bytes = if first & 2 != 0 { 16 } else { 0 };
    let mut expected = Expected { job: 0, source, own: Rank(1), trailer_bytes };
    loop {
        // A reader asks again with each byte that comes, and is told the same.
        for have in 0..rest.len().min(envelope::SIZE) {
            assert_eq!(expected.record_bytes(&rest[..have]), Ok(None), "too few to tell");
        }
        let Ok(Some(bytes)) = expected.record_bytes(rest) else { return };
        assert!(bytes > envelope::SIZE && bytes <= MOST, "{bytes} bytes");
        match expected.source {
            None => assert_eq!(bytes, expected.hello_bytes(), "strangers say a hello"),
            Some(source) => {
                let parsed = envelope::parse(rest).map(|envelope| envelope.source);
                assert_eq!(parsed, Ok(source), "of the rank that said hello");
            }
        }
        let Some(behind) = rest.get(bytes..) else { return };
        expected.source = envelope::parse(rest).ok().map(|envelope| envelope.source);
        rest = behind;
    }
}
