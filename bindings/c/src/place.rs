//! Puts and gets: the sender names the place in the receiver's memory (sender-based-protocols 2).
#![allow(unsafe_code)] // For `no_mangle` only; tidy sees to that.

use crate::handle::{Handle, HandleKind, free, given, put};
use crate::job::{Job, rank, state};
use crate::memory::{Bytes, RightsNumber, Room, Text};
use crate::status::{Failure, Status, call};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::Arc;
use weft::{NotificationKind, Packets};

/// Queue of notifications, of one receive buffer or of several. One thread at a time uses it.
pub struct Notifications(Handle<Queue>);

/// A receive buffer that this rank has offered to another. Any thread may use it, several at once.
pub struct Buffer(Handle<Offered>);

/// The right to put into, or to get from, a receive buffer of another rank. One thread at a time
/// uses it.
pub struct Connection(Handle<Connected>);

/// Rights that a receiver gives the other side.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rights {
    /// Put bytes into the buffer.
    Put = 1,
    /// Get bytes from it.
    Get = 2,
    /// Both.
    Both = 3,
}

/// Something happened at a receive buffer.
#[repr(C)]
pub struct Notification {
    /// The rank at the other end.
    from: u32,
    /// Number of this rank's buffer: see weft_buffer_number().
    buffer: u32,
    /// Offset at which bytes were placed.
    offset: usize,
    /// Number of bytes: all of them are there.
    length: usize,
    /// Word that the sender gave with them.
    word: u32,
    /// True if the sender has closed the connection instead: nothing was placed, and nothing of it
    /// follows.
    closed: bool,
}

struct Queue {
    packets: Arc<Packets>,
    queue: weft::Notifications,
}

struct Offered(weft::ReceiveBuffer);
struct Connected(weft::Connection);

impl HandleKind for Queue {
    const MARK: u32 = 0x4e4f_5410;
    const NAME: &'static str = "queue of notifications";
}

impl HandleKind for Offered {
    const MARK: u32 = 0x4255_4611;
    const NAME: &'static str = "receive buffer";
}

impl HandleKind for Connected {
    const MARK: u32 = 0x434f_4e12;
    const NAME: &'static str = "connection";
}

const RIGHTS: [(Rights, weft::Rights); 3] = [
    (Rights::Put, weft::Rights::PUT),
    (Rights::Get, weft::Rights::GET),
    (Rights::Both, weft::Rights::BOTH),
];

impl RightsNumber {
    fn get(self) -> Result<weft::Rights, Failure> {
        let found = RIGHTS.iter().find(|(rights, _)| *rights as u32 == self.0);
        let unknown = || Failure::invalid(format!("there are no rights {}", self.0));
        found.map(|(_, rights)| *rights).ok_or_else(unknown)
    }
}

impl From<weft::Notification> for Notification {
    fn from(notification: weft::Notification) -> Self {
        let weft::Notification { from, connection, offset, kind } = notification;
        let (length, word, closed) = match kind {
            NotificationKind::Put { length, word } => (length, word, false),
            NotificationKind::Closed => (0, 0, true),
        };
        Notification { from: from.0.into(), buffer: connection, offset, length, word, closed }
    }
}

fn offered(buffer: Option<&Buffer>) -> Result<&weft::ReceiveBuffer, Failure> {
    Ok(&given(buffer, "buffer")?.0.get()?.0)
}

fn connected(connection: Option<&mut Connection>) -> Result<&mut weft::Connection, Failure> {
    Ok(&mut given(connection, "connection")?.0.get_mut()?.0)
}

fn boxed(connection: weft::Connection) -> *mut Connection {
    Box::into_raw(Box::new(Connection(Handle::new(Connected(connection)))))
}

/// Makes a queue for the notifications of receive buffers. It holds 1,024; senders who find it full
/// wait, and with them all else that comes from their ranks. It is the caller's, to be freed with
/// weft_notifications_free(). Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_notifications_create(
    job: Option<&Job>,
    notifications: Option<&mut MaybeUninit<*mut Notifications>>,
) -> Status {
    call(|| {
        let out = given(notifications, "the pointer for the result")?;
        let packets = Arc::clone(state(job)?.packets());
        let queue = Queue { queue: packets.puts().notifications(), packets };
        out.write(Box::into_raw(Box::new(Notifications(Handle::new(queue)))));
        Ok(())
    })
}

