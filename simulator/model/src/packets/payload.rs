//! Contents of packets: bytes and a length that follow from the packet's name, so that whoever
//! reads them knows what they should be.

use super::{Name, Stream};
use crate::random::mixed;

/// Length of the packet `name` in bytes, of at most `most`; half of the packets are short, as most
/// are in programs.
pub fn length(name: Name, most: usize) -> usize {
    const SHORT: usize = 48;
    let number = mixed(seed(name) ^ 0x6c65_6e67_7468);
    let most = if number & 1 == 0 { most.min(SHORT) } else { most };
    ((number >> 1) % (most as u64 + 1)) as usize
}

/// The first `length` bytes of the packet `name`.
pub fn bytes(name: Name, length: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = words(name).take(length.div_ceil(8)).flatten().collect();
    bytes.truncate(length);
    bytes
}

/// True if the packet `name` begins with `bytes`.
pub fn begins_with(name: Name, bytes: &[u8]) -> bool {
    bytes.chunks(8).zip(words(name)).all(|(chunk, word)| *chunk == word[..chunk.len()])
}

fn words(name: Name) -> impl Iterator<Item = [u8; 8]> {
    let seed = seed(name);
    (0..).map(move |word: u64| mixed(seed.wrapping_add(word)).to_le_bytes())
}

fn seed(Name { origin, stream, number }: Name) -> u64 {
    let stream = match stream {
        Stream::To(rank) => u64::from(rank.0),
        Stream::Group(group) => 1 << 16 | u64::from(group.0),
    };
    mixed(number ^ mixed(stream << 16 | u64::from(origin.0)))
}
