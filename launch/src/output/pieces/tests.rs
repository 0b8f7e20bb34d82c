use super::*;
use proptest::collection::vec;
use proptest::prelude::*;

fn pieces_of(arrivals: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut pieces = Pieces::default();
    let mut passed_on = Vec::new();
    for bytes in arrivals {
        pieces.take_in(bytes, |piece| passed_on.push(piece.to_vec()));
    }
    pieces.finish(|piece| passed_on.push(piece.to_vec()));
    passed_on
}

#[test]
fn lines_are_passed_on_whole_however_they_arrive() {
    let arrivals: [&[u8]; 4] = [b"one\ntw", b"o", b"\n\nthree", b" and a bit"];
    let expected: [&[u8]; 4] = [b"one\n", b"two\n", b"\n", b"three and a bit"];
    assert_eq!(pieces_of(&arrivals), expected);
}

#[test]
fn a_carriage_return_ends_a_piece() {
    let expected: [&[u8]; 3] = [b"10%\r", b"20%\r", b"\n"];
    assert_eq!(pieces_of(&[b"10%\r20", b"%\r\n"]), expected);
}

#[test]
fn what_is_too_long_is_passed_on_in_parts() {
    let long = vec![b'x'; PIECE_BYTES_MAX - 1];
    let pieces = pieces_of(&[&long, b"yz", b"\n"]);
    let lengths: Vec<_> = pieces.iter().map(Vec::len).collect();
    assert_eq!(lengths, [PIECE_BYTES_MAX + 1, 1]);
}

proptest! {
    #[test]
    fn no_byte_is_lost_or_moved(
        arrivals in vec(vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..50), 0..20),
    ) {
        let borrowed: Vec<&[u8]> = arrivals.iter().map(Vec::as_slice).collect();
        let pieces = pieces_of(&borrowed);
        prop_assert_eq!(pieces.concat(), arrivals.concat());
        for piece in &pieces {
            let inner = &piece[..piece.len() - 1];
            prop_assert!(!inner.iter().any(|&byte| byte == b'\n' || byte == b'\r'));
        }
    }
}
