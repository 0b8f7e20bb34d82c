//! Ethernet frames that carry frames of Weft's: over UDP, or by themselves.

use std::ops::Range;
use weft_wire::envelope;

/// Bytes of an Ethernet header.
pub(crate) const ETHERNET: usize = 14;
/// Bytes of the header of UDP.
pub(crate) const UDP: usize = 8;
const IPV4: usize = 20;
const IPV6: usize = 40;

/// Protocol that a frame belongs to, and where in it the next one begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Layers {
    /// UDP over IPv4, with the offset of its header.
    V4(usize),
    /// UDP over IPv6.
    V6(usize),
    /// Weft's own Ethernet protocol.
    Weft,
}

impl Layers {
    /// Layers of a frame that may carry one of Weft's; `None` for others.
    pub fn of(frame: &[u8]) -> Option<Self> {
        match frame.get(12..ETHERNET)? {
            [0x08, 0x00] => {
                let header = usize::from(*frame.get(ETHERNET)? & 15) * 4;
                let fragment = u16::from_be_bytes([*frame.get(20)?, *frame.get(21)?]) & 0x3fff;
                let is_udp = *frame.get(23)? == 17 && header >= IPV4 && fragment == 0;
                let udp = ETHERNET + header;
                (is_udp && frame.len() >= udp + UDP).then_some(Layers::V4(udp))
            }
            [0x86, 0xdd] => {
                let udp = ETHERNET + IPV6;
                (*frame.get(20)? == 17 && frame.len() >= udp + UDP).then_some(Layers::V6(udp))
            }
            [0x88, 0xb5] => Some(Layers::Weft),
            _ => None,
        }
    }

    /// Range of the frame of Weft's, if there is one.
    pub fn inner(self, frame: &[u8]) -> Option<Range<usize>> {
        let start = match self {
            Layers::V4(udp) | Layers::V6(udp) => udp + UDP,
            Layers::Weft => ETHERNET,
        };
        envelope::parse(frame.get(start..)?).is_ok().then_some(start..frame.len())
    }

    /// Makes lengths and checksums of IP and UDP right for what the frame holds.
    pub fn mend(self, frame: &mut [u8]) {
        let Some(udp) = (match self {
            Layers::V4(udp) | Layers::V6(udp) => Some(udp),
            Layers::Weft => None,
        }) else {
            return;
        };
        let bytes = (frame.len() - udp) as u16;
        frame[udp + 4..udp + 6].copy_from_slice(&bytes.to_be_bytes());
        let addresses = match self {
            Layers::V4(_) => {
                let total = (frame.len() - ETHERNET) as u16;
                frame[16..18].copy_from_slice(&total.to_be_bytes());
                put_sum(frame, ETHERNET..udp, 24, 0);
                26..34
            }
            _ => {
                frame[18..20].copy_from_slice(&bytes.to_be_bytes());
                22..54
            }
        };
        let pseudo = sum(&frame[addresses]) + 17 + u64::from(bytes);
        put_sum(frame, udp..frame.len(), udp + 6, pseudo);
    }
}

/// Writes the Internet checksum (RFC 1071) of a range to a place in it, which counts as zeros.
pub(crate) fn put_sum(frame: &mut [u8], range: Range<usize>, at: usize, pseudo: u64) {
    frame[at..at + 2].fill(0);
    let end = range.end;
    let mut folded = sum(&frame[range]) + pseudo;
    debug_assert!(at + 2 <= end, "the sum is a part of what it covers");
    while folded >> 16 != 0 {
        folded = (folded & 0xffff) + (folded >> 16);
    }
    // In UDP zeros mean that there is none.
    let sum = if folded == 0xffff { 0xffff } else { !(folded as u16) };
    frame[at..at + 2].copy_from_slice(&sum.to_be_bytes());
}

/// Sum of 16-bit words, without the end-around carries.
pub(crate) fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<2>();
    let words: u64 = words.iter().map(|word| u64::from(u16::from_be_bytes(*word))).sum();
    words + rest.first().map_or(0, |last| u64::from(*last) << 8)
}

#[cfg(test)]
mod tests;
