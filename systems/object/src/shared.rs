//! State of a rank that handlers and threads share, and its ways to the other ranks.

use crate::calls::Calls;
use crate::copy::{Fault, Over, Overs};
use crate::deadlock::Watch;
use crate::entry::Entry;
use crate::error::{Ended, Error};
use crate::format::{Invocation, Reply};
use crate::kind::Kinds;
use crate::local::{Local, Resume};
use crate::lock::lock;
use crate::losses::Losses;
use crate::planted::{Bug, Planted};
use crate::position::Position;
use crate::programs::Programs;
use crate::table::Table;
use crate::usage::Observer;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;
use weft_endpoint::Rank;
use weft_messaging::rpc::{Client, Responder, Service};
use weft_messaging::{Completer, Completion, Engine, Error as OrderError, Order};

/// Time after which a message that could not be broadcast is tried again.
const AGAIN: Duration = Duration::from_millis(1);

/// Code of a process type: it gets its rank's part in the objects, and arguments.
pub(crate) type Code = dyn Fn(&Arc<Node>, &[u8]) -> Ended + Send + Sync;

/// Process types by their names.
pub(crate) type ProcessTypes = BTreeMap<String, Box<Code>>;

/// State of handlers and of threads that invoke.
pub(crate) struct Shared {
    pub engine: Arc<Engine>,
    pub own: Rank,
    pub kinds: Kinds,
    pub processes: ProcessTypes,
    pub programs: Programs,
    pub watch: Watch,
    pub calls: Calls,
    pub table: Table,
    pub position: Position<Behind>,
    pub losses: Losses,
    pub observer: Observer,
    pub planted: Planted,
    /// The ways to the other ranks, for handlers.
    node: OnceLock<Weak<Node>>,
    /// Messages that could not be broadcast before there were such ways.
    unsent: Mutex<Vec<Vec<u8>>>,
}

/// A rank's part in the objects of a job: its state, and its ways to the other ranks.
pub(crate) struct Node {
    pub shared: Arc<Shared>,
    pub order: Order,
    pub client: Client,
    _service: Service,
}

/// Something that waits until this rank has executed what another one has.
pub(crate) enum Behind {
    /// An invocation by call, and its arguments.
    Invocation(Invocation, Vec<u8>, (Responder, Rank)),
    /// A thread whose call to this rank has returned.
    Returned(Completer<()>, Rank),
}

impl Node {
    /// The part of a rank with this state; handlers have it from here on.
    pub fn new(shared: Arc<Shared>, order: Order, client: Client, service: Service) -> Arc<Self> {
        let node = Arc::new(Node { shared, order, client, _service: service });
        let _ = node.shared.node.set(Arc::downgrade(&node));
        let unsent = std::mem::take(&mut *lock(&node.shared.unsent));
        unsent.into_iter().for_each(|message| node.broadcast_soon(message));
        node
    }

    /// Broadcasts from a handler; again and again, if the order has no room for it.
    pub fn broadcast_soon(self: &Arc<Self>, message: Vec<u8>) {
        let Err(OrderError::Overdrawn { .. }) = self.order.broadcast(&message) else { return };
        let (node, engine) = (Arc::downgrade(self), Arc::clone(&self.shared.engine));
        let again = engine.sleep(AGAIN);
        engine.spawn(async move {
            again.await;
            if let Some(node) = node.upgrade() {
                node.broadcast_soon(message);
            }
        });
    }
}

impl Shared {
    /// State without objects.
    pub fn new(engine: &Arc<Engine>, kinds: Kinds, processes: ProcessTypes) -> Self {
        let packets = engine.packets();
        Shared {
            engine: Arc::clone(engine),
            own: packets.rank(),
            kinds,
            processes,
            programs: Programs::default(),
            watch: Watch::default(),
            calls: Calls::default(),
            table: Table::default(),
            position: Position::default(),
            losses: Losses::default(),
            observer: Observer::new(packets.rank(), packets.size()),
            planted: Planted::default(),
            node: OnceLock::new(),
            unsent: Mutex::default(),
        }
    }

