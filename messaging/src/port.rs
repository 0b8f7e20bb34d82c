//! Ports and mailboxes: where messages are delivered (thesis 6.1.3, service access points).

use crate::announced::{Asked, Asker, Received};
use crate::engine::Engine;
use crate::format::{Kind, PacketHeader};
use crate::handler::{Model, Waiting};
use crate::machine::{PortRun, To};
use crate::message::Message;
use crate::parts::Parts;
use crate::send::{NO_HEADERS, Sending, send, send_async};
use crate::{Error, Result};
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;
use weft_endpoint::{Awaited, Group, Rank, Whom};

/// A port: messages for it are given to its handler, in order. Every rank that receives on a port
/// creates it under the same name; messages that come before that wait.
///
/// In order means: in the order in which one sender sent them to this rank alone, or to one group.
/// Those are separate flows; a multicast and a message to this rank may overtake each other.
///
/// A sender may have [`crate::WINDOW_BYTES`] in packets at a port that nobody has read there; then
/// its next send waits, and nobody else's does.
pub struct Port {
    pub(crate) engine: Arc<Engine>,
    pub(crate) name: Arc<str>,
    pub(crate) number: u32,
    pub(crate) slot: usize,
    /// True if this rank receives here.
    receives: bool,
    /// Messages of so many bytes are asked for before they are sent.
    rendezvous_bytes: AtomicU64,
}

/// No message is as long.
const EAGER: u64 = u64::MAX;

/// A port whose messages are asked for.
pub struct Mailbox {
    port: Port,
    asked: Asked,
}

impl Port {
    /// Creates the port `name` with `handler` for its messages: an active message (thesis 6.2.3).
    ///
    /// Handlers run whenever this rank waits, polls, or is interrupted: on whatever thread that
    /// happens, one at a time for each port. A handler may send; what it sends never waits for room
    /// at the receiver's port, or the handlers of two ranks could wait for one another. It should
    /// not wait for anything else: it would do so on the stack of whoever polled. See
    /// [`Self::with_async`].
    ///
    /// A handler that panics takes its port with it: the program gets [`crate::Error::Panicked`]
    /// once, and later messages are thrown away.
    ///
    /// # Errors
    /// [`crate::Error::PortTaken`], [`crate::Error::PortCollision`].
    pub fn new(
        engine: &Arc<Engine>,
        name: &str,
        handler: impl FnMut(Message) + Send + 'static,
    ) -> Result<Self> {
        Self::create(engine, name, |_| Some(Model::Plain(Box::new(handler))))
    }

    /// Creates the port `name` with a handler that may wait: a single-threaded upcall. It runs in
    /// place until it waits; then it becomes a continuation, goes on when it is woken, and the next
    /// message of this port waits for its end. Other ports go on, and so does whoever polled.
    ///
    /// # Errors
    /// Those of [`Self::new`].
    pub fn with_async<R>(
        engine: &Arc<Engine>,
        name: &str,
        handler: impl FnMut(Message) -> R + Send + 'static,
    ) -> Result<Self>
    where
        R: Future<Output = ()> + Send + 'static,
    {
        Self::create_async(engine, name, false, handler)
    }

    /// Does what [`Self::with_async`] does, except that the next message does not wait: handlers
    /// run concurrently once they wait, and may end in any order. Popup threads without threads.
    ///
    /// # Errors
    /// Those of [`Self::new`].
    pub fn concurrent<R>(
        engine: &Arc<Engine>,
        name: &str,
        handler: impl FnMut(Message) -> R + Send + 'static,
    ) -> Result<Self>
    where
        R: Future<Output = ()> + Send + 'static,
    {
        Self::create_async(engine, name, true, handler)
    }

    /// Creates the port `name` with a handler that runs on a thread of its own for each message,
    /// and may block it: popup threads. Messages may be handled in any order. In the simulator,
    /// where ranks have no threads, it runs in place.
    ///
    /// # Errors
    /// Those of [`Self::new`].
    pub fn popup(
        engine: &Arc<Engine>,
        name: &str,
        handler: impl Fn(Message) + Send + Sync + 'static,
    ) -> Result<Self> {
        Self::create(engine, name, |_| Some(Model::Popup(Arc::new(handler))))
    }

    /// The port `name` of other ranks, for a rank that sends there and does not receive. It may
    /// have the port as well.
    ///
    /// # Errors
    /// [`crate::Error::PortCollision`].
    pub fn sender(engine: &Arc<Engine>, name: &str) -> Result<Self> {
        let slot = engine.state.enter().port_elsewhere(name)?;
        let number = crate::format::port_number(name);
        Ok(Port::at(engine, name, (number, slot), false))
    }

    fn at(engine: &Arc<Engine>, name: &str, (number, slot): (u32, usize), receives: bool) -> Self {
        let rendezvous_bytes = AtomicU64::new(EAGER);
        let (engine, name) = (Arc::clone(engine), name.into());
        Port { engine, name, number, slot, receives, rendezvous_bytes }
    }

