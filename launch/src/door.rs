//! The door of a job: a socket on each of its hosts, at which processes knock that the job has not
//! started. They wait there until its program lets them in.
//!
//! ```text
//!   visitor                          launcher, or the agent of its host          a rank
//!      connects, Knock(secret) ────────► visitor 1 waits
//!                                                      ◄──────────────────────── Admit(most)
//!      becomes a rank's process ◄──────  its place          Spawned(ranks) ────►
//!      Hello ──────────────────────────► as any rank
//! ```
//! A socket has an abstract name, as those of [`queries`](crate::queries) have, which a
//! [`DoorKey`] holds with a secret. The kernel says which user a visitor is, and which process: the
//! launcher can end it as it ends its own. The visitor's end of the connection becomes its channel
//! to the launcher: what it says after its knock waits in there.
//!
//! **Bounds** (I9). At most [`VISITORS_MAX`] wait; others are not accepted yet.

use crate::channel::{self, ReceiveError};
use crate::messages::{DoorKey, DoorSecret, Message as _, ToLauncher, ToRank};
use crate::refused::pidfd_open;
use rustix::event::PollFlags;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, accept_with,
    bind, connect, listen, socket_with,
};
use rustix::process::{Pid, getuid};
use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

mod file;

pub(crate) use file::DoorFile;

/// Visitors that wait at one host at most.
pub(crate) const VISITORS_MAX: usize = 64;
/// Time for which nobody is accepted once no descriptor was left for one.
const BACKOFF: Duration = Duration::from_millis(100);

/// The socket of a host.
#[derive(Debug)]
pub(crate) struct Door {
    listener: OwnedFd,
    secret: DoorSecret,
    /// Time until which nobody is accepted.
    closed_until: Cell<Option<Instant>>,
    visitors: Vec<Visitor>,
    /// Number of the next visitor.
    next: u32,
}

/// Process at the door.
#[derive(Debug)]
pub(crate) struct Visitor {
    number: u32,
    pub process: Pid,
    /// Becomes readable when the process ends.
    pub exit: OwnedFd,
    /// The connection to it.
    pub channel: OwnedFd,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// It has connected.
    Silent,
    /// It has shown the secret, and waits.
    Waits,
    /// It has closed its connection, and is to be forgotten when the launcher knows that.
    Gone,
}

/// Something at a door that wants attention.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AtDoor {
    /// Somebody connects.
    Arrival,
    /// The visitor of this number says something, or has gone.
    Visitor(u32),
}

/// News of a visitor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DoorNews {
    /// The visitor of this number waits to be let in.
    Knocked(u32),
    /// It waits no more.
    Gone(u32),
}

