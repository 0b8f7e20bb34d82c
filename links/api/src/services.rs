//! Services of a link and its host beside frames.

use crate::gauge::Gauge;
use crate::memory::{CrossMemory, SharedMemory};
use crate::status::StatusNotice;
use crate::sync::AtomicU64;
use crate::threads::{SystemThreads, Threads};
use std::sync::Arc;
use weft_trace::Recorder;
use weft_wire::{Atomic, Rank};

/// Services of a link beside frames, each with no need of a lock around the link. The endpoint
/// asks for them once. By default there are the system's threads, and nothing else.
#[derive(Clone)]
pub struct Services {
    /// Threads of this rank.
    pub threads: Arc<dyn Threads>,
    /// Words that all ranks access without a packet.
    pub words: Option<Arc<dyn SharedWords>>,
    /// Memory that some ranks access without a packet.
    pub shared_memory: Option<Arc<dyn SharedMemory>>,
    /// Access to the memory of other ranks' processes.
    pub cross_memory: Option<Arc<dyn CrossMemory>>,
    /// Notice of what this rank waits for, if somebody can read it.
    pub notice: Option<Arc<dyn StatusNotice>>,
    /// Place where this rank shows its counts, if somebody can see it.
    pub gauge: Option<Arc<dyn Gauge>>,
    /// Writer of what happens at this rank, if the run is traced.
    pub recorder: Option<Arc<dyn Recorder>>,
}

impl Default for Services {
    fn default() -> Self {
        Services {
            threads: Arc::new(SystemThreads),
            words: None,
            shared_memory: None,
            cross_memory: None,
            notice: None,
            gauge: None,
            recorder: None,
        }
    }
}

/// Words in shared memory: variables of atomic operations, which no NI has to serve, and shared
/// arenas. Each rank has a word for every index, all of them 0 at first.
pub trait SharedWords: Send + Sync {
    /// Does `operation` on word `index` of `home` and returns its old value. Sequentially
    /// consistent.
    fn atomic(&self, home: Rank, index: u16, operation: Atomic) -> u64;

    /// Does what [`Self::atomic`] does to add `amount`: the operation that most are, as one
    /// instruction.
    fn fetch_add(&self, home: Rank, index: u16, amount: u64) -> u64;

    /// Value of word `index` of `home`.
    fn load(&self, home: Rank, index: u16) -> u64;

    /// Shared arena of `home`: words, all zero at first, whose use the ranks that share memory
    /// agree on. Any of them may write any word at any time.
    fn arena(&self, home: Rank) -> &[AtomicU64];

    /// Wakes every rank that sleeps, so that it checks the words again. Its caller has issued a
    /// full barrier since it wrote them.
    fn wake_sleepers(&self);
}
