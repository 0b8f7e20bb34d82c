//! Messages of agreements as bytes, little-endian. The transport says of which team they are.
//!
//! ```text
//!  0      1        5        7       15
//! ┌──────┬────────┬────────┬───────┬──────┬──────┬─
//! │ kind │ number │ ballot │ flags │ lost │ lost │ ...   2 bytes for each lost rank, ascending
//! └──────┴────────┴────────┴───────┴──────┴──────┴─
//! ```

use super::AgreementViolation;
use weft_endpoint::Rank;

/// Bytes before the lost ranks.
const FRONT: usize = 15;
/// A member's contribution, beside the kinds of packets of collective operations.
const CONTRIBUTION: u8 = 27;
/// A decision.
const DECISION: u8 = 28;

/// Kind of a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum BallotKind {
    /// A member's flags and the ranks that it knows to be lost, to the coordinator.
    Contribution,
    /// A decision, from a coordinator to members or from a member to the next coordinator.
    Decision,
}

/// A message between two members of a team.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct AgreementMessage {
    pub(super) kind: BallotKind,
    /// Number of the agreement.
    pub(super) number: u32,
    /// The coordinator, which sends it or receives it.
    pub(super) ballot: Rank,
    pub(super) flags: u64,
    /// Lost ranks that the sender knows, or that were decided, ascending.
    pub(super) lost: Vec<Rank>,
}

impl AgreementMessage {
    /// Encodes it.
    pub fn emit(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(FRONT + 2 * self.lost.len());
        bytes.push(match self.kind {
            BallotKind::Contribution => CONTRIBUTION,
            BallotKind::Decision => DECISION,
        });
        bytes.extend_from_slice(&self.number.to_le_bytes());
        bytes.extend_from_slice(&self.ballot.0.to_le_bytes());
        bytes.extend_from_slice(&self.flags.to_le_bytes());
        self.lost.iter().for_each(|rank| bytes.extend_from_slice(&rank.0.to_le_bytes()));
        bytes
    }

    /// Decodes it.
    ///
    /// # Errors
    /// [`AgreementViolation::Malformed`] if no member writes that.
    pub fn parse(bytes: &[u8]) -> Result<Self, AgreementViolation> {
        let (front, lost) =
            bytes.split_first_chunk::<FRONT>().ok_or(AgreementViolation::Malformed)?;
        let &[kind, n0, n1, n2, n3, b0, b1, flags @ ..] = front;
        let kind = match kind {
            CONTRIBUTION => BallotKind::Contribution,
            DECISION => BallotKind::Decision,
            _ => return Err(AgreementViolation::Malformed),
        };
        let (lost, rest) = lost.as_chunks();
        let lost: Vec<Rank> = lost.iter().map(|&rank| Rank(u16::from_le_bytes(rank))).collect();
        if !rest.is_empty() || !lost.is_sorted_by(|one, next| one < next) {
            return Err(AgreementViolation::Malformed);
        }
        Ok(AgreementMessage {
            kind,
            number: u32::from_le_bytes([n0, n1, n2, n3]),
            ballot: Rank(u16::from_le_bytes([b0, b1])),
            flags: u64::from_le_bytes(flags),
            lost,
        })
    }
}

#[cfg(test)]
pub(crate) mod tests;
