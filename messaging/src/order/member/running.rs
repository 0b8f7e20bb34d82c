//! Runs of an order's handler, on one event after the other.

use super::*;

/// Data about a message that outlive its handler's run.
struct Consuming {
    number: u64,
    from: Rank,
    sender: usize,
    length: usize,
}

impl Member {
    /// Runs the handler on `event`, if it does not run.
    #[inline]
    pub(super) fn start(&self, mut state: Entered<'_, State>, event: Event) {
        if let Some(handler) = state.handler.take() {
            state.runner = Some(this_coroutine());
            self.wake(state);
            self.run(handler, event);
        }
    }

    /// Runs the handler on `event` and on all that are due after it.
    fn run(&self, handler: Handler, event: Event) {
        match handler {
            Handler::Plain(code) => self.run_plain(code, event),
            // The caller holds the lock.
            Handler::Async(code) => {
                if let Some(member) = self.this.upgrade() {
                    self.state.enter().runner = None;
                    self.engine.spawn(member.run_async(code, event));
                }
            }
        }
    }

    fn run_plain(&self, mut code: Box<dyn EventHandler>, event: Event) {
        let mut panicked = Panicked { member: self, completer: None };
        let mut next = Some(event);
        while let Some(event) = next {
            next = match event {
                Event::Message(Arrived { message, sender, completer }) => {
                    panicked.completer = completer;
                    let Some(consuming) = self.begin_turn(&message, sender, &mut panicked) else {
                        break;
                    };
                    code.message(message);
                    self.end_turn(consuming, panicked.completer.take())
                }
                Event::Loss(rank) => {
                    code.loss(rank);
                    self.state.enter().next()
                }
            };
        }
        self.put_back(Handler::Plain(code));
        std::mem::forget(panicked);
    }

    async fn run_async(
        self: Arc<Self>,
        mut code: Box<dyn FnMut(OrderedMessage) -> Handling + Send>,
        event: Event,
    ) {
        let mut panicked = Panicked { member: &self, completer: None };
        let mut next = Some(event);
        while let Some(event) = next {
            let Event::Message(Arrived { message, sender, completer }) = event else {
                next = self.state.enter().next();
                continue;
            };
            panicked.completer = completer;
            let Some(consuming) = self.begin_turn(&message, sender, &mut panicked) else { break };
            let mut handling = self.inside(|| code(message));
            poll_fn(|context| self.inside(|| handling.as_mut().poll(context))).await;
            drop(handling);
            next = self.end_turn(consuming, panicked.completer.take());
        }
        self.put_back(Handler::Async(code));
        std::mem::forget(panicked);
    }

    /// Runs a part of the handler: this thread is inside it meanwhile.
    fn inside<T>(&self, part: impl FnOnce() -> T) -> T {
        let _span = self.engine.packets().trace().resumed_handler_span(self.port().slot as u32);
        self.state.enter().runner = Some(this_coroutine());
        let outcome = part();
        self.state.enter().runner = None;
        outcome
    }

    /// The message is about to be handed over. Returns the facts that are reported of it
    /// afterwards, or `None` if nothing is handed over any more: who waits for it has heard of
    /// that then.
    fn begin_turn(
        &self,
        message: &OrderedMessage,
        sender: usize,
        running: &mut Panicked<'_>,
    ) -> Option<Consuming> {
        // What could not be read was not handed over, so nothing comes after it.
        if let Err(lost) = self.check_loss() {
            running
                .completer
                .take()
                .into_iter()
                .for_each(|waiting| waiting.complete(Err(lost.clone())));
            return None;
        }
        let (number, from) = (message.number(), message.source());
        self.engine.packets().trace().record_delivered(self.traced_as, number, from);
        Some(Consuming { number, from, sender, length: message.len() })
    }

    /// A message is consumed. Returns what is next, if it is there.
    fn end_turn(&self, consumed: Consuming, completer: Option<Completer<u64>>) -> Option<Event> {
        let Consuming { number, from, sender, length } = consumed;
        completer.into_iter().for_each(|completer| completer.complete(Ok(number)));
        let mut state = self.state.enter();
        if let Some(consumed) = state.consume(self.role.place(), number, sender, length) {
            self.wake(state);
            self.acknowledge(from, consumed);
            state = self.state.enter();
        }
        state.next()
    }

    /// The handler can run again.
    fn put_back(&self, handler: Handler) {
        let mut state = self.state.enter();
        state.handler = Some(handler);
        state.runner = None;
        // What came since it was looked at last found no handler.
        match state.next() {
            Some(event) => self.start(state, event),
            None => self.wake(state),
        }
    }
}

/// Fails the order if it is dropped: its handler is gone.
struct Panicked<'a> {
    member: &'a Member,
    /// The caller that waits for the message that the handler has.
    completer: Option<Completer<u64>>,
}

impl Drop for Panicked<'_> {
    fn drop(&mut self) {
        let error = Error::OrderPanicked(self.member.name.clone());
        self.member.fail(error.clone());
        self.completer.take().into_iter().for_each(|waiting| waiting.complete(Err(error.clone())));
    }
}
