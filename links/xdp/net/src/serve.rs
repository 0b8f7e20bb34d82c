//! A request of the parent process, and the answer.

use crate::capability::{keep_none, missing};
use crate::host::{XdpHost, XdpOptions};
use crate::program::is_built;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::retry_on_intr;
use rustix::net::sockopt::{Timeout, set_socket_timeout, socket_domain};
use rustix::net::{AddressFamily, SendFlags, SocketType, sockopt};
use rustix::process::{getppid, getuid};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;
use weft_datagram::channel::{DESCRIPTORS_MAX, peer, send};
use weft_xdp::request::{FromNet, SocketRequest, ToNet, receive};
use weft_xdp::{Bound, Interface, PortLayout, XdpError};

/// Longest time in which a caller says what it wants, and takes what it gets.
const PATIENCE: Duration = Duration::from_secs(5);

/// Reason why nothing is done for whoever has started this process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stranger {
    /// Standard input is not the socket that Weft makes.
    NoSocket,
    /// The other end of it is another user's.
    OtherUser,
    /// The other end was made by another process than the one that started this.
    OtherProcess,
}

/// Checks that `socket` is one of a pair that this process's parent has made, as the same user.
///
/// # Errors
/// Why it is not.
pub fn check_caller(socket: BorrowedFd<'_>) -> Result<(), Stranger> {
    let is_ours = socket_domain(socket) == Ok(AddressFamily::UNIX)
        && sockopt::socket_type(socket) == Ok(SocketType::SEQPACKET);
    if !is_ours {
        return Err(Stranger::NoSocket);
    }
    let maker = peer(socket).map_err(|_| Stranger::NoSocket)?;
    if maker.user != getuid() {
        return Err(Stranger::OtherUser);
    }
    // One that is gone is no parent any more, and one that is out of sight is not known to be it.
    match maker.process {
        Some(maker) if getppid() == Some(maker) => Ok(()),
        _ => Err(Stranger::OtherProcess),
    }
}

/// Things that were made for a caller.
struct Made {
    host: XdpHost,
    bound: Bound,
    /// True if the interface accepts what the network copies.
    copied: bool,
}

/// Reads one request, does it and answers. Has no capabilities any more once something was handed
/// over. Then stays for as long as anybody has the other end if the interface is to accept what the
/// network copies.
///
/// # Errors
/// Errors of the kernel. The caller sees the end of the connection.
pub fn serve(socket: BorrowedFd<'_>) -> io::Result<()> {
    set_socket_timeout(socket, Timeout::Recv, Some(PATIENCE))?;
    set_socket_timeout(socket, Timeout::Send, Some(PATIENCE))?;
    // Nobody is asked to bring anything along.
    let question = receive(socket)?.bytes;
    let made = answer(&question)?;
    keep_none()?;
    let Made { host, bound, copied } = match made {
        Ok(made) => made,
        Err(reply) => return Ok(send(socket, &reply.emit(), &[], SendFlags::empty())?),
    };
    let first = [host.link(), &bound.memory].map(AsFd::as_fd);
    send(socket, &FromNet::Taken { plan: bound.plan, copied }.emit(), &first, SendFlags::empty())?;
    for some in bound.sockets.chunks(DESCRIPTORS_MAX) {
        let some: Vec<_> = some.iter().map(AsFd::as_fd).collect();
        send(socket, b"sockets", &some, SendFlags::empty())?;
    }
    drop(bound);
    if copied { hold(host.into_groups(), socket) } else { Ok(()) }
}

/// Result of a request, or the answer that nothing was made for.
fn answer(question: &[u8]) -> io::Result<Result<Made, FromNet>> {
    let refused = |why: &dyn std::fmt::Display| FromNet::Refused(why.to_string());
    let question = match ToNet::parse(question) {
        Ok(question) => question,
        Err(error) => return Ok(Err(refused(&error))),
    };
    if let Some(missing) = missing()? {
        return Ok(Err(FromNet::Lacks(missing)));
    }
    Ok(match question {
        ToNet::Look if !is_built() => Err(refused(&XdpError::NotBuilt)),
        ToNet::Look => Err(FromNet::Able),
        ToNet::Take(request) => take(&request).map_err(|error| refused(&error)),
    })
}

fn take(request: &SocketRequest) -> Result<Made, XdpError> {
    // An Ethernet, so not the loopback, by which one could speak for others on this host.
    let interface = Interface::numbered(request.interface)?;
    let ranks = request.ranks.len();
    let layout = PortLayout::new(&interface, ranks, request.sizes, request.greeter.is_some())?;
    let mut host = XdpHost::attach(interface, XdpOptions::default())?;
    let bound = host.bind(layout, request.seats())?;
    // Without groups a job goes on all the same: its ranks pass multicasts on.
    let copied = request.copied && join(&mut host, request).is_ok();
    Ok(Made { host, bound, copied })
}

fn join(host: &mut XdpHost, request: &SocketRequest) -> Result<(), XdpError> {
    host.join(request.job, request.ranks.len() as u16)?;
    request.greeter.iter().try_for_each(|greeter| host.join(greeter.job, 1))
}

/// Keeps the interface in its groups until the other end is closed. The socket that does so would
/// let whoever had it hear everything, so it stays here.
fn hold(_groups: Option<OwnedFd>, socket: BorrowedFd<'_>) -> io::Result<()> {
    // Not to be ended by Ctrl-C, which the job handles.
    let _ = rustix::process::setsid();
    // Without asking for anything one hears of the end alone.
    let mut end = [PollFd::from_borrowed_fd(socket, PollFlags::empty())];
    retry_on_intr(|| poll(&mut end, None))?;
    Ok(())
}
