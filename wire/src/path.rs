//! Contents of the frames by which a link finds out how long frames on a path may be, and of those
//! with pieces of longer packets. Little-endian, behind the envelope.
//!
//! | kind | contents |
//! |---|---|
//! | [`FrameKind::PIECE`](crate::envelope::FrameKind::PIECE) | number (4), offset (2), total (2), then the bytes of the packet from that offset on |
//! | [`FrameKind::PROBE`](crate::envelope::FrameKind::PROBE) | round (4), zeros (4), then zeros up to the length that is tried |
//! | [`FrameKind::ANSWER`](crate::envelope::FrameKind::ANSWER) | round (4), longest (4) |

/// Bytes of each of these, but for what follows in pieces and probes.
pub const SIZE: usize = 8;

/// Header of a piece.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Number of the packet, counted by its sender for each receiver.
    pub number: u32,
    /// Offset of this piece in the packet, in bytes.
    pub offset: u16,
    /// Bytes of the whole packet: header, body and padding.
    pub total: u16,
}

/// Probe of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Probe {
    /// Number of the round that it ends, which is to be answered; 0 if others of it follow.
    pub round: u32,
}

/// Answer to the last probe of a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProbeAnswer {
    /// Number of the round.
    pub round: u32,
    /// Bytes of the longest frame, probe or not, that came from the prober since the last answer.
    pub longest: u32,
}

impl Piece {
    /// Encodes this header.
    pub fn emit(&self) -> [u8; SIZE] {
        let lengths = u32::from(self.offset) | u32::from(self.total) << 16;
        emit(self.number, lengths)
    }

    /// Header at the start of `contents`, and what follows it. `None` if they are too short.
    pub fn parse(contents: &[u8]) -> Option<(Self, &[u8])> {
        let (number, lengths) = parse(contents)?;
        let piece = Piece { number, offset: lengths as u16, total: (lengths >> 16) as u16 };
        Some((piece, &contents[SIZE..]))
    }
}

impl Probe {
    /// Encodes this probe.
    pub fn emit(&self) -> [u8; SIZE] {
        emit(self.round, 0)
    }

    /// Probe at the start of `contents`. `None` if they are too short.
    pub fn parse(contents: &[u8]) -> Option<Self> {
        parse(contents).map(|(round, _)| Probe { round })
    }
}

impl ProbeAnswer {
    /// Encodes this answer.
    pub fn emit(&self) -> [u8; SIZE] {
        emit(self.round, self.longest)
    }

    /// Answer at the start of `contents`. `None` if they are too short.
    pub fn parse(contents: &[u8]) -> Option<Self> {
        parse(contents).map(|(round, longest)| ProbeAnswer { round, longest })
    }
}

fn emit(first: u32, second: u32) -> [u8; SIZE] {
    (u64::from(first) | u64::from(second) << 32).to_le_bytes()
}

fn parse(contents: &[u8]) -> Option<(u32, u32)> {
    let word = contents.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))?;
    Some((word as u32, (word >> 32) as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_emitted_is_parsed() {
        let piece = Piece { number: 0x0102_0304, offset: 0x0506, total: 0x0708 };
        assert_eq!(piece.emit(), [4, 3, 2, 1, 6, 5, 8, 7]);
        assert_eq!(
            Piece::parse(&[&piece.emit()[..], b"bytes"].concat()),
            Some((piece, &b"bytes"[..]))
        );
        let probe = Probe { round: 0x0102_0304 };
        assert_eq!(probe.emit(), [4, 3, 2, 1, 0, 0, 0, 0]);
        assert_eq!(Probe::parse(&probe.emit()), Some(probe));
        let answer = ProbeAnswer { round: 1, longest: 0x0203_0405 };
        assert_eq!(answer.emit(), [1, 0, 0, 0, 5, 4, 3, 2]);
        assert_eq!(ProbeAnswer::parse(&answer.emit()), Some(answer));
        assert!(Piece::parse(&[0; 7]).is_none() && Probe::parse(&[0; 7]).is_none());
    }
}
