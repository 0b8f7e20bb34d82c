//! All states of a [`Model`], breadth first.
//!
//! Every step that can come next is tried in every state, and equal states are visited once; so if
//! something can go wrong, the first time that it does is after the fewest steps possible. States
//! are told apart by a 64-bit hash: among ten million of them, two are taken for one with a
//! probability of some three in a million.

use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Something that is in a state and can take steps to others.
pub trait Model {
    /// All that decides what can happen next.
    type State: Clone;
    /// One thing that happens.
    type Step: Clone + fmt::Display;
    /// Reason why nothing good can come of a state.
    type Deadlock: Clone + fmt::Debug + fmt::Display;

    /// The state before anything has happened.
    fn start(&self) -> Self::State;
    /// All steps that can be taken in `state`, or enough of them to get to all its ends.
    fn steps(&self, state: &Self::State) -> Vec<Self::Step>;
    /// Takes one of [`Self::steps`]. A panic means that it broke an invariant.
    fn take(&self, state: &mut Self::State, step: &Self::Step);
    /// Panics if `state` breaks an invariant; called once for each state.
    fn check(&self, state: &Self::State);
    /// Equal for equal states and, in all likelihood, for no others; see [`digest`].
    fn digest(&self, state: &Self::State) -> u64;
    /// True if all work is done, so that the model may stop here. Panics if what it did is wrong.
    fn is_done(&self, state: &Self::State) -> bool;
    /// The deadlock that `state` is in, if this can be told from the state alone.
    fn deadlock(&self, state: &Self::State) -> Option<Self::Deadlock>;
}

/// The hash of `value`, the same in every run of one build.
pub fn digest(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// A model all of whose states are right, and in none of which it is lost: its work can still be
/// done from there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Explored {
    /// Different states.
    pub states: usize,
    /// Steps between them.
    pub transitions: usize,
    /// States in which all work is done.
    pub quiescent_ends: usize,
}

/// The shortest way from the start to a state that is wrong.
#[derive(Clone, Debug)]
pub struct Counterexample<S, D> {
    /// Steps, in order.
    pub steps: Vec<S>,
    /// Error after them.
    pub wrong: Wrong<D>,
}

/// Error of a state.
#[derive(Clone, Debug)]
pub enum Wrong<D> {
    /// Work is left and will never be done.
    Deadlock(D),
    /// Steps can always be taken, but none of them leads to the end of the work any more.
    Livelock,
    /// An invariant is broken: what the check said.
    Broken(String),
}

impl<S> Counterexample<S, Infallible> {
    /// Consequence in words, of a model in which all that is left undone is a livelock.
    pub fn consequence(&self) -> &str {
        match &self.wrong {
            Wrong::Livelock => "it does not end",
            Wrong::Broken(what) => what,
            Wrong::Deadlock(never) => match *never {},
        }
    }
}

impl<S, D> Counterexample<S, D> {
    /// The deadlock, if that is what is wrong.
    pub fn deadlock(&self) -> Option<&D> {
        match &self.wrong {
            Wrong::Deadlock(deadlock) => Some(deadlock),
            _ => None,
        }
    }
}

/// In words, one step a line.
impl<S: fmt::Display, D: fmt::Display> fmt::Display for Counterexample<S, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, step) in (1..).zip(&self.steps) {
            writeln!(f, "{number:3}. {step}")?;
        }
        match &self.wrong {
            Wrong::Deadlock(deadlock) => deadlock.fmt(f),
            Wrong::Livelock => f.write_str("livelock: the work cannot be finished from here"),
            Wrong::Broken(what) => write!(f, "broken: {what}"),
        }
    }
}

/// Visits all states of `model`.
///
/// # Errors
/// The shortest [`Counterexample`], if any state is wrong. Of deadlocks and broken invariants, the
/// shortest; a livelock only if there are none of those.
///
/// # Panics
/// If there are more than `most_states`: the exploration would prove nothing.
pub fn explore<M: Model>(
    model: &M,
    most_states: usize,
) -> Result<Explored, Counterexample<M::Step, M::Deadlock>> {
    assert!(u32::try_from(most_states).is_ok(), "states are numbered with 32 bits");
    let mut search = Search::new(model, most_states);
    search.visit(model.start(), None)?;
    while let Some((number, state)) = search.frontier.pop_front() {
        for step in model.steps(&state) {
            search.take(number, &state, step)?;
        }
    }
    search.finish()
}

