//! Totally-ordered broadcast.
#![allow(unsafe_code)] // For `no_mangle` only; tidy sees to that.

use crate::callback::Callback;
use crate::handle::{Handle, HandleKind, free, given};
use crate::job::{Job, state};
use crate::memory::{RankList, RankRoom, Text, User, Vector};
use crate::message::{Content, Message};
use crate::packet::ranks_of;
use crate::status::{Failure, Status, call};
use std::mem::MaybeUninit;
use weft::OrderEvent;

/// An order: messages that all its members get in one order. Any thread may use it, several at
/// once.
pub struct Order(Handle<Joined>);

/// Order in Rust.
struct Joined {
    order: weft::Order,
    callback: Callback<Called>,
}

impl HandleKind for Joined {
    const MARK: u32 = 0x4f52_4409;
    const NAME: &'static str = "order";
}

/// Callback for each message of an order, this rank's own too: one at a time, on every member with
/// the same numbers, from 0 on without a gap. It runs as that of a port does, also in calls that
/// broadcast. It may read and send; a broadcast of its own never waits. The message is valid until
/// it returns, unless it keeps it.
pub type OrderCallback = Option<extern "C" fn(message: &mut Message, number: u64, user: User)>;

/// Callback for the loss of a member of an order, in a job that goes on after losses: at all
/// members that live between the same two messages. It runs as weft_order_callback does, and never
/// beside it.
pub type OrderLossCallback = Option<extern "C" fn(rank: u32, user: User)>;

/// Functions for messages and for losses.
type Called = (extern "C" fn(&mut Message, u64, User), OrderLossCallback);

fn joined(order: Option<&Order>) -> Result<&Joined, Failure> {
    given(order, "order")?.0.get()
}

fn create(
    job: Option<&Job>,
    (callback, lost): (OrderCallback, OrderLossCallback),
    user: User,
    out: Option<&mut MaybeUninit<*mut Order>>,
    make: impl FnOnce(&weft::Weft, Box<dyn FnMut(OrderEvent) + Send>) -> Result<weft::Order, Failure>,
) -> Result<(), Failure> {
    let out = given(out, "the pointer for the result")?;
    let job = state(job)?;
    let callback = Callback::new(job, callback.map(|callback| (callback, lost)), user)?;
    let called = callback.clone();
    let handler = move |event: OrderEvent| match event {
        OrderEvent::Message(message) => {
            let number = message.number();
            let mut message = Message::lent(Content::Ordered(message));
            called.run(|(function, _), user| function(&mut message, number, user));
        }
        OrderEvent::Loss(rank) => called.run(|(_, lost), user| {
            if let Some(function) = lost {
                function(rank.0.into(), user);
            }
        }),
    };
    let order = make(job.messages()?, Box::new(handler))?;
    out.write(Box::into_raw(Box::new(Order(Handle::new(Joined { order, callback })))));
    Ok(())
}

/// Creates the order of a name among all ranks, whose messages the callback gets; user is handed to
/// it, and must live until the order is destroyed. All ranks create the same orders, one after the
/// other in the same order. The order is the caller's, to be given back to weft_order_destroy().
/// Never blocks, but the callback may run before it returns.
#[unsafe(no_mangle)]
pub extern "C" fn weft_order_create(
    job: Option<&Job>,
    name: Text<'_>,
    callback: OrderCallback,
    user: User,
    order: Option<&mut MaybeUninit<*mut Order>>,
) -> Status {
    weft_order_create_with_losses(job, name, callback, None, user, order)
}

/// Does what weft_order_create() does, and calls lost for each member that is lost, if it is not
/// null, in a job that goes on after losses.
#[unsafe(no_mangle)]
pub extern "C" fn weft_order_create_with_losses(
    job: Option<&Job>,
    name: Text<'_>,
    callback: OrderCallback,
    lost: OrderLossCallback,
    user: User,
    order: Option<&mut MaybeUninit<*mut Order>>,
) -> Status {
    call(|| {
        let name = name.get("the name")?;
        create(job, (callback, lost), user, order, |weft, handler| {
            Ok(weft.orders().order_with_losses(name, handler)?)
        })
    })
}

/// Does what weft_order_create() does, among count ranks. All ranks of the job call it, members or
/// not; those that are none cannot broadcast, and their callbacks are never called. What others
/// broadcast before this rank calls it waits. Members that overlap with another group's can
/// deadlock where multicast has trees; shared memory has none.
#[unsafe(no_mangle)]
pub extern "C" fn weft_order_create_in(
    job: Option<&Job>,
    name: Text<'_>,
    ranks: RankList<'_>,
    count: usize,
    callback: OrderCallback,
    user: User,
    order: Option<&mut MaybeUninit<*mut Order>>,
) -> Status {
    call(|| {
        let (name, members) = (name.get("the name")?, ranks_of(&ranks, count)?);
        create(job, (callback, None), user, order, |weft, mut handler| {
            let handler = move |message| handler(OrderEvent::Message(message));
            Ok(weft.orders().order_in(name, &members, handler)?)
        })
    })
}

/// Ends this rank's part in an order and frees it; all members must be done with it. Waits for a
/// callback that another thread runs. Not to be called in a callback.
#[unsafe(no_mangle)]
pub extern "C" fn weft_order_destroy(order: Option<Box<Order>>) -> Status {
    call(|| {
        free(order, |order| &mut order.0)?.callback.end();
        Ok(())
    })
}

/// Members of an order, in ascending order; in a job that goes on after losses those that live, as
/// of the messages and losses that this rank's callbacks have had: all members see the same there.
/// count is how many they are, of which at most room come to ranks, the first ones; ranks may be
/// null if room is 0. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_order_members(
    order: Option<&Order>,
    mut ranks: RankRoom<'_>,
    room: usize,
    count: Option<&mut MaybeUninit<usize>>,
) -> Status {
    call(|| {
        let members = &joined(order)?.order;
        let out = given(count, "the pointer for the number of ranks")?;
        ranks.check(room, "the pointer to the ranks")?;
        let members = members.members();
        ranks.fill(members.iter().take(room).map(|rank| u32::from(rank.0)));
        out.write(members.len());
        Ok(())
    })
}

/// Broadcasts a message in count pieces to all members, this rank included, and gives its number if
/// number is not null. Returns when it is sent. Blocks, while callbacks run, as long as too many of
/// this rank's broadcasts are not consumed everywhere; not in the callback of an order, where too
/// many are WEFT_OVERDRAWN.
#[unsafe(no_mangle)]
pub extern "C" fn weft_order_broadcast(
    order: Option<&Order>,
    pieces: Vector<'_>,
    count: usize,
    number: Option<&mut MaybeUninit<u64>>,
) -> Status {
    call(|| {
        let given = joined(order)?.order.broadcast(&pieces.checked(count)?)?;
        number.map(|number| number.write(given));
        Ok(())
    })
}

/// Does what weft_order_broadcast() does, and returns when this rank's callback has returned from
/// this message, and so from all before it. In the callback of the same order it is
/// WEFT_WAITS_FOR_ITSELF.
#[unsafe(no_mangle)]
pub extern "C" fn weft_order_broadcast_and_wait(
    order: Option<&Order>,
    pieces: Vector<'_>,
    count: usize,
    number: Option<&mut MaybeUninit<u64>>,
) -> Status {
    call(|| {
        let given = joined(order)?.order.broadcast_and_wait(&pieces.checked(count)?)?;
        number.map(|number| number.write(given));
        Ok(())
    })
}
