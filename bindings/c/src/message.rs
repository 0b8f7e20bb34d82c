//! Reading stream messages.
#![allow(unsafe_code)] // For `no_mangle` only; tidy sees to that.

use crate::handle::{Handle, HandleKind, free_even_used, given, put};
use crate::memory::Room;
use crate::status::{Failure, Status, call};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use weft::OrderedMessage;

/// A message: bytes that can be read once, in order, while later ones are still on their way. One
/// thread at a time uses it.
pub struct Message(Handle<Content>);

/// Content that can be read as a message.
pub(crate) enum Content {
    /// Message to a port, or an answer.
    Sent(weft::Message),
    /// Message of an order.
    Ordered(OrderedMessage),
    /// Request to a service, until it is answered.
    Request(weft::Request),
}

impl HandleKind for Content {
    const MARK: u32 = 0x4d53_4706;
    const NAME: &'static str = "message";
}

/// Works on what a content is read by, whatever it is.
macro_rules! reading {
    ($content:expr, |$message:ident| $work:expr) => {
        match $content {
            Content::Sent($message) => $work,
            Content::Ordered($message) => $work,
            Content::Request(request) => {
                let $message = request.message();
                $work
            }
        }
    };
}

impl Message {
    /// A message for a callback, which has it until it returns, or of a request, which has it.
    #[inline]
    pub(crate) fn lent(content: Content) -> Self {
        Message(Handle::lent(content))
    }

    /// A message for C to keep.
    pub(crate) fn boxed(content: Content) -> *mut Message {
        Box::into_raw(Box::new(Message(Handle::new(content))))
    }

    /// The request that this is the message of.
    pub(crate) fn request(&mut self) -> Result<&mut weft::Request, Failure> {
        match self.0.get_mut()? {
            Content::Request(request) => Ok(request),
            _ => Err(Failure::invalid("this is no request")),
        }
    }

    /// Takes the request out, to be answered.
    pub(crate) fn into_request(mut self) -> Result<weft::Request, Failure> {
        match self.0.take()? {
            Content::Request(request) => Ok(request),
            _ => Err(Failure::invalid("this is no request")),
        }
    }
}

#[inline]
fn reader(message: Option<&mut Message>) -> Result<&mut Content, Failure> {
    given(message, "message")?.0.get_mut()
}

/// The rank that sent a message. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_message_source(
    message: Option<&mut Message>,
    source: Option<&mut MaybeUninit<u32>>,
) -> Status {
    call(|| put(source, reading!(reader(message)?, |message| message.source()).0.into()))
}

/// The key that a message was sent with. WEFT_INVALID if it has none, or if its first packet was
/// read to its end. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_message_key(
    message: Option<&mut Message>,
    key: Option<&mut MaybeUninit<u64>>,
) -> Status {
    call(|| {
        let found = match reader(message)? {
            Content::Sent(message) => message.key(),
            Content::Ordered(_) | Content::Request(_) => None,
        };
        put(key, found.ok_or_else(|| Failure::invalid("the message has no key"))?)
    })
}

/// Length of a message in bytes, read or not, arrived or not. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_message_length(
    message: Option<&mut Message>,
    length: Option<&mut MaybeUninit<usize>>,
) -> Status {
    call(|| put(length, reading!(reader(message)?, |message| message.len())))
}

/// Number of bytes of a message that were not read yet. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_message_remaining(
    message: Option<&mut Message>,
    remaining: Option<&mut MaybeUninit<usize>>,
) -> Status {
    call(|| put(remaining, reader(message)?.remaining()))
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
        let content = reader(message)?;
        buffer.check(length)?;
        content.pass(length, |bytes| buffer.fill(bytes))
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

/// Marks count bytes of the last chunk as read. Never blocks.
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
    call(|| reader(message)?.pass(length, |_| ()))
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
        let message = given(message, "message")?;
        if let Content::Request(_) = message.0.get()? {
            return Err(Failure::invalid(
                "this message is its request's: weft_request_keep keeps both",
            ));
        }
        out.write(Message::boxed(message.0.take()?));
        Ok(())
    })
}

/// Releases a message that was received or kept; what was not read is skipped. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_message_release(message: Option<Box<Message>>) -> Status {
    call(|| {
        free_even_used(message, |message| &mut message.0)?;
        Ok(())
    })
}

impl Content {
    fn remaining(&mut self) -> usize {
        reading!(self, |message| message.remaining())
    }

    fn chunk(&mut self) -> Result<&[u8], Failure> {
        Ok(reading!(self, |message| message.chunk())?)
    }

    fn consume(&mut self, length: usize) {
        reading!(self, |message| message.consume(length));
    }

    /// Takes the next bytes through `work`, as they come; none if there are fewer.
    #[inline]
    fn pass(&mut self, length: usize, mut work: impl FnMut(&[u8])) -> Result<(), Failure> {
        self.check_left(length)?;
        let mut left = length;
        while left > 0 {
            let chunk = self.chunk()?;
            let count = chunk.len().min(left);
            work(&chunk[..count]);
            self.consume(count);
            left -= count;
        }
        Ok(())
    }

    fn check_left(&mut self, wanted: usize) -> Result<(), Failure> {
        let left = self.remaining();
        if wanted <= left {
            return Ok(());
        }
        let from = reading!(self, |message| message.source());
        let text =
            format!("the message from rank {from} has {left} bytes left, {wanted} were asked for");
        Err(Failure::new(Status::TooShort, text))
    }
}
