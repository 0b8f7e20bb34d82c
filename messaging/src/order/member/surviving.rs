//! Part of a member in an order that goes on after losses: waits, draws of numbers and sends. All
//! else is the [`View`]'s.
//!
//! All messages that are to be sent stand in a line in the view. Whoever adds one draws numbers for
//! all that stand there, unless somebody does already, or an epoch is about to begin: then who
//! draws next does it for these, too. So a handler never waits here.

use super::*;
use crate::order::envelope::{Enveloped, Placed};
use crate::order::view::{Founding, Message as ViewMessage, Numbered, Place, Post, View};
use crate::parts::Parts;
use weft_endpoint::{DeferredSends, Packets};

/// The view of a member, and the messages to others that follow from it.
pub(super) struct Surviving {
    pub view: View<Option<Completer<u64>>>,
    outbox: Outbox,
}

/// A message of this rank that has a number, with its header.
type Addressed = (Placed, Arc<[u8]>);

/// Messages about members that are to be sent, outside of the lock. They wait for packets
/// themselves: here they take turns.
struct Outbox(Arc<DeferredSends<(Rank, ViewMessage)>>);

impl Post for Outbox {
    fn send(&mut self, to: Rank, message: ViewMessage) {
        self.0.push((to, message));
    }
}

impl Surviving {
    /// Nothing has happened; `None` for a rank that is no member.
    pub fn new(founding: Founding, packets: &Packets) -> Option<Self> {
        let view = View::new(founding)?;
        let outbox = Outbox(Arc::new(packets.system().deferred()));
        Some(Surviving { view, outbox })
    }
}

/// The member whose order goes on.
#[derive(Clone, Copy)]
pub(super) struct Survivor<'a>(pub &'a Member);

