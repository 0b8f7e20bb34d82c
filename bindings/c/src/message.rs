//! Reading stream messages.
#![allow(unsafe_code)] // For `no_mangle` only; tidy sees to that.

use crate::handle::{Handle, Kind, free, given, put};
use crate::memory::Room;
use crate::status::{Failure, Status, call};
use std::ffi::c_void;
use std::mem::MaybeUninit;

/// A message: bytes that can be read once, in order, while later ones are still on their way. One
/// thread at a time uses it.
pub struct Message(Handle<weft::Message>);

impl Kind for weft::Message {
    const MARK: u32 = 0x4d53_4706;
    const NAME: &'static str = "message";
}

impl Message {
    /// A message for a callback, which has it until it returns.
    pub(crate) fn new(message: weft::Message) -> Self {
        Message(Handle::new(message))
    }

    /// A message for C to keep.
    pub(crate) fn boxed(message: weft::Message) -> *mut Message {
        Box::into_raw(Box::new(Message::new(message)))
    }
}

#[inline]
fn read_only(message: Option<&Message>) -> Result<&weft::Message, Failure> {
    given(message, "message")?.0.get()
}

#[inline]
fn reader(message: Option<&mut Message>) -> Result<&mut weft::Message, Failure> {
    given(message, "message")?.0.get_mut()
}

/// The rank that sent a message. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_message_source(
    message: Option<&Message>,
    source: Option<&mut MaybeUninit<u32>>,
) -> Status {
    call(|| put(source, read_only(message)?.source().0.into()))
}

/// How many bytes a message has, read or not, arrived or not. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_message_length(
    message: Option<&Message>,
    length: Option<&mut MaybeUninit<usize>>,
) -> Status {
    call(|| put(length, read_only(message)?.len()))
}

/// How many bytes of a message were not read yet. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_message_remaining(
    message: Option<&Message>,
    remaining: Option<&mut MaybeUninit<usize>>,
) -> Status {
    call(|| put(remaining, read_only(message)?.remaining()))
}

/// Copies the next bytes of a message to a buffer with room for them. If it has fewer left it is
/// WEFT_TOO_SHORT, and none is read. Blocks, polling, until they have arrived.
#[unsafe(no_mangle)]
pub extern "C" fn weft_message_read(
    message: Option<&mut Message>,
    mut buffer: Room<'_>,
    length: usize,
) -> Status {
    call(|| {
        let message = reader(message)?;
        has_left(message, length)?;
        buffer.check(length)?;
        let mut left = length;
        while left > 0 {
            let chunk = message.chunk()?;
            let count = chunk.len().min(left);
            buffer.fill(&chunk[..count]);
            message.consume(count);
            left -= count;
        }
        Ok(())
    })
}

/// The next bytes of a message that lie together, without copying them; none at its end. They are
/// valid until they are consumed, or the message is used in another way. Blocks, polling, until
/// there are any.
#[unsafe(no_mangle)]
pub extern "C" fn weft_message_chunk(
    message: Option<&mut Message>,
    bytes: Option<&mut MaybeUninit<*const c_void>>,
    length: Option<&mut MaybeUninit<usize>>,
) -> Status {
    call(|| {
        let chunk = reader(message)?.chunk()?;
        put(bytes, chunk.as_ptr().cast())?;
        put(length, chunk.len())
    })
}

/// Marks so many bytes of the last chunk as read. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_message_consume(message: Option<&mut Message>, length: usize) -> Status {
    call(|| {
        let message = reader(message)?;
        // A chunk of which something is left is there: asking for it does not wait.
        let there = if length == 0 { 0 } else { message.chunk()?.len() };
        if length > there {
            let text = format!("the chunk has {there} bytes, {length} cannot be consumed");
            return Err(Failure::new(Status::TooShort, text));
        }
        message.consume(length);
        Ok(())
    })
}

/// Skips the next bytes of a message. If it has fewer left it is WEFT_TOO_SHORT, and none is
/// skipped. Blocks, polling, until they have arrived.
#[unsafe(no_mangle)]
pub extern "C" fn weft_message_skip(message: Option<&mut Message>, length: usize) -> Status {
    call(|| Ok(reader(message)?.skip(length)?))
}

/// Keeps a message beyond its callback. It is then the caller's, to be released with
/// weft_message_release(), and the callback's own pointer leads to nothing any more. What has
/// arrived stays where it is; senders stop when too much waits. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_message_keep(
    message: Option<&mut Message>,
    kept: Option<&mut MaybeUninit<*mut Message>>,
) -> Status {
    call(|| {
        let out = given(kept, "the pointer for the result")?;
        out.write(Message::boxed(given(message, "message")?.0.take()?));
        Ok(())
    })
}

/// Releases a message that was received or kept; what was not read is skipped. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_message_release(message: Option<Box<Message>>) -> Status {
    call(|| free(message, |message| &mut message.0).map(drop))
}

fn has_left(message: &weft::Message, wanted: usize) -> Result<(), Failure> {
    let left = message.remaining();
    if wanted > left {
        let text = format!(
            "the message from rank {} has {left} bytes left, {wanted} were asked for",
            message.source()
        );
        return Err(Failure::new(Status::TooShort, text));
    }
    Ok(())
}
