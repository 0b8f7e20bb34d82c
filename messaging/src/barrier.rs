//! Waiting for all ranks.
//!
//! Everybody adds one to a fetch-and-add variable of rank 0. Where that variable is in shared
//! memory, everybody watches it; elsewhere, whoever came last tells the others with a broadcast.

use crate::engine::Engine;
use crate::{Mailbox, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use weft_packet::{Rank, Variable};

/// The variable of rank 0 that counts arrivals; above those that programs use.
const ARRIVALS: Variable = Variable { home: Rank(0), index: 63 };

/// A barrier of all ranks.
pub struct Barrier {
    engine: Arc<Engine>,
    passed: AtomicU64,
    opened: Mailbox,
}

impl Barrier {
    /// The barrier of `engine`'s job; one a rank.
    ///
    /// # Errors
    /// If there is one already.
    pub fn new(engine: &Arc<Engine>) -> Result<Self> {
        let opened = Mailbox::new(engine, "weft.barrier")?;
        Ok(Barrier { engine: Arc::clone(engine), passed: AtomicU64::new(0), opened })
    }

    /// Returns when all ranks have called it as often as this one. Handlers run meanwhile.
    ///
    /// # Errors
    /// A lost rank.
    pub fn wait(&self) -> Result<()> {
        let packets = self.engine.packets();
        let ranks = packets.size() as u64;
        let passed = self.passed.fetch_add(1, Ordering::Relaxed) + 1;
        let last = packets.fetch_and_add(ARRIVALS, 1)? + 1 == passed * ranks;
        match (packets.shared_words(), last) {
            (Some(words), true) => words.wake_sleepers(),
            (Some(words), false) => {
                let words = Arc::clone(words);
                let all = || words.load(ARRIVALS.home, ARRIVALS.index) >= passed * ranks;
                self.engine.watch(|_| Ok(all()))?;
            }
            (None, true) => self.opened.broadcast("")?,
            (None, false) => drop(self.opened.receive()?),
        }
        Ok(())
    }

    /// The last barrier: returns when all ranks are done and this one has nothing left to send.
    ///
    /// What waits for credits would end with its process. So everything leaves while the others
    /// are still there to take it, and then whatever the barrier itself has sent.
    ///
    /// # Errors
    /// A lost rank.
    pub fn leave(&self) -> Result<()> {
        self.engine.flush()?;
        self.wait()?;
        self.engine.flush()
    }
}