/// State of a search. States are numbered in the order in which they were found.
struct Search<'a, M: Model> {
    model: &'a M,
    most_states: usize,
    numbers: BTreeMap<u64, u32>,
    /// From which state each was found, by which step.
    found: Vec<Option<(u32, M::Step)>>,
    done: Vec<bool>,
    arrows: Vec<(u32, u32)>,
    frontier: VecDeque<(u32, M::State)>,
}

type Found<M, T> = Result<T, Counterexample<<M as Model>::Step, <M as Model>::Deadlock>>;

impl<'a, M: Model> Search<'a, M> {
    fn new(model: &'a M, most_states: usize) -> Self {
        Search {
            model,
            most_states,
            numbers: BTreeMap::new(),
            found: Vec::new(),
            done: Vec::new(),
            arrows: Vec::new(),
            frontier: VecDeque::new(),
        }
    }

    fn take(&mut self, from: u32, state: &M::State, step: M::Step) -> Found<M, ()> {
        let mut next = state.clone();
        let taken = caught(|| self.model.take(&mut next, &step));
        match taken {
            Ok(()) => {
                let to = self.visit(next, Some((from, step)))?;
                self.arrows.push((from, to));
                Ok(())
            }
            Err(broken) => {
                self.found.push(Some((from, step)));
                Err(self.counterexample(self.found.len() - 1, Wrong::Broken(broken)))
            }
        }
    }

    /// The number of `state`, which is judged if it is new.
    fn visit(&mut self, state: M::State, by: Option<(u32, M::Step)>) -> Found<M, u32> {
        let number = self.found.len() as u32;
        let known = *self.numbers.entry(self.model.digest(&state)).or_insert(number);
        if known != number {
            return Ok(known);
        }
        assert!(
            self.found.len() < self.most_states,
            "there are more than {} states: explore a smaller model",
            self.most_states
        );
        self.found.push(by);
        match self.judge(&state) {
            Ok(done) => self.done.push(done),
            Err(wrong) => return Err(self.counterexample(number as usize, wrong)),
        }
        self.frontier.push_back((number, state));
        Ok(number)
    }

    /// True if all work is done in `state`; an error if something is wrong with it.
    fn judge(&self, state: &M::State) -> Result<bool, Wrong<M::Deadlock>> {
        caught(|| self.model.check(state)).map_err(Wrong::Broken)?;
        let deadlock = caught(|| self.model.deadlock(state)).map_err(Wrong::Broken)?;
        if let Some(deadlock) = deadlock {
            return Err(Wrong::Deadlock(deadlock));
        }
        caught(|| self.model.is_done(state)).map_err(Wrong::Broken)
    }

    /// All states were visited and none is wrong by itself. Is the work's end within reach of all?
    fn finish(self) -> Found<M, Explored> {
        let mut hopeful = self.done.clone();
        let mut grows = true;
        while grows {
            grows = false;
            // Most arrows lead to states found later, so that few rounds are needed.
            for &(from, to) in self.arrows.iter().rev() {
                if hopeful[to as usize] && !hopeful[from as usize] {
                    hopeful[from as usize] = true;
                    grows = true;
                }
            }
        }
        if let Some(lost) = hopeful.iter().position(|hopeful| !hopeful) {
            return Err(self.counterexample(lost, Wrong::Livelock));
        }
        Ok(Explored {
            states: self.found.len(),
            transitions: self.arrows.len(),
            quiescent_ends: self.done.iter().filter(|done| **done).count(),
        })
    }

    fn counterexample(
        &self,
        number: usize,
        wrong: Wrong<M::Deadlock>,
    ) -> Counterexample<M::Step, M::Deadlock> {
        let mut steps = Vec::new();
        let mut next = &self.found[number];
        while let Some((from, step)) = next {
            steps.push(step.clone());
            next = &self.found[*from as usize];
        }
        steps.reverse();
        Counterexample { steps, wrong }
    }
}

/// Result of `run`, or the message of its panic.
fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    // What a panic leaves half done is not looked at any more.
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| said(panic.as_ref()))
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned()
}

#[cfg(test)]
mod tests;
