//! Numbers that a fetch-and-add hands out, for those who do not wait for them.
//!
//! A rank has one fetch-and-add under way at a time, so that who wants numbers meanwhile asks for
//! all of them at once when it is its turn. Whoever polls sees the answer and does what it is for.

use super::Engine;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use weft_endpoint::Variable;

/// A part of this rank that counts something with the others.
pub(crate) trait Numbered: Send + Sync {
    /// The variable that is counted in, and how many numbers of it are wanted now.
    fn wanted(&self) -> (Variable, u64);

    /// Takes the numbers that were wanted last, from `first` on. It must not block for what other
    /// ranks' programs do.
    fn number(&self, first: u64);
}

/// Those who want numbers.
#[derive(Default)]
pub(crate) struct Numbers {
    turn: Turn,
    waiting: VecDeque<Arc<dyn Numbered>>,
}

/// The fetch-and-add of this engine.
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
    /// True if nobody wants any.
    #[inline]
    pub fn is_idle(&self) -> bool {
        matches!(self.turn, Turn::Free) && self.waiting.is_empty()
    }
}

impl Engine {
    /// Has `who` be asked how many numbers it wants, once the fetch-and-add is free, and handed
    /// them. Its answer is looked for whenever somebody polls.
    pub(crate) fn want_numbers(&self, who: Arc<dyn Numbered>) {
        self.state.enter().numbers.waiting.push_back(who);
        self.hand_out_numbers();
    }

    /// Hands out numbers that have come, and asks for those that are wanted.
    #[cold]
    pub(super) fn hand_out_numbers(&self) {
        loop {
            let mut state = self.state.enter();
            match std::mem::replace(&mut state.numbers.turn, Turn::Taken) {
                // Whose turn it is goes on by itself.
                Turn::Taken => return,
                Turn::Asked(who) => {
                    drop(state);
                    let Some(first) = self.packets.take_fetched() else {
                        return self.look_again_for_numbers(Turn::Asked(who));
                    };
                    self.state.enter().enter_task();
                    who.number(first);
                    let mut state = self.state.enter();
                    state.exit_task();
                    state.numbers.turn = Turn::Free;
                }
                Turn::Free => {
                    let Some(who) = state.numbers.waiting.pop_front() else {
                        state.numbers.turn = Turn::Free;
                        return;
                    };
                    drop(state);
                    let (variable, count) = who.wanted();
                    match self.packets.begin_fetch_and_add(variable, count) {
                        Ok(true) => self.state.enter().numbers.turn = Turn::Asked(who),
                        Ok(false) => {
                            self.state.enter().numbers.waiting.push_front(who);
                            return self.look_again_for_numbers(Turn::Free);
                        }
                        Err(error) => drop(self.lost(error)),
                    }
                }
            }
        }
    }

    fn look_again_for_numbers(&self, turn: Turn) {
        self.state.enter().numbers.turn = turn;
        self.counting.store(true, Ordering::Release);
        self.packets.note_owing(true);
    }
}
