//! The server's end.

use super::Rpc;
use super::format::Kind;
use super::tables::{RequestKey, header_of};
use crate::parts::Parts;
use crate::{Message, Port, Result};
use slotmap::Key;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use weft_packet::Rank;

/// A service: a port whose messages are requests. Dropping it ends it.
pub struct Service {
    _port: Arc<Port>,
}

/// A request: read it, then answer it, now or later, from any thread. One that is dropped is answered
/// with [`crate::Error::NoReply`].
pub struct Request {
    rpc: Arc<Rpc>,
    /// Null once it is answered.
    key: RequestKey,
    message: Message,
}

impl Service {
    /// Creates the service `name`, whose requests `handler` gets, one at a time and in order, on
    /// whatever thread polls or is interrupted. A handler that panics has answered with
    /// [`crate::Error::Remote`]; the service goes on.
    ///
    /// # Errors
    /// [`crate::Error::PortTaken`], [`crate::Error::PortCollision`].
    pub fn new(
        rpc: &Arc<Rpc>,
        name: &str,
        mut handler: impl FnMut(Request) + Send + 'static,
    ) -> Result<Self> {
        let serving = Arc::clone(rpc);
        let port = rpc.serve(name, || {
            Port::new(&rpc.engine, name, move |message| serve(&serving, message, &mut handler))
        })?;
        Ok(Service { _port: port })
    }
}

fn serve(rpc: &Arc<Rpc>, mut message: Message, handler: &mut impl FnMut(Request)) {
    let from = message.source();
    // Whatever else a peer sends here is no request, and skipped.
    let Some(header) = header_of(&mut message).filter(|header| header.kind == Kind::Call) else {
        return;
    };
    let Some(key) = rpc.tables.begin_request(from, header.number) else { return };
    let request = Request { rpc: Arc::clone(rpc), key, message };
    let outcome = catch_unwind(AssertUnwindSafe(|| handler(request)));
    if let Some((to, number)) = rpc.tables.handled(key) {
        let text = match &outcome {
            Err(panic) => format!("its handler panicked: {}", panic_text(&**panic)),
            Ok(()) => PANICKED.into(),
        };
        // That the caller is lost is for the next call to this layer to say; so below.
        let _ = rpc.send_text(to, number, &text);
    }
}

/// What callers hear of a panic that was not their request's handler's.
const PANICKED: &str = "what was to answer it panicked";

/// What a panic says.
fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let owned = || panic.downcast_ref::<String>().map(String::as_str);
    panic.downcast_ref::<&str>().copied().or_else(owned).unwrap_or("no text")
}

impl Request {
    /// The rank that asks.
    pub fn source(&self) -> Rank {
        self.message.source()
    }

    /// What it asks: a stream, which may still be arriving.
    pub fn message(&mut self) -> &mut Message {
        &mut self.message
    }

    /// Whether the caller waits no more; then a reply is not even sent.
    pub fn is_cancelled(&self) -> bool {
        self.rpc.tables.is_cancelled(self.key)
    }

    /// Answers. Returns when all of the reply is in packets; what was not read of the request is
    /// skipped.
    ///
    /// # Errors
    /// The caller was lost.
    pub fn reply(mut self, parts: &(impl Parts + ?Sized)) -> Result<()> {
        let rpc = &self.rpc;
        let key = std::mem::replace(&mut self.key, RequestKey::null());
        match rpc.tables.end_request(key) {
            Some((to, number)) => rpc.send(to, Kind::Answer, number, parts),
            None => Ok(()),
        }
    }

    /// Answers that the request failed: the caller gets [`crate::Error::Remote`] with `what`, cut to what
    /// fits into a packet.
    ///
    /// # Errors
    /// The caller was lost.
    pub fn fail(mut self, what: &str) -> Result<()> {
        let key = std::mem::replace(&mut self.key, RequestKey::null());
        match self.rpc.tables.end_request(key) {
            Some((to, number)) => self.rpc.send_text(to, number, what),
            None => Ok(()),
        }
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if self.key.is_null() {
            return;
        }
        let tables = &self.rpc.tables;
        if !std::thread::panicking() {
            if let Some((to, number)) = tables.end_request(self.key) {
                let _ = self.rpc.send(to, Kind::NoReply, number, "");
            }
        } else if let Some((to, number)) = tables.unwind_request(self.key) {
            let _ = self.rpc.send_text(to, number, PANICKED);
        }
    }
}
