//! The caller's end.

use super::Rpc;
use super::format::{CallHeader, CallKind};
use super::tables::{Abandoned, CallKey, Ending, Outcome};
use super::watch::Patience;
use crate::cached::{Cached, cache};
use crate::parts::Parts;
use crate::poll::Poller;
use crate::posted_receive::PostedReceive;
use crate::sleep;
use crate::wait::Polls;
use crate::{Error, Message, Port, Result};
use slotmap::Key;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use weft_endpoint::{Awaited, Rank, Whom};

/// A client's end of a named service. Clones are handles to the same end.
#[derive(Clone)]
pub struct Client {
    end: Arc<End>,
}

/// State that the handles to a client share.
pub(crate) struct End {
    rpc: Arc<Rpc>,
    port: Port,
}

cache!(End, END, |end| &end.port.messages);

/// A call that is not over: wait for it with [`Call::wait`], or await it. Dropping it cancels it:
/// the server is told if no reply has come, and a late reply is skipped.
#[must_use = "a call that is dropped is cancelled"]
pub struct Call {
    end: Cached<End>,
    to: Rank,
    /// Null when the call is over.
    key: CallKey,
    /// Calls that were over when it began.
    over: u64,
}

impl Client {
    /// A client of the service `name`, at whatever ranks have it, this one included. They may get
    /// it later: requests wait for it for a second.
    ///
    /// # Errors
    /// [`Error::PortCollision`].
    pub fn new(rpc: &Arc<Rpc>, name: &str) -> Result<Self> {
        let port = Port::sender(&rpc.engine, name)?;
        Ok(Client { end: Arc::new(End { rpc: Arc::clone(rpc), port }) })
    }

    /// The name of the service.
    pub fn name(&self) -> &str {
        self.end.port.name()
    }

    /// Sends a request to the service at `to`. Returns when all of it is in packets; any number of
    /// calls may be outstanding. Blocks while the service there is too slow for its requests.
    ///
    /// # Errors
    /// A rank that does not exist, a lost rank, or [`Error::NoSuchService`] if there was no room
    /// for more requests.
    pub fn call(&self, to: impl Into<Rank>, parts: &(impl Parts + ?Sized)) -> Result<Call> {
        let (to, End { rpc, port }) = (to.into(), &*self.end);
        let (key, over) = rpc.tables.begin_call((port.number, to))?;
        let header = CallHeader { kind: CallKind::Call, number: key.number() };
        if let Err(error) = port.send_with(to, &header.emit(), parts) {
            rpc.tables.abandon_call(key);
            let Error::NoPort { rank, port: name } = error else { return Err(error) };
            rpc.withdraw((port.number, to), key.number());
            return Err(Error::NoSuchService { rank, name });
        }
        Ok(Call { end: Cached::new(&self.end), to, key, over })
    }
}

impl Call {
    /// The rank that was called.
    pub fn to(&self) -> Rank {
        self.to
    }

    /// The name of the service that was called.
    pub fn service(&self) -> &str {
        self.end.port.name()
    }

    /// Waits for the reply; handlers run meanwhile.
    ///
    /// # Errors
    /// [`Error::Remote`] or [`Error::NoReply`] if that is what came back, [`Error::NoSuchService`]
    /// if the rank has none after a second, or a lost rank.
    pub fn wait(self) -> Result<Message> {
        self.wait_long(None)
    }

    /// Does what [`Self::wait`] does, and lets others know `what` this rank waits for.
    ///
    /// # Errors
    /// Those of [`Self::wait`].
    pub fn wait_for(self, what: &dyn Fn() -> Awaited) -> Result<Message> {
        self.wait_long(Some(what))
    }

    /// Waits for the reply, but no longer than `limit`; then the call is cancelled.
    ///
    /// # Errors
    /// [`Error::CallTimedOut`], or as [`Self::wait`].
    pub fn wait_within(mut self, limit: Duration) -> Result<Message> {
        let deadline = self.end.port.messages.packets.now().saturating_add(limit);
        match self.wait_until(Some(deadline), None)? {
            Some(outcome) => self.end_with(outcome),
            None => Err(self.timed_out()),
        }
    }

