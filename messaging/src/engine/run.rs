//! Running what is ready: handlers of ports that have messages, continuations, tasks.

use super::Engine;
use crate::announced::{Asker, Run};
use crate::error::{Error, Result};
use crate::handler::{Handler, Model, guarded};
use crate::machine::PortRun;
use crate::message::Message;
use crate::tasks::Task;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};
use weft_endpoint::Rank;

impl Engine {
    /// Runs the handlers of ports that have messages, and tasks that can go on.
    #[inline]
    pub(super) fn run_ready(self: &Arc<Self>) -> Result<bool> {
        let mut any = false;
        // Before all, so that what is left meanwhile is noted again.
        self.packets.note_owing(false);
        self.pending.store(false, Ordering::Release);
        self.counting.store(false, Ordering::Release);
        loop {
            let mut state = self.state.enter();
            if let Some(failure) = &state.failure {
                self.note_pending();
                return Err(failure.clone());
            }
            let Some(run) = state.next_ready() else {
                let (owes, counts) = (!state.machine.owed.is_empty(), !state.numbers.is_idle());
                drop(state);
                if owes {
                    self.pay_owed();
                }
                if counts {
                    self.hand_out_numbers();
                }
                break;
            };
            drop(state);
            self.run_handler(run);
            any = true;
        }
        if self.tasks.has_any() {
            any |= self.run_tasks();
        }
        if self.tasks.is_ready() {
            self.packets.note_owing(true);
        }
        Ok(any)
    }

    /// Runs a handler. True if there may be something to do after it.
    #[inline(always)]
    pub(super) fn run_handler(self: &Arc<Self>, run: Run) -> bool {
        let Run { mut handler, arrived } = run;
        let from = arrived.body.from;
        let message = self.open(arrived);
        let outcome = match &mut handler.model {
            // Asked first: a span that is none would still be kept, and dropped, around the call.
            Model::Plain(code) if !self.packets.is_traced() => guarded(|| code(message)),
            Model::Plain(code) => {
                let _span = self.packets.handler_span(handler.port.slot as u32);
                guarded(|| code(message))
            }
            _ => return self.run_other(handler, message),
        };
        if let Err(what) = outcome {
            return self.end_with(handler, from, what);
        }
        let left = self.state.enter().returned(handler);
        match left {
            None => self.tasks.has_any(),
            Some(handler) => self.returned(handler),
        }
    }

    /// Does what [`Self::run_handler`] does, for a handler that may wait.
    fn run_other(self: &Arc<Self>, mut handler: Box<Handler>, message: Message) -> bool {
        let (port, from) = (handler.port, message.source());
        let outcome = match &mut handler.model {
            Model::Plain(_) => unreachable!("it does not wait"),
            Model::Async(waiting) => {
                let _span = self.packets.handler_span(port.slot as u32);
                guarded(|| waiting.run(message))
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
                let mut state = self.state.enter();
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
    fn returned(&self, handler: Box<Handler>) -> bool {
        let mut state = self.state.enter();
        state.exit_handler(handler.port);
        let unwanted = state.dispatch.put_back(handler);
        let more = !state.is_idle() || self.tasks.has_any();
        drop(state);
        drop(unwanted);
        more
    }

    /// A handler has panicked.
    #[cold]
    #[inline(never)]
    fn end_with(&self, handler: Box<Handler>, from: Rank, what: String) -> bool {
        let port = handler.port;
        self.state.enter().exit_handler(port);
        drop(handler);
        self.panicked(port, from, what);
        true
    }

    /// Runs a handler on a thread of its own; in place, where ranks have no threads.
    pub(super) fn pop_up(
        self: &Arc<Self>,
        run: PortRun,
        from: Rank,
        code: impl FnOnce() + Send + 'static,
    ) {
        let engine = Arc::clone(self);
        self.pool.run(Box::new(move || {
            let me = engine.state.enter().enter_popup();
            let span = engine.packets.popup_span(run.slot as u32);
            let outcome = guarded(code);
            drop(span);
            engine.state.enter().exit_popup(me);
            if let Err(what) = outcome {
                engine.panicked(run, from, what);
            }
        }));
    }

    /// A handler panicked: its port takes no more messages.
    #[cold]
    pub(super) fn panicked(&self, run: PortRun, from: Rank, what: String) {
        let dropped = self.state.enter().panicked(run, from, what);
        drop(dropped);
        self.announce_incident();
    }

    /// Has whoever waits hear what a handler did.
    pub(super) fn announce_incident(&self) {
        self.has_incidents.store(true, Ordering::Relaxed);
        self.note_pending();
        self.wake_followers();
        self.packets.nudge();
    }

    pub(super) fn run_tasks(self: &Arc<Self>) -> bool {
        let mut any = false;
        // As many as are ready now: one that wakes itself must not keep packets waiting.
        for _ in 0..64 {
            let Some(task) = self.tasks.next() else { break };
            let Some(mut continuation) = task.take() else { continue };
            self.state.enter().enter_task();
            let waker = Waker::from(Arc::clone(&task));
            let mut context = Context::from_waker(&waker);
            let span =
                task.port.and_then(|port| self.packets.resumed_handler_span(port.slot as u32));
            let polled = guarded(|| continuation.as_mut().resume(&mut context));
            drop(span);
            self.state.enter().exit_task();
            any = true;
            match polled {
                Ok(Poll::Pending) => task.park(continuation),
                Ok(Poll::Ready(())) => self.task_ended(&task),
                Err(what) => self.task_panicked(&task, what),
            }
        }
        any
    }

    pub(super) fn task_ended(&self, task: &Task) {
        if let (Some(run), false) = (task.port, task.concurrent) {
            let unwanted = self.state.enter().dispatch.ended(run);
            self.note_pending();
            drop(unwanted);
        }
    }

    pub(super) fn task_panicked(&self, task: &Task, what: String) {
        match task.port {
            Some(run) => self.panicked(run, task.from(), what),
            None => {
                self.state.enter().incidents.push_back(Error::TaskPanicked(what));
                self.announce_incident();
            }
        }
        self.note_pending();
    }

    /// A task became ready: whoever polls runs it, or else the upcall thread.
    pub(super) fn task_is_ready(&self) {
        self.packets.note_owing(true);
        match self.seats.enter().is_led() {
            true => self.packets.nudge(),
            false => self.packets.set_pending_work(true),
        }
    }

    /// Returns the fault of a handler, once.
    #[inline]
    pub(crate) fn raise_incident(&self, asker: Option<&Asker<'_>>) -> Result<()> {
        if self.has_incidents.load(Ordering::Relaxed) { self.next_incident(asker) } else { Ok(()) }
    }

    #[cold]
    fn next_incident(&self, asker: Option<&Asker<'_>>) -> Result<()> {
        if asker.is_some_and(Asker::has_found) {
            return Ok(());
        }
        let mut state = self.state.enter();
        let incident = state.next_incident();
        self.has_incidents.store(!state.incidents.is_empty(), Ordering::Relaxed);
        incident.map_or(Ok(()), Err)
    }

    /// Something may be ready for a handler, and this thread may not poll again for long: an empty
    /// task is pending work for whoever does.
    pub(crate) fn have_handlers_run(&self) {
        self.spawn(std::future::ready(()));
    }
}
