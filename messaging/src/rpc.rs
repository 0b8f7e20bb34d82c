//! Remote procedure call (thesis 6.1.2): a request to a service, and its reply.
//!
//! A [`Service`] is a port whose messages are [`Request`]s; it replies in its upcall, or later from
//! anywhere. A [`Client`] calls it, with as many calls outstanding as it likes; a [`Call`] is waited
//! for by a thread or awaited by a task. Requests and replies are stream messages of any size.
//!
//! Replies go to one port of the caller's rank, which puts them into their calls' slots. Slots are
//! used again, with generations in their numbers, so that a reply that comes late, twice or from
//! somebody else is skipped; in the steady state a call allocates nothing. Cancellations take the same
//! port, so that they pass requests that wait.
//!
//! | module | what |
//! |---|---|
//! | [`format`](mod@format) | the call header |
//! | `tables` | calls and requests that are not over |
//! | `client`, `service` | the two ends |

mod client;
pub mod format;
mod service;
mod tables;

pub use client::{Call, Client};
pub use service::{Request, Service};

use crate::engine::Engine;
use crate::parts::Parts;
use crate::{Error, Port, Result};
use format::{CallNumber, Kind};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tables::{Tables, header_of, headers};
use weft_packet::Rank;

/// Remote procedure calls of one rank, in both directions; one a rank.
pub struct Rpc {
    engine: Arc<Engine>,
    tables: Arc<Tables>,
    /// Where replies and cancellations arrive, under the same name at all ranks.
    answers: Port,
    /// The ports of services that this rank has or calls.
    ports: Mutex<BTreeMap<String, Weak<Port>>>,
}

impl Rpc {
    /// Calls over `engine`. Every rank that calls or serves has one.
    ///
    /// # Errors
    /// If there is one already.
    pub fn new(engine: &Arc<Engine>) -> Result<Arc<Self>> {
        let tables = Arc::new(Tables::new());
        let arriving = Arc::clone(&tables);
        let answers = Port::new(engine, "weft.rpc", move |message| arriving.arrived(message))?;
        let ports = Mutex::default();
        Ok(Arc::new(Rpc { engine: Arc::clone(engine), tables, answers, ports }))
    }

    /// The messages below.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Whether `rank` is there still, as far as the job knows.
    fn check(&self, rank: Rank) -> Result<()> {
        let loss = self.engine.packets().loss().filter(|loss| loss.rank == rank);
        loss.map_or(Ok(()), |loss| Err(weft_packet::Error::RankLost(loss).into()))
    }

    /// Sends an answer or a cancellation.
    fn send(
        &self,
        to: Rank,
        kind: Kind,
        number: CallNumber,
        parts: &(impl Parts + ?Sized),
    ) -> Result<()> {
        self.answers.send_with(to, &headers(kind, number), parts)
    }

    /// Sends text that says why there is no reply: as much of it as a packet holds, so that whoever
    /// takes it need not wait for more.
    fn send_text(&self, to: Rank, number: CallNumber, text: &str) -> Result<()> {
        let room = self.engine.packets().max_payload() - crate::format::SIZE - format::SIZE;
        self.send(to, Kind::Failed, number, &[&text.as_bytes()[..text.len().min(room)]])
    }

    /// Creates the port of a service that this rank has.
    fn serve(&self, name: &str, port: impl FnOnce() -> Result<Port>) -> Result<Arc<Port>> {
        let mut ports = self.lock_ports();
        if ports.get(name).is_some_and(|port| port.strong_count() > 0) {
            return Err(Error::PortTaken(name.into()));
        }
        let port = Arc::new(port()?);
        ports.insert(name.into(), Arc::downgrade(&port));
        Ok(port)
    }

    /// A port to send to the service `name`: its own port if this rank has it, else one that refuses
    /// what comes in.
    fn sender(self: &Arc<Self>, name: &str) -> Result<Arc<Port>> {
        let mut ports = self.lock_ports();
        if let Some(port) = ports.get(name).and_then(Weak::upgrade) {
            return Ok(port);
        }
        let rpc = Arc::downgrade(self);
        let port = Port::new(&self.engine, name, move |mut message| {
            if let (Some(rpc), Some(header)) = (rpc.upgrade(), header_of(&mut message)) {
                // That the caller is lost is for the next call to this layer to say.
                let _ = rpc.send(message.source(), Kind::NoService, header.number, "");
            }
        })?;
        let port = Arc::new(port);
        ports.insert(name.into(), Arc::downgrade(&port));
        Ok(port)
    }

    fn lock_ports(&self) -> MutexGuard<'_, BTreeMap<String, Weak<Port>>> {
        self.ports.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
