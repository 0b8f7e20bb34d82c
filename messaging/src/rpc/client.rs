//! The caller's end.

use super::Rpc;
use super::format::Kind;
use super::tables::{Abandoned, CallKey, Reply, headers};
use crate::engine::Engine;
use crate::parts::Parts;
use crate::{Error, Message, Port, Result};
use slotmap::Key;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use weft_packet::Rank;

/// A client's end of a named service. Clones are handles to the same end.
#[derive(Clone)]
pub struct Client {
    end: Arc<End>,
}

struct End {
    rpc: Arc<Rpc>,
    name: Box<str>,
    port: Arc<Port>,
}

/// A call that is not over: wait for it with [`Call::wait`], or await it. Dropping it cancels it: the
/// server is told if no reply has come, and a late reply is skipped.
#[must_use = "a call that is dropped is cancelled"]
pub struct Call {
    end: Arc<End>,
    to: Rank,
    /// Null when the call is over.
    key: CallKey,
}

impl Client {
    /// A client of the service `name`, which has to be there at the ranks that are called. A rank that
    /// has the service too creates it before its clients.
    ///
    /// # Errors
    /// [`Error::PortTaken`], [`Error::PortCollision`].
    pub fn new(rpc: &Arc<Rpc>, name: &str) -> Result<Self> {
        let port = rpc.sender(name)?;
        Ok(Client { end: Arc::new(End { rpc: Arc::clone(rpc), name: name.into(), port }) })
    }

    /// The name of the service.
    pub fn name(&self) -> &str {
        &self.end.name
    }

    /// Sends a request to the service at `to`. Returns when all of it is in packets; any number of
    /// calls may be outstanding.
    ///
    /// # Errors
    /// A rank that does not exist, or was lost.
    pub fn call(&self, to: impl Into<Rank>, parts: &(impl Parts + ?Sized)) -> Result<Call> {
        let to = to.into();
        self.end.rpc.check(to)?;
        let key = self.end.rpc.tables.begin_call(to);
        let sent = self.end.port.send_with(to, &headers(Kind::Call, key.number()), parts);
        if let Err(error) = sent {
            self.end.rpc.tables.abandon_call(key);
            return Err(error);
        }
        Ok(Call { end: Arc::clone(&self.end), to, key })
    }
}

impl Call {
    /// The rank that was called.
    pub fn to(&self) -> Rank {
        self.to
    }

    /// The name of the service that was called.
    pub fn service(&self) -> &str {
        &self.end.name
    }

    /// Waits for the reply; handlers run meanwhile.
    ///
    /// # Errors
    /// [`Error::Remote`], [`Error::NoReply`] or [`Error::NoSuchService`] if that is what came back, or
    /// a lost rank.
    pub fn wait(mut self) -> Result<Message> {
        let rpc = Arc::clone(&self.end.rpc);
        rpc.engine.wait(|_, waker| self.look(waker).transpose())
    }

    /// Waits for the reply, but no longer than `limit`; then the call is cancelled.
    ///
    /// # Errors
    /// [`Error::CallTimedOut`], or as [`Self::wait`].
    pub fn wait_within(mut self, limit: Duration) -> Result<Message> {
        let rpc = Arc::clone(&self.end.rpc);
        let deadline = rpc.engine.packets().now().saturating_add(limit);
        let look = |_: &Arc<Engine>, waker: Option<&Waker>| self.look(waker).transpose();
        let reply = rpc.engine.wait_until(Some(deadline), look)?;
        reply.ok_or_else(|| Error::CallTimedOut {
            rank: self.to,
            service: self.end.name.to_string(),
        })
    }

    /// The outcome if there is one; else `waker` is woken when there is.
    fn look(&mut self, waker: Option<&Waker>) -> Option<Result<Message>> {
        assert!(!self.key.is_null(), "the outcome of this call was taken already");
        let tables = &self.end.rpc.tables;
        let reply = tables.take_reply(self.key, waker);
        if let Some(reply) = reply {
            self.key = CallKey::null();
            return Some(self.outcome(reply));
        }
        let lost = self.end.rpc.check(self.to).err()?;
        tables.abandon_call(std::mem::replace(&mut self.key, CallKey::null()));
        Some(Err(lost))
    }

    fn outcome(&self, Reply { kind, mut message }: Reply) -> Result<Message> {
        let (rank, service) = (self.to, || self.end.name.to_string());
        Err(match kind {
            Kind::Answer => return Ok(message),
            Kind::NoReply => Error::NoReply { rank, service: service() },
            Kind::NoService => Error::NoSuchService { rank, name: service() },
            Kind::Failed | Kind::Call | Kind::Cancel => {
                let what = String::from_utf8_lossy(message.chunk()?).into_owned();
                Error::Remote { rank, service: service(), what }
            }
        })
    }
}

impl Future for Call {
    type Output = Result<Message>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.look(Some(context.waker())) {
            Some(outcome) => Poll::Ready(outcome),
            None => Poll::Pending,
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if self.key.is_null() {
            return;
        }
        let rpc = &self.end.rpc;
        let given_up = rpc.tables.abandon_call(self.key);
        // A rank that unwinds is on its way out of the job: nobody needs its cancellations.
        if matches!(given_up, Abandoned::Waiting) && !std::thread::panicking() {
            // It is only advice; that its reader is lost is for the next call to this layer to say.
            let _ = rpc.send(self.to, Kind::Cancel, self.key.number(), "");
        }
    }
}