impl Survivor<'_> {
    /// Opens the port for messages about members, and hears of losses from here on.
    pub fn begin(self) -> Result<Port> {
        let Member { engine, this, name, .. } = self.0;
        let receives = Weak::clone(this);
        let port = Port::with_async(engine, &format!("weft.order.{name}.view"), move |message| {
            let member = receives.upgrade();
            async move {
                if let Some(member) = member {
                    Survivor(&member).told(message).await;
                }
            }
        })?;
        let (this, tasks) = (Weak::clone(this), Arc::downgrade(&engine.messages.tasks));
        engine.packets().losses().on_each(move |loss| {
            let this = Weak::clone(&this);
            // Others are told by messages, which a hook must not send.
            let lose = async move {
                if let Some(member) = this.upgrade() {
                    Survivor(&member).lose(loss.rank);
                }
            };
            if let Some(tasks) = tasks.upgrade() {
                tasks.spawn(lose);
            }
        });
        Ok(port)
    }

    /// Sends a message once there is room. Returns its number, which it may lose to another.
    #[inline(never)]
    pub fn broadcast(
        self,
        parts: &(impl Parts + ?Sized),
        completer: Option<Completer<u64>>,
    ) -> Result<u64> {
        self.0.check_member()?;
        self.0.make_room(parts.total() as u64)?;
        let bytes: Arc<[u8]> = self.0.copy(parts).into();
        let (likely, drawing) = self.queue(bytes, completer)?;
        let number = match drawing {
            Some(drawing) => self.draw(drawing)?,
            None => None,
        };
        self.go_on();
        Ok(number.unwrap_or(likely))
    }

    /// Adds a message to those that wait for numbers, and begins to draw these if that can be now.
    /// Waits for that, where the program calls.
    fn queue(
        self,
        bytes: Arc<[u8]>,
        completer: Option<Completer<u64>>,
    ) -> Result<(u64, Option<(Variable, u64)>)> {
        let member = self.0;
        let messages = &member.engine.messages;
        let may_wait =
            !member.made.any_handler_runs_here() && !messages.state.enter().is_handling();
        let mut own = Some((bytes, completer));
        let mut look = |waker: Option<&Waker>| {
            let mut state = member.state.enter();
            if let Some(failure) = &state.failure {
                return Err(failure.clone());
            }
            let view = state.view();
            if may_wait && (!view.may_draw() || view.has_pending()) {
                state.waiting.extend(waker.cloned());
                return Ok(None);
            }
            let likely = view.likely();
            if let Some((bytes, completer)) = own.take() {
                view.queue(bytes, completer);
            }
            Ok(Some((likely, view.begin_draw())))
        };
        if let Some(queued) = look(None)? {
            return Ok(queued);
        }
        let what = || {
            let what = format!("the members that live to go on with order '{}'", member.name);
            Awaited::of_unknown(what)
        };
        Poller::new(messages).wait_for(&what, look)
    }

    /// Draws numbers for what waits for them, as the view has begun to, and sends what has some.
    /// Returns the last one.
    fn draw(self, (variable, count): (Variable, u64)) -> Result<Option<u64>> {
        let member = self.0;
        let value = match member.engine.packets().fetch_and_add(variable, count) {
            Ok(value) => Some(value),
            // There will be another variable.
            Err(weft_endpoint::Error::RankLost(_)) => None,
            Err(error) => {
                let error = Error::from(error);
                member.fail(error.clone());
                return Err(error);
            }
        };
        let mut state = member.state.enter();
        let number = value.map(|value| state.view().number_of(value).wrapping_add(count - 1));
        let numbered = state.end_draw(value);
        let numbered = numbered.map_err(|disorder| {
            let own = member.engine.packets().rank();
            let order = member.name.clone();
            Error::Disorder { order, from: own, number: number.unwrap_or(0), what: disorder }
        });
        match numbered {
            Ok(numbered) => {
                member.wake(state);
                numbered.iter().try_for_each(|(placed, bytes)| self.send(placed, bytes))?;
                Ok(number)
            }
            Err(error) => {
                drop(state);
                member.fail(error.clone());
                Err(error)
            }
        }
    }

    /// Sends a message that has a number to the others.
    fn send(self, placed: &Placed, bytes: &[u8]) -> Result<()> {
        let member = self.0;
        if let Some(place) = placed.place {
            member.engine.packets().trace().record_submitted(member.traced_as, place.number);
        }
        if member.members.len() == 1 {
            return Ok(());
        }
        let sent = member.port().multicast(member.group, &Enveloped(placed.emit(), bytes));
        match sent {
            Err(error) if error.lost_rank().is_none() => {
                member.fail(error.clone());
                Err(error)
            }
            _ => Ok(()),
        }
    }

    /// Tells a sender what was consumed here.
    #[cold]
    pub fn acknowledge(self, to: Rank, consumed: u64) {
        let stable = self.0.state.enter().outstanding.least();
        let sent = self.0.port().send(to, &Placed { place: None, consumed, stable }.emit());
        if let Err(error) = sent
            && error.lost_rank().is_none()
        {
            self.0.fail(error);
        }
    }

    /// Tells of a loss that all members see before the message that is due, once.
    #[cold]
    pub fn tell_of_loss(self) -> Result<()> {
        let mut state = self.0.state.enter();
        let lost = state.surviving.as_mut().and_then(|surviving| surviving.view.next_loss());
        drop(state);
        let Some(lost) = lost else { return Ok(()) };
        let loss = self.0.engine.packets().losses().of(lost);
        Err(loss.map_or(Error::lost(lost), |loss| weft_endpoint::Error::RankLost(loss).into()))
    }

    /// The upcall of the order's port, there and at ranks that are no members.
    #[inline(never)]
    pub fn arrived(self, mut message: Message) {
        let (member, rank) = (self.0, message.source());
        if member.role == Role::Stranger {
            return member.disorder(rank, 0, Disorder::Foreign);
        }
        let placed = match Placed::read(&mut message) {
            Ok(placed) => placed,
            Err(error) => return self.failed(rank, error),
        };
        let number = placed.place.map_or(0, |place| place.number);
        let Ok(from) = member.members.binary_search(&rank) else {
            return member.disorder(rank, number, Disorder::Foreign);
        };
        let mut state = member.state.enter();
        let possible = state.view().next() + member.members.len() as u64 * member.limit;
        if placed.consumed > possible {
            drop(state);
            return member.disorder(rank, placed.consumed, Disorder::Foreign);
        }
        state.outstanding.consumed_by(from, placed.consumed);
        state.forget(placed.stable);
        member.wake(state);
        let Some(place) = placed.place else { return };
        if message.at_hand().len() == message.remaining() {
            match message.read_to_vec() {
                Ok(bytes) => self.is_whole(place, from, bytes),
                Err(error) => self.failed(rank, error),
            }
        } else if let Some(member) = member.this.upgrade() {
            let engine = Arc::clone(&member.engine);
            engine.spawn(async move {
                match message.bytes().await {
                    Ok(bytes) => Survivor(&member).is_whole(place, from, bytes),
                    Err(error) => Survivor(&member).failed(rank, error),
                }
            });
        }
    }

    /// All of a message is here.
    fn is_whole(self, place: Place, from: usize, bytes: Vec<u8>) {
        let member = self.0;
        let mut state = member.state.enter();
        if state.failure.is_some() {
            return;
        }
        state.statistics.early += u64::from(state.view().next() != place.number);
        match state.view().arrived(place, from, bytes.into()) {
            Ok(()) => self.hand_on(state),
            Err(disorder) => {
                drop(state);
                member.disorder(member.members[from], place.number, disorder);
            }
        }
    }

    /// A message cannot be read to its end: nobody needs it, if its sender is lost.
    fn failed(self, from: Rank, error: Error) {
        let is_lost = self.0.engine.packets().losses().of(from).is_some();
        if error.lost_rank().is_none() && !is_lost {
            self.0.fail(error);
        }
    }

    /// A message about members has come.
    async fn told(self, mut message: Message) {
        let from = message.source();
        let bytes = match message.bytes().await {
            Ok(bytes) => bytes,
            Err(error) => return self.failed(from, error),
        };
        drop(message);
        let mut state = self.0.state.enter();
        if state.failure.is_some() {
            return;
        }
        let told = ViewMessage::parse(&bytes).and_then(|message| {
            let Surviving { view, outbox, .. } = state.surviving();
            match message {
                ViewMessage::Report(report) => view.reported(from, report),
                ViewMessage::Begin(begin) => view.begun(from, begin, outbox),
                ViewMessage::Fill(fill) => view.filled(fill),
            }
        });
        drop(state);
        match told {
            Ok(()) => self.go_on(),
            Err(violation) => self.name_violation(from, &violation),
        }
    }

    /// A rank is lost.
    fn lose(self, rank: Rank) {
        let member = self.0;
        let mut state = member.state.enter();
        if state.failure.is_some() {
            return;
        }
        if let Ok(place) = member.members.binary_search(&rank) {
            state.outstanding.lose(place);
        }
        let Surviving { view, outbox, .. } = state.surviving();
        view.lost(rank, outbox);
        let lacks_variable = view.lacks_variable();
        state.forget(0);
        drop(state);
        match lacks_variable {
            true => member.fail(Error::NoVariable { order: member.name.clone() }),
            false => self.go_on(),
        }
    }

    /// Does all that can be done now: begins an epoch, tells others, sends what waits, and hands
    /// over what is due.
    fn go_on(self) {
        self.decide();
        loop {
            self.tell();
            let drawing = self.0.state.enter().begin_draw();
            let Some(drawing) = drawing else { break };
            // One that has no number now gets one in the next epoch.
            if !matches!(self.draw(drawing), Ok(Some(_))) {
                break;
            }
        }
        self.tell();
        self.hand_on(self.0.state.enter());
    }

    /// Begins the next epoch, if this rank is to.
    fn decide(self) {
        let mut state = self.0.state.enter();
        let Some(variable) = state.decision_due() else { return };
        drop(state);
        // If its home is lost, there will be another decision.
        let Ok(base) = self.0.engine.packets().fetch_and_add(variable, 0) else { return };
        state = self.0.state.enter();
        let Surviving { view, outbox, .. } = state.surviving();
        let decided = view.decide(base, outbox);
        drop(state);
        if let Err(violation) = decided {
            self.name_violation(self.0.engine.packets().rank(), &violation);
        }
    }

    /// Sends the messages about members, in order. A rank that does not get one is lost.
    fn tell(self) {
        let mut state = self.0.state.enter();
        let Some(port) = self.0.view_port.get().filter(|_| state.failure.is_none()) else { return };
        let outbox = Arc::clone(&state.surviving().outbox.0);
        drop(state);
        let _ = outbox.flush(|(to, message)| {
            let _ = port.send(*to, &message.emit());
            Ok(true)
        });
    }

    /// Hands over what is due, or wakes who asks for it.
    fn hand_on(self, mut state: Entered<'_, State>) {
        let next = if state.handler.is_some() { state.next() } else { None };
        match next {
            Some(event) => self.0.start(state, event),
            None => self.0.wake(state),
        }
    }

    fn name_violation(self, from: Rank, violation: &crate::order::view::Violation) {
        let what = violation.what();
        self.0.fail(Error::Violation { from, system: "orders", what });
        self.0.engine.name_violation(from, "orders", what);
    }
}

