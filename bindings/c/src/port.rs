//! Ports and mailboxes: where messages are sent and received.
#![allow(unsafe_code)] // For `no_mangle` only; tidy sees to that.

use crate::callback::Callback;
use crate::handle::{Handle, HandleKind, free, given};
use crate::job::{Job, rank, state};
use crate::memory::{Bytes, Room, Text, User, Vector};
use crate::message::{Content, Message};
use crate::packet::{Group, members};
use crate::status::{Failure, Status, call};
use std::mem::MaybeUninit;
use std::time::Duration;
use weft::Mailbox;
use weft_messaging::Selection;

/// Any sender of messages.
pub const WEFT_ANY_RANK: u32 = u32::MAX;

/// A port: messages for it are given to its callback, or asked for if it is a mailbox. Any thread
/// may use it, several at once.
pub struct Port(Handle<Open>);

/// Port in Rust.
enum Open {
    Upcalls(weft::Port, Callback<Called>),
    Mailbox(Mailbox),
}

impl HandleKind for Open {
    const MARK: u32 = 0x5052_5405;
    const NAME: &'static str = "port";
}

/// Callback for each message of a port. It runs on whatever thread polls or waits, or on Weft's
/// upcall thread if none does; one at a time for each port, in order for each sender. It may read,
/// which may wait for the rest of its message, and send; it should not wait for anything else. The
/// message is valid until it returns, unless it keeps it; what it leaves unread is skipped.
pub type PortCallback = Option<extern "C" fn(message: &mut Message, user: User)>;

type Called = extern "C" fn(&mut Message, User);

impl Open {
    fn port(&self) -> &weft::Port {
        match self {
            Open::Upcalls(port, _) => port,
            Open::Mailbox(mailbox) => mailbox,
        }
    }

    fn mailbox(&self) -> Result<&Mailbox, Failure> {
        match self {
            Open::Mailbox(mailbox) => Ok(mailbox),
            Open::Upcalls(..) => Err(Failure::invalid(
                "the messages of this port go to its callback: weft_mailbox_create makes ports \
                 whose messages are asked for",
            )),
        }
    }
}

#[inline]
fn opened(port: Option<&Port>) -> Result<&Open, Failure> {
    given(port, "port")?.0.get()
}

fn open(kind: Open) -> *mut Port {
    Box::into_raw(Box::new(Port(Handle::new(kind))))
}

/// Creates a port whose messages go to a callback.
fn create(
    job: Option<&Job>,
    callback: PortCallback,
    user: User,
    out: Option<&mut MaybeUninit<*mut Port>>,
    make: impl FnOnce(&weft::Weft, Callback<Called>) -> weft::Result<weft::Port>,
) -> Result<(), Failure> {
    let out = given(out, "the pointer for the result")?;
    let job = state(job)?;
    let callback = Callback::new(job, callback, user)?;
    let port = make(job.messages()?, callback.clone())?;
    out.write(open(Open::Upcalls(port, callback)));
    Ok(())
}

impl Callback<Called> {
    #[inline]
    fn give(&self, message: weft::Message) {
        self.run(|function, user| function(&mut Message::lent(Content::Sent(message)), user));
    }
}

/// Creates the port of a name, whose messages the callback gets; user is handed to it, and must
/// live until the port is destroyed. Every rank that receives on a port creates it under the same
/// name; messages that come before that wait. The port is the caller's, to be given back to
/// weft_port_destroy(). Never blocks, but the callback may run before it returns.
#[unsafe(no_mangle)]
pub extern "C" fn weft_port_create(
    job: Option<&Job>,
    name: Text<'_>,
    callback: PortCallback,
    user: User,
    port: Option<&mut MaybeUninit<*mut Port>>,
) -> Status {
    call(|| {
        let name = name.get("the name")?;
        create(job, callback, user, port, |weft, callback| {
            weft.port(name, move |message| callback.give(message))
        })
    })
}

/// Does what weft_port_create() does, but the callback runs on a thread of its own for each
/// message, which may wait for anything, other messages too. Messages are handled in any order,
/// several at once.
#[unsafe(no_mangle)]
pub extern "C" fn weft_port_create_popup(
    job: Option<&Job>,
    name: Text<'_>,
    callback: PortCallback,
    user: User,
    port: Option<&mut MaybeUninit<*mut Port>>,
) -> Status {
    call(|| {
        let name = name.get("the name")?;
        create(job, callback, user, port, |weft, callback| {
            weft.popup_port(name, move |message| callback.give(message))
        })
    })
}

/// Creates the port of a name without a callback: its messages wait to be asked for. The port is
/// the caller's, to be given back to weft_port_destroy(). Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_mailbox_create(
    job: Option<&Job>,
    name: Text<'_>,
    port: Option<&mut MaybeUninit<*mut Port>>,
) -> Status {
    call(|| {
        let out = given(port, "the pointer for the result")?;
        out.write(open(Open::Mailbox(state(job)?.messages()?.mailbox(name.get("the name")?)?)));
        Ok(())
    })
}