    /// The reply as a future that waits no longer than `limit`, from when it is first polled; then
    /// the call is cancelled.
    ///
    /// # Errors
    /// Those of [`Self::wait_within`].
    pub async fn within(mut self, limit: Duration) -> Result<Message> {
        let end = Arc::clone(&self.end);
        match sleep::within(&end.port.messages, limit, &mut self).await {
            Ok(outcome) => outcome,
            Err(_) => Err(self.timed_out()),
        }
    }

    fn timed_out(&self) -> Error {
        Error::CallTimedOut { rank: self.to, service: self.service().into() }
    }

    #[inline]
    fn wait_long(mut self, what: Option<&dyn Fn() -> Awaited>) -> Result<Message> {
        match self.wait_until(None, what)? {
            Some(outcome) => self.end_with(outcome),
            None => unreachable!("a wait without a deadline ends with a reply"),
        }
    }

    /// Outcome of the call, which has not ended by it yet: its reply is moved once, into a message.
    #[inline(always)]
    fn wait_until(
        &self,
        deadline: Option<Duration>,
        what: Option<&dyn Fn() -> Awaited>,
    ) -> Result<Option<Outcome>> {
        self.assert_pending();
        let (rpc, key, over) = (&*self.end.rpc, self.key, self.over);
        let answers = (rpc.answers.number, rpc.answers.slot);
        let answer = CallHeader { kind: CallKind::Answer, number: key.number() };
        let posted = PostedReceive::of_headers(answers, self.to, answer.emit());
        let mut patience = Patience::default();
        let answer = || {
            let (to, service) = (self.to, self.service());
            let what = format!("the answer of rank {to} to a call of '{service}'");
            Awaited::new(what, Whom::One(to))
        };
        let what = what.unwrap_or(&answer);
        Poller::receiving(rpc.messages(), &posted).wait_until(what, deadline, |waker| {
            if let Some(reply) = posted.take() {
                return Ok(Some(Ok(rpc.tables.answered(key, reply))));
            }
            if waker.is_none() && rpc.tables.has_ended_none_since(over) {
                return Ok(None);
            }
            let outcome = rpc.tables.take_outcome(key, waker);
            if outcome.is_none() && waker.is_some() {
                patience.looked(rpc);
            }
            Ok(outcome)
        })
    }

    /// Ends the call.
    #[inline(always)]
    fn end_with(&mut self, outcome: Outcome) -> Result<Message> {
        let key = std::mem::replace(&mut self.key, CallKey::null());
        match outcome {
            Ok(reply) => Ok(self.end.port.open(reply)),
            Err(ending) => self.fail_with(key, *ending),
        }
    }

    /// Error of a call that has ended without a reply.
    #[cold]
    fn fail_with(&self, key: CallKey, ending: Ending) -> Result<Message> {
        let (rank, service) = (self.to, || self.service().to_string());
        Err(match ending {
            Ending::NoReply => Error::NoReply { rank, service: service() },
            Ending::Remote(mut message) => {
                let what = String::from_utf8_lossy(message.chunk()?).into_owned();
                Error::Remote { rank, service: service(), what }
            }
            Ending::NoService => {
                self.end.rpc.withdraw((self.end.port.number, rank), key.number());
                Error::NoSuchService { rank, name: service() }
            }
            Ending::Failed(error) => error,
        })
    }

    fn assert_pending(&self) {
        assert!(!self.key.is_null(), "the outcome of this call was taken already");
    }
}

impl Future for Call {
    type Output = Result<Message>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.assert_pending();
        let rpc = &self.end.rpc;
        if let Some(outcome) = rpc.tables.take_outcome(self.key, Some(context.waker())) {
            return Poll::Ready(self.end_with(outcome));
        }
        rpc.watch_calls();
        rpc.messages().somebody_waits();
        Poll::Pending
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
            let _ = rpc.send(self.to, CallKind::Cancel, self.key.number(), "");
        }
    }
}
