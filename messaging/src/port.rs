//! Ports and mailboxes: where messages are delivered (thesis 6.1.3, service access points).

use crate::arrived::Arrived;
use crate::engine::Engine;
use crate::format::{PacketHeader, PacketKind};
use crate::handler::{Handler, Model, Waiting};
use crate::machine::{PortRun, To};
use crate::message::Message;
use crate::messages::Messages;
use crate::parts::Parts;
use crate::poll::Poller;
use crate::posted_receive::{PolledPort, PostedReceive, Received};
use crate::send::{NO_HEADERS, Sending, send, send_async};
use crate::wait::Polls;
use crate::{Error, Result};
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Poll, Waker};
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
    pub(crate) messages: Arc<Messages>,
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
    polled: PolledPort,
    /// Number of the losses of which a receive has told.
    losses_heard: AtomicUsize,
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
        let slot = engine.messages.state.enter().port_elsewhere(name)?;
        let number = crate::format::port_number(name);
        Ok(Port::at(engine, name, (number, slot), false))
    }

    fn at(engine: &Arc<Engine>, name: &str, (number, slot): (u32, usize), receives: bool) -> Self {
        let rendezvous_bytes = AtomicU64::new(EAGER);
        let (messages, name) = (Arc::clone(&engine.messages), name.into());
        Port { messages, name, number, slot, receives, rendezvous_bytes }
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
        let tasks = &engine.messages.tasks;
        Self::create(engine, name, |port| {
            Some(Model::Async(Waiting::new(tasks, port, concurrent, handler)))
        })
    }

    fn create(
        engine: &Arc<Engine>,
        name: &str,
        model: impl FnOnce(PortRun) -> Option<Model<Message>>,
    ) -> Result<Self> {
        let messages = &engine.messages;
        let port = messages.state.enter().create_port(name)?;
        if let Some(model) = model(port) {
            let handler = Box::new(Handler { port, model });
            let is_ready = messages.state.enter().dispatch.set_handler(handler);
            if is_ready {
                messages.note_pending();
                messages.have_handlers_run();
            }
        }
        messages.packets.trace().name_port(port.slot as u32, name);
        let number = crate::format::port_number(name);
        Ok(Port::at(engine, name, (number, port.slot), true))
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
        if self.messages.packets.size() == 1 {
            return Ok(());
        }
        Sending::new(self, To::Group(group), headers.as_ref(), parts)?.finish(parts)
    }

    /// Does what [`Self::multicast`] does, for asynchronous handlers and tasks.
    ///
    /// # Errors
    /// Those of [`Self::multicast`].
    pub async fn multicast_async(&self, group: Group, parts: &(impl Parts + ?Sized)) -> Result<()> {
        if self.messages.packets.size() == 1 {
            return Ok(());
        }
        Sending::new(self, To::Group(group), &[], parts)?.finish_async(parts).await
    }

    /// Makes a message of what has waited here.
    #[inline]
    pub(crate) fn open(&self, arrived: Box<Arrived>) -> Message {
        Message::new(&self.messages, arrived)
    }

    /// Asks rank `to` whether it has this port. If it has not, whoever waits for room there gets
    /// [`crate::Error::NoPort`].
    pub(crate) fn probe(&self, to: Rank) {
        self.messages.tell(To::Rank(to), PacketHeader::about(self.number, PacketKind::Probe));
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        if self.receives {
            let (unneeded, queue) = self.messages.state.enter().remove_port(self.slot);
            // Outside the lock: dropping them enters it.
            drop(unneeded);
            queue.into_iter().for_each(|arrived| drop(self.open(arrived)));
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
        let losses_heard = AtomicUsize::new(0);
        Ok(Mailbox { port, polled: PolledPort { number, slot, empty_at }, losses_heard })
    }

    /// The message that has waited longest; blocks until the first packet of one is there.
    /// Other ports' handlers run meanwhile.
    ///
    /// # Errors
    /// A lost rank. In a job that goes on after a loss each loss ends one receive of this mailbox
    /// that would have waited: the message that it waits for may have been the lost rank's.
    pub fn receive(&self) -> Result<Message> {
        let posted = PostedReceive::of_next(&self.polled);
        let what = || self.awaited();
        let poller = Poller::receiving(&self.messages, &posted);
        poller.wait_for(&what, |waker| self.take(&posted, waker))
    }

    /// Copies the message that has waited longest into `room`, and returns its sender and its
    /// length. Blocks until all of one is there. The cheapest way to receive messages whose length
    /// is known: a short one is copied where it lies. Headers of layers above are left out.
    ///
    /// # Errors
    /// [`Error::NoRoom`] for a message longer than `room`, which is dropped; a lost rank.
    #[inline]
    pub fn receive_into(&self, room: &mut [u8]) -> Result<(Rank, usize)> {
        match self.receive_into_until(room, None)? {
            Some(received) => Ok(received),
            None => unreachable!("a wait without a deadline ends with a message"),
        }
    }

    /// Does what [`Self::receive_into`] does, but waits for the first packet of a message for so
    /// long at most: then it is `None`, and `room` is what it was.
    ///
    /// # Errors
    /// Those of [`Self::receive_into`].
    pub fn receive_into_within(
        &self,
        room: &mut [u8],
        time: Duration,
    ) -> Result<Option<(Rank, usize)>> {
        self.receive_into_until(room, Some(self.messages.packets.now().saturating_add(time)))
    }

    #[inline]
    fn receive_into_until(
        &self,
        room: &mut [u8],
        deadline: Option<Duration>,
    ) -> Result<Option<(Rank, usize)>> {
        let posted = PostedReceive::of_next_into(&self.polled, room);
        let look = |waker: Option<&Waker>| match posted.received() {
            Some(_) => Ok(Some(None)),
            None => Ok(self.take(&posted, waker)?.map(Some)),
        };
        let what = || self.awaited();
        let poller = Poller::receiving(&self.messages, &posted);
        let Some(message) = poller.wait_until(&what, deadline, look)? else { return Ok(None) };
        match posted.received() {
            Some(Received { from, length, report }) => {
                if let Some(consumed) = report {
                    self.report(from, consumed);
                }
                Ok(Some((from, length)))
            }
            None => read_into(message, posted.room()).map(Some),
        }
    }

    /// Tells a sender how much of its messages was consumed here.
    #[cold]
    fn report(&self, to: Rank, consumed: u32) {
        self.messages.tell_window(to, PacketHeader::window(self.number, None, consumed));
    }

    /// Does what [`Self::receive`] does, for `time` at most: `None` if nothing came.
    ///
    /// # Errors
    /// A lost rank.
    pub fn receive_within(&self, time: Duration) -> Result<Option<Message>> {
        let deadline = self.messages.packets.now().saturating_add(time);
        let posted = PostedReceive::of_next(&self.polled);
        let what = || self.awaited();
        let poller = Poller::receiving(&self.messages, &posted);
        poller.wait_until(&what, Some(deadline), |waker| self.take(&posted, waker))
    }

    /// Object of a receive.
    fn awaited(&self) -> Awaited {
        Awaited::new(format!("a message on port '{}'", self.name()), Whom::Anyone)
    }

    /// The message that has waited longest; else leaves `waker` for the next one. A receive without
    /// a waker polls before it looks again, and hears of a failure from that poll.
    #[inline]
    fn take(&self, posted: &PostedReceive<'_>, waker: Option<&Waker>) -> Result<Option<Message>> {
        if let Some(arrived) = posted.take() {
            return Ok(Some(self.open(arrived)));
        }
        match waker {
            None if self.polled.is_empty(self.messages.counts.queued()) => Ok(None),
            waker => self.unqueue(waker),
        }
    }

    #[inline(never)]
    fn unqueue(&self, waker: Option<&Waker>) -> Result<Option<Message>> {
        let Messages { state, counts, threads, .. } = &*self.messages;
        let mut state = state.enter();
        let arrived = state.dispatch.unqueue(self.slot, waker);
        // Who follows, and every task, is woken by what is queued, and by nothing else.
        let is_empty = state.dispatch.is_asked_by(self.slot, &threads.nudger);
        let empty_at = if is_empty { counts.queued() } else { u64::MAX };
        self.polled.empty_at.store(empty_at, Ordering::Relaxed);
        if arrived.is_none() && waker.is_some() {
            let losses = self.messages.packets.losses().all();
            if let Some(loss) = losses.get(self.losses_heard.load(Ordering::Relaxed)) {
                self.losses_heard.fetch_add(1, Ordering::Relaxed);
                return Err(weft_endpoint::Error::RankLost(*loss).into());
            }
            return state.failure.clone().map_or(Ok(None), Err);
        }
        drop(state);
        Ok(arrived.map(|arrived| self.open(arrived)))
    }

    /// Does what [`Self::receive`] does, for asynchronous handlers and tasks: waits instead of
    /// blocking.
    ///
    /// # Errors
    /// A lost rank.
    pub async fn receive_async(&self) -> Result<Message> {
        poll_fn(|context| match self.unqueue(Some(context.waker())) {
            Ok(Some(message)) => Poll::Ready(Ok(message)),
            Err(error) => Poll::Ready(Err(error)),
            Ok(None) => {
                self.messages.somebody_waits();
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
        let posted = PostedReceive::of_next(&self.polled);
        if let Some(message) = self.take(&posted, None)? {
            return Ok(Some(message));
        }
        Poller::new(&self.messages).progress()?;
        self.take(&posted, None)
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
