//! Numbers that a fetch-and-add hands out, for those who do not wait for them.
//!
//! A rank has one fetch-and-add under way at a time, so that a thread that wants numbers meanwhile
//! asks for all of them at once when it is its turn. The polling thread sees the answer and does
//! what it is for.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use weft_endpoint::biased::Biased;
use weft_endpoint::{Atomic, Packets, Result, Variable};

/// A part of this rank that counts something with the others.
pub(crate) trait Numbered: Send + Sync {
    /// The variable that is counted in, and how many numbers of it are wanted now.
    fn wanted(&self) -> (Variable, u64);

    /// Takes the numbers that were wanted last, from `first` on. It must not block for what other
    /// ranks' programs do.
    fn number(&self, first: u64);
}

/// Those of a rank who want numbers.
pub(crate) struct Numbers {
    packets: Packets,
    queue: Biased<Queue>,
    /// True unless nobody wants any. Changed inside.
    are_wanted: AtomicBool,
}

#[derive(Default)]
struct Queue {
    turn: Turn,
    waiting: VecDeque<Arc<dyn Numbered>>,
}

/// The fetch-and-add of this rank.
#[derive(Default)]
enum Turn {
    /// None is under way.
    #[default]
    Free,
    /// Some thread begins or ends one.
    Taken,
    /// It is under way, for this one.
    Asked(Arc<dyn Numbered>),
}

impl Numbers {
    /// Nobody wants any yet.
    pub fn new(packets: Packets) -> Self {
        Numbers { packets, queue: Biased::default(), are_wanted: AtomicBool::new(false) }
    }

    /// All threads are equal from here on.
    pub fn share(&self) {
        self.queue.share();
    }

    /// True if somebody wants some: whoever polls calls [`Self::next`].
    #[inline]
    pub fn are_wanted(&self) -> bool {
        self.are_wanted.load(Ordering::Acquire)
    }

    /// Has `who` be asked how many numbers it wants, once the fetch-and-add is free.
    pub fn want(&self, who: Arc<dyn Numbered>) {
        let mut queue = self.queue.enter();
        queue.waiting.push_back(who);
        self.are_wanted.store(true, Ordering::Release);
    }

    /// Numbers that have come, and who wants them; else asks for those that are wanted next. Once
    /// they are handed out, [`Self::handed_out`] is called.
    pub fn next(&self) -> Result<Option<(Arc<dyn Numbered>, u64)>> {
        loop {
            let mut queue = self.queue.enter();
            match std::mem::replace(&mut queue.turn, Turn::Taken) {
                // Whose turn it is goes on by itself.
                Turn::Taken => return Ok(None),
                Turn::Asked(who) => {
                    drop(queue);
                    if let Some(first) = self.packets.atomics().take() {
                        return Ok(Some((who, first)));
                    }
                    self.look_again(Turn::Asked(who));
                    return Ok(None);
                }
                Turn::Free => {
                    let Some(who) = queue.waiting.pop_front() else {
                        queue.turn = Turn::Free;
                        self.are_wanted.store(false, Ordering::Release);
                        return Ok(None);
                    };
                    drop(queue);
                    let (variable, count) = who.wanted();
                    if !self.packets.atomics().begin(variable, Atomic::Add(count))? {
                        self.queue.enter().waiting.push_front(who);
                        self.look_again(Turn::Free);
                        return Ok(None);
                    }
                    self.queue.enter().turn = Turn::Asked(who);
                }
            }
        }
    }

    /// The numbers that came last are handed out.
    pub fn handed_out(&self) {
        self.queue.enter().turn = Turn::Free;
    }

    /// Forgets those who want any: the rank is done.
    pub fn clear(&self) {
        let queue = std::mem::take(&mut *self.queue.enter());
        drop(queue);
    }

    /// Nothing has come: whoever polls next looks again.
    fn look_again(&self, turn: Turn) {
        self.queue.enter().turn = turn;
        self.packets.system().note_owing(true);
    }
}
