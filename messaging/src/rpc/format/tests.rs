use super::{CallHeader, CallKind, CallNumber};
use proptest::prelude::*;

proptest! {
    #[test]
    fn what_parses_encodes_to_the_same_bytes(bytes: [u8; 8]) {
        match CallHeader::parse(bytes) {
            Some(header) => prop_assert_eq!(header.emit(), bytes),
            None => prop_assert!(!(1..=5).contains(&bytes[7])),
        }
    }

    #[test]
    fn numbers_are_their_parts(slot in 0u32..1 << 24, generation: u32) {
        let number = CallNumber::new(slot, generation).unwrap();
        prop_assert_eq!((number.slot(), number.generation()), (slot, generation));
        let header = CallHeader { kind: CallKind::NoReply, number };
        prop_assert_eq!(CallHeader::parse(header.emit()), Some(header));
    }
}

#[test]
fn slots_have_24_bits() {
    assert_eq!(CallNumber::new(1 << 24, 0), None);
}
