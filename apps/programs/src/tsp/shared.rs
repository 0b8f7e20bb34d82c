//! Objects that ranks share: the best tour so far, which is replicated, because it is read before
//! every step and seldom written; and jobs, in one place.

use std::cell::RefCell;
use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use weft::prelude::Weft;
use weft_object::{Handle, Result};

use crate::tsp::search::{Best, Route, is_better};

/// The best tour so far.
#[derive(Serialize, Deserialize, Debug)]
pub struct Shortest {
    length: u64,
    tour: Route,
    /// Ranks that have no job any more.
    finished: usize,
}

impl Default for Shortest {
    fn default() -> Self {
        Shortest { length: u64::MAX, tour: Route::new(), finished: 0 }
    }
}

#[weft_object::object]
impl Shortest {
    #[read]
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Two ranks may find tours at once, so the object looks again.
    #[write]
    pub fn offer(&mut self, length: u64, tour: &[u8]) {
        if is_better((length, tour), (self.length, &self.tour)) {
            (self.length, self.tour) = (length, tour.to_vec());
        }
    }

    #[write]
    pub fn finish(&mut self) {
        self.finished += 1;
    }

    /// The best of all, once so many ranks have finished.
    #[read(when = self.finished >= *ranks)]
    pub fn best_of(&self, ranks: usize) -> (u64, Vec<u8>) {
        (self.length, self.tour.clone())
    }
}

/// Jobs that wait: beginnings of tours.
#[derive(Serialize, Deserialize, Debug, Default)]
pub struct Jobs {
    waiting: VecDeque<Route>,
    is_closed: bool,
}

#[weft_object::object]
impl Jobs {
    #[write]
    pub fn add(&mut self, route: &[u8]) {
        self.waiting.push_back(route.to_vec());
    }

    #[write]
    pub fn close(&mut self) {
        self.is_closed = true;
    }

    /// A job; `None` once none will come any more. A taker waits for one or the other.
    #[read(when = self.is_closed && self.waiting.is_empty())]
    pub fn take(&self) -> Option<Route> {
        None
    }

    #[write(when = !self.waiting.is_empty(), or = take)]
    pub fn take_first(&mut self) -> Option<Route> {
        self.waiting.pop_front()
    }
}

/// The best tour of all ranks.
pub struct Together<'a> {
    pub shortest: Handle<Shortest>,
    pub weft: &'a Weft,
}

impl Best for Together<'_> {
    fn length(&self) -> Result<u64> {
        self.shortest.length()
    }

    fn offer(&self, length: u64, tour: &[u8]) -> Result<()> {
        self.shortest.offer(length, tour)
    }

    fn work(&self, steps: u64) {
        self.weft.work(steps);
    }
}

/// The best tour of a rank alone.
#[derive(Default)]
pub struct Alone(RefCell<Shortest>);

impl Alone {
    /// Its length, and the tour.
    pub fn tour(&self) -> (u64, Route) {
        let Shortest { length, tour, .. } = &*self.0.borrow();
        (*length, tour.clone())
    }
}

impl Best for Alone {
    fn length(&self) -> Result<u64> {
        Ok(self.0.borrow().length)
    }

    fn offer(&self, length: u64, tour: &[u8]) -> Result<()> {
        let mut best = self.0.borrow_mut();
        if is_better((length, tour), (best.length, &best.tour)) {
            (best.length, best.tour) = (length, tour.to_vec());
        }
        Ok(())
    }
}
