//! The socket between launcher and rank, and between ranks that a process manager started: messages
//! as datagrams ([`weft_datagram::channel`]).

use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::net::RecvFlags;

use crate::messages::{BadMessage, MESSAGE_BYTES_MAX};
pub(crate) use weft_datagram::channel::{ReceivedDatagram, pair, peer, send};

/// Reason why nothing good was received.
#[derive(Debug, thiserror::Error)]
pub enum ReceiveError {
    /// The other side is gone.
    #[error("the other side has closed the connection")]
    Closed,
    /// It is not a message.
    #[error(transparent)]
    Bad(#[from] BadMessage),
    /// The system refused.
    #[error(transparent)]
    System(#[from] Errno),
}

/// Receives one message; blocks unless `flags` say otherwise.
pub(crate) fn receive(
    channel: impl AsFd,
    flags: RecvFlags,
) -> Result<ReceivedDatagram, ReceiveError> {
    use weft_datagram::channel::ReceiveError as Failed;
    weft_datagram::channel::receive(channel, flags, MESSAGE_BYTES_MAX).map_err(
        |error| match error {
            Failed::Closed => ReceiveError::Closed,
            Failed::Long => BadMessage::Long.into(),
            Failed::System(error) => error.into(),
        },
    )
}
