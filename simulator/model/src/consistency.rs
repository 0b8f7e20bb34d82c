//! Consistency of histories of operations on shared objects: what a system of shared objects is
//! judged by.
//!
//! A history is *sequentially consistent* if all operations of all processes can be put into one
//! order, in which those of each process stand as that executed them, so that the objects,
//! executing them one after the other, give the same results. It is *linearizable* if, besides, an
//! operation that ended before another began stands before it.
//!
//! The search is that of Wing and Gong (Testing and Verifying Concurrent Objects, 1993): take any
//! operation that may come next and has the right result, and go back where none has. It remembers
//! what it has tried, by the number of operations taken of each process and the state (Lowe,
//! Testing for Linearizability, 2017), so that it ends soon for short histories.

use std::collections::BTreeSet;

/// Objects as they should be.
pub trait Objects: Clone + Ord {
    /// An operation on one of them, with its arguments.
    type Operation;
    /// Its result.
    type Result: PartialEq;

    /// Executes an operation; `None` if its guard is false, and then nothing is changed.
    fn execute(&mut self, operation: &Self::Operation) -> Option<Self::Result>;
}

/// Operation of a history.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Executed<O, R> {
    /// The operation.
    pub operation: O,
    /// Its result.
    pub result: R,
    /// Times at which it began and ended, on a clock that all processes share.
    pub times: (u64, u64),
}

/// A history: the operations of each process, in its order.
pub type History<T> = Vec<Vec<Executed<<T as Objects>::Operation, <T as Objects>::Result>>>;

/// One order of all operations, by their processes, that shows a history of objects that began as
/// `objects` to be sequentially consistent; `None` if there is none.
pub fn sequential<T: Objects>(objects: &T, history: &History<T>) -> Option<Vec<usize>> {
    Search::new(history, false).order(objects)
}

/// One order that shows a history to be linearizable; `None` if there is none.
pub fn linear<T: Objects>(objects: &T, history: &History<T>) -> Option<Vec<usize>> {
    Search::new(history, true).order(objects)
}

struct Search<'a, T: Objects> {
    history: &'a History<T>,
    /// Operations that ended before another began stand before it.
    by_time: bool,
    tried: BTreeSet<(Vec<usize>, T)>,
}

impl<'a, T: Objects> Search<'a, T> {
    fn new(history: &'a History<T>, by_time: bool) -> Self {
        Search { history, by_time, tried: BTreeSet::new() }
    }

    fn order(mut self, objects: &T) -> Option<Vec<usize>> {
        let mut taken = vec![0; self.history.len()];
        let mut order = Vec::new();
        self.extend(objects, &mut taken, &mut order).then_some(order)
    }

    /// Puts all operations that are not taken yet behind the `order`, if they can be.
    fn extend(&mut self, objects: &T, taken: &mut Vec<usize>, order: &mut Vec<usize>) -> bool {
        if taken.iter().zip(self.history).all(|(taken, process)| *taken == process.len()) {
            return true;
        }
        if !self.tried.insert((taken.clone(), objects.clone())) {
            return false;
        }
        for process in 0..taken.len() {
            let Some(next) = self.history[process].get(taken[process]) else { continue };
            if self.by_time && self.has_missed(taken, next.times.0) {
                continue;
            }
            let mut after = objects.clone();
            if after.execute(&next.operation).as_ref() != Some(&next.result) {
                continue;
            }
            taken[process] += 1;
            order.push(process);
            if self.extend(&after, taken, order) {
                return true;
            }
            order.pop();
            taken[process] -= 1;
        }
        false
    }

    /// True if an operation that is not taken yet ended before `begin`.
    fn has_missed(&self, taken: &[usize], begin: u64) -> bool {
        let next =
            taken.iter().zip(self.history).filter_map(|(taken, process)| process.get(*taken));
        next.into_iter().any(|next| next.times.1 < begin)
    }
}

#[cfg(test)]
mod tests;
