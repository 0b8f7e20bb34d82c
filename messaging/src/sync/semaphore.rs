//! A semaphore: permits, and a queue of waiters.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// A number of permits; a caller that finds none waits, in the order of asking.
#[derive(Debug)]
pub struct Semaphore {
    state: Mutex<State>,
    /// True if a permit that nobody waits for is kept.
    keeps: bool,
}

#[derive(Debug, Default)]
struct State {
    permits: usize,
    last: u64,
    waiting: VecDeque<(u64, Waker)>,
    /// Those who were given a permit and have not come for it yet.
    called: Vec<u64>,
}

/// A permit; given back when it is dropped.
#[must_use = "a permit that is dropped is given back"]
#[derive(Debug)]
pub struct Permit<'a>(&'a Semaphore);

/// Waits for a permit.
#[must_use = "a future does nothing unless it is awaited"]
#[derive(Debug)]
pub struct Acquire<'a> {
    semaphore: &'a Semaphore,
    /// Its place in the queue, once it has one.
    number: Option<u64>,
}

impl Semaphore {
    /// A semaphore with `permits`.
    pub fn new(permits: usize) -> Self {
        let state = State { permits, ..State::default() };
        Semaphore { state: Mutex::new(state), keeps: true }
    }

    /// One without permits; those that are added go to who waits at that moment.
    pub(super) fn forgetful() -> Self {
        Semaphore { state: Mutex::default(), keeps: false }
    }

    /// A permit, once it is this caller's turn.
    pub fn acquire(&self) -> Acquire<'_> {
        Acquire { semaphore: self, number: None }
    }

    /// A permit, if one is free and nobody waits for it. Never waits.
    pub fn try_acquire(&self) -> Option<Permit<'_>> {
        self.state().take().then(|| Permit(self))
    }

    /// Adds a permit. False if nobody has waited for it.
    pub fn release(&self) -> bool {
        let mut state = self.state();
        let Some((number, waker)) = state.waiting.pop_front() else {
            state.permits += usize::from(self.keeps);
            return false;
        };
        state.called.push(number);
        drop(state);
        // Outside the lock: a waker is code of an executor.
        waker.wake();
        true
    }

    /// A permit for each of those that wait now.
    pub(super) fn release_waiting(&self) {
        let mut state = self.state();
        let waiting = std::mem::take(&mut state.waiting);
        state.called.extend(waiting.iter().map(|(number, _)| number));
        drop(state);
        waiting.into_iter().for_each(|(_, waker)| waker.wake());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take(&mut self) -> bool {
        // While anybody waits, no permit is free.
        let free = self.permits > 0;
        self.permits -= usize::from(free);
        free
    }

    fn is_called(&mut self, number: u64) -> bool {
        let place = self.called.iter().position(|called| *called == number);
        place.map(|place| self.called.swap_remove(place)).is_some()
    }
}

impl Permit<'_> {
    /// Drops the permit without giving it back.
    pub fn forget(self) {
        std::mem::forget(self);
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.0.release();
    }
}

impl<'a> Future for Acquire<'a> {
    type Output = Permit<'a>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Permit<'a>> {
        let mut state = self.semaphore.state();
        let Some(number) = self.number else {
            if state.take() {
                return Poll::Ready(Permit(self.semaphore));
            }
            state.last += 1;
            let number = state.last;
            state.waiting.push_back((number, context.waker().clone()));
            drop(state);
            self.number = Some(number);
            return Poll::Pending;
        };
        if state.is_called(number) {
            drop(state);
            self.number = None;
            return Poll::Ready(Permit(self.semaphore));
        }
        if let Some((_, waker)) = state.waiting.iter_mut().find(|(other, _)| *other == number) {
            waker.clone_from(context.waker());
        }
        Poll::Pending
    }
}

impl Drop for Acquire<'_> {
    fn drop(&mut self) {
        let Some(number) = self.number else { return };
        let mut state = self.semaphore.state();
        let called = state.is_called(number);
        state.waiting.retain(|(other, _)| *other != number);
        drop(state);
        if called {
            self.semaphore.release();
        }
    }
}
