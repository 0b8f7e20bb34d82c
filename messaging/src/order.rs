//! Totally-ordered broadcast (thesis 6.4): all members get all messages in one order, which is FIFO
//! for each sender, and includes their own.
//!
//! It is Heinzle et al.'s GSB: *get a sequence number, then broadcast*. A fetch-and-add variable
//! hands out the numbers, without the program of its home node taking part; where ranks share
//! memory that is one instruction. A receiver hands a message over when all before it have been.
//! Long ones are streams as ever: they are handed over when it is their turn and their first packet
//! is there.
//!
//! | module | what |
//! |---|---|
//! | `sequence` | which message is next, and what came early |
//! | `window` | flow control: what a sender may have under way, and who tells whom when |
//! | `member` | one rank's part of an order |
//! | `view` | who is left of the members after losses, and how they go on |
//! | `message` | a message of an order |
//! | `envelope` | what precedes its bytes |
//!
//! # What a broadcast costs
//! One fetch-and-add, one multicast of the message with 16 more bytes, and for the sender's own
//! turn one copy of its bytes. A sender that does not wait ([`Order::begin`]) has one fetch-and-add
//! for all that it has begun since the last. Acknowledgements travel in broadcasts: one number
//! tells all senders at once. So if all members broadcast there are next to no other messages; if a
//! single one does, each other sends it one for every half window, which is one for every 32 that
//! it received.
//!
//! # Flow control
//! Panda had none for multicast. Here a sender has an [`OrderWindow`] of broadcasts under way that
//! some member has not consumed, its own rank included; then [`Order::broadcast`] waits, while
//! handlers run. A member has consumed a message when its handler has returned, or when it was
//! received from an [`OrderMailbox`] (so whoever fills the window of a mailbox and does not receive
//! waits for ever). What waits at a member is thus at most a window of each sender.
//!
//! A handler of an order must not wait for that: what it waits for may be that handlers return, its
//! own or others that wait as well. So it never does, it *overdraws*
//! ([`OrderStatistics::overdrawn`]), up to a limit at which it gets [`Error::Overdrawn`].
//!
//! # Handlers that wait
//! An asynchronous handler ([`Orders::order_async`]) may wait, for a lock, a call or a time; the
//! message after it waits for its end, and so does what tells senders that it was consumed. It must
//! not wait for a message of its own order, which cannot come before it has ended.
//!
//! # When a rank dies
//! In a job that goes on after losses an order goes on, too, among the members that live. They are
//! handed over the same messages in the same order, over any number of losses; each of a member
//! that lives once, in its order, and of a lost member's a beginning. A message comes whole or not
//! at all: it is received to its end before it is in the sequence. `view` says how.
//!
//! For that, a message has 24 bytes more and not 16, [`Order::begin`] waits for its number, and
//! each member keeps a copy of each message until all have consumed it. The copies are no more than
//! the windows of all members together.
//!
//! In all other jobs an order ends. Every survivor has been handed a prefix of one and the same
//! sequence. Nothing comes after a number that the dead rank took and never sent, and nothing after
//! a survivor knows of the loss: what waits then is not handed over any more, broadcasts and waits
//! return the loss, and nothing hangs. A message of which the dead rank sent the first packets only
//! may have been handed over: reading the rest of it fails, and nothing comes after it (a handler
//! that applies messages to a state reads them before it does). The dead rank itself may have been
//! ahead of all others.
//!
//! A member that breaks the order ([`Error::Disorder`]) ends the ranks that notice, as any peer
//! does that breaks the format.
//!
//! # Groups
//! An order among some ranks broadcasts to a multicast group. Groups that overlap, with one another
//! or with the group of all ranks, can deadlock without recovery (thesis Appendix A.2), unless the
//! trees are flat, as they are on shared memory.

mod envelope;
pub(crate) mod fuzzing;
#[cfg(test)]
pub(crate) mod golden;
mod member;
mod message;
mod sequence;
mod statistics;
mod view;
mod window;

use crate::completion::Completion;
use crate::engine::Engine;
use crate::parts::Parts;
use crate::{Error, Result};
use member::{Handler, Handling, Making, Member, OfEvents, OfMessages};
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use weft_endpoint::{Awaited, Group, Rank, SYSTEM_VARIABLES, USER_VARIABLES, Variable};

pub use message::{OrderEvent, OrderedMessage};
pub use sequence::{Disorder, ORDERS_PER_RANK};
pub use statistics::OrderStatistics;
pub use window::OrderWindow;

/// The first variable of the orders of a rank.
const FIRST_VARIABLE: u16 = USER_VARIABLES;
/// Number of these: some that orders have from the beginning, and others that they move to.
pub(crate) const ORDER_VARIABLES: u16 = 32;

