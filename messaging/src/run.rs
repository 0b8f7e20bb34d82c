//! Running what is ready: handlers of ports that have messages, continuations, tasks.

use crate::announced::Work;
use crate::arrived::Message;
use crate::error::{Error, Result};
use crate::handler::{Model, guarded};
use crate::machine::PortRun;
use crate::messages::Messages;
use crate::state::{Code, Run};
use crate::tasks::Task;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use weft_endpoint::Rank;

/// Running of handlers and tasks on the calling thread.
pub(crate) struct Runner<'a> {
    pub messages: &'a Arc<Messages>,
}

impl Runner<'_> {
    /// Runs the handlers of ports that have messages, and tasks that can go on.
    #[inline]
    pub fn run_ready(&self) -> Result<bool> {
        let mut any = false;
        self.messages.clear_pending();
        loop {
            let mut state = self.messages.state.enter();
            if let Some(failure) = &state.failure {
                self.messages.note_pending();
                return Err(failure.clone());
            }
            let Some(run) = state.next_ready() else {
                let owes = !state.machine.owed.is_empty();
                drop(state);
                if owes {
                    self.messages.pay_owed();
                }
                if self.messages.numbers.are_wanted() {
                    self.hand_out_numbers();
                }
                break;
            };
            drop(state);
            self.run_handler(run);
            any = true;
        }
        if self.messages.tasks.has_any() {
            any |= self.run_tasks();
        }
        if self.messages.tasks.is_ready() {
            self.messages.packets.system().note_owing(true);
        }
        Ok(any)
    }

    /// Runs a handler. True if there may be something to do after it.
    #[inline(always)]
    pub fn run_handler(&self, run: Run) -> bool {
        let Run { mut handler, arrived } = run;
        let from = arrived.body.from;
        let message = Message::new(self.messages, arrived);
        let outcome = match &mut handler.model {
            // Asked first: a span that is none would still be kept, and dropped, around the call.
            Model::Plain(code) if !self.messages.packets.trace().is_on() => {
                guarded(|| code(message))
            }
            Model::Plain(code) => {
                let _span = self.messages.packets.trace().handler_span(handler.port.slot as u32);
                guarded(|| code(message))
            }
            _ => return self.run_other(handler, from, message),
        };
        if let Err(what) = outcome {
            return self.end_with(handler, from, what);
        }
        let left = self.messages.state.enter().returned(handler);
        match left {
            None => self.messages.tasks.has_any(),
            Some(handler) => self.returned(handler),
        }
    }

    /// Does what [`Self::run_handler`] does, for a handler that may wait.
    fn run_other(&self, mut handler: Code, from: Rank, message: Message) -> bool {
        let port = handler.port;
        let outcome = match &mut handler.model {
            Model::Plain(_) => unreachable!("it does not wait"),
            Model::Async(waiting) => {
                let _span = self.messages.packets.trace().handler_span(port.slot as u32);
                guarded(|| waiting.run(from, message))
            }
            Model::Popup(code) => {
                let code = Arc::clone(code);
                self.pop_up(port, from, move || code(message));
                Ok(true)
            }
        };
        match outcome {
            Ok(true) => self.returned(handler),
            Ok(false) => {
                let mut state = self.messages.state.enter();
                state.exit_handler(port);
                let unwanted = state.dispatch.wait_with(handler);
                drop(state);
                drop(unwanted);
                true
            }
            Err(what) => self.end_with(handler, from, what),
        }
    }

    /// A handler has returned. True if there may be something to do after it.
    #[inline(never)]
    fn returned(&self, handler: Code) -> bool {
        let mut state = self.messages.state.enter();
        state.exit_handler(handler.port);
        let unwanted = state.dispatch.put_back(handler);
        let more = !state.is_idle() || self.messages.tasks.has_any();
        drop(state);
        drop(unwanted);
        more
    }

    /// A handler has panicked.
    #[cold]
    #[inline(never)]
    fn end_with(&self, handler: Code, from: Rank, what: String) -> bool {
        let port = handler.port;
        self.messages.state.enter().exit_handler(port);
        drop(handler);
        self.messages.panicked(port, from, what);
        true
    }

    /// Runs a handler on a thread of its own; in place, where ranks have no threads.
    fn pop_up(&self, run: PortRun, from: Rank, code: impl FnOnce() + Send + 'static) {
        let messages = Arc::clone(self.messages);
        self.messages.pool.run(Box::new(move || {
            let me = messages.state.enter().enter_popup();
            let span = messages.packets.trace().popup_span(run.slot as u32);
            let outcome = guarded(code);
            drop(span);
            messages.state.enter().exit_popup(me);
            if let Err(what) = outcome {
                messages.panicked(run, from, what);
            }
        }));
    }

    /// Wakes those who ask for what a packet has brought. True if something may run.
    #[inline(never)]
    pub fn wake(&self, work: Work) -> bool {
        match work {
            Work::WakeReceivers(slot) => {
                let next = || self.messages.state.enter().dispatch.take_receiver(slot);
                std::iter::from_fn(next).for_each(Waker::wake);
            }
            Work::WakeTaker(slot) => {
                let taker = self.messages.state.enter().dispatch.port(slot).0.taker().cloned();
                taker.into_iter().for_each(|taker| taker.wake());
            }
            Work::None | Work::Handlers => {}
        }
        !matches!(work, Work::None)
    }

    /// Hands out numbers that have come, and asks for those that are wanted.
    #[cold]
    pub fn hand_out_numbers(&self) {
        let numbers = &self.messages.numbers;
        loop {
            match numbers.next() {
                Ok(Some((who, first))) => {
                    self.messages.state.enter().enter_task();
                    who.number(first);
                    self.messages.state.enter().exit_task();
                    numbers.handed_out();
                }
                Ok(None) => return,
                Err(error) => return drop(self.messages.lost(error)),
            }
        }
    }

    /// Runs tasks that can go on. True if there were any.
    pub fn run_tasks(&self) -> bool {
        let mut any = false;
        // As many as are ready now: one that wakes itself must not keep packets waiting.
        for _ in 0..64 {
            let Some(task) = self.messages.tasks.next() else { break };
            let Some(mut continuation) = task.take() else { continue };
            self.messages.state.enter().enter_task();
            let waker = Waker::from(Arc::clone(&task));
            let mut context = Context::from_waker(&waker);
            let packets = &self.messages.packets;
            let span =
                task.port.and_then(|port| packets.trace().resumed_handler_span(port.slot as u32));
            let polled = guarded(|| continuation.as_mut().resume(&mut context));
            drop(span);
            self.messages.state.enter().exit_task();
            any = true;
            match polled {
                Ok(Poll::Pending) => task.park(continuation),
                Ok(Poll::Ready(())) => self.task_ended(&task),
                Err(what) => self.task_panicked(&task, what),
            }
        }
        any
    }

    fn task_ended(&self, task: &Task) {
        if let (Some(run), false) = (task.port, task.concurrent) {
            let unwanted = self.messages.state.enter().dispatch.ended(run);
            self.messages.note_pending();
            drop(unwanted);
        }
    }

    fn task_panicked(&self, task: &Task, what: String) {
        match task.port {
            Some(run) => self.messages.panicked(run, task.from(), what),
            None => {
                self.messages.state.enter().incidents.push_back(Error::TaskPanicked(what));
                self.messages.announce_incident();
            }
        }
        self.messages.note_pending();
    }
}
