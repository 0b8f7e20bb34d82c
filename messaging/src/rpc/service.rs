//! The server's end.

use super::Rpc;
use super::format::CallKind;
use super::tables::{RequestKey, header_of};
use crate::cached::Cached;
use crate::handler::guarded;
use crate::parts::Parts;
use crate::{Error, Message, Port};
use slotmap::Key;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use weft_endpoint::Rank;

/// A service: a port whose messages are requests. Dropping it ends it. Its handler may be of any
/// model of thesis table 6.2, as that of a [`Port`].
pub struct Service {
    _port: Port,
}

/// A request: read it, then answer it, now or later, from any thread. One that is dropped is
/// answered with [`crate::Error::NoReply`].
pub struct Request {
    responder: Responder,
    message: Message,
}

/// Answer that is due to a request, whose message may be given up before: now or later, from any
/// thread. One that is dropped is answered with [`crate::Error::NoReply`].
pub struct Responder {
    rpc: Cached<Rpc>,
    /// Null once it is answered.
    key: RequestKey,
}

impl Service {
    /// Creates the service `name`, whose requests `handler` gets, one at a time and in order, on
    /// whatever thread polls or is interrupted: see [`Port::new`]. A handler that panics has
    /// answered with [`crate::Error::Remote`]; the service goes on.
    ///
    /// # Errors
    /// [`crate::Error::PortTaken`], [`crate::Error::PortCollision`].
    pub fn new(
        rpc: &Arc<Rpc>,
        name: &str,
        mut handler: impl FnMut(Request) + Send + 'static,
    ) -> Result<Self, Error> {
        let serving = Arc::clone(rpc);
        let run = move |message| serve(&serving, message, &mut handler);
        let port = Port::new(&rpc.engine, name, run)?;
        Ok(Service { _port: port })
    }

    /// Creates the service `name` with a handler that may wait; the next request waits with it: see
    /// [`Port::with_async`].
    ///
    /// # Errors
    /// Those of [`Self::new`].
    pub fn with_async<R>(
        rpc: &Arc<Rpc>,
        name: &str,
        mut handler: impl FnMut(Request) -> R + Send + 'static,
    ) -> Result<Self, Error>
    where
        R: Future<Output = ()> + Send + 'static,
    {
        let serving = Arc::clone(rpc);
        let run = move |message| handle(begin(&serving, message), &mut handler);
        Ok(Service { _port: Port::with_async(&rpc.engine, name, run)? })
    }

    /// Creates the service `name` with a handler that may wait, while other requests are handled:
    /// see [`Port::concurrent`]. A request whose handler does not wait costs what it costs with
    /// [`Self::new`].
    ///
    /// # Errors
    /// Those of [`Self::new`].
    pub fn concurrent<R>(
        rpc: &Arc<Rpc>,
        name: &str,
        mut handler: impl FnMut(Request) -> R + Send + 'static,
    ) -> Result<Self, Error>
    where
        R: Future<Output = ()> + Send + 'static,
    {
        let serving = Arc::clone(rpc);
        let run = move |message| handle(begin(&serving, message), &mut handler);
        Ok(Service { _port: Port::concurrent(&rpc.engine, name, run)? })
    }

    /// Creates the service `name` with a handler that runs on a thread of its own for each request,
    /// and may block it: see [`Port::popup`].
    ///
    /// # Errors
    /// Those of [`Self::new`].
    pub fn popup(
        rpc: &Arc<Rpc>,
        name: &str,
        handler: impl Fn(Request) + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        let serving = Arc::clone(rpc);
        let run = move |message| serve(&serving, message, &handler);
        let port = Port::popup(&rpc.engine, name, run)?;
        Ok(Service { _port: port })
    }
}

/// Runs a handler on the request in a message.
#[inline]
fn serve(rpc: &Arc<Rpc>, message: Message, handler: impl FnOnce(Request)) {
    if let Some(request) = begin(rpc, message) {
        let key = request.responder.key;
        ended(rpc, key, guarded(|| handler(request)));
    }
}

/// Runs an asynchronous handler on a request, if there is one.
#[inline]
fn handle<R, F>(
    request: Option<Request>,
    handler: &mut F,
) -> impl Future<Output = ()> + Send + use<R, F>
where
    F: FnMut(Request) -> R + Send + 'static,
    R: Future<Output = ()> + Send + 'static,
{
    let begun = request.map(|request| {
        let (rpc, key) = (Arc::clone(&request.responder.rpc), request.responder.key);
        (rpc, key, guarded(|| handler(request)))
    });
    async move {
        let Some((rpc, key, begun)) = begun else { return };
        let outcome = match begun {
            Ok(future) => guarded_polls(future).await,
            Err(what) => Err(what),
        };
        ended(&rpc, key, outcome);
    }
}

