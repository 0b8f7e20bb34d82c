//! Locks, condition variables and semaphores that asynchronous handlers wait for (thesis 6.2.3).
//!
//! A handler that waits becomes a continuation and stops no thread: not the thread that it
//! interrupted, which may be the one that holds the lock, nor the one that polls. Threads wait with
//! [`Engine::block_on`](crate::Engine::block_on), and poll meanwhile; tasks of any executor may
//! wait as well.
//!
//! All of these are handed over directly and in the order of asking: whoever lets go chooses who
//! goes on, so that nobody barges in, nobody starves, and a simulated run can be repeated. A future
//! that is dropped while it waits loses its place; if it was its turn already, the next one has it.

mod condition;
mod mutex;
mod semaphore;

pub use condition::Condition;
pub use mutex::{Mutex, MutexGuard};
pub use semaphore::{Acquire, Permit, Semaphore};

#[cfg(test)]
mod tests;
