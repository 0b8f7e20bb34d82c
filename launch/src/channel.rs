//! The socket between launcher and rank: datagrams with descriptors, ended when the other side
//! ends.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg,
    sendmsg, socketpair,
};

use crate::messages::{BadMessage, MESSAGE_BYTES_MAX};
use weft_link_shm::MAX_RANKS;

/// Room for the descriptors of the largest message: a segment for each rank here, and what reaches
/// others.
const ANCILLARY_BYTES: usize = rustix::cmsg_space!(ScmRights(MAX_RANKS as usize + 2));

/// Datagram that was received, and its descriptors, close-on-exec.
#[derive(Debug)]
pub(crate) struct Received {
    pub bytes: Vec<u8>,
    pub descriptors: Vec<OwnedFd>,
}

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

/// A connected pair, both ends close-on-exec.
pub(crate) fn pair() -> Result<(OwnedFd, OwnedFd), Errno> {
    socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
}

/// Sends one datagram; blocks only while the other side has not read many earlier ones.
pub(crate) fn send(
    channel: impl AsFd,
    bytes: &[u8],
    descriptors: &[BorrowedFd<'_>],
    flags: SendFlags,
) -> Result<(), Errno> {
    let mut space = [MaybeUninit::uninit(); ANCILLARY_BYTES];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        let fits = ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
        assert!(fits, "a message carries at most one descriptor per rank");
    }
    let flags = flags | SendFlags::NOSIGNAL;
    retry_on_intr(|| sendmsg(&channel, &[IoSlice::new(bytes)], &mut ancillary, flags))?;
    Ok(())
}

/// Receives one datagram; blocks unless `flags` say otherwise.
pub(crate) fn receive(channel: impl AsFd, flags: RecvFlags) -> Result<Received, ReceiveError> {
    let mut bytes = vec![0; MESSAGE_BYTES_MAX];
    let mut space = [MaybeUninit::uninit(); ANCILLARY_BYTES];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = flags | RecvFlags::CMSG_CLOEXEC;
    let arrived = retry_on_intr(|| {
        recvmsg(&channel, &mut [IoSliceMut::new(&mut bytes)], &mut ancillary, flags)
    })
    .map_err(|error| match error {
        Errno::CONNRESET => ReceiveError::Closed,
        other => ReceiveError::System(other),
    })?;
    let mut descriptors = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            descriptors.extend(rights);
        }
    }
    if arrived.bytes == 0 {
        return Err(ReceiveError::Closed);
    }
    if arrived.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC) {
        return Err(BadMessage::Long.into());
    }
    bytes.truncate(arrived.bytes);
    Ok(Received { bytes, descriptors })
}

#[cfg(test)]
mod tests;
