//! The receiver's end of a connection.

use super::Puts;
use super::memory::{Address, Memory};
use super::queue::{Notification, Queue};
use super::state::{NAME_BYTES, Observer, Owed, Receiving, stage};
use super::table::{Admitted, Rights};
use crate::biased::this_thread;
use crate::handle::Handle;
use crate::send::SendPacket;
use crate::{Awaited, Error, Rank, Result, Upcalls, Whom};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use weft_link::memory::NAME_BYTES as NAMED;
use weft_wire::place::{PlaceHeader, PlaceKind};

/// Notifications that a queue holds before its senders have to wait.
const QUEUE_SLOTS: usize = 1024;
/// Smallest receive buffer, in bytes, that is worth a file and a mapping.
const SHARED_FROM: usize = 16 << 10;

/// Queue from which the notifications of one receive buffer, or of several, are read.
///
/// A reader that falls behind by more than 1,024 stops its senders, and with them all other packets
/// of these ranks, until it reads on.
pub struct Notifications {
    handle: Handle,
    queue: Arc<Queue>,
}

impl Notifications {
    /// The next notification, if there is one. Looks at memory only, and does not poll, as
    /// [`Self::wait`] does.
    #[inline]
    pub fn try_next(&mut self) -> Option<Notification> {
        self.queue.take()
    }

    /// True if there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The next notification. Polls meanwhile; spins, yields, then sleeps.
    ///
    /// # Errors
    /// [`Error::RankLost`], or what a peer did wrong.
    #[inline]
    pub fn wait(&mut self) -> Result<Notification> {
        if self.queue.is_empty() {
            self.queue.reader.store(this_thread(), Ordering::Relaxed);
            let what = || Awaited::new("the notification of a put", Whom::Anyone);
            self.handle.progress_until(&what, || Ok(!self.queue.is_empty()))?;
        }
        Ok(self.queue.take().unwrap_or_else(|| unreachable!("the wait ends with one")))
    }
}

/// A receive buffer that this rank has offered to another; dropping it closes the connection.
///
/// Its bytes are 0 at first.
pub struct ReceiveBuffer {
    handle: Handle,
    name: Box<str>,
    peer: Rank,
    connection: u32,
    bytes: usize,
    start: Address,
    stage: Arc<AtomicU32>,
}

impl Puts<'_> {
    /// A queue for the notifications of receive buffers.
    pub fn notifications(self) -> Notifications {
        Notifications { handle: self.0.clone(), queue: Arc::new(Queue::new(QUEUE_SLOTS)) }
    }

    /// Offers a receive buffer of `bytes` bytes to `to`, which may take it under `name`, once, and
    /// then has `rights`. Notifications of its puts arrive at `notifications`. Does not wait for it
    /// to take the offer.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`]; [`Error::Buffer`] if there is no such memory, or the name is longer
    /// than 128 bytes.
    pub fn offer(
        self,
        name: &str,
        to: Rank,
        bytes: usize,
        rights: Rights,
        notifications: &Notifications,
    ) -> Result<ReceiveBuffer> {
        self.0.check_rank(to)?;
        let refuse = |what| Error::Buffer { name: name.into(), bytes, what };
        if name.len() > NAME_BYTES {
            return Err(refuse("its name is longer than 128 bytes"));
        }
        let (memory, named) = match self.shared_memory(to, bytes, rights) {
            Some((memory, named)) => (Some(memory), Some(named)),
            None => (Memory::new(bytes), None),
        };
        let memory = memory.ok_or_else(|| refuse("there is not so much memory"))?;
        let (start, stage) = (memory.start(), Arc::<AtomicU32>::default());
        let queue = Arc::clone(&notifications.queue);
        let observer = Some(Observer { queue, stage: Arc::clone(&stage) });
        let receiving = Receiving { memory, observer, received: 0, sender: None };
        let mut packet = SendPacket::alloc(self.0, Some(to), Upcalls::Allowed)?;
        let offered = self.0.puts.connections.enter().receives.offer(to, bytes, rights, receiving);
        let connection = offered.ok_or_else(|| refuse("this rank has 65,536 already"))?;
        let (offset, length, word) = (bytes as u64, name.len() as u32, rights.to_word());
        let header = PlaceHeader { kind: PlaceKind::Offer, connection, offset, length, word };
        packet.put(&header.emit())?.put(name.as_bytes())?;
        packet.put(named.as_ref().map_or(&[], |named| named))?;
        packet.unicast_put(to)?;
        let handle = self.0.clone();
        Ok(ReceiveBuffer { handle, name: name.into(), peer: to, connection, bytes, start, stage })
    }

    /// Memory for a receive buffer that `to` can write without packets. A rank that may put may
    /// read there, too.
    fn shared_memory(
        self,
        to: Rank,
        bytes: usize,
        rights: Rights,
    ) -> Option<(Memory, [u8; NAMED])> {
        let shared = self.0.shared_memory().filter(|_| rights.put && bytes >= SHARED_FROM)?;
        // Without shared memory there are packets: too many open files are no reason to give up.
        let (memory, named) = shared.create(Some(to), bytes).ok().flatten()?;
        Some((Memory::shared(memory, bytes), named))
    }
}

