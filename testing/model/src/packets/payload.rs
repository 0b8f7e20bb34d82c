//! What packets say: bytes and a length that follow from the packet's name, so that whoever reads
//! them knows what they should be.

use super::{Name, Stream};

/// How many bytes the packet `name` has, of at most `most`; half of the packets are short, as most
/// are in programs.
pub fn length(name: Name, most: usize) -> usize {
    const SHORT: usize = 48;
    let number = mixed(seed(name) ^ 0x6c65_6e67_7468);
    let most = if number & 1 == 0 { most.min(SHORT) } else { most };
    ((number >> 1) % (most as u64 + 1)) as usize
}

/// The first `length` bytes of the packet `name`.
pub fn bytes(name: Name, length: usize) -> impl Iterator<Item = u8> {
    let seed = seed(name);
    (0..).flat_map(move |word: u64| mixed(seed.wrapping_add(word)).to_le_bytes()).take(length)
}

fn seed(Name { origin, stream, number }: Name) -> u64 {
    let stream = match stream {
        Stream::To(rank) => u64::from(rank.0),
        Stream::Group(group) => 1 << 16 | u64::from(group.0),
    };
    mixed(number ^ mixed(stream << 16 | u64::from(origin.0)))
}

/// A number in which every bit depends on all bits of `number` (the last part of splitmix64).
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
