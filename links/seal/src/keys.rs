//! Keys: one for each direction between two ranks, all of one job's secret.

use aes_gcm::aead::AeadInOut;
use aes_gcm::{Aes128Gcm, KeyInit};
use siphasher::sip::SipHasher24;
use std::hash::Hasher;
use weft_wire::{Rank, envelope, network};
use zeroize::{Zeroize, Zeroizing};

/// Names what the derived keys are for; another use of the secret gets others.
const CONTEXT: &str = "Weft, frames between two ranks, version 1";

/// Secret of a job: known to its ranks and to nobody else. Hides itself, and leaves nothing in
/// memory.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; 16]);

impl Secret {
    /// These bytes, which must have been drawn at random for this one job.
    pub fn new(bytes: [u8; 16]) -> Self {
        Secret(bytes)
    }

    /// The bytes, to be handed to another rank on a way that nobody reads.
    pub fn expose(&self) -> &[u8; 16] {
        &self.0
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

/// Protection of the bytes of packets: a tag alone, or encryption.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Protection {
    /// A tag over the headers and a checksum over the bodies: nobody else gets in.
    #[default]
    Tagged,
    /// Packets are encrypted and authenticated too: nobody else reads or changes them.
    Encrypted,
}

impl Protection {
    /// Bytes at the end of every frame that this protection needs.
    #[inline]
    pub fn trailer_bytes(self) -> usize {
        match self {
            Protection::Tagged => 0,
            Protection::Encrypted => CIPHER_TAG_BYTES,
        }
    }
}

/// Makes the keys of one rank.
#[derive(Clone, Debug)]
pub struct Keys {
    secret: Secret,
    /// The public number of the job.
    pub(crate) job: u32,
    pub(crate) own: Rank,
    pub(crate) protection: Protection,
    #[cfg(feature = "unauthenticated")]
    tags: bool,
}

impl Keys {
    /// The keys of rank `own` in the job with that public number. A rank must not use the same job
    /// and secret twice: its frames would have the same numbers again.
    pub fn new(secret: Secret, job: u32, own: Rank, protection: Protection) -> Self {
        Keys {
            secret,
            job,
            own,
            protection,
            #[cfg(feature = "unauthenticated")]
            tags: true,
        }
    }

    /// The rank whose keys they are.
    pub fn own(&self) -> Rank {
        self.own
    }

    /// Keys that put no tags on frames, and let **everybody** in: for measuring what tags cost,
    /// between ranks that all do so. Checksums and numbers are as ever.
    #[cfg(feature = "unauthenticated")]
    #[must_use]
    pub fn without_tags(self) -> Self {
        Keys { tags: false, ..self }
    }

    /// The key for frames from `source` to `destination`.
    pub(crate) fn direction(&self, source: Rank, destination: Rank) -> Direction {
        let mut material = blake3::Hasher::new_derive_key(CONTEXT);
        material.update(self.secret.expose());
        material.update(&self.job.to_le_bytes());
        material.update(&source.0.to_le_bytes());
        material.update(&destination.0.to_le_bytes());
        let mut key = Zeroizing::new([[0; 16]; 2]);
        material.finalize_xof().fill(key.as_flattened_mut());
        material.zeroize();
        let cipher = || Box::new(Aes128Gcm::new(&key[1].into()));
        Direction {
            hasher: SipHasher24::new_with_key(&key[0]),
            cipher: (self.protection == Protection::Encrypted).then(cipher),
            #[cfg(feature = "unauthenticated")]
            tags: self.tags,
        }
    }
}

/// Bytes of the cipher's tag.
const CIPHER_TAG_BYTES: usize = 16;

/// The part of an envelope that its tag covers.
pub(crate) type Head = [u8; envelope::TAGGED.end];

/// The keys of one direction.
pub(crate) struct Direction {
    hasher: SipHasher24,
    cipher: Option<Box<Aes128Gcm>>,
    #[cfg(feature = "unauthenticated")]
    tags: bool,
}

impl Direction {
    /// True if frames have tags: always, but for what measures their cost.
    #[inline]
    fn tags(&self) -> bool {
        #[cfg(feature = "unauthenticated")]
        return self.tags;
        #[cfg(not(feature = "unauthenticated"))]
        true
    }

    /// True if frames are encrypted.
    #[inline]
    pub fn encrypts(&self) -> bool {
        self.cipher.is_some()
    }

    /// The tag over an envelope and the header of the only packet, in one piece: it is what most
    /// frames need.
    #[inline]
    pub fn tag_of_one(&self, head: &Head, header: &[u8; network::SIZE]) -> u64 {
        if !self.tags() {
            return 0;
        }
        let mut covered = [0; envelope::TAGGED.end + network::SIZE];
        covered[envelope::TAGGED].copy_from_slice(head);
        covered[envelope::TAGGED.end..].copy_from_slice(header);
        self.hasher.hash(&covered)
    }

    /// The tag over an envelope and any pieces after it.
    pub fn tag<'a>(&self, head: &Head, pieces: impl Iterator<Item = &'a [u8]>) -> u64 {
        if !self.tags() {
            return 0;
        }
        let mut hasher = self.hasher;
        hasher.write(head);
        pieces.for_each(|piece| hasher.write(piece));
        hasher.finish()
    }

    /// Encrypts `frame` after its envelope in place, up to the room for the cipher's tag at its
    /// end, which it fills.
    pub fn encrypt(&self, head: &Head, sequence: u64, frame: &mut [u8]) {
        let Some(cipher) = &self.cipher else { return };
        let (contents, trailer) = split_trailer(frame);
        let sealed = cipher.encrypt_inout_detached(&nonce(sequence).into(), head, contents.into());
        let tag = sealed.expect("a frame is shorter than what the cipher can seal");
        trailer.copy_from_slice(&tag);
    }

    /// Undoes [`Self::encrypt`]; false if somebody changed something.
    pub fn decrypt(&self, head: &Head, sequence: u64, frame: &mut [u8]) -> bool {
        let Some(cipher) = &self.cipher else { return true };
        let (contents, trailer) = split_trailer(frame);
        let tag: [u8; CIPHER_TAG_BYTES] = match (&*trailer).try_into() {
            Ok(tag) => tag,
            Err(_) => return false,
        };
        let nonce = nonce(sequence).into();
        cipher.decrypt_inout_detached(&nonce, head, contents.into(), &tag.into()).is_ok()
    }
}

/// Splits an encrypted frame behind the envelope into its contents and the cipher's tag.
fn split_trailer(frame: &mut [u8]) -> (&mut [u8], &mut [u8]) {
    let contents = &mut frame[envelope::SIZE..];
    let end = contents.len() - CIPHER_TAG_BYTES;
    contents.split_at_mut(end)
}

/// Each direction has a key of its own and no number comes twice, so neither does a nonce.
fn nonce(sequence: u64) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[4..].copy_from_slice(&sequence.to_be_bytes());
    nonce
}