/// Result of `future`, or the text of its panic.
async fn guarded_polls<R: Future<Output = ()>>(future: R) -> Result<(), String> {
    let mut future = pin!(future);
    poll_fn(|context| match guarded(|| future.as_mut().poll(context)) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(())) => Poll::Ready(Ok(())),
        Err(what) => Poll::Ready(Err(what)),
    })
    .await
}

/// The request in a message. Whatever else a peer sends to a service is none, and skipped.
#[inline]
fn begin(rpc: &Arc<Rpc>, mut message: Message) -> Option<Request> {
    let header = header_of(&mut message).filter(|header| header.kind == CallKind::Call)?;
    let key = rpc.tables.begin_request(message.source(), header.number)?;
    Some(Request { responder: Responder { rpc: Cached::new(rpc), key }, message })
}

/// The handler of a request has ended.
#[inline]
fn ended(rpc: &Rpc, key: RequestKey, outcome: Result<(), String>) {
    if let Some((to, number)) = rpc.tables.handled(key) {
        let text = match outcome {
            Err(what) => format!("its handler panicked: {what}"),
            Ok(()) => PANICKED.into(),
        };
        // That the caller is lost is for the next call to this layer to say; so below.
        let _ = rpc.send_text(to, number, &text);
    }
}

/// Text that callers get of a panic that was not their request's handler's.
const PANICKED: &str = "what was to answer it panicked";

impl Request {
    /// The rank that asks.
    pub fn source(&self) -> Rank {
        self.message.source()
    }

    /// Body of the request: a stream, which may still be arriving.
    pub fn message(&mut self) -> &mut Message {
        &mut self.message
    }

    /// True if the caller waits no more; then a reply is not even sent.
    pub fn is_cancelled(&self) -> bool {
        self.responder.is_cancelled()
    }

    /// Answers. Returns when all of the reply is in packets; what was not read of the request is
    /// skipped.
    ///
    /// # Errors
    /// The caller was lost.
    pub fn reply(self, parts: &(impl Parts + ?Sized)) -> Result<(), Error> {
        self.responder.reply(parts)
    }

    /// Answers that the request failed: the caller gets [`crate::Error::Remote`] with `what`, cut
    /// to what fits into a packet.
    ///
    /// # Errors
    /// The caller was lost.
    pub fn fail(self, what: &str) -> Result<(), Error> {
        self.responder.fail(what)
    }

    /// Its answer that is due, and its message, which may be given up before.
    pub fn into_parts(self) -> (Responder, Message) {
        (self.responder, self.message)
    }
}

impl Responder {
    /// True if the caller waits no more; then a reply is not even sent.
    pub fn is_cancelled(&self) -> bool {
        self.rpc.tables.is_cancelled(self.key)
    }

    /// Answers: [`Request::reply`].
    ///
    /// # Errors
    /// The caller was lost.
    pub fn reply(mut self, parts: &(impl Parts + ?Sized)) -> Result<(), Error> {
        let rpc = &self.rpc;
        let key = std::mem::replace(&mut self.key, RequestKey::null());
        match rpc.tables.end_request(key) {
            Some((to, number)) => rpc.send(to, CallKind::Answer, number, parts),
            None => Ok(()),
        }
    }

    /// Answers that the request failed: [`Request::fail`].
    ///
    /// # Errors
    /// The caller was lost.
    pub fn fail(mut self, what: &str) -> Result<(), Error> {
        let key = std::mem::replace(&mut self.key, RequestKey::null());
        match self.rpc.tables.end_request(key) {
            Some((to, number)) => self.rpc.send_text(to, number, what),
            None => Ok(()),
        }
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        if self.key.is_null() {
            return;
        }
        let tables = &self.rpc.tables;
        if !std::thread::panicking() {
            if let Some((to, number)) = tables.end_request(self.key) {
                let _ = self.rpc.send(to, CallKind::NoReply, number, "");
            }
        } else if let Some((to, number)) = tables.unwind_request(self.key) {
            let _ = self.rpc.send_text(to, number, PANICKED);
        }
    }
}
