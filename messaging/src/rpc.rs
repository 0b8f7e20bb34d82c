//! Remote procedure call (thesis 6.1.2): a request to a service, and its reply.
//!
//! A [`Service`] is a port whose messages are [`Request`]s; it replies in its upcall, or later from
//! anywhere. A [`Client`] calls it, with as many calls outstanding as it likes; a [`Call`] is
//! waited for by a thread or awaited by a task. Requests and replies are stream messages of any
//! size.
//!
//! Replies go to one port of the caller's rank, which puts them into their calls' slots. Slots are
//! used again, with generations in their numbers, so that a reply that comes late, twice or from
//! somebody else is skipped; in the steady state a call allocates nothing. Cancellations take the
//! same port, so that they pass requests that wait.
//!
//! Nobody has to have a service before it is called: requests wait for it. A call that has waited
//! for a second asks whether it is there, and ends with [`crate::Error::NoSuchService`] if not.
//!
//! | module | what |
//! |---|---|
//! | [`format`](mod@format) | the call header |
//! | `tables` | calls and requests that are not over |
//! | `watch` | calls that have waited for long |
//! | `client`, `service` | the two ends |

mod client;
pub mod format;
mod service;
mod tables;
mod watch;

pub use client::{Call, Client};
pub use service::{Request, Responder, Service};

use crate::cached::{cache, forget};
use crate::engine::Engine;
use crate::messages::Messages;
use crate::parts::Parts;
use crate::{Port, Result};
use client::End;
use format::{CallHeader, CallKind, CallNumber};
use std::sync::Arc;
use std::task::Waker;
use tables::Tables;
use watch::Watch;
use weft_endpoint::Rank;

/// Remote procedure calls of one rank, in both directions; one a rank.
pub struct Rpc {
    engine: Arc<Engine>,
    tables: Arc<Tables>,
    /// Port of replies and cancellations, under the same name at all ranks.
    answers: Port,
    /// Looks after calls that have waited for long.
    watch: Waker,
}

cache!(Rpc, RPC, |rpc| &rpc.answers.messages);

impl Rpc {
    /// Calls over `engine`. Every rank that calls or serves has one.
    ///
    /// # Errors
    /// If there is one already.
    pub fn new(engine: &Arc<Engine>) -> Result<Arc<Self>> {
        let tables = Arc::new(Tables::new(engine));
        engine.sharing.on_share(&tables, Tables::share);
        let arriving = Arc::clone(&tables);
        let answers = Port::new(engine, "weft.rpc", move |message| arriving.arrived(message))?;
        let messages = &engine.messages;
        messages.state.enter().dispatch.set_taker(answers.slot, Arc::<Tables>::clone(&tables));
        let (failing, failed) = (Arc::downgrade(&tables), Arc::downgrade(messages));
        messages.on_failure(move || {
            if let (Some(tables), Some(messages)) = (failing.upgrade(), failed.upgrade()) {
                tables.fail(messages.failure());
            }
        });
        let losing = Arc::downgrade(&tables);
        messages.packets.losses().on_each(move |loss| {
            if let Some(tables) = losing.upgrade() {
                tables.lose(loss);
            }
        });
        engine.on_close(forget::<Rpc>);
        engine.on_close(forget::<End>);
        Ok(Arc::new_cyclic(|this| Rpc {
            engine: Arc::clone(engine),
            tables,
            answers,
            watch: Waker::from(Arc::new(Watch(this.clone()))),
        }))
    }

    /// The messages below.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    fn messages(&self) -> &Arc<Messages> {
        &self.answers.messages
    }

    /// Sends an answer or a cancellation.
    #[inline]
    fn send(
        &self,
        to: Rank,
        kind: CallKind,
        number: CallNumber,
        parts: &(impl Parts + ?Sized),
    ) -> Result<()> {
        self.answers.send_with(to, &CallHeader { kind, number }.emit(), parts)
    }

    /// Sends text that says why there is no reply: as much of it as a packet holds, so that whoever
    /// takes it need not wait for more.
    fn send_text(&self, to: Rank, number: CallNumber, text: &str) -> Result<()> {
        let room = self.messages().packets.max_payload() - crate::format::SIZE - format::SIZE;
        self.send(to, CallKind::Failed, number, &[&text.as_bytes()[..text.len().min(room)]])
    }
}