/// Frees a queue, once the buffers that it was given to are closed. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_notifications_free(notifications: Option<Box<Notifications>>) -> Status {
    call(|| free(notifications, |notifications| &mut notifications.0).map(drop))
}

/// The next notification, if there is one; any is set to whether there was. Takes what has arrived,
/// callbacks run meanwhile. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_notification_poll(
    notifications: Option<&mut Notifications>,
    notification: Option<&mut MaybeUninit<Notification>>,
    any: Option<&mut MaybeUninit<bool>>,
) -> Status {
    call(|| {
        let out = given(notification, "the pointer for the result")?;
        let Queue { packets, queue } = given(notifications, "notifications")?.0.get_mut()?;
        let mut next = queue.try_next();
        if next.is_none() {
            packets.progress()?;
            next = queue.try_next();
        }
        put(any, next.is_some())?;
        next.map(|next| out.write(next.into()));
        Ok(())
    })
}

/// The next notification. Blocks until there is one; callbacks run meanwhile.
#[unsafe(no_mangle)]
pub extern "C" fn weft_notification_wait(
    notifications: Option<&mut Notifications>,
    notification: Option<&mut MaybeUninit<Notification>>,
) -> Status {
    call(|| {
        let out = given(notification, "the pointer for the result")?;
        let queue = &mut given(notifications, "notifications")?.0.get_mut()?.queue;
        out.write(queue.wait()?.into());
        Ok(())
    })
}

/// Offers a receive buffer of length bytes, all 0, to rank to, which may take it under the name,
/// once, and then do what rights say. What it puts with notice is told to notifications. The buffer
/// is the caller's, to be given back to weft_buffer_close(). Blocks only while all packets are on
/// their way.
#[unsafe(no_mangle)]
pub extern "C" fn weft_buffer_offer(
    job: Option<&Job>,
    name: Text<'_>,
    to: u32,
    length: usize,
    rights: RightsNumber,
    notifications: Option<&Notifications>,
    buffer: Option<&mut MaybeUninit<*mut Buffer>>,
) -> Status {
    call(|| {
        let out = given(buffer, "the pointer for the result")?;
        let (packets, name) = (state(job)?.packets(), name.get("the name")?);
        let queue = &given(notifications, "notifications")?.0.get()?.queue;
        let offered = packets.puts().offer(name, rank(to)?, length, rights.get()?, queue)?;
        out.write(Box::into_raw(Box::new(Buffer(Handle::new(Offered(offered))))));
        Ok(())
    })
}

/// The number by which notifications name a buffer. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_buffer_number(
    buffer: Option<&Buffer>,
    number: Option<&mut MaybeUninit<u32>>,
) -> Status {
    call(|| put(number, offered(buffer)?.connection()))
}

/// Tells if the other side has taken a buffer, and not closed the connection. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_buffer_is_open(
    buffer: Option<&Buffer>,
    open: Option<&mut MaybeUninit<bool>>,
) -> Status {
    call(|| put(open, offered(buffer)?.is_open()))
}

/// First byte of a buffer, at a multiple of 64, for programs that know when nobody puts there. It
/// stays there until the buffer is closed. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_buffer_start(
    buffer: Option<&Buffer>,
    start: Option<&mut MaybeUninit<*mut c_void>>,
) -> Status {
    call(|| put(start, offered(buffer)?.start().as_ptr().cast()))
}

/// Copies length bytes at offset of a buffer to into. No packet is placed meanwhile. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_buffer_read(
    buffer: Option<&Buffer>,
    offset: usize,
    mut into: Room<'_>,
    length: usize,
) -> Status {
    call(|| {
        into.check(length)?;
        Ok(offered(buffer)?.look(offset, length, |bytes| into.fill(bytes))?)
    })
}

