//! State of a rank that its process manager started, shared with the thread that watches.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicBool;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::pmi::PmiClient;
use rustix::event::{EventfdFlags, eventfd};
use weft_wire::Rank;

use super::meet::Peer;
use crate::recording::OwnTrace;

/// State of both threads.
#[derive(Debug)]
pub(super) struct Shared {
    pub exchange: Mutex<Box<dyn PmiClient>>,
    pub peers: Vec<Peer>,
    /// True if this rank says what only the network tells: one rank of each host does.
    pub speaks: bool,
    /// This rank.
    pub own: Rank,
    pub left: AtomicBool,
    /// Becomes readable when this rank has left.
    pub on_leave: OwnedFd,
    /// True if a loss is known to the thread that watches, and said if it was for this rank to say.
    pub noticed: Mutex<bool>,
    pub on_notice: Condvar,
    /// Trace that this rank writes, if that is wanted.
    pub trace: Option<OwnTrace>,
}

impl Shared {
    /// Of a rank that has met its peers.
    pub fn new(
        exchange: Box<dyn PmiClient>,
        peers: Vec<Peer>,
        speaks: bool,
        own: Rank,
        trace: Option<OwnTrace>,
    ) -> io::Result<Self> {
        let (left, noticed, on_notice) = Default::default();
        let exchange = Mutex::new(exchange);
        let on_leave = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Shared { exchange, peers, speaks, own, left, on_leave, noticed, on_notice, trace })
    }

    /// The connection to the process manager, for one thread at a time.
    pub fn exchange(&self) -> MutexGuard<'_, Box<dyn PmiClient>> {
        self.exchange.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a loss is known.
    pub fn notice(&self) {
        *self.noticed.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.on_notice.notify_all();
    }
}
