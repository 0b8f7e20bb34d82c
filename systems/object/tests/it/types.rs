//! Types of objects.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The type of fig. 7.1 of the thesis.
#[derive(Serialize, Deserialize)]
pub struct Int(pub u64);

#[weft_object::object]
impl Int {
    /// Counts, and returns the count.
    #[write]
    pub fn inc(&mut self) -> u64 {
        self.0 += 1;
        self.0
    }

    /// Waits for a count.
    #[read(when = self.0 >= *v)]
    pub fn await_value(&self, v: u64) {
        assert!(self.0 >= v, "the guard has let it through");
    }

    #[read]
    pub fn value(&self) -> u64 {
        self.0
    }

    /// Takes from the count what has been counted.
    #[write(when = self.0 >= *v)]
    pub fn take(&mut self, v: u64) {
        self.0 -= v;
    }

    #[write]
    pub fn panic(&mut self) {
        panic!("on purpose")
    }
}

/// Entries in the order in which they were added, and how many of them were taken out.
#[derive(Serialize, Deserialize)]
pub struct Log(pub Vec<u8>, pub usize);

#[weft_object::object(name = "log of bytes")]
impl Log {
    #[write]
    pub fn add(&mut self, entries: &[u8]) {
        self.0.extend(entries);
    }

    #[read]
    pub fn all(&self) -> Vec<u8> {
        self.0.clone()
    }

    #[write(when = self.1 < self.0.len())]
    pub fn take(&mut self) -> u8 {
        self.1 += 1;
        self.0[self.1 - 1]
    }
}

/// Jobs, until it is closed, whose arguments and results are of all kinds.
#[derive(Serialize, Deserialize, Default)]
pub struct Jobs {
    waiting: VecDeque<Task>,
    is_closed: bool,
}

#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
pub struct Task {
    pub name: String,
    pub row: Vec<f64>,
    pub counts: Vec<u16>,
}

#[weft_object::object]
impl Jobs {
    /// The end: nothing waits, and nothing will come.
    #[read(when = self.is_closed && self.waiting.is_empty())]
    pub fn take(&self) -> Option<Task> {
        None
    }

    #[write(when = !self.waiting.is_empty(), or = take)]
    fn take_one(&mut self) -> Option<Task> {
        self.waiting.pop_front()
    }

    #[write(when = !self.is_closed && !name.is_empty() && row.len() <= 1000 && counts.len() <= 9)]
    pub fn put(&mut self, counts: Vec<u16>, name: &str, row: &[f64], times: u8) -> Vec<u64> {
        let job = Task { name: name.to_owned(), row: row.to_vec(), counts };
        self.waiting.extend(std::iter::repeat_n(job, times.into()));
        vec![self.waiting.len() as u64, times.into()]
    }

    #[write]
    pub fn close(&mut self) {
        self.is_closed = true;
    }
}