/// Copies length bytes to offset of a buffer, for the other side to get. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_buffer_write(
    buffer: Option<&Buffer>,
    offset: usize,
    bytes: Bytes<'_>,
    length: usize,
) -> Status {
    call(|| Ok(offered(buffer)?.write(offset, bytes.slice(length)?)?))
}

/// Closes a buffer and frees it: nothing is placed there any more, and the other side is told when
/// it tries. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_buffer_close(buffer: Option<Box<Buffer>>) -> Status {
    call(|| free(buffer, |buffer| &mut buffer.0).map(drop))
}

/// Takes the receive buffer that rank from offers to this one under the name; of several of that
/// name, the one offered first. Blocks until there is one; callbacks run meanwhile, as in all calls
/// on connections that block. The connection is the caller's, to be given back to
/// weft_connection_close().
#[unsafe(no_mangle)]
pub extern "C" fn weft_connect(
    job: Option<&Job>,
    name: Text<'_>,
    from: u32,
    connection: Option<&mut MaybeUninit<*mut Connection>>,
) -> Status {
    call(|| {
        let out = given(connection, "the pointer for the result")?;
        let packets = state(job)?.packets();
        out.write(boxed(packets.puts().connect(name.get("the name")?, rank(from)?)?));
        Ok(())
    })
}

/// Does what weft_connect() does, but the connection is null if there is no such offer now. Never
/// blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_try_connect(
    job: Option<&Job>,
    name: Text<'_>,
    from: u32,
    connection: Option<&mut MaybeUninit<*mut Connection>>,
) -> Status {
    call(|| {
        let out = given(connection, "the pointer for the result")?;
        let packets = state(job)?.packets();
        packets.progress()?;
        let found = packets.puts().try_connect(name.get("the name")?, rank(from)?)?;
        out.write(found.map_or(std::ptr::null_mut(), boxed));
        Ok(())
    })
}

/// The size in bytes of the buffer at the other end. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_connection_length(
    connection: Option<&Connection>,
    length: Option<&mut MaybeUninit<usize>>,
) -> Status {
    call(|| put(length, given(connection, "connection")?.0.get()?.0.len()))
}

/// Puts length bytes at offset of the buffer. Returns when they may be changed; nobody is notified.
/// A put that the other side has refused is WEFT_REFUSED at the next call. Blocks only while all
/// packets are on their way.
#[unsafe(no_mangle)]
pub extern "C" fn weft_put(
    connection: Option<&mut Connection>,
    offset: usize,
    bytes: Bytes<'_>,
    length: usize,
) -> Status {
    call(|| Ok(connected(connection)?.put(offset, bytes.slice(length)?)?))
}

/// Does what weft_put() does; the other side is notified, of word too, once these bytes are placed,
/// and all that were put through this connection before. There may be none.
#[unsafe(no_mangle)]
pub extern "C" fn weft_put_notify(
    connection: Option<&mut Connection>,
    offset: usize,
    bytes: Bytes<'_>,
    length: usize,
    word: u32,
) -> Status {
    call(|| Ok(connected(connection)?.put_notify(offset, bytes.slice(length)?, word)?))
}

/// Gets length bytes at offset of the buffer, after all that was put through this connection
/// before. The other side's program takes no part. Blocks until they are there.
#[unsafe(no_mangle)]
pub extern "C" fn weft_get(
    connection: Option<&mut Connection>,
    offset: usize,
    into: Room<'_>,
    length: usize,
) -> Status {
    call(|| Ok(connected(connection)?.get(offset, into.zeroed(length)?)?))
}

/// Waits until all that was put through a connection is placed, or was refused.
#[unsafe(no_mangle)]
pub extern "C" fn weft_connection_flush(connection: Option<&mut Connection>) -> Status {
    call(|| Ok(connected(connection)?.flush()?))
}

/// Closes a connection and frees it. What was put is placed before the other side is told. Never
/// blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_connection_close(connection: Option<Box<Connection>>) -> Status {
    call(|| free(connection, |connection| &mut connection.0).map(drop))
}