    fn create_async<R>(
        engine: &Arc<Engine>,
        name: &str,
        concurrent: bool,
        handler: impl FnMut(Message) -> R + Send + 'static,
    ) -> Result<Self>
    where
        R: Future<Output = ()> + Send + 'static,
    {
        let tasks = &engine.tasks;
        Self::create(engine, name, |port| {
            Some(Model::Async(Waiting::new(tasks, port, concurrent, handler)))
        })
    }

    fn create(
        engine: &Arc<Engine>,
        name: &str,
        model: impl FnOnce(PortRun) -> Option<Model>,
    ) -> Result<Self> {
        let slot = engine.create_port(name, model)?;
        engine.packets().name_port(slot as u32, name);
        let number = crate::format::port_number(name);
        Ok(Port::at(engine, name, (number, slot), true))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Has messages of `bytes` bytes and more that are sent here to one rank wait for their reader:
    /// the receiver is asked first, and the bytes leave when it reads, or are left out if it drops
    /// the message (rendezvous, as in NX/2; careful-protocols 3 and 7). `None`, as at first: all
    /// messages are sent at once, up to the port's window.
    ///
    /// Whatever its senders have to say, a receiver then keeps one short packet of each such
    /// message that it has not begun to read; but each takes a round trip more, and its sender
    /// waits for the reader: programs that send, and read only later what makes the other side
    /// read, stop. Two ranks that send to each other do not. Multicasts, messages to this rank
    /// itself, and those that a handler sends without `await` are sent at once as before. This is
    /// for what is sent here from now on; receivers need not know.
    pub fn rendezvous_from(&self, bytes: Option<u64>) {
        self.rendezvous_bytes.store(bytes.unwrap_or(EAGER), Ordering::Relaxed);
    }

    /// True if the receiver of a message of `bytes` bytes is asked first.
    #[inline]
    pub(crate) fn asks_first(&self, bytes: u64) -> bool {
        bytes > 0 && bytes >= self.rendezvous_bytes.load(Ordering::Relaxed)
    }

    /// Sends a message to `to`. Returns when all of it is in packets; the receiver may already be
    /// reading then. Blocks while its port is full or all packets are on their way; handlers run
    /// meanwhile.
    ///
    /// # Errors
    /// A rank that does not exist, or was lost; [`crate::Error::NoPort`] if it has waited for a
    /// second and the receiver has no such port.
    #[inline]
    pub fn send(&self, to: impl Into<Rank>, parts: &(impl Parts + ?Sized)) -> Result<()> {
        send(self, to.into(), &NO_HEADERS, parts)
    }

    /// Sends a message with headers of the layers above in front of it: a
    /// [`HeaderStack`](crate::HeaderStack), or the bytes themselves.
    ///
    /// # Errors
    /// Those of [`Self::send`].
    #[inline]
    pub fn send_with(
        &self,
        to: impl Into<Rank>,
        headers: &(impl AsRef<[u8]> + ?Sized),
        parts: &(impl Parts + ?Sized),
    ) -> Result<()> {
        send(self, to.into(), headers, parts)
    }

    /// Does what [`Self::send_with`] does, for asynchronous handlers and tasks: waits instead of
    /// blocking.
    ///
    /// # Errors
    /// Those of [`Self::send`].
    pub async fn send_async(
        &self,
        to: impl Into<Rank>,
        parts: &(impl Parts + ?Sized),
    ) -> Result<()> {
        send_async(self, to.into(), parts).await
    }

    /// Sends a message to all ranks but this one, on a multicast tree, packet by packet. Blocks
    /// while one of their ports is full.
    ///
    /// # Errors
    /// Those of [`Self::send`].
    pub fn broadcast(&self, parts: &(impl Parts + ?Sized)) -> Result<()> {
        self.multicast(Group::ALL, parts)
    }

    /// Sends a message to all members of `group` but this rank.
    ///
    /// # Errors
    /// Those of [`Self::send`], or this rank is not a member.
    pub fn multicast(&self, group: Group, parts: &(impl Parts + ?Sized)) -> Result<()> {
        self.multicast_with(group, &[], parts)
    }

    /// Does what [`Self::multicast`] does, with headers of the layers above in front.
    ///
    /// # Errors
    /// Those of [`Self::multicast`].
    pub fn multicast_with(
        &self,
        group: Group,
        headers: &(impl AsRef<[u8]> + ?Sized),
        parts: &(impl Parts + ?Sized),
    ) -> Result<()> {
        if self.engine.packets().size() == 1 {
            return Ok(());
        }
        Sending::new(self, To::Group(group), headers.as_ref(), parts)?.finish(parts)
    }

    /// Does what [`Self::multicast`] does, for asynchronous handlers and tasks.
    ///
    /// # Errors
    /// Those of [`Self::multicast`].
    pub async fn multicast_async(&self, group: Group, parts: &(impl Parts + ?Sized)) -> Result<()> {
        if self.engine.packets().size() == 1 {
            return Ok(());
        }
        Sending::new(self, To::Group(group), &[], parts)?.finish_async(parts).await
    }

    /// Asks rank `to` whether it has this port. If it has not, whoever waits for room there gets
    /// [`crate::Error::NoPort`].
    pub(crate) fn probe(&self, to: Rank) {
        self.engine
            .tell(To::Rank(to), crate::format::PacketHeader::about(self.number, Kind::Probe));
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        if self.receives {
            self.engine.remove_port(self.slot);
        }
    }
}

impl Mailbox {
    /// Creates the port `name` without a handler: its messages wait to be asked for.
    ///
    /// # Errors
    /// [`crate::Error::PortTaken`], [`crate::Error::PortCollision`].
    pub fn new(engine: &Arc<Engine>, name: &str) -> Result<Self> {
        let port = Port::create(engine, name, |_| None)?;
        // Something may wait already.
        let (number, slot, empty_at) = (port.number, port.slot, AtomicU64::new(u64::MAX));
        Ok(Mailbox { port, asked: Asked { number, slot, empty_at } })
    }