impl State {
    /// The part that orders have which go on, and only these.
    ///
    /// # Panics
    /// In others.
    fn surviving(&mut self) -> &mut Surviving {
        match &mut self.surviving {
            Some(surviving) => surviving,
            None => unreachable!("only survivors ask"),
        }
    }

    fn view(&mut self) -> &mut View<Option<Completer<u64>>> {
        &mut self.surviving().view
    }

    fn begin_draw(&mut self) -> Option<(Variable, u64)> {
        if self.failure.is_some() { None } else { self.view().begin_draw() }
    }

    fn decision_due(&mut self) -> Option<Variable> {
        if self.failure.is_some() { None } else { self.view().decision_due() }
    }

    /// Numbers were drawn, or could not be. Returns the messages that have some, with their
    /// headers.
    fn end_draw(&mut self, value: Option<u64>) -> std::result::Result<Vec<Addressed>, Disorder> {
        let (consumed, stable) = (self.consumed, self.outstanding.least());
        let Surviving { view, outbox, .. } = self.surviving();
        let numbered = view.end_draw(value, outbox)?;
        let place = |number| Placed { place: Some(view.placed(number)), consumed, stable };
        let placed = numbered.into_iter();
        let placed: Vec<_> =
            placed.map(|Numbered { number, bytes }| (place(number), bytes)).collect();
        if !placed.is_empty() {
            self.owed.tell_all();
        }
        self.statistics.sent += placed.len() as u64;
        Ok(placed)
    }

    /// Forgets copies of what all have consumed: `stable` numbers, as another member knows.
    fn forget(&mut self, stable: u64) {
        let all = self.outstanding.least().max(stable).min(self.consumed);
        self.view().all_have_consumed(all);
    }

    /// The message whose turn it is.
    pub(super) fn take_surviving(&mut self) -> Option<Arrived> {
        let Surviving { view, .. } = &mut **self.surviving.as_mut()?;
        let (number, whole) = view.take()?;
        let rank = view.rank_of(whole.from);
        let length = whole.bytes.len();
        if whole.own.is_some() {
            // This number is final.
            self.outstanding.number(number, length as u64);
        }
        let content = Content::Own(whole.bytes[..].into(), 0);
        let message = OrderedMessage::new(number, rank, length, content);
        Some(Arrived { message, sender: whole.from, completer: whole.own.flatten() })
    }
}
