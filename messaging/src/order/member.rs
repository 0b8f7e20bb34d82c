//! One rank's part of an order.

use super::Made;
use super::envelope::Envelope;
use super::message::{Content, OrderEvent, OrderedMessage};
use super::sequence::{Disorder, Sequence};
use super::statistics::OrderStatistics;
use super::view::Founding;
use super::window::{OrderWindow, Outstanding, Owed};
use crate::completion::Completer;
use crate::engine::Engine;
use crate::message::Message;
use crate::poll::Poller;
use crate::port::Port;
use crate::wait::Polls;
use crate::{Error, Result};
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, OnceLock, Weak};
use std::task::Waker;
use weft_endpoint::biased::{Biased, Entered};
use weft_endpoint::{Awaited, Group, Rank, Variable, Whom, this_coroutine};

mod running;
mod sending;
mod surviving;

use surviving::{Surviving, Survivor};

/// Handler of an order's messages.
pub(super) enum Handler {
    /// Runs to its end.
    Plain(Box<dyn EventHandler>),
    /// May wait. It is told of no losses.
    Async(Box<dyn FnMut(OrderedMessage) -> Handling + Send>),
}

/// Code that an order runs on its events, one after the other.
pub(super) trait EventHandler: Send {
    /// Handles a message.
    fn message(&mut self, message: OrderedMessage);
    /// Handles the loss of a rank.
    fn loss(&mut self, rank: Rank);
}

/// An [`EventHandler`] that is told of no losses.
pub(super) struct OfMessages<F>(pub F);

impl<F: FnMut(OrderedMessage) + Send> EventHandler for OfMessages<F> {
    fn message(&mut self, message: OrderedMessage) {
        self.0(message);
    }

    fn loss(&mut self, _: Rank) {}
}

/// An [`EventHandler`] that is told of all.
pub(super) struct OfEvents<F>(pub F);

impl<F: FnMut(OrderEvent) + Send> EventHandler for OfEvents<F> {
    fn message(&mut self, message: OrderedMessage) {
        self.0(OrderEvent::Message(message));
    }

    fn loss(&mut self, rank: Rank) {
        self.0(OrderEvent::Loss(rank));
    }
}

/// A handler that runs.
pub(super) type Handling = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Broadcasts that one rank can have under way beyond its window: those of handlers, which never
/// wait.
const OVERDRAFT: u64 = 4096;

/// Parameters of a new order.
pub(super) struct Making<'a> {
    pub name: &'a str,
    pub group: Group,
    pub members: Vec<Rank>,
    pub variable: Variable,
    /// Index of the variable that counts once the home of the first is lost, if there is one.
    pub spare: Option<u16>,
    pub window: OrderWindow,
    pub handler: Option<Handler>,
}

/// Part of a rank in an order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// A member, with its place. The order ends with the first loss.
    Member(usize),
    /// A member, with its place, of an order that goes on.
    Survivor(usize),
    /// None.
    Stranger,
}

impl Role {
    /// This rank's place, if it is a member.
    #[inline]
    fn place(self) -> Option<usize> {
        match self {
            Role::Member(own) | Role::Survivor(own) => Some(own),
            Role::Stranger => None,
        }
    }
}

/// One rank's part of an order.
pub(super) struct Member {
    this: Weak<Member>,
    engine: Arc<Engine>,
    name: String,
    /// Number of the order in traces.
    traced_as: u32,
    group: Group,
    /// In ascending order; members are counted by their places in it.
    members: Vec<Rank>,
    role: Role,
    variable: Variable,
    /// Largest number of messages of one member under way.
    limit: u64,
    state: Biased<State>,
    made: Arc<Made>,
    /// Set once: the port's handler holds this member.
    port: OnceLock<Port>,
    /// Port for messages about members, in an order that goes on.
    view_port: OnceLock<Port>,
}

