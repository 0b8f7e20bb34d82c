//! Sends, as programs begin them.

use crate::{Address, Tagging};

/// Parameters of a send, besides its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SendParameters {
    /// To whom.
    pub to: Address,
    /// From which endpoint of this rank.
    pub from: u8,
    /// Tagged or not.
    pub kind: Tagging,
    /// Its tag; 0 if it has none.
    pub tag: u64,
    /// Data for the receiver, beside the bytes.
    pub data: Option<u64>,
    /// True if it ends only when all of it is where its receive wants it.
    pub wants_done: bool,
}

/// Result of beginning a send.
#[derive(Debug)]
#[must_use = "a send may have to be tried again"]
pub enum Sending<S> {
    /// Its bytes are on their way and may change.
    Sent(S),
    /// It goes on, and ends by an [`ExchangeEvent`].
    Kept,
    /// Nothing happened: there is no room now.
    Again(S),
}
