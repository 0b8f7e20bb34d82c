//! Atomics and fences between threads that share memory, of one process or of several.
//!
//! They are the machine's, or loom's: under `--cfg loom` tests run what is built of them in all
//! orders in which two cores may see it ([`model`]).
//!
//! **Asymmetric fences.** Of two threads that each write a word and then read the other's, one at
//! least sees the other's write if both issue a fence between. Where one of them does so often and
//! the other seldom, the first issues a [`light_fence`], which costs nothing, and the second a
//! [heavy one](Scope::heavy_fence), for which the kernel makes every core of the first pass a
//! barrier (membarrier). Loom and Miri know no such call. Under them both are ordinary fences,
//! which order no more than the pair does.

#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize};
#[cfg(not(loom))]
pub use std::sync::{Mutex, MutexGuard, atomic::Ordering, atomic::fence};
#[cfg(not(loom))]
pub use std::thread::yield_now;

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize};
#[cfg(loom)]
pub use loom::sync::{Mutex, MutexGuard, atomic::Ordering, atomic::fence};
#[cfg(loom)]
pub use loom::thread::yield_now;

use std::io;

/// Threads between which a pair of asymmetric fences orders accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// Those of this process.
    Process,
    /// Those of all processes of this host that have registered for it.
    Host,
}

/// Light side of a pair of fences, which only keeps the compiler from reordering.
#[inline(always)]
pub fn light_fence() {
    #[cfg(any(loom, miri))]
    fence(Ordering::SeqCst);
    #[cfg(not(any(loom, miri)))]
    std::sync::atomic::compiler_fence(Ordering::SeqCst);
}

#[cfg(not(any(loom, miri)))]
impl Scope {
    /// Registers this process, whose threads issue light fences from then on.
    ///
    /// # Errors
    /// Those of membarrier: the kernel may have none, or a filter may forbid it.
    pub fn register(self) -> io::Result<()> {
        use rustix::thread::{MembarrierCommand, membarrier};
        Ok(membarrier(match self {
            Scope::Process => MembarrierCommand::RegisterPrivateExpedited,
            Scope::Host => MembarrierCommand::RegisterGlobalExpedited,
        })?)
    }

    /// Heavy side of a pair of fences. Every thread of this scope is registered.
    pub fn heavy_fence(self) {
        use rustix::thread::{MembarrierCommand, membarrier};
        let passed = match self {
            Scope::Process => membarrier(MembarrierCommand::PrivateExpedited),
            // The second one is slow (it waits for every core to schedule), and always there.
            Scope::Host => membarrier(MembarrierCommand::GlobalExpedited)
                .or_else(|_| membarrier(MembarrierCommand::Global)),
        };
        assert!(passed.is_ok(), "membarrier worked at registration and fails now: {passed:?}");
    }
}

#[cfg(any(loom, miri))]
impl Scope {
    /// Does nothing.
    ///
    /// # Errors
    /// None.
    pub fn register(self) -> io::Result<()> {
        Ok(())
    }

    /// Heavy side of a pair of fences.
    pub fn heavy_fence(self) {
        fence(Ordering::SeqCst);
    }
}

/// Runs `check` in all orders in which its threads may run and see one another's writes, with few
/// switches between threads that could have gone on: faults need two or three.
#[cfg(loom)]
pub fn model(check: impl Fn() + Sync + Send + 'static) {
    let mut orders = loom::model::Builder::new();
    orders.preemption_bound = orders.preemption_bound.or(Some(3));
    orders.check(check);
}