struct State {
    sequence: Sequence<Arrived>,
    outstanding: Outstanding,
    owed: Owed,
    /// Messages that were begun here and have no numbers yet, in order.
    unnumbered: VecDeque<Unnumbered>,
    /// Number of them that numbers were asked for.
    asked: usize,
    /// True if the engine is to ask for numbers of those behind them.
    wants: bool,
    /// Numbers that this rank has consumed.
    consumed: u64,
    /// Its handler, if it has one and it is not running.
    handler: Option<Handler>,
    /// The thread in which the handler runs.
    runner: Option<usize>,
    /// Tasks that wait for a turn or for room.
    waiting: Vec<Waker>,
    failure: Option<Error>,
    /// The view, which takes the place of the sequence in an order that goes on.
    surviving: Option<Box<Surviving>>,
    /// True unless messages are taken from the sequence: after a failure, and in an order that goes
    /// on.
    takes_elsewhere: bool,
    statistics: OrderStatistics,
}

/// A message of this rank that waits for its number.
struct Unnumbered {
    bytes: Box<[u8]>,
    completer: Completer<u64>,
}

/// A message that waits for its turn, or whose turn it is.
struct Arrived {
    message: OrderedMessage,
    /// Place of the member that has sent it.
    sender: usize,
    /// The caller that waits for it to be consumed: this rank's own messages only.
    completer: Option<Completer<u64>>,
}

/// The next that a handler runs on.
enum Event {
    Message(Arrived),
    /// The loss of a rank, in an order that goes on.
    Loss(Rank),
}