const _: () = assert!(ORDERS_PER_RANK <= ORDER_VARIABLES as usize);
const _: () = assert!(ORDER_VARIABLES < SYSTEM_VARIABLES);

/// The orders of one rank; one of these a rank.
///
/// All ranks create the same orders, one after the other in the same order, those that they are no
/// members of included: an order's variable follows from how many came before it.
pub struct Orders {
    engine: Arc<Engine>,
    window: OrderWindow,
    made: Arc<Made>,
}

/// The orders that there have been, to know whether a thread runs a handler of one.
#[derive(Default)]
struct Made(Mutex<Vec<Weak<Member>>>);

/// One order of messages, as one of its members sees it: what others broadcast comes to its
/// handler, and what this one does. Dropping it ends this rank's part; the others must be done with
/// it too.
pub struct Order(Arc<Member>);

/// An order whose messages are asked for.
pub struct OrderMailbox(Order);

impl Orders {
    /// The orders over `engine`, of which there are none yet.
    pub fn new(engine: &Arc<Engine>) -> Self {
        Self::with_window(engine, OrderWindow::default())
    }

    /// Does what [`Self::new`] does, with windows of another size, which is the same on all ranks.
    pub fn with_window(engine: &Arc<Engine>, window: OrderWindow) -> Self {
        Orders { engine: Arc::clone(engine), window, made: Arc::default() }
    }

    /// Creates the order `name` among all ranks. `handler` gets every message of it, this rank's
    /// own too, one at a time. It runs whenever this rank waits, polls, is interrupted, or
    /// broadcasts.
    ///
    /// # Errors
    /// The name is taken, or [`Error::TooManyOrders`].
    pub fn order(
        &self,
        name: &str,
        handler: impl FnMut(OrderedMessage) + Send + 'static,
    ) -> Result<Order> {
        self.make(name, None, Some(Handler::Plain(Box::new(OfMessages(handler)))))
    }

    /// Creates the order `name` among all ranks, whose handler is told of losses, too, in a job
    /// that goes on after them: of each between the same two messages at all members that live.
    ///
    /// # Errors
    /// Those of [`Self::order`].
    pub fn order_with_losses(
        &self,
        name: &str,
        handler: impl FnMut(OrderEvent) + Send + 'static,
    ) -> Result<Order> {
        self.make(name, None, Some(Handler::Plain(Box::new(OfEvents(handler)))))
    }

    /// Creates the order `name` among all ranks, with a handler that may wait. The next message
    /// waits for its end, whatever it waits for. It runs as a task does: when this rank waits,
    /// polls, or is interrupted.
    ///
    /// # Errors
    /// Those of [`Self::order`].
    pub fn order_async<R>(
        &self,
        name: &str,
        mut handler: impl FnMut(OrderedMessage) -> R + Send + 'static,
    ) -> Result<Order>
    where
        R: Future<Output = ()> + Send + 'static,
    {
        let boxed = move |message| Box::pin(handler(message)) as Handling;
        self.make(name, None, Some(Handler::Async(Box::new(boxed))))
    }

    /// Creates the order `name` among `members`. All ranks call this; those that are no members
    /// cannot broadcast and get no messages. What others broadcast before this rank calls it waits,
    /// as for [`Packets::group`](weft_endpoint::Packets::group).
    ///
    /// # Errors
    /// Those of [`Self::order`], or `members` is no set of ranks of this job.
    pub fn order_in(
        &self,
        name: &str,
        members: &[Rank],
        handler: impl FnMut(OrderedMessage) + Send + 'static,
    ) -> Result<Order> {
        self.make(name, Some(members), Some(Handler::Plain(Box::new(OfMessages(handler)))))
    }

    /// Creates the order `name` among all ranks, to be asked for messages.
    ///
    /// # Errors
    /// Those of [`Self::order`].
    pub fn mailbox(&self, name: &str) -> Result<OrderMailbox> {
        self.make(name, None, None).map(OrderMailbox)
    }

    /// Creates the order `name` among `members`, to be asked for messages.
    ///
    /// # Errors
    /// Those of [`Self::order_in`].
    pub fn mailbox_in(&self, name: &str, members: &[Rank]) -> Result<OrderMailbox> {
        self.make(name, Some(members), None).map(OrderMailbox)
    }

