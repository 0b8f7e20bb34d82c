//! Datagrams with descriptors between two processes of a host: a launcher and its rank, ranks that
//! a process manager started, `weft-net` and whoever asks it. The connection ends when the other
//! side ends.
//!
//! May use nothing of Weft. Keeps: descriptors that are received are close-on-exec, and none is
//! lost with a datagram that is refused; a [peer](Peer) without a number here is no process.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg,
    sendmsg, socketpair,
};
use rustix::process::{Pid, Uid};

/// Descriptors that come with one datagram at most.
pub const DESCRIPTORS_MAX: usize = 64;
const ANCILLARY_BYTES: usize = rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX));

/// Datagram that was received, and its descriptors, close-on-exec.
#[derive(Debug)]
pub struct ReceivedDatagram {
    /// Bytes of the datagram.
    pub bytes: Vec<u8>,
    /// Descriptors that came with it.
    pub descriptors: Vec<OwnedFd>,
}

/// Reason why no datagram was received.
#[derive(Debug, thiserror::Error)]
pub enum ReceiveError {
    /// The other side is gone.
    #[error("the other side has closed the connection")]
    Closed,
    /// The datagram is longer than any that is sent here, or has more descriptors.
    #[error("the message is too long")]
    Long,
    /// The system refused.
    #[error(transparent)]
    System(#[from] Errno),
}

impl From<ReceiveError> for io::Error {
    fn from(error: ReceiveError) -> Self {
        match error {
            ReceiveError::Closed => io::ErrorKind::UnexpectedEof.into(),
            ReceiveError::Long => io::ErrorKind::InvalidData.into(),
            ReceiveError::System(error) => error.into(),
        }
    }
}

/// A connected pair, both ends close-on-exec.
///
/// # Errors
/// Those of the system.
pub fn pair() -> Result<(OwnedFd, OwnedFd), Errno> {
    socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
}

/// Process at the other end of a connection between processes of a host, as the system knows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Peer {
    /// User that it was when it made its end.
    pub user: Uid,
    /// Its number here; `None` if it has none, because its namespace of processes is another one
    /// that this process does not see into. Such a peer is nobody's parent, child or rank.
    pub process: Option<Pid>,
}

/// The peer of a connected socket of the host. The only way by which Weft reads credentials.
///
/// # Errors
/// Those of the system.
pub fn peer(socket: impl AsFd) -> Result<Peer, Errno> {
    let system = |error| Errno::from_raw_os_error(error as i32);
    let credentials = getsockopt(&socket.as_fd(), PeerCredentials).map_err(system)?;
    // The system says 0 of a process that is out of sight, which is no number of a process.
    let process = Some(credentials.pid()).filter(|&number| number > 0).and_then(Pid::from_raw);
    Ok(Peer { user: Uid::from_raw(credentials.uid()), process })
}

/// Sends one datagram; blocks only while the other side has not read many earlier ones.
///
/// # Errors
/// Those of the system.
///
/// # Panics
/// If there are more than [`DESCRIPTORS_MAX`] descriptors.
pub fn send(
    channel: impl AsFd,
    bytes: &[u8],
    descriptors: &[BorrowedFd<'_>],
    flags: SendFlags,
) -> Result<(), Errno> {
    let mut space = [MaybeUninit::uninit(); ANCILLARY_BYTES];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        let fits = ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
        assert!(fits, "a datagram has at most {DESCRIPTORS_MAX} descriptors");
    }
    let flags = flags | SendFlags::NOSIGNAL;
    retry_on_intr(|| sendmsg(&channel, &[IoSlice::new(bytes)], &mut ancillary, flags))?;
    Ok(())
}

/// Receives one datagram of at most `most` bytes; blocks unless `flags` say otherwise.
///
/// # Errors
/// [`ReceiveError`].
pub fn receive(
    channel: impl AsFd,
    flags: RecvFlags,
    most: usize,
) -> Result<ReceivedDatagram, ReceiveError> {
    let mut bytes = vec![0; most];
    let mut space = [MaybeUninit::uninit(); ANCILLARY_BYTES];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = flags | RecvFlags::CMSG_CLOEXEC;
    let mut recv = || {
        retry_on_intr(|| {
            recvmsg(&channel, &mut [IoSliceMut::new(&mut bytes)], &mut ancillary, flags)
        })
    };
    let arrived = match recv() {
        // The other side has closed its end without reading all that was sent to it, which is told
        // once, before what it has said.
        Err(Errno::CONNRESET) => recv(),
        received => received,
    };
    let arrived = arrived.map_err(|error| match error {
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
    if arrived.flags.contains(ReturnFlags::CTRUNC) && descriptors.len() < DESCRIPTORS_MAX {
        // There was room for more, but this process may open no more.
        return Err(ReceiveError::System(Errno::MFILE));
    }
    if arrived.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC) {
        return Err(ReceiveError::Long);
    }
    bytes.truncate(arrived.bytes);
    Ok(ReceivedDatagram { bytes, descriptors })
}

#[cfg(test)]
mod tests;
