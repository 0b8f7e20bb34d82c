//! Things that a man in the middle does to a job.

use crate::adversary::frame::{ETHERNET, Layers, UDP, put_sum};
use crate::adversary::{Attack, Kept, icmp};
use fastrand::Rng;
use weft_wire::envelope;

/// Change that keeps the checksum of a body, CRC-32C, wherever it is XORed in.
const SAME_SUM: [u8; 5] = [0xf1, 0x76, 0xec, 0x05, 0x01];

/// One of the things that a man in the middle does when a frame of a job's passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Passes it on, and nothing else.
    Pass,
    /// Drops it.
    Drop,
    /// Passes it on after others.
    Delay,
    /// Passes it on with a bit changed, anywhere behind the Ethernet header, sums mended.
    Change,
    /// Passes it on after a copy with a bit changed anywhere in it.
    ChangeCopy,
    /// Passes it on after a copy with a bit changed in the envelope or in the header of a packet.
    ChangeHeader,
    /// Passes it on after a copy whose body is another one with the same checksum (CRC-32C).
    KeepSum,
    /// Passes it on after a copy that is longer by something.
    Lengthen,
    /// Passes it on after one with this frame's beginning, and the end of another.
    Splice,
    /// Passes it on twice.
    Double,
    /// Passes it on after one that has passed long before.
    Repeat,
    /// Passes it on after a copy that goes where a frame of another pair went, or of another job.
    Cross,
    /// Passes it on after a copy that is changed as [`Attack`] says.
    Attack(Attack),
    /// Passes it on before a message of the network's about it (ICMP).
    Icmp,
    /// Passes it on after noise, with an Ethernet header.
    Noise,
    /// Passes it on after a copy that is cut off, in any of its headers or behind.
    Cut,
    /// Passes it on after a copy in fragments of IP that overlap, or of which one is missing.
    Fragments,
    /// Passes it on before an answer of ARP, or the advertisement of a neighbour, that nobody asked
    /// for.
    Arp,
    /// Passes it on before a datagram of the same length to a port that nobody listens to.
    Unrelated,
}

impl Act {
    /// Acts that add frames, so that all of the job's arrive as well, but for [`Act::Arp`].
    pub const INVENTED: [Act; 20] = [
        Act::ChangeCopy,
        Act::ChangeHeader,
        Act::KeepSum,
        Act::Lengthen,
        Act::Splice,
        Act::Double,
        Act::Repeat,
        Act::Cross,
        Act::Attack(Attack::Forged),
        Act::Attack(Attack::Replayed),
        Act::Attack(Attack::Truncated),
        Act::Attack(Attack::WrongJob),
        Act::Attack(Attack::WrongVersion),
        Act::Attack(Attack::Noise),
        Act::Attack(Attack::Reflected),
        Act::Attack(Attack::Misdirected),
        Act::Icmp,
        Act::Noise,
        Act::Cut,
        Act::Fragments,
    ];
    /// Acts that take frames from the job.
    pub const TAKEN: [Act; 3] = [Act::Drop, Act::Delay, Act::Change];
}

/// A frame to be sent: on its way, or back to where the one that passed came from.
pub(crate) enum Invented {
    Onwards(Vec<u8>),
    Back(Vec<u8>),
}

/// Frames that `act` adds when `frame` passes, in their order; `other` is one that passed before.
pub(crate) fn invent(act: Act, frame: &[u8], other: &[u8], random: &mut Rng) -> Vec<Invented> {
    let Some(layers) = Layers::of(frame) else { return Vec::new() };
    let Some(inner) = layers.inner(frame) else { return Vec::new() };
    let mut copy = frame.to_vec();
    let (start, end) = (inner.start, inner.end);
    match act {
        Act::Pass | Act::Drop | Act::Delay => return Vec::new(),
        Act::Change | Act::ChangeCopy => flip(&mut copy[ETHERNET..], random),
        Act::ChangeHeader => flip(&mut copy[start..end.min(start + envelope::SIZE + 24)], random),
        Act::KeepSum => {
            let body = start + envelope::SIZE + 24;
            if end < body + SAME_SUM.len() {
                return Vec::new();
            }
            let at = random.usize(body..=end - SAME_SUM.len());
            copy[at..].iter_mut().zip(SAME_SUM).for_each(|(byte, change)| *byte ^= change);
        }
        Act::Lengthen => copy.extend((0..8 * random.usize(1..8)).map(|_| random.u8(..))),
        Act::Splice => {
            let at = random.usize(start..end).min(other.len());
            copy.truncate(at);
            copy.extend_from_slice(&other[at..]);
        }
        Act::Double => {}
        Act::Repeat => return vec![Invented::Onwards(other.to_vec())],
        Act::Cross => return cross(copy, start, other),
        Act::Attack(attack) => {
            let kept = Kept { to: usize::MAX, bytes: copy.split_off(start) };
            let (_, bytes) = attack.make(kept, 2, random);
            copy.extend(bytes);
            if attack == Attack::Reflected {
                turn(layers, &mut copy);
                layers.mend(&mut copy);
                return vec![Invented::Back(copy)];
            }
        }
        Act::Icmp => {
            return icmp::forge(frame, random.usize(..)).map(Invented::Back).into_iter().collect();
        }
        Act::Noise => {
            copy.truncate(random.usize(ETHERNET..=end));
            random.fill(&mut copy[ETHERNET..]);
            return vec![Invented::Onwards(copy)];
        }
        Act::Cut => {
            copy.truncate(random.usize(ETHERNET..end));
            if copy.len() >= start {
                layers.mend(&mut copy);
            }
            return vec![Invented::Onwards(copy)];
        }
        Act::Fragments => return fragments(&copy, layers, random),
        Act::Arp => return arp(frame, random).map(Invented::Back).into_iter().collect(),
        Act::Unrelated => {
            if let Layers::V4(udp) | Layers::V6(udp) = layers {
                copy[udp + 2..udp + 4].copy_from_slice(&9u16.to_be_bytes());
            } else {
                copy[12..ETHERNET].copy_from_slice(&0x88b6u16.to_be_bytes());
            }
        }
    }
    layers.mend(&mut copy);
    vec![Invented::Onwards(copy)]
}