/// Destroys a port; messages that wait at it are skipped. Waits for callbacks that other threads
/// run; the caller holds nothing that they wait for. Not to be called in a callback.
#[unsafe(no_mangle)]
pub extern "C" fn weft_port_destroy(port: Option<Box<Port>>) -> Status {
    call(|| {
        match free(port, |port| &mut port.0)? {
            Open::Upcalls(_, callback) => callback.end(),
            Open::Mailbox(_) => {}
        }
        Ok(())
    })
}

/// Has messages of so many bytes and more that are sent here to one rank wait for their reader: the
/// receiver is asked first, and the bytes leave when it reads, so that what it has not begun to
/// read takes no memory there. Each takes a round trip more. 0, as at first: none waits. Never
/// blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_port_rendezvous_from(port: Option<&Port>, bytes: usize) -> Status {
    call(|| {
        opened(port)?.port().rendezvous_from((bytes > 0).then_some(bytes as u64));
        Ok(())
    })
}

/// Sends a message to the port of the same name at rank to. Returns when all of it is in packets;
/// the receiver may be reading by then. Blocks, draining the network, while it has no credits, and,
/// if the message is to wait for its reader, until there is one.
#[unsafe(no_mangle)]
pub extern "C" fn weft_port_send(
    port: Option<&Port>,
    to: u32,
    bytes: Bytes<'_>,
    length: usize,
) -> Status {
    call(|| Ok(opened(port)?.port().send(rank(to)?, bytes.slice(length)?)?))
}

/// Does what weft_port_send() does, for a message in count pieces, which are gathered into packets.
#[unsafe(no_mangle)]
pub extern "C" fn weft_port_sendv(
    port: Option<&Port>,
    to: u32,
    pieces: Vector<'_>,
    count: usize,
) -> Status {
    call(|| Ok(opened(port)?.port().send(rank(to)?, &pieces.checked(count)?)?))
}

/// Does what weft_port_send() does, for a message with a key, by which its receiver may select it.
#[unsafe(no_mangle)]
pub extern "C" fn weft_port_send_keyed(
    port: Option<&Port>,
    to: u32,
    key: u64,
    bytes: Bytes<'_>,
    length: usize,
) -> Status {
    call(|| Ok(opened(port)?.port().send_keyed(rank(to)?, key, bytes.slice(length)?)?))
}

/// Sends a message in count pieces to all ranks but this one. Blocks as weft_port_send() does.
#[unsafe(no_mangle)]
pub extern "C" fn weft_port_broadcast(
    port: Option<&Port>,
    pieces: Vector<'_>,
    count: usize,
) -> Status {
    call(|| Ok(opened(port)?.port().broadcast(&pieces.checked(count)?)?))
}

/// Sends a message in count pieces to all members of the group but this rank, which has to be one.
/// Blocks as weft_port_send() does.
#[unsafe(no_mangle)]
pub extern "C" fn weft_port_multicast(
    port: Option<&Port>,
    group: Option<&Group>,
    pieces: Vector<'_>,
    count: usize,
) -> Status {
    call(|| Ok(opened(port)?.port().multicast(members(group)?, &pieces.checked(count)?)?))
}

/// Receives the message that has waited longest at a mailbox; it is the caller's, to be released
/// with weft_message_release(). Blocks until the first packet of one is there; callbacks of other
/// ports run meanwhile.
#[unsafe(no_mangle)]
pub extern "C" fn weft_mailbox_receive(
    port: Option<&Port>,
    message: Option<&mut MaybeUninit<*mut Message>>,
) -> Status {
    call(|| {
        let out = given(message, "the pointer for the result")?;
        out.write(boxed(opened(port)?.mailbox()?.receive()?));
        Ok(())
    })
}

/// Does what weft_mailbox_receive() does, but never blocks: the message is null if there is none.
/// Polls once.
#[unsafe(no_mangle)]
pub extern "C" fn weft_mailbox_try_receive(
    port: Option<&Port>,
    message: Option<&mut MaybeUninit<*mut Message>>,
) -> Status {
    call(|| {
        let out = given(message, "the pointer for the result")?;
        let received = opened(port)?.mailbox()?.try_receive()?;
        out.write(received.map_or(std::ptr::null_mut(), boxed));
        Ok(())
    })
}

