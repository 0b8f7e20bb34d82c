//! Way of the job's secret to ranks that a process manager started: rank 0 draws it, and hands it
//! to each other rank through the manager's store, sealed.
//!
//! Each rank's card has an X25519 public key (RFC 7748), made for this job and dropped with
//! [`OwnKey`]. The secret on which rank 0's and another rank's keys agree, hashed with the cards of
//! both, is a secret of these two (BLAKE3's key derivation), under which the job's is encrypted as
//! any frame between ranks ([`weft_datagram::seal`]).
//!
//! So a reader of the store, or of what goes to and from it, does not learn the secret, then or
//! later. An attacker who *changes* cards on their way can take the place of any rank: for who its
//! ranks are nobody vouches but the process manager.

use std::io;

use crate::pmi::PmiClient;
use rustix::rand::{GetRandomFlags, getrandom};
use weft_datagram::seal::{FrameKind, Keys, Protection, Seals, Secret};
use weft_wire::{Rank, envelope};
use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::Zeroizing;

use super::error::{ManagedError, MeetError};
use super::facts::Cards;
use crate::messages::{BadMessage, Message as _, draw_job};

/// Purpose of the secret of rank 0 and another rank.
const HANDING_OUT: &str = "Weft, the secret of a job for a rank of its process manager, version 1";
/// Bytes of a secret.
const SECRET_BYTES: usize = 16;

/// A rank's part of the agreement; wiped when it is dropped.
pub(super) struct OwnKey(StaticSecret);

impl OwnKey {
    /// A key from the system's randomness.
    pub fn draw() -> io::Result<Self> {
        let mut bytes = Zeroizing::new([0; 32]);
        let filled = getrandom(&mut *bytes, GetRandomFlags::empty())?;
        assert_eq!(filled, bytes.len(), "getrandom fills what is short");
        Ok(OwnKey(StaticSecret::from(*bytes)))
    }

    /// Part that goes on this rank's card.
    pub fn public(&self) -> [u8; 32] {
        PublicKey::from(&self.0).to_bytes()
    }

    /// Draws the job's secret and puts it into the store for each other rank, as rank 0, which
    /// knows all cards.
    pub fn hand_out(
        &self,
        cards: &Cards,
        exchange: &mut dyn PmiClient,
    ) -> Result<Secret, ManagedError> {
        let (_, secret) = draw_job()?;
        for to in (1..cards.len() as u16).map(Rank) {
            let mut frame = vec![0; envelope::SIZE + SECRET_BYTES];
            frame[envelope::SIZE..].copy_from_slice(secret.expose());
            frame.resize(frame.len() + Protection::Encrypted.trailer_bytes(), 0);
            self.seals(cards, Rank(0), to)?.sealer(to).seal(FrameKind::HELLO, &mut frame);
            exchange.put(&key(to), &frame)?;
        }
        Ok(secret)
    }

    /// The job's secret as rank 0 has handed it to rank `own`, which is another.
    pub fn take(
        &self,
        own: Rank,
        cards: &Cards,
        exchange: &mut dyn PmiClient,
    ) -> Result<Secret, ManagedError> {
        let mut frame = Zeroizing::new(exchange.get(0, &key(own))?);
        let opened = self.seals(cards, own, Rank(0))?.open(&mut frame);
        let opened = opened.map_err(|_| MeetError::Secret { rank: own.0 })?;
        let secret = frame[opened.contents].try_into();
        Ok(Secret::new(secret.map_err(|_| BadMessage::Range("secret")).map_err(MeetError::from)?))
    }

    /// Seals of rank `own` with `other`, of which one is rank 0, for this only.
    fn seals(&self, cards: &Cards, own: Rank, other: Rank) -> Result<Seals, MeetError> {
        let agreed = self.0.diffie_hellman(&cards[&other].public_key.into());
        if !agreed.was_contributory() {
            return Err(BadMessage::Range("public key").into());
        }
        let mut material = Zeroizing::new(agreed.as_bytes().to_vec());
        for rank in [own.min(other), own.max(other)] {
            let card = cards[&rank].emit();
            material.extend((card.len() as u32).to_le_bytes());
            material.extend(card);
        }
        let secret = Secret::of(HANDING_OUT, &material);
        let keys = Keys::new(secret, cards[&Rank(0)].job, own, Protection::Encrypted);
        Ok(Seals::new(keys, own.0.max(other.0) + 1))
    }
}

/// Key in the store under which rank 0 puts the secret for another rank.
fn key(to: Rank) -> String {
    format!("secret{}", to.0)
}

#[cfg(test)]
mod tests;