/// Changes one bit, or up to four.
fn flip(bytes: &mut [u8], random: &mut Rng) {
    for _ in 0..random.usize(1..=4) {
        let at = random.usize(0..bytes.len());
        bytes[at] ^= 1 << random.u8(0..8);
    }
}

/// This frame's contents to where another one went.
fn cross(copy: Vec<u8>, start: usize, other: &[u8]) -> Vec<Invented> {
    let Some(layers) = Layers::of(other) else { return Vec::new() };
    let Some(inner) = layers.inner(other) else { return Vec::new() };
    let mut crossed = [&other[..inner.start], &copy[start..]].concat();
    layers.mend(&mut crossed);
    vec![Invented::Onwards(crossed)]
}

/// Has a frame go back to where it came from.
fn turn(layers: Layers, frame: &mut [u8]) {
    let mut swap = |at: usize, bytes: usize| {
        let (one, other) = frame[at..at + 2 * bytes].split_at_mut(bytes);
        one.swap_with_slice(other);
    };
    swap(0, 6);
    match layers {
        Layers::V4(udp) => {
            swap(26, 4);
            swap(udp, 2);
        }
        Layers::V6(udp) => {
            swap(22, 16);
            swap(udp, 2);
        }
        Layers::Weft => {}
    }
}

/// Fragments of an IPv4 datagram: the second overlaps the first with other bytes, or is missing, or
/// spans more than there can be.
fn fragments(frame: &[u8], layers: Layers, random: &mut Rng) -> Vec<Invented> {
    let Layers::V4(ip_end) = layers else { return Vec::new() };
    let payload = &frame[ip_end..];
    if payload.len() < UDP + 64 {
        return Vec::new();
    }
    let piece = |offset: usize, more: bool, bytes: &[u8]| {
        let mut piece = [&frame[..ip_end], bytes].concat();
        let total = (piece.len() - ETHERNET) as u16;
        piece[16..18].copy_from_slice(&total.to_be_bytes());
        let word = (offset / 8) as u16 | if more { 0x2000 } else { 0 };
        piece[20..22].copy_from_slice(&word.to_be_bytes());
        put_sum(&mut piece, ETHERNET..ip_end, ETHERNET + 10, 0);
        Invented::Onwards(piece)
    };
    let half = payload.len() / 16 * 8;
    let mut rest = payload[half..].to_vec();
    flip(&mut rest, random);
    let first = piece(0, true, &payload[..half]);
    match random.u8(0..4) {
        0 => vec![first],
        1 => vec![first, piece(half, false, &rest)],
        2 => vec![first, piece(half - 16, false, &rest)],
        _ => vec![piece(65_528 - payload.len() / 8 * 8, false, &rest), first],
    }
}

/// To who sent `frame`: that its receiver has another Ethernet address. Unasked answers are of use
/// over UDP only.
fn arp(frame: &[u8], random: &mut Rng) -> Option<Vec<u8>> {
    let elsewhere = [2, 0xbd, random.u8(..), random.u8(..), random.u8(..), random.u8(..)];
    let mut said = [&frame[6..12], &elsewhere[..]].concat();
    match Layers::of(frame)? {
        Layers::V4(_) => {
            said.extend([0x08, 0x06, 0, 1, 8, 0, 6, 4, 0, 2]);
            said.extend([&elsewhere[..], &frame[30..34], &frame[6..12], &frame[26..30]].concat());
            Some(said)
        }
        Layers::V6(_) => {
            said.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 32, 58, 255]);
            said.extend([&frame[38..54], &frame[22..38]].concat());
            // An advertisement that overrides what is known, and the address.
            said.extend([136, 0, 0, 0, 0x20, 0, 0, 0]);
            said.extend([&frame[38..54], &[2, 1], &elsewhere[..]].concat());
            let pseudo = crate::adversary::frame::sum(&said[22..54]) + 58 + 32;
            let end = said.len();
            put_sum(&mut said, ETHERNET + 40..end, ETHERNET + 42, pseudo);
            Some(said)
        }
        Layers::Weft => None,
    }
}
