//! Keys: one for each direction between two ranks, all of one job's secret.

use crate::seal::cover::{Cover, Digest};
use aes_gcm::aead::AeadInOut;
use aes_gcm::{Aes128Gcm, KeyInit};
use siphasher::sip::SipHasher24;
use std::hash::Hasher;
use std::sync::Arc;
use weft_wire::Rank;
use weft_wire::envelope::{self, FrameKind};
use zeroize::{Zeroize, Zeroizing};

/// Purposes of derived keys; each other use of the secret has one of its own ([`Secret::derive`]).
const FRAMES: &str = "Weft, frames between two ranks, version 2";
const DIGESTS: &str = "Weft, digests of the contents of a job's frames, version 2";
const NAMES: &str = "Weft, names of transfers between two ranks, version 1";

/// Secret of a job: known to its ranks and to nobody else. Hides itself, and wipes its bytes when
/// it is dropped; so do the keys made of it. Messages in which it travels to other processes, and
/// what is left on the stack, are not wiped (`docs/internals/trust.md`).
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

    /// Another secret for `purpose`, a sentence that no other use of this one has. It says nothing
    /// of this secret, nor of those for other purposes.
    #[must_use]
    pub fn derive(&self, purpose: &str) -> Secret {
        Secret::of(purpose, &self.0)
    }

    /// Secret for `purpose` that follows from `material`, which nobody else has.
    pub fn of(purpose: &str, material: &[u8]) -> Secret {
        let [key] = *keys(purpose, material, &[]);
        Secret(key)
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

/// Protection of the bytes of packets, each more than the one before.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Debug,
    Default,
    serde::Serialize,
    serde::Deserialize,
)]
pub enum Protection {
    /// A tag over what says how the frame is to be taken: the head of the frame, and of a long
    /// packet its header and the first bytes of its body. Nobody else gets in, and no frame counts
    /// twice; but the rest of a long body is only what whoever carries it makes of it. For ways
    /// that keep bytes as they are by themselves, such as TCP.
    #[default]
    Headers,
    /// A tag over all of a frame that holds packets, and over the head of one that holds a piece of
    /// a longer one, of which UDP's checksum shows what a network has damaged, as TCP's does.
    Datagrams,
    /// A tag over all of a frame: nobody else gets in or changes anything.
    Tagged,
    /// Packets are encrypted too: nobody else reads them.
    Encrypted,
}

impl Protection {
    /// The protection of datagrams of UDP in a job with this one.
    #[must_use]
    pub fn of_datagrams(self) -> Self {
        self.max(Protection::Datagrams)
    }

    /// The protection of frames without a checksum of the system's, in a job with this one. The
    /// network may damage what is in them, and only their tag shows it.
    #[must_use]
    pub fn of_bare_frames(self) -> Self {
        self.max(Protection::Tagged)
    }

    /// True if packets are encrypted.
    #[inline]
    pub fn encrypts(self) -> bool {
        self == Protection::Encrypted
    }

    /// Bytes at the end of every frame that this protection needs.
    #[inline]
    pub fn trailer_bytes(self) -> usize {
        if self.encrypts() { CIPHER_TAG_BYTES } else { 0 }
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
    digest: Arc<Digest>,
    #[cfg(feature = "unauthenticated")]
    tags: bool,
}

impl Keys {
    /// The keys of rank `own` in the job with that public number. A rank must not use the same job
    /// and secret twice: its frames would have the same numbers again.
    pub fn new(secret: Secret, job: u32, own: Rank, protection: Protection) -> Self {
        let [key] = *keys(DIGESTS, &secret.0, &[&job.to_le_bytes()]);
        let key = Zeroizing::new(key);
        Keys {
            secret,
            job,
            own,
            protection,
            digest: Arc::new(Digest::new(&key, protection)),
            #[cfg(feature = "unauthenticated")]
            tags: true,
        }
    }

    /// The rank whose keys they are.
    pub fn own(&self) -> Rank {
        self.own
    }

    /// The public number of the job.
    pub fn job(&self) -> u32 {
        self.job
    }

    /// Protection of the bytes of packets.
    pub fn protection(&self) -> Protection {
        self.protection
    }

    /// Keys that put no tags on frames, and let **everybody** in, with whatever the network made of
    /// the bytes: for measuring what tags cost, between ranks that all do so. Numbers are as ever.
    #[cfg(feature = "unauthenticated")]
    #[must_use]
    pub fn without_tags(self) -> Self {
        Keys { tags: false, ..self }
    }

