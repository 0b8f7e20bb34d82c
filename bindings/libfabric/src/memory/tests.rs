//! Ranges of I/O vectors.

#![allow(clippy::unwrap_used)]

use super::*;

fn piece(bytes: &mut [u8]) -> Iovec {
    Iovec { base: bytes.as_mut_ptr().cast(), length: bytes.len() }
}

fn read(memory: &Memory, offset: u64, length: usize) -> Vec<u8> {
    let mut read = Vec::new();
    memory.read(offset, length, &mut |bytes| read.extend_from_slice(bytes));
    read
}

#[test]
fn any_range_of_an_io_vector_is_what_stands_there() {
    let (mut one, mut two, mut three) = (*b"abc", *b"", *b"defgh");
    let pieces = [piece(&mut one), piece(&mut two), piece(&mut three)];
    let memory = Vector::of(pieces.as_ptr()).memory(pieces.len()).unwrap();
    assert_eq!(memory.length(), 8);
    for offset in 0..=9 {
        for length in 0..=9 {
            let end = (offset + length).min(8);
            let expected = &b"abcdefgh"[offset.min(8)..end.max(offset.min(8))];
            assert_eq!(read(&memory, offset as u64, length), expected, "{length} from {offset}");
        }
    }
    assert_eq!(read(&memory.own(), 2, 3), b"cde");
}

#[test]
fn pieces_need_not_be_aligned() {
    let (mut one, mut two) = (*b"abc", *b"defgh");
    let pieces = [piece(&mut one), piece(&mut two)];
    let mut room = [0_u8; 1 + 2 * size_of::<Iovec>()];
    let odd = if room.as_ptr().cast::<Iovec>().is_aligned() { 1 } else { 0 };
    let at: *mut Iovec = room[odd..].as_mut_ptr().cast();
    for (number, piece) in pieces.into_iter().enumerate() {
        // SAFETY: there is room for both.
        unsafe { at.add(number).write_unaligned(piece) };
    }
    assert_eq!(read(&Vector::of(at).memory(2).unwrap(), 0, 8), b"abcdefgh");
}

#[test]
fn what_is_written_stays_inside_of_the_pieces() {
    let (mut one, mut two) = (*b"....", *b"....");
    let pieces = [piece(&mut one[..3]), piece(&mut two[..2])];
    let mut memory = Vector::of(pieces.as_ptr()).memory(2).unwrap();
    memory.write(2, b"xyz_and_more");
    memory.write(5, b"nothing");
    assert_eq!((&one, &two), (b"..x.", b"yz.."));
}

#[test]
fn a_part_of_a_buffer_is_written_by_itself() {
    let mut bytes = *b"........";
    let pieces = [piece(&mut bytes)];
    let whole = Vector::of(pieces.as_ptr()).memory(1).unwrap();
    let mut part = whole.cut(3, 2);
    part.write(0, b"abc");
    assert_eq!(part.length(), 2);
    assert_eq!(whole.cut(7, 5).length(), 1);
    assert_eq!(whole.cut(9, 5).length(), 0);
    assert_eq!(&bytes, b"...ab...");
}

#[test]
fn vectors_that_cannot_be_are_refused() {
    let mut bytes = [0; 4];
    let pieces = [piece(&mut bytes); PIECES_MAX + 1];
    assert!(Vector::of(pieces.as_ptr()).memory(PIECES_MAX).is_ok());
    assert_eq!(Vector::of(pieces.as_ptr()).memory(PIECES_MAX + 1).unwrap_err(), Refusal::INVALID);
    assert_eq!(Vector::of(std::ptr::null()).memory(1).unwrap_err(), Refusal::INVALID);
    let nowhere = Iovec { base: std::ptr::null_mut(), length: 1 };
    assert_eq!(Vector::of(&raw const nowhere).memory(1).unwrap_err(), Refusal::INVALID);
    assert_eq!(Vector::of(std::ptr::null()).memory(0).unwrap().length(), 0);
}