impl ReceiveBuffer {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The rank that it was offered to.
    pub fn peer(&self) -> Rank {
        self.peer
    }

    /// The number by which [`Notification`]s name it.
    pub fn connection(&self) -> u32 {
        self.connection
    }

    /// Its size in bytes.
    #[expect(clippy::len_without_is_empty, reason = "a size, not a number of things inside")]
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// True if the other side has taken the offer and not closed the connection.
    pub fn is_open(&self) -> bool {
        self.stage.load(Ordering::Acquire) == stage::OPEN
    }

    /// Copies the bytes at `offset` into `into`. Packets put nothing there meanwhile; the bytes may
    /// be part of a put whose rest has not arrived yet.
    ///
    /// # Errors
    /// [`Error::Outside`].
    pub fn read(&self, offset: usize, into: &mut [u8]) -> Result<()> {
        self.look(offset, into.len(), |bytes| into.copy_from_slice(bytes))
    }

    /// Calls `look` with a range of the buffer, in place. Packets put nothing there meanwhile, so
    /// it must not wait for anything of Weft's, nor look at another buffer.
    ///
    /// # Errors
    /// [`Error::Outside`].
    pub fn look<R>(
        &self,
        offset: usize,
        length: usize,
        look: impl FnOnce(&[u8]) -> R,
    ) -> Result<R> {
        self.within(offset, length, |memory| look(memory.slice(offset, length)))
    }

    /// Copies `from` to `offset`, for the other side to get. Packets put nothing there meanwhile.
    ///
    /// # Errors
    /// [`Error::Outside`].
    pub fn write(&self, offset: usize, from: &[u8]) -> Result<()> {
        self.within(offset, from.len(), |memory| memory.write(offset, from))
    }

    /// Its start, at a cache line; for programs that know when the sender puts nothing. It stays
    /// there until this is dropped.
    ///
    /// Reading what is being put gives some of the old bytes and some of the new ones. To Rust, and
    /// to C, that is undefined.
    pub fn start(&self) -> NonNull<u8> {
        self.start.get()
    }

    fn within<R>(
        &self,
        offset: usize,
        length: usize,
        act: impl FnOnce(&mut Memory) -> R,
    ) -> Result<R> {
        let mut state = self.handle.puts.connections.enter();
        let found = state.receives.find(self.peer, self.connection);
        match found {
            Ok(Admitted { buffer, bytes, .. })
                if offset.checked_add(length).is_some_and(|end| end <= *bytes) =>
            {
                Ok(act(&mut buffer.memory))
            }
            _ => Err(Error::Outside {
                name: self.name.to_string(),
                offset,
                length,
                bytes: self.bytes,
            }),
        }
    }
}

impl Drop for ReceiveBuffer {
    fn drop(&mut self) {
        let mut state = self.handle.puts.connections.enter();
        let withdrawn = state.receives.withdraw(self.connection);
        drop(state);
        if withdrawn.is_some() && self.stage.load(Ordering::Acquire) != stage::CLOSED {
            let header = PlaceHeader::new(PlaceKind::Withdraw, self.connection);
            self.handle.owe(self.peer, Owed::Header(header));
        }
    }
}
