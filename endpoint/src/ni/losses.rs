//! Losses of ranks, in a job that goes on after them.
//!
//! ```text
//!                 a rank is lost                    nothing of it is left to take
//!   as usual ──────────────────────▶ announced ─────────────────────────────────────▶ heard
//!      ▲        (Bells::announce)                  (bury, hooks of the systems)         │
//!      └────────────────────────────────────────────────────────────────────────────────┘
//! ```
//! By default what is announced ends all that this rank waits for, with an error, and for good.
//! Where the job goes on, the first thread that polls and finds no packet has the interface bury
//! the lost rank, and calls the hooks of the systems above: each knows what it waits for from whom.
//! Packets that the rank sent before are taken first, so far as there is an end to them. Until a
//! rank is lost this costs nothing: it takes the place of the error.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use weft_link::bell::Loss;
use weft_wire::Rank;

/// Rounds in which what the lost have sent is taken before they are buried. Each takes what has
/// arrived from all ranks, so that a full window of the lost comes in one of the first.
const ROUNDS: u32 = 16;

/// Function of a system that is called for each loss.
type LossHook = Arc<dyn Fn(Loss) + Send + Sync>;

/// Losses that this rank has heard of.
#[derive(Default)]
pub(crate) struct Losses {
    goes_on: AtomicBool,
    /// True once there was one.
    any: AtomicBool,
    heard: Mutex<Vec<Loss>>,
    /// Number of those of which waits at the packet interface have told.
    told: AtomicUsize,
    hooks: Mutex<Vec<LossHook>>,
    /// Taken by the thread that hears of some.
    pub hearing: Mutex<()>,
    rounds: AtomicU32,
}

impl Losses {
    /// Has the job go on after a loss.
    pub fn go_on(&self) {
        self.goes_on.store(true, Ordering::Relaxed);
    }

    /// True if the job goes on after a loss.
    pub fn goes_on(&self) -> bool {
        self.goes_on.load(Ordering::Relaxed)
    }

    /// Adds a hook, which is called for those heard already too.
    pub fn add_hook(&self, hook: LossHook) {
        lock(&self.hooks).push(Arc::clone(&hook));
        self.all().into_iter().for_each(|loss| hook(loss));
    }

    /// True if any was heard.
    #[inline(always)]
    pub fn are_any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// The first that was heard.
    #[cold]
    pub fn first(&self) -> Option<Loss> {
        lock(&self.heard).first().copied()
    }

    /// All that were heard, the first one first.
    pub fn all(&self) -> Vec<Loss> {
        match self.are_any() {
            true => lock(&self.heard).clone(),
            false => Vec::new(),
        }
    }

    /// The loss of `rank`, if it was heard.
    pub fn of(&self, rank: Rank) -> Option<Loss> {
        self.all().into_iter().find(|loss| loss.rank == rank)
    }

    /// Number of those of which waits have told.
    pub fn told(&self) -> usize {
        self.told.load(Ordering::Relaxed)
    }

    /// The last that was heard, if there are more than `told`: they are told of from here on.
    #[cold]
    pub fn tell_of_more(&self, told: usize) -> Option<Loss> {
        let heard = lock(&self.heard);
        let last = heard.last().copied().filter(|_| heard.len() > told)?;
        self.told.fetch_max(heard.len(), Ordering::Relaxed);
        Some(last)
    }

    /// True if the lost may have sent more, which is taken first.
    pub fn waits_for_last_words(&self) -> bool {
        self.rounds.fetch_add(1, Ordering::Relaxed) < ROUNDS
    }

    /// All that they have sent is taken, or as much as is waited for.
    pub fn end_last_words(&self) {
        self.rounds.store(0, Ordering::Relaxed);
    }

    /// Adds a loss; false if it was heard before.
    pub fn hear(&self, loss: Loss) -> bool {
        let mut heard = lock(&self.heard);
        let is_news = heard.iter().all(|known| known.rank != loss.rank);
        if is_news {
            heard.push(loss);
            self.any.store(true, Ordering::Release);
        }
        is_news
    }

    /// Calls the hooks for one that was heard.
    pub fn call_hooks(&self, loss: Loss) {
        let hooks = lock(&self.hooks).clone();
        hooks.iter().for_each(|hook| hook(loss));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
