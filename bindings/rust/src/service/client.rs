//! The caller's end.

use super::{Method, decoded, encoded};
use crate::{Error, Message, Rank, Result, Weft};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use weft_messaging::rpc::{Call, Client};

/// Calls the methods of a service; the clients that `#[weft::service]` makes hold one.
#[derive(Clone)]
pub struct Caller {
    client: Client,
}

/// A call's result, which is on its way: await it, or block in [`Reply::wait`]. The call was made
/// when this was returned, so that many can be under way; dropping it cancels the call.
#[must_use = "a call that is dropped is cancelled"]
pub struct Reply<T, E = Error> {
    call: std::result::Result<Call, Option<Error>>,
    method: Method,
    read: fn(&mut Message, Method) -> std::result::Result<T, E>,
}

impl Caller {
    /// A caller of the service `name`.
    ///
    /// # Errors
    /// The name collides with another port's.
    pub fn new(weft: &Weft, name: &str) -> Result<Self> {
        Ok(Caller { client: Client::new(weft.rpc(), name)? })
    }

    /// Calls a method that returns `T`.
    pub fn call<T: DeserializeOwned>(
        &self,
        to: Rank,
        method: Method,
        arguments: &impl Serialize,
    ) -> Reply<T> {
        Reply { call: self.start(to, method, arguments), method, read: plain }
    }

    /// Calls a method that returns `Result<T, E>`.
    pub fn call_fallible<T: DeserializeOwned, E: DeserializeOwned>(
        &self,
        to: Rank,
        method: Method,
        arguments: &impl Serialize,
    ) -> Reply<T, super::CallError<E>> {
        Reply { call: self.start(to, method, arguments), method, read: fallible }
    }

    fn start(
        &self,
        to: Rank,
        method: Method,
        arguments: &impl Serialize,
    ) -> std::result::Result<Call, Option<Error>> {
        let sent =
            encoded(arguments, &method.hash.to_le_bytes(), |parts| self.client.call(to, parts));
        match sent {
            Ok(call) => call.map_err(|error| Some(error.into())),
            Err(error) => Err(Some(Error::Encoding { what: method.name, error })),
        }
    }
}

fn plain<T: DeserializeOwned>(message: &mut Message, method: Method) -> Result<T> {
    decoded(message, method.name)
}

fn fallible<T: DeserializeOwned, E: DeserializeOwned>(
    message: &mut Message,
    method: Method,
) -> std::result::Result<T, super::CallError<E>> {
    plain::<std::result::Result<T, E>>(message, method)?.map_err(super::CallError::Service)
}

impl<T, E: From<Error>> Reply<T, E> {
    /// Waits for the result; handlers run meanwhile.
    ///
    /// # Errors
    /// What the method returned, or what went wrong on the way.
    pub fn wait(self) -> std::result::Result<T, E> {
        self.finish(Call::wait)
    }

    /// Waits for the result, but no longer than `limit`; then the call is cancelled.
    ///
    /// # Errors
    /// [`weft_messaging::Error::CallTimedOut`], or as [`Self::wait`].
    pub fn wait_within(self, limit: Duration) -> std::result::Result<T, E> {
        self.finish(|call| call.wait_within(limit))
    }

    /// Does what [`Self::wait_within`] does, as a future; `limit` counts from when it is first
    /// polled.
    ///
    /// # Errors
    /// Those of [`Self::wait_within`].
    pub async fn within(self, limit: Duration) -> std::result::Result<T, E> {
        let call = self.call.map_err(not_made)?;
        let mut message = call.within(limit).await.map_err(Error::from)?;
        (self.read)(&mut message, self.method)
    }

    fn finish(
        self,
        wait: impl FnOnce(Call) -> weft_messaging::Result<Message>,
    ) -> std::result::Result<T, E> {
        let call = self.call.map_err(not_made)?;
        let mut message = wait(call).map_err(Error::from)?;
        (self.read)(&mut message, self.method)
    }
}

impl<T, E: From<Error>> Future for Reply<T, E> {
    type Output = std::result::Result<T, E>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let call = match &mut self.call {
            Ok(call) => call,
            Err(error) => return Poll::Ready(Err(not_made(error.take()).into())),
        };
        let message = ready!(Pin::new(call).poll(context));
        Poll::Ready(match message {
            Ok(mut message) => (self.read)(&mut message, self.method),
            Err(error) => Err(Error::from(error).into()),
        })
    }
}

fn not_made(error: Option<Error>) -> Error {
    error.expect("a reply is not polled again after it was ready")
}
