//! The server's end.

use super::{decoded, encoded};
use crate::{Rank, Result, Weft};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Waker};
use weft_messaging::rpc::{Request, Service};

/// A service that is there until it is dropped.
pub struct Server {
    _service: Service,
}

/// A request for a method, whose arguments are not read yet.
pub struct Incoming {
    method: u32,
    request: Request,
    name: &'static str,
}

/// A request whose method has its arguments, and is to be answered.
pub struct Answer {
    request: Request,
    name: &'static str,
}

/// A method that runs, in a place that is used again if it ends at once: only one that waits is given
/// its place, and costs an allocation.
type Running<F> = Pin<Box<Option<F>>>;

impl Server {
    /// Serves requests for `name` with `dispatch`: one at a time, each polled in place.
    ///
    /// # Errors
    /// The name is taken.
    pub fn new<F>(
        weft: &Weft,
        name: &'static str,
        mut dispatch: impl FnMut(Incoming) -> F + Send + 'static,
    ) -> Result<Self>
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        let mut place: Running<F> = Box::pin(None);
        let handler = move |request| {
            let Some(incoming) = Incoming::new(request, name) else { return };
            place.set(Some(dispatch(incoming)));
            let Some(method) = place.as_mut().as_pin_mut() else { return };
            if method.poll(&mut Context::from_waker(Waker::noop())).is_pending() {
                spawn(std::mem::replace(&mut place, Box::pin(None)));
            }
            place.set(None);
        };
        Ok(Server { _service: Service::new(weft.rpc(), name, handler)? })
    }
}

/// Where methods go on that wait. Nobody resumes them yet: they are dropped, and their callers hear
/// that there is no reply.
fn spawn<F: Future<Output = Result<()>> + Send + 'static>(method: Running<F>) {
    drop(method);
}

impl Incoming {
    /// `None`, and the caller is told, if it is none.
    fn new(mut request: Request, name: &'static str) -> Option<Self> {
        let mut hash = [0; 4];
        match request.message().read_exact(&mut hash) {
            Ok(()) => Some(Incoming { method: u32::from_le_bytes(hash), request, name }),
            Err(error) => {
                // That the caller is lost is for the next operation to say.
                let _ = request.fail(&error.to_string());
                None
            }
        }
    }

    /// The rank that calls.
    pub fn source(&self) -> Rank {
        self.request.source()
    }

    /// Which method is called: the hash of its signature.
    pub fn method(&self) -> u32 {
        self.method
    }

    /// The arguments, and what the method is to answer. A caller that sent something else is told.
    ///
    /// # Errors
    /// A lost rank, or bytes that are no such arguments.
    pub fn arguments<T: DeserializeOwned>(self) -> Result<(T, Answer)> {
        let Incoming { mut request, name, .. } = self;
        match decoded(request.message(), name) {
            Ok(arguments) => Ok((arguments, Answer { request, name })),
            Err(error) => {
                request.fail(&format!("its arguments cannot be read: {error}"))?;
                Err(error)
            }
        }
    }

    /// Answers that there is no such method.
    ///
    /// # Errors
    /// The caller was lost.
    pub fn no_such_method(self) -> Result<()> {
        let what = "it has no method of this name with these arguments and this result: \
                    the two ranks run different versions of it";
        Ok(self.request.fail(what)?)
    }
}

impl Answer {
    /// Answers with what the method returned.
    ///
    /// # Errors
    /// The caller was lost.
    pub fn reply<T: Serialize>(self, value: &T) -> Result<()> {
        let Answer { request, name } = self;
        let mut request = Some(request);
        let sent = encoded(value, &[], |parts| request.take().map_or(Ok(()), |r| r.reply(parts)));
        match (sent, request) {
            (Err(error), Some(request)) => {
                Ok(request.fail(&format!("its result cannot be sent: {error}"))?)
            }
            (Err(error), None) => Err(crate::Error::Encoding { what: name, error }),
            (Ok(sent), _) => Ok(sent?),
        }
    }
}