impl Member {
    pub fn new(engine: &Arc<Engine>, made: &Arc<Made>, making: Making<'_>) -> Result<Arc<Self>> {
        let Making { name, group, mut members, variable, spare, window, handler } = making;
        members.sort_unstable();
        let (limit, me) = (window.messages + OVERDRAFT, engine.packets().rank());
        let role = match members.binary_search(&me) {
            Err(_) => Role::Stranger,
            Ok(own) if engine.packets().losses().goes_on() => Role::Survivor(own),
            Ok(own) => Role::Member(own),
        };
        let founding = || Founding { me, members: members[..].into(), variable, spare, limit };
        let surviving = match role {
            Role::Survivor(_) => Surviving::new(founding(), engine.packets()),
            _ => None,
        };
        let state = State {
            sequence: Sequence::new(members.len(), limit),
            outstanding: Outstanding::new(members.len(), window),
            owed: Owed::new(members.len(), window),
            unnumbered: VecDeque::new(),
            asked: 0,
            wants: false,
            consumed: 0,
            handler,
            runner: None,
            waiting: Vec::new(),
            failure: None,
            takes_elsewhere: surviving.is_some(),
            surviving: surviving.map(Box::new),
            statistics: OrderStatistics::default(),
        };
        let member = Arc::new_cyclic(|this: &Weak<Member>| Member {
            this: this.clone(),
            engine: Arc::clone(engine),
            name: name.into(),
            traced_as: engine.packets().trace().name_order(name),
            group,
            role,
            members,
            variable,
            limit,
            state: Biased::new(state),
            made: Arc::clone(made),
            port: OnceLock::new(),
            view_port: OnceLock::new(),
        });
        let (this, failing) = (Arc::downgrade(&member), Arc::downgrade(&member));
        engine.messages.on_failure(move || {
            if let Some(member) = failing.upgrade() {
                member.engine.messages.failure().into_iter().for_each(|error| member.fail(error));
            }
        });
        engine.sharing.on_share(&member, |member| member.state.share());
        let port = Port::new(engine, &format!("weft.order.{name}"), move |message| {
            if let Some(member) = this.upgrade() {
                member.arrived(message);
            }
        })?;
        member.port.get_or_init(|| port);
        if let Role::Survivor(_) = role {
            let port = Survivor(&member).begin()?;
            member.view_port.get_or_init(|| port);
        }
        Ok(member)
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    pub fn statistics(&self) -> OrderStatistics {
        self.state.enter().statistics
    }

    /// Members that live, as of the messages that were handed over.
    pub fn members(&self) -> Vec<Rank> {
        match &self.state.enter().surviving {
            Some(surviving) => surviving.view.members(),
            None => self.members.clone(),
        }
    }

    /// True if the calling thread is inside the handler.
    pub fn handler_runs_here(&self) -> bool {
        self.state.enter().runner == Some(this_coroutine())
    }

    /// The message whose turn it is, of an order without a handler; waits for it.
    pub fn receive(&self) -> Result<OrderedMessage> {
        let what = || Awaited::new(format!("a message of order '{}'", self.name), Whom::Anyone);
        let poller = Poller::new(&self.engine.messages);
        let arrived = poller.wait_for(&what, |waker| self.look(waker))?;
        Ok(self.hand_over(arrived))
    }

    /// Does what [`Self::receive`] does, if a message is there.
    pub fn try_receive(&self) -> Result<Option<OrderedMessage>> {
        let mut arrived = self.look(None)?;
        if arrived.is_none() {
            self.engine.progress()?;
            arrived = self.look(None)?;
        }
        Ok(arrived.map(|arrived| self.hand_over(arrived)))
    }

    fn look(&self, waker: Option<&Waker>) -> Result<Option<Arrived>> {
        if self.engine.packets().losses().are_any() {
            self.fail_of_loss()?;
            Survivor(self).tell_of_loss()?;
        }
        let mut state = self.state.enter();
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        let arrived = state.take();
        if arrived.is_none() {
            state.waiting.extend(waker.cloned());
        }
        Ok(arrived)
    }

    /// Counts a message as consumed and makes it what the program gets.
    fn hand_over(&self, arrived: Arrived) -> OrderedMessage {
        let Arrived { message, sender, completer } = arrived;
        let (number, rank) = (message.number(), message.source());
        self.engine.packets().trace().record_delivered(self.traced_as, number, rank);
        if let Some(completer) = completer {
            completer.complete(Ok(number));
        }
        let mut state = self.state.enter();
        let due = state.consume(self.role.place(), number, sender, message.len());
        self.wake(state);
        if let Some(consumed) = due {
            self.acknowledge(rank, consumed);
        }
        message
    }

    /// Checks that nothing has stopped the order for good.
    fn check(&self) -> Result<()> {
        self.check_loss()?;
        self.state.enter().failure.clone().map_or(Ok(()), Err)
    }

    #[inline]
    fn check_loss(&self) -> Result<()> {
        match self.engine.packets().losses().are_any() {
            false => Ok(()),
            true => self.fail_of_loss(),
        }
    }

    /// A rank is lost: the order ends, unless it goes on.
    #[cold]
    #[inline(never)]
    fn fail_of_loss(&self) -> Result<()> {
        if let Role::Survivor(_) = self.role {
            return Ok(());
        }
        let Some(loss) = self.engine.packets().losses().first() else { return Ok(()) };
        let error = Error::from(weft_endpoint::Error::RankLost(loss));
        self.fail(error.clone());
        Err(error)
    }

    /// Nothing is handed over any more, and waiting calls return the error.
    #[cold]
    fn fail(&self, error: Error) {
        let mut state = self.state.enter();
        if state.failure.is_some() {
            return;
        }
        state.failure = Some(error.clone());
        state.takes_elsewhere = true;
        let abandoned = state.sequence.abandon().filter_map(|arrived| arrived.completer);
        let unnumbered = std::mem::take(&mut state.unnumbered);
        let abandoned = abandoned.chain(unnumbered.into_iter().map(|begun| begun.completer));
        let surviving = state.surviving.as_mut();
        let own = surviving.map_or(Vec::new(), |surviving| surviving.view.abandon());
        self.wake(state);
        for completer in abandoned.chain(own.into_iter().flatten()) {
            completer.complete(Err(error.clone()));
        }
    }

    /// Leaves the state and wakes the tasks that wait.
    #[inline]
    fn wake(&self, mut state: Entered<'_, State>) {
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// The upcall of the order's port.
    fn arrived(&self, mut message: Message) {
        let Role::Member(_) = self.role else { return Survivor(self).arrived(message) };
        let rank = message.source();
        let envelope = match Envelope::read(&mut message) {
            Ok(envelope) => envelope,
            Err(error) => return self.fail(error),
        };
        let Ok(member) = self.members.binary_search(&rank) else {
            return self.disorder(rank, envelope.consumed, Disorder::Foreign);
        };
        let mut state = self.state.enter();
        let possible = state.sequence.next() + self.members.len() as u64 * self.limit;
        if envelope.consumed > possible {
            drop(state);
            return self.disorder(rank, envelope.consumed, Disorder::Foreign);
        }
        state.outstanding.consumed_by(member, envelope.consumed);
        let Some(number) = envelope.number else { return self.wake(state) };
        let length = message.remaining();
        let message = OrderedMessage::new(number, rank, length, Content::Arriving(message));
        self.accept(state, Arrived { message, sender: member, completer: None });
    }

    /// A message has arrived, or this rank has sent one: hands over what is due.
    fn accept(&self, mut state: Entered<'_, State>, arrived: Arrived) {
        if state.failure.is_some() {
            return drop_outside(state, arrived);
        }
        let (number, pass) = (arrived.message.number(), state.handler.is_some());
        match state.sequence.arrive(arrived.sender, number, arrived, pass) {
            Ok(Some(arrived)) => self.start(state, Event::Message(arrived)),
            Ok(None) => {
                state.statistics.early += 1;
                self.wake(state);
            }
            Err((disorder, arrived)) => {
                let from = arrived.message.source();
                drop_outside(state, arrived);
                self.disorder(from, number, disorder);
            }
        }
    }

    #[cold]
    fn acknowledge(&self, to: Rank, consumed: u64) {
        if let Role::Survivor(_) = self.role {
            return Survivor(self).acknowledge(to, consumed);
        }
        let envelope = Envelope { number: None, consumed };
        if let Err(error) = self.port().send(to, &envelope.emit()) {
            self.fail(error);
        }
    }

    #[cold]
    fn disorder(&self, from: Rank, number: u64, what: Disorder) {
        let order = self.name.clone();
        let error = Error::Disorder { order, from, number, what };
        self.fail(error.clone());
        self.engine.messages.fail(error);
    }

    /// Another thread may get here while the one that makes the order has yet to keep its port.
    fn port(&self) -> &Port {
        self.port.wait()
    }
}

impl State {
    /// The next message, if it is there.
    fn take(&mut self) -> Option<Arrived> {
        if self.takes_elsewhere {
            return self.take_elsewhere();
        }
        self.sequence.take().map(|(_, arrived)| arrived)
    }

    /// The next for a handler, if it is there: a message, or a loss before it.
    fn next(&mut self) -> Option<Event> {
        if self.takes_elsewhere
            && let Some(rank) = self.next_loss()
        {
            return Some(Event::Loss(rank));
        }
        self.take().map(Event::Message)
    }

    #[inline(never)]
    fn take_elsewhere(&mut self) -> Option<Arrived> {
        if self.failure.is_some() { None } else { self.take_surviving() }
    }

    #[inline(never)]
    fn next_loss(&mut self) -> Option<Rank> {
        if self.failure.is_some() { None } else { self.surviving.as_mut()?.view.next_loss() }
    }

    /// Counts a message as consumed. Returns the report for its sender, if one is due now.
    #[inline]
    fn consume(
        &mut self,
        own: Option<usize>,
        number: u64,
        sender: usize,
        length: usize,
    ) -> Option<u64> {
        self.statistics.delivered += 1;
        // Threads that receive at the same time may come in another order.
        self.consumed = self.consumed.max(number + 1);
        if let Some(own) = own {
            self.outstanding.consumed_by(own, self.consumed);
        }
        let is_own = own == Some(sender);
        let due = !is_own && self.owed.consume(sender, length as u64);
        self.statistics.acknowledgements += u64::from(due);
        due.then_some(self.consumed)
    }
}

/// Dropping a message enters the engine.
fn drop_outside(state: Entered<'_, State>, arrived: Arrived) {
    drop(state);
    drop(arrived);
}
