//! Authentication and replay protection of frames: the seal that links on networks put around
//! packets.
//!
//! The ranks of a job share a [`Secret`] that nobody else has. From it each ordered pair has a key
//! of its own, so that a frame is good for one receiver, from one sender, once:
//!
//! | what | against |
//! |---|---|
//! | SipHash-2-4, long contents by a digest or their beginning (`cover`) | strangers, changes |
//! | a number that never comes again, and a window of those that have come (RFC 6479) | replays |
//! | AES-128-GCM over all that follows the envelope, if asked for | those who read along |
//!
//! A frame that the network copies for several receivers ([`weft_wire::several`]) has a tag for
//! each of them, with the key and the number of that pair, so that it is worth no more to any of
//! them than one of its own.
//!
//! With encryption a frame ends with the cipher's own tag, and the keyed tag covers that in place
//! of the contents, so that frames of adversaries cost no more than one SipHash.
//!
//! May use `wire`. Keeps: nothing of a frame is used, and no state changes, before its tag is found
//! right; no bytes whatever make it panic; sealing and opening do not allocate once a pair has met.

mod cover;
mod keys;
mod open;
mod refused;
mod sealer;
mod seals;
mod window;

pub use keys::{Keys, Names, Protection, Secret};
pub use open::{FramePackets, Opened, Opener};
pub use refused::{FrameRefused, Refusals};
pub use sealer::Sealer;
pub use seals::Seals;
pub use weft_wire::envelope::{EVERYBODY, FrameKind};