    fn make(
        &self,
        name: &str,
        members: Option<&[Rank]>,
        handler: Option<Handler>,
    ) -> Result<Order> {
        let packets = self.engine.packets();
        packets.check_founder("orders, and what is built on them,")?;
        let ranks = packets.size();
        let mut made = self.made.lock();
        let (home, index) = (made.len() % ranks, made.len() / ranks);
        if index >= ORDERS_PER_RANK {
            return Err(Error::TooManyOrders { limit: ranks * ORDERS_PER_RANK });
        }
        let (group, members) = match members {
            Some(members) => (packets.group(members)?, members.to_vec()),
            None => (Group::ALL, (0..ranks as u16).map(Rank).collect()),
        };
        let variable = Variable { home: Rank(home as u16), index: FIRST_VARIABLE + index as u16 };
        // After a loss an order may get any home: no two orders have the same index there.
        let spare = ORDERS_PER_RANK + made.len();
        let spare = (spare < ORDER_VARIABLES as usize).then_some(FIRST_VARIABLE + spare as u16);
        // It has had its variable even if it cannot be made: the other ranks count it too.
        made.push(Weak::new());
        let window = self.window;
        let making = Making { name, group, members, variable, spare, window, handler };
        let member = Member::new(&self.engine, &self.made, making)?;
        if let Some(last) = made.last_mut() {
            *last = Arc::downgrade(&member);
        }
        Ok(Order(member))
    }
}

impl Made {
    /// True if the calling thread is inside the handler of any order.
    fn any_handler_runs_here(&self) -> bool {
        let orders = self.lock().clone();
        orders.iter().filter_map(Weak::upgrade).any(|order| order.handler_runs_here())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Weak<Member>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Order {
    /// Broadcasts a message to all members, this rank included, and returns its number, once it is
    /// sent. In a job that goes on after a loss, one that was not handed over anywhere may get
    /// another number then; the number that [`Self::broadcast_and_wait`] or a completion has is
    /// final. Blocks, while handlers run, as long as a window of this rank's broadcasts has not
    /// been consumed everywhere; not if it is called by a handler of an order.
    ///
    /// # Errors
    /// A lost rank, [`Error::Disorder`], [`Error::Overdrawn`], or this rank is no member. In a job
    /// that goes on no lost rank, but [`Error::NoVariable`].
    pub fn broadcast(&self, parts: &(impl Parts + ?Sized)) -> Result<u64> {
        self.0.broadcast(parts, None)
    }

    /// Does what [`Self::broadcast`] does, and returns once this rank's handler has returned from
    /// the message, as a replicated state machine needs: its state has seen this message and all
    /// before it. With an [`OrderMailbox`], once it was received.
    ///
    /// # Errors
    /// Those of [`Self::broadcast`], or [`Error::WaitsForItself`] in the handler of this order.
    pub fn broadcast_and_wait(&self, parts: &(impl Parts + ?Sized)) -> Result<u64> {
        if self.0.handler_runs_here() {
            return Err(Error::WaitsForItself(self.0.name().into()));
        }
        let (completer, completion) = Completion::new(self.0.engine());
        self.0.broadcast(parts, Some(completer))?;
        let name = self.0.name();
        completion.wait_for(&|| Awaited::of_unknown(format!("its broadcast of order '{name}'")))
    }

    /// Does what [`Self::broadcast_and_wait`] does, but the caller waits when it likes, or awaits.
    /// Blocks only as long as a window of broadcasts has not been consumed. The message has been
    /// copied when this returns; if its number is another host's to give (and the job ends with the
    /// first loss), it is sent once that has come and somebody has polled, or this rank was
    /// interrupted. One number after the other: what a thread begins, or broadcasts later, is in
    /// the order in which it did.
    ///
    /// # Errors
    /// Those of [`Self::broadcast`]. What goes wrong later the completion tells.
    pub fn begin(&self, parts: &(impl Parts + ?Sized)) -> Result<Completion<u64>> {
        let (completer, completion) = Completion::new(self.0.engine());
        self.0.begin(parts, completer)?;
        Ok(completion)
    }

    /// Its members; in a job that goes on after a loss those that live, as of the messages that
    /// were handed over here: all members see each loss between the same two.
    pub fn members(&self) -> Vec<Rank> {
        self.0.members()
    }

    /// Counters of this rank's part in the order.
    pub fn statistics(&self) -> OrderStatistics {
        self.0.statistics()
    }
}

impl OrderMailbox {
    /// The next message of the order; blocks until its first packet is there. Handlers run
    /// meanwhile.
    ///
    /// # Errors
    /// A lost rank, or [`Error::Disorder`]. In a job that goes on after losses each loss is told
    /// once, between the same two messages at all members that live, and this may be called again.
    pub fn receive(&self) -> Result<OrderedMessage> {
        self.0.0.receive()
    }

    /// The next message of the order, if it is there. Polls once, never blocks.
    ///
    /// # Errors
    /// Those of [`Self::receive`].
    pub fn try_receive(&self) -> Result<Option<OrderedMessage>> {
        self.0.0.try_receive()
    }
}

impl std::ops::Deref for OrderMailbox {
    type Target = Order;

    fn deref(&self) -> &Order {
        &self.0
    }
}