    /// The ways to the other ranks; `None` before there are any, and at the end.
    pub fn node(&self) -> Option<Arc<Node>> {
        self.node.get().and_then(Weak::upgrade)
    }

    /// Broadcasts from a handler, as soon as the order has room for it.
    pub fn broadcast_soon(&self, message: Vec<u8>) {
        if let Some(node) = self.node() {
            return node.broadcast_soon(message);
        }
        // Either this sees the ways, or whoever makes them sees the message.
        let mut unsent = lock(&self.unsent);
        match self.node() {
            Some(node) => {
                drop(unsent);
                node.broadcast_soon(message);
            }
            None => unsent.push(message),
        }
    }

    /// Executes an operation on the copy here, and tells everybody whose operation is over.
    #[inline]
    pub fn execute(&self, entry: &Entry, invocation: Local<'_>) {
        let mut over = Overs::new();
        entry.invoke(invocation, &mut over);
        self.tell(over);
    }

    /// Tells everybody whose operation is over.
    pub fn tell(&self, mut over: Overs<Resume>) {
        if over.len() > 1 {
            return over.into_iter().for_each(|over| self.tell_one(over));
        }
        if let Some(over) = over.pop() {
            self.tell_one(over);
        }
    }

    fn tell_one(&self, (resume, answer): Over<Resume>) {
        let (responder, answer) = match resume {
            Resume::Here(key, _) => return self.calls.complete(key, answer),
            Resume::Caller(responder, ..) => (responder, answer),
            Resume::Elsewhere => return,
        };
        let seen = self.position.seen();
        // A caller that was lost needs no answer.
        drop(match answer {
            Ok(result) => responder.reply(&[&Reply { fault: None, seen }.emit()[..], &result]),
            Err(fault) => {
                let reply = Reply { fault: Some(fault), seen };
                let arguments = match &reply.fault {
                    Some(Fault::Moved(arguments)) => &arguments[..],
                    _ => &[],
                };
                responder.reply(&[&reply.emit()[..], arguments])
            }
        });
    }

    /// Completes once this rank has executed so many messages of the order, as `home` has; `None`
    /// if it has.
    pub fn catch_up(&self, messages: u64, home: Rank) -> Option<Completion<()>> {
        if self.position.has_done(messages) || self.planted.has(Bug::EarlyReturn, 1) {
            return None;
        }
        let (completer, completion) = Completion::new(&self.engine);
        if self.position.wait(messages, Behind::Returned(completer, home)).is_some() {
            return None;
        }
        // Either this sees the loss, or who tells of it sees what waits.
        if self.losses.contain(home) {
            self.forget_behind(home);
        }
        Some(completion)
    }

    /// Names a peer that has sent what no rank sends: this one cannot go on.
    pub fn violated(&self, from: Rank, what: &'static str) {
        self.engine.name_violation(from, "shared objects", what);
    }

    /// The program has failed: nobody waits for guards any more.
    pub fn fail(&self, failure: Error) {
        if self.programs.fail(failure) {
            self.set_ending(Some(Fault::Ended));
        }
    }

    /// Ends all that is blocked here, and what will be, by this fault, or no longer.
    pub fn set_ending(&self, ending: Option<Fault>) {
        for copy in self.table.all().iter().filter_map(|entry| entry.copy.as_ref()) {
            let mut over = Overs::new();
            copy.set_ending(ending.clone(), &mut over);
            self.tell(over);
        }
    }
}

impl Drop for Shared {
    /// Reports the copies here.
    fn drop(&mut self) {
        if self.engine.reports().are_wanted() {
            let lines = self.table.all().into_iter().filter_map(|entry| entry.described());
            lines.for_each(|line| self.engine.reports().add(line));
        }
    }
}