    /// Form in which contents come under tags, whichever pair's they are.
    pub(crate) fn cover<'a>(&self, contents: &'a [u8]) -> Cover<'a> {
        #[cfg(feature = "unauthenticated")]
        if !self.tags {
            return Cover::Direct(&[]);
        }
        self.digest.cover(FrameKind::SEVERAL, contents)
    }

    /// Names of what the ranks of this job send one another beside frames.
    pub fn names(&self) -> Names {
        let [key] = *keys(NAMES, &self.secret.0, &[&self.job.to_le_bytes()]);
        Names(Zeroizing::new(key))
    }

    /// The key for frames from `source` to `destination`.
    pub(crate) fn direction(&self, source: Rank, destination: Rank) -> Direction {
        let ranks = [source.0.to_le_bytes(), destination.0.to_le_bytes()];
        let use_of = [&self.job.to_le_bytes()[..], &[self.protection as u8], ranks.as_flattened()];
        let keys = keys::<2>(FRAMES, &self.secret.0, &use_of);
        let cipher = || Box::new(Aes128Gcm::new(&keys[1].into()));
        Direction {
            tag_key: Zeroizing::new(keys[0]),
            digest: Arc::clone(&self.digest),
            cipher: self.protection.encrypts().then(cipher),
            #[cfg(feature = "unauthenticated")]
            tags: self.tags,
        }
    }
}

/// Names that only ranks of one job can make, and nobody else guesses.
pub struct Names(Zeroizing<[u8; 16]>);

impl Names {
    /// The name of what `source` sends to `destination` and both call `what`.
    pub fn name(&self, source: Rank, destination: Rank, what: &[u8; 16]) -> u64 {
        let mut hasher = SipHasher24::new_with_key(&self.0);
        hasher.write(&source.0.to_le_bytes());
        hasher.write(&destination.0.to_le_bytes());
        hasher.write(what);
        hasher.finish()
    }
}

/// Keys for `purpose` from a secret, and for these parts of a use of it, each of which has a fixed
/// size.
fn keys<const KEYS: usize>(
    purpose: &str,
    secret: &[u8],
    parts: &[&[u8]],
) -> Zeroizing<[[u8; 16]; KEYS]> {
    let mut material = blake3::Hasher::new_derive_key(purpose);
    material.update(secret);
    for part in parts {
        material.update(part);
    }
    let mut keys = Zeroizing::new([[0; 16]; KEYS]);
    material.finalize_xof().fill(keys.as_flattened_mut());
    material.zeroize();
    keys
}

/// Bytes of the cipher's tag.
const CIPHER_TAG_BYTES: usize = 16;

/// The part of an envelope that its tag covers.
pub(crate) type Head = [u8; envelope::TAGGED.end];

/// The keys of one direction.
pub(crate) struct Direction {
    tag_key: Zeroizing<[u8; 16]>,
    digest: Arc<Digest>,
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

    /// The tag of a frame for one rank with these contents, which are encrypted already if they are
    /// to be.
    #[inline]
    pub fn tag(&self, kind: FrameKind, head: &Head, contents: &[u8]) -> u64 {
        // The cipher's tag stands for what it was made of.
        let skipped = if self.encrypts() { contents.len() - CIPHER_TAG_BYTES } else { 0 };
        self.tag_of_entry(head, &self.cover(kind, &contents[skipped..]), &[])
    }

    /// Form in which contents come under a tag of this direction, and of all of this job.
    #[inline]
    pub fn cover<'a>(&self, kind: FrameKind, contents: &'a [u8]) -> Cover<'a> {
        if self.tags() { self.digest.cover(kind, contents) } else { Cover::Direct(&[]) }
    }

    /// Does what [`Self::cover`] does, for contents in two parts.
    #[inline]
    pub fn cover_parts(&self, head: &[u8], tail: &[u8]) -> Cover<'static> {
        if self.tags() { self.digest.cover_parts(head, tail) } else { Cover::Direct(&[]) }
    }

    /// The tag over an envelope, what is covered of its contents, and what is one receiver's own.
    #[inline]
    pub fn tag_of_entry(&self, head: &Head, cover: &Cover<'_>, own: &[u8]) -> u64 {
        if !self.tags() {
            return 0;
        }
        let mut hasher = SipHasher24::new_with_key(&self.tag_key);
        hasher.write(head);
        // The last part is hashed in one go, which leaves nothing to be kept for more.
        if own.is_empty() {
            return hasher.hash(cover.bytes());
        }
        hasher.write(cover.bytes());
        hasher.hash(own)
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
