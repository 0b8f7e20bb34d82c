//! Finding out whether hosts reach one another by TCP: each connects to where every other listens
//! for that. The question is whether the network lets connections through; who is at the other end
//! is shown by the first record of each connection that ranks make.

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::time::Duration;

use super::pace::probed;
use crate::wait::is_ready;
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with, sockopt};

/// One host's part.
#[derive(Debug)]
pub(super) struct TcpProbe {
    /// Others connect to it; nobody need accept them. `None` if this host has none, or the job is
    /// to have none.
    listener: Option<TcpListener>,
    /// The others that no connection has come about to, and what is under way.
    missed: BTreeMap<u16, Attempt>,
}

#[derive(Debug)]
enum Attempt {
    To(SocketAddr),
    Begun(OwnedFd),
    Failed,
}

impl TcpProbe {
    /// The part of host `own` of `hosts`, which listens. It connects to those that it asks over UDP
    /// as well.
    pub fn new(own: u16, hosts: &[SocketAddr], listener: Option<TcpListener>) -> Self {
        let others = probed(own, hosts.len() as u16).into_iter();
        let missed = others.map(|host| (host, Attempt::To(hosts[usize::from(host)]))).collect();
        TcpProbe { listener, missed }
    }

    /// The hosts that no connection has come about to.
    pub fn missed(&self) -> impl Iterator<Item = u16> + '_ {
        self.missed.keys().copied()
    }

    /// True if connections are still waited for.
    pub fn waits(&self) -> bool {
        let open = |attempt: &Attempt| !matches!(attempt, Attempt::Failed);
        self.listener.is_some() && self.missed.values().any(open)
    }

    /// Begins to connect to those to which nothing is under way.
    pub fn ask(&mut self) {
        if self.listener.is_none() {
            return;
        }
        for attempt in self.missed.values_mut() {
            if let Attempt::To(address) = attempt {
                *attempt = begin(*address).map_or(Attempt::Failed, Attempt::Begun);
            }
        }
    }

    /// Notes connections that have come about.
    pub fn take_in(&mut self) {
        self.missed.retain(|_, attempt| match attempt {
            Attempt::Begun(socket) => match outcome(socket) {
                Some(true) => false,
                Some(false) => {
                    *attempt = Attempt::Failed;
                    true
                }
                None => true,
            },
            _ => true,
        });
    }
}

fn begin(address: SocketAddr) -> rustix::io::Result<OwnedFd> {
    let family = if address.is_ipv6() { AddressFamily::INET6 } else { AddressFamily::INET };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    match connect(&socket, &address) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(error) => Err(error),
    }
}

/// True if the connection has come about, false if it never will; `None` if that is open.
fn outcome(socket: &OwnedFd) -> Option<bool> {
    let is_decided = is_ready(socket, PollFlags::OUT, Duration::ZERO).ok()?;
    is_decided.then(|| matches!(sockopt::socket_error(socket), Ok(Ok(()))))
}

#[cfg(test)]
mod tests;
