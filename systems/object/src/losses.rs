//! Losses of ranks, as the order of a job tells them that goes on: each at one place among its
//! messages, at which all ranks that live have executed the same. So they decide alike what is lost
//! with the rank: objects that it had the only copies of, and its processes.

use crate::copy::Overs;
use crate::entry::Entry;
use crate::error::Error;
use crate::lock::lock;
use crate::placement::Site;
use crate::programs::Process;
use crate::shared::{Behind, Shared};
use std::sync::{Arc, Mutex};
use weft_endpoint::Rank;
use weft_messaging::{Completer, Completion, Engine};

/// Losses of which the order has told.
#[derive(Default)]
pub(crate) struct Losses(Mutex<Told>);

#[derive(Default)]
struct Told {
    ranks: Vec<Rank>,
    /// Those of which all that is lost with them is known.
    settled: Vec<Rank>,
    /// Threads that wait for one.
    waiting: Vec<(Rank, Completer<()>)>,
}

impl Losses {
    /// True if the order has told of the loss of this rank.
    pub fn contain(&self, rank: Rank) -> bool {
        lock(&self.0).ranks.contains(&rank)
    }

    /// Number of ranks that are lost.
    pub fn count(&self) -> usize {
        lock(&self.0).ranks.len()
    }

    /// Completes when all that is lost with this rank is known; `None` if it is.
    pub fn wait_for(&self, rank: Rank, engine: &Arc<Engine>) -> Option<Completion<()>> {
        let mut told = lock(&self.0);
        if told.settled.contains(&rank) {
            return None;
        }
        let (completer, completion) = Completion::new(engine);
        told.waiting.push((rank, completer));
        Some(completion)
    }

    /// The order tells of a loss.
    fn add(&self, rank: Rank) {
        lock(&self.0).ranks.push(rank);
    }

    /// All that is lost with a rank is known to be.
    fn wake(&self, rank: Rank) {
        let mut told = lock(&self.0);
        told.settled.push(rank);
        let waiting = told.waiting.extract_if(.., |(of, _)| *of == rank).collect::<Vec<_>>();
        drop(told);
        waiting.into_iter().for_each(|(_, completer)| completer.complete(Ok(())));
    }
}

impl Shared {
    /// The order tells of a loss.
    pub fn lose(&self, rank: Rank) {
        self.losses.add(rank);
        let all = self.table.all();
        for entry in all.iter().filter(|entry| entry.site() == Site::Single(rank)) {
            self.lose_object(entry, rank);
        }
        self.lose_processes(rank);
        self.watch.forget();
        self.forget_behind(rank);
        self.losses.wake(rank);
    }

    /// An object is lost with its only copy: whoever waits for it hears of that.
    pub fn lose_object(&self, entry: &Entry, rank: Rank) {
        let mut over = Overs::new();
        entry.lose(rank, &mut over);
        self.tell(over);
    }

    /// Processes of a lost rank have failed, and with them their program.
    pub fn lose_processes(&self, rank: Rank) {
        for Process { name, rank, .. } in self.programs.lose(rank) {
            let what = "its rank is lost".into();
            self.fail(Error::Process { name, rank, what });
            if self.programs.end_program() {
                self.set_ending(None);
            }
        }
    }

    /// Nothing waits for messages that a lost rank has executed and nobody else will.
    pub fn forget_behind(&self, rank: Rank) {
        let is_of = |behind: &Behind| match behind {
            Behind::Invocation(_, _, (_, caller)) => *caller == rank,
            Behind::Returned(_, home) => *home == rank,
        };
        for behind in self.position.take_if(is_of) {
            if let Behind::Returned(completer, _) = behind {
                completer.complete(Ok(()));
            }
        }
    }
}
