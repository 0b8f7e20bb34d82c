//! The server's end.

use super::{decoded, decoded_async, encoded};
use crate::{Rank, Result, Weft};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::future::Future;
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

impl Server {
    /// Serves requests for `name` with `dispatch`, one at a time and in order.
    ///
    /// # Errors
    /// The name is taken.
    pub fn new(
        weft: &Weft,
        name: &'static str,
        mut dispatch: impl FnMut(Incoming) -> Result<()> + Send + 'static,
    ) -> Result<Self> {
        let handler = move |request| {
            if let Some(incoming) = Incoming::new(request, name) {
                // A caller that sent nonsense was told; a lost caller is for the next operation to
                // say.
                let _ = dispatch(incoming);
            }
        };
        Ok(Server { _service: Service::new(weft.rpc(), name, handler)? })
    }

    /// Serves requests for `name` with `dispatch`, which may wait: other requests are served
    /// meanwhile, so that methods end in any order. One that does not wait runs in place, before
    /// the next.
    ///
    /// # Errors
    /// The name is taken.
    pub fn concurrent<F>(
        weft: &Weft,
        name: &'static str,
        mut dispatch: impl FnMut(Incoming) -> F + Send + 'static,
    ) -> Result<Self>
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        let handler = move |request| {
            let running = Incoming::new(request, name).map(&mut dispatch);
            async move {
                if let Some(running) = running {
                    // As in `new`.
                    let _ = running.await;
                }
            }
        };
        Ok(Server { _service: Service::concurrent(weft.rpc(), name, handler)? })
    }
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

    /// Method that is called: the hash of its signature.
    pub fn method(&self) -> u32 {
        self.method
    }

    /// The arguments, and what the method is to answer. A caller that sent something else is told.
    ///
    /// # Errors
    /// A lost rank, or bytes that are no such arguments.
    pub fn arguments<T: DeserializeOwned>(mut self) -> Result<(T, Answer)> {
        let arguments = decoded(self.request.message(), self.name);
        self.taken(arguments)
    }

    /// Does what [`Self::arguments`] does, waiting for what has not arrived without keeping other
    /// requests waiting.
    ///
    /// # Errors
    /// Those of [`Self::arguments`].
    pub async fn arguments_async<T: DeserializeOwned>(mut self) -> Result<(T, Answer)> {
        let arguments = decoded_async(self.request.message(), self.name).await;
        self.taken(arguments)
    }

    fn taken<T>(self, arguments: Result<T>) -> Result<(T, Answer)> {
        let Incoming { request, name, .. } = self;
        match arguments {
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