impl Door {
    /// Opens the door to this host.
    ///
    /// # Errors
    /// Those of the system.
    pub fn open(key: &DoorKey) -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let listener = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        bind(&listener, &address(key)?)?;
        listen(&listener, VISITORS_MAX as i32)?;
        let (visitors, closed_until) = (Vec::new(), Cell::new(None));
        Ok(Door { listener, secret: key.secret(), closed_until, visitors, next: 0 })
    }

    /// Descriptors that tell of something at the door, and what they tell of.
    pub fn waits_for(&self) -> impl Iterator<Item = (AtDoor, BorrowedFd<'_>, PollFlags)> {
        let is_closed = self.closed_until.get().is_some_and(|until| Instant::now() < until);
        let is_open = !is_closed && self.visitors.len() < VISITORS_MAX;
        let arrivals = is_open.then(|| (AtDoor::Arrival, self.listener.as_fd(), PollFlags::IN));
        let visitors = self.visitors.iter().filter(|visitor| visitor.stage != Stage::Gone);
        let visitors = visitors.map(|visitor| {
            // What one that waits says is for later: only its end is of interest.
            let said = visitor.stage == Stage::Silent;
            let flags = if said { PollFlags::IN } else { PollFlags::empty() };
            (AtDoor::Visitor(visitor.number), visitor.channel.as_fd(), flags)
        });
        arrivals.into_iter().chain(visitors)
    }

    /// Attends to what a descriptor tells of.
    pub fn attend(&mut self, at: AtDoor) -> Option<DoorNews> {
        match at {
            AtDoor::Arrival => self.accept(),
            AtDoor::Visitor(number) => {
                let index = self.index(number)?;
                return match self.visitors[index].stage {
                    Stage::Silent => self.hear(index),
                    Stage::Waits => {
                        self.visitors[index].stage = Stage::Gone;
                        Some(DoorNews::Gone(number))
                    }
                    Stage::Gone => None,
                };
            }
        }
        None
    }

    /// The visitor of this number, who is let in.
    pub fn admit(&mut self, number: u32) -> Option<Visitor> {
        Some(self.visitors.remove(self.index(number)?))
    }

    /// Forgets a visitor who has gone: the launcher will not let this one in.
    pub fn forget(&mut self, number: u32) {
        self.visitors.retain(|visitor| visitor.number != number);
    }

    fn index(&self, number: u32) -> Option<usize> {
        self.visitors.iter().position(|visitor| visitor.number == number)
    }

    fn accept(&mut self) {
        match accept_with(&self.listener, SocketFlags::CLOEXEC) {
            Ok(channel) => self.visitors.extend(Visitor::new(channel, self.next)),
            Err(rustix::io::Errno::AGAIN) => return,
            Err(_) => self.closed_until.set(Some(Instant::now() + BACKOFF)),
        }
        self.next = self.next.wrapping_add(1);
    }

    /// Takes in what a visitor says first. One that does not know the secret is told so, and shown
    /// out.
    fn hear(&mut self, index: usize) -> Option<DoorNews> {
        let visitor = &mut self.visitors[index];
        let why = match channel::receive(&visitor.channel, RecvFlags::DONTWAIT) {
            Err(ReceiveError::System(rustix::io::Errno::AGAIN)) => return None,
            Err(_) => None,
            Ok(said) => match ToLauncher::parse(&said.bytes) {
                Ok(ToLauncher::Knock(secret)) if secret == self.secret => {
                    visitor.stage = Stage::Waits;
                    return Some(DoorNews::Knocked(visitor.number));
                }
                Ok(_) => Some("that is not this door's secret".to_owned()),
                Err(bad) => Some(format!("the message to the launcher is unusable: {bad}")),
            },
        };
        if let Some(why) = why {
            visitor.refuse(why);
        }
        self.visitors.remove(index);
        None
    }
}

impl Visitor {
    /// A visitor who has connected; `None` if it is another user's process, or one out of sight.
    fn new(channel: OwnedFd, number: u32) -> Option<Self> {
        let peer = channel::peer(&channel).ok().filter(|peer| peer.user == getuid())?;
        let opened = peer.process.map(|process| (process, pidfd_open(process)));
        let Some((process, Ok(exit))) = opened else {
            let why = "the launcher cannot see this process, which is in a container of its own";
            refuse(&channel, why.into());
            return None;
        };
        Some(Visitor { number, process, exit, channel, stage: Stage::Silent })
    }

    fn refuse(&self, why: String) {
        refuse(&self.channel, why);
    }
}

fn refuse(channel: &OwnedFd, why: String) {
    // Who has gone needs no answer.
    let _ = channel::send(channel, &ToRank::Refused(why).emit(), &[], SendFlags::DONTWAIT);
}

/// Knocks: connects to the job that this key is of, and shows the secret. Returns the channel to
/// its launcher, or to the agent of this host.
///
/// # Errors
/// Those of the system; [`PermissionDenied`](io::ErrorKind::PermissionDenied) if somebody else
/// listens there.
pub(crate) fn knock(key: &DoorKey) -> io::Result<OwnedFd> {
    let channel =
        socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    connect(&channel, &address(key)?)?;
    if channel::peer(&channel)?.user != getuid() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let knock = ToLauncher::Knock(key.secret()).emit();
    channel::send(&channel, &knock, &[], SendFlags::empty())?;
    Ok(channel)
}

fn address(key: &DoorKey) -> io::Result<SocketAddrUnix> {
    Ok(SocketAddrUnix::new_abstract_name(key.name().as_bytes())?)
}

#[cfg(test)]
mod tests;