    /// The message that has waited longest; blocks until the first packet of one is there.
    /// Other ports' handlers run meanwhile.
    ///
    /// # Errors
    /// A lost rank.
    pub fn receive(&self) -> Result<Message> {
        let received = self.receive_until(None)?;
        Ok(received
            .unwrap_or_else(|| unreachable!("a wait without a deadline ends with a message")))
    }

    /// Copies the message that has waited longest into `room`, and returns its sender and its
    /// length. Blocks until all of one is there. The cheapest way to receive messages whose length
    /// is known: a short one is copied where it lies. Headers of layers above are left out.
    ///
    /// # Errors
    /// [`Error::NoRoom`] for a message longer than `room`, which is dropped; a lost rank.
    #[inline]
    pub fn receive_into(&self, room: &mut [u8]) -> Result<(Rank, usize)> {
        let asker = Asker::of_next_into(&self.asked, room);
        let look = |engine: &Arc<Engine>, waker: Option<&_>| match asker.received() {
            Some(_) => Ok(Some(None)),
            None => Ok(engine.take_message(&self.asked, &asker, waker)?.map(Some)),
        };
        let what = || self.awaited();
        let message = self.engine.wait_for(&what, None, Some(&asker), look)?.flatten();
        match asker.received() {
            Some(Received { from, length, report }) => {
                if let Some(consumed) = report {
                    self.report(from, consumed);
                }
                Ok((from, length))
            }
            None => read_into(message, asker.room()),
        }
    }

    /// Tells a sender how much of its messages was consumed here.
    #[cold]
    fn report(&self, to: Rank, consumed: u32) {
        self.engine.tell_window(to, PacketHeader::window(self.number, None, consumed));
    }

    /// Does what [`Self::receive`] does, for `time` at most: `None` if nothing came.
    ///
    /// # Errors
    /// A lost rank.
    pub fn receive_within(&self, time: Duration) -> Result<Option<Message>> {
        let deadline = self.engine.packets().now().saturating_add(time);
        self.receive_until(Some(deadline))
    }

    /// Object of a receive.
    fn awaited(&self) -> Awaited {
        Awaited::new(format!("a message on port '{}'", self.name()), Whom::Anyone)
    }

    #[inline]
    fn receive_until(&self, deadline: Option<Duration>) -> Result<Option<Message>> {
        let asker = Asker::of_next(&self.asked);
        let look = |engine: &Arc<Engine>, waker: Option<&_>| {
            engine.take_message(&self.asked, &asker, waker)
        };
        let what = || self.awaited();
        self.engine.wait_for(&what, deadline, Some(&asker), look)
    }

    /// Does what [`Self::receive`] does, for asynchronous handlers and tasks: waits instead of
    /// blocking.
    ///
    /// # Errors
    /// A lost rank.
    pub async fn receive_async(&self) -> Result<Message> {
        poll_fn(|context| match self.engine.unqueue(&self.asked, Some(context.waker())) {
            Ok(Some(message)) => Poll::Ready(Ok(message)),
            Err(error) => Poll::Ready(Err(error)),
            Ok(None) => {
                self.engine.somebody_waits();
                Poll::Pending
            }
        })
        .await
    }

    /// The message that has waited longest, if there is one. Polls once, never blocks.
    ///
    /// # Errors
    /// A lost rank.
    pub fn try_receive(&self) -> Result<Option<Message>> {
        let (engine, asker) = (&self.engine, Asker::of_next(&self.asked));
        if let Some(message) = engine.take_message(&self.asked, &asker, None)? {
            return Ok(Some(message));
        }
        engine.progress()?;
        engine.take_message(&self.asked, &asker, None)
    }
}

/// Reads a message that was not copied where it was found.
#[inline(never)]
fn read_into(message: Option<Message>, room: &mut [u8]) -> Result<(Rank, usize)> {
    let Some(mut message) = message else { unreachable!("a wait ends with a message") };
    let (from, length) = (message.source(), message.len());
    let Some(bytes) = room.get_mut(..length) else {
        return Err(Error::NoRoom { from, length: length as u64, room: room.len() });
    };
    message.read_exact(bytes)?;
    Ok((from, length))
}

impl std::ops::Deref for Mailbox {
    type Target = Port;

    fn deref(&self) -> &Port {
        &self.port
    }
}