/// Does what weft_mailbox_receive() does, but blocks for so many nanoseconds at most: then it is
/// WEFT_TIMED_OUT, and the message is null.
#[unsafe(no_mangle)]
pub extern "C" fn weft_mailbox_receive_within(
    port: Option<&Port>,
    nanoseconds: u64,
    message: Option<&mut MaybeUninit<*mut Message>>,
) -> Status {
    call(|| {
        let out = given(message, "the pointer for the result")?.write(std::ptr::null_mut());
        let limit = Duration::from_nanos(nanoseconds);
        let received = opened(port)?.mailbox()?.receive_within(limit)?;
        *out = boxed(received.ok_or_else(|| late(limit))?);
        Ok(())
    })
}

/// Does what weft_mailbox_receive() does, for the message that has waited longest of those of one
/// sender and with one key: source may be WEFT_ANY_RANK, and key null for any. Others stay, in
/// their order; they count towards their senders' windows.
#[unsafe(no_mangle)]
pub extern "C" fn weft_mailbox_receive_selected(
    port: Option<&Port>,
    source: u32,
    key: Option<&u64>,
    message: Option<&mut MaybeUninit<*mut Message>>,
) -> Status {
    call(|| {
        let out = given(message, "the pointer for the result")?;
        let selection = selection(source, key)?;
        out.write(boxed(opened(port)?.mailbox()?.receive_selected(selection)?));
        Ok(())
    })
}

/// Does what weft_mailbox_receive_selected() does, but blocks for so many nanoseconds at most: then
/// it is WEFT_TIMED_OUT, and the message is null.
#[unsafe(no_mangle)]
pub extern "C" fn weft_mailbox_receive_selected_within(
    port: Option<&Port>,
    source: u32,
    key: Option<&u64>,
    nanoseconds: u64,
    message: Option<&mut MaybeUninit<*mut Message>>,
) -> Status {
    call(|| {
        let out = given(message, "the pointer for the result")?.write(std::ptr::null_mut());
        let limit = Duration::from_nanos(nanoseconds);
        let selection = selection(source, key)?;
        let received = opened(port)?.mailbox()?.receive_selected_within(selection, limit)?;
        *out = boxed(received.ok_or_else(|| late(limit))?);
        Ok(())
    })
}

fn selection(source: u32, key: Option<&u64>) -> Result<Selection, Failure> {
    let source = if source == WEFT_ANY_RANK { None } else { Some(rank(source)?) };
    Ok(Selection { source, key: key.copied() })
}

/// Does what weft_mailbox_receive() does, but copies the message to a buffer with room for capacity
/// bytes, and gives its length, and its sender if source is not null. Blocks until all of it is
/// there. The cheapest way to receive messages whose length is known: a short one is copied where
/// it lies. A message that is longer than the room is WEFT_TOO_LONG, and is dropped. What is in the
/// buffer behind the message, or after an error, is not defined.
#[unsafe(no_mangle)]
pub extern "C" fn weft_mailbox_receive_into(
    port: Option<&Port>,
    buffer: Room<'_>,
    capacity: usize,
    length: Option<&mut MaybeUninit<usize>>,
    source: Option<&mut MaybeUninit<u32>>,
) -> Status {
    call(|| {
        receive_into(port, length, source, |mailbox| {
            Ok(mailbox.receive_into(buffer.writable(capacity)?)?)
        })
    })
}

/// Does what weft_mailbox_receive_into() does, but blocks for so many nanoseconds at most, until
/// the first packet of a message is there: then it is WEFT_TIMED_OUT, and the buffer is what it
/// was.
#[unsafe(no_mangle)]
pub extern "C" fn weft_mailbox_receive_into_within(
    port: Option<&Port>,
    buffer: Room<'_>,
    capacity: usize,
    nanoseconds: u64,
    length: Option<&mut MaybeUninit<usize>>,
    source: Option<&mut MaybeUninit<u32>>,
) -> Status {
    call(|| {
        receive_into(port, length, source, |mailbox| {
            let limit = Duration::from_nanos(nanoseconds);
            let received = mailbox.receive_into_within(buffer.writable(capacity)?, limit)?;
            received.ok_or_else(|| late(limit))
        })
    })
}

/// Receives into a buffer of C's, and gives the length and the sender.
fn receive_into(
    port: Option<&Port>,
    length: Option<&mut MaybeUninit<usize>>,
    source: Option<&mut MaybeUninit<u32>>,
    receive: impl FnOnce(&Mailbox) -> Result<(weft::Rank, usize), Failure>,
) -> Result<(), Failure> {
    let mailbox = opened(port)?.mailbox()?;
    let length = given(length, "the pointer for the length")?;
    let (from, bytes) = receive(mailbox)?;
    length.write(bytes);
    source.map(|source| source.write(from.0.into()));
    Ok(())
}

fn late(limit: Duration) -> Failure {
    Failure::new(Status::TimedOut, format!("no message came within {limit:?}"))
}

fn boxed(message: weft::Message) -> *mut Message {
    Message::boxed(Content::Sent(message))
}
