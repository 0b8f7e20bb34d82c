//! Reference models that Weft is judged by, written without looking at how Weft does it.
//!
//! | module | what |
//! |---|---|
//! | [`consistency`] | histories of operations on shared objects: sequential consistency, linearizability |
//! | [`explore`] | all states that a model can get into, or the shortest way to one that is wrong |
//! | [`memory`] | shared memory as programs see it (7.3.1): one writer or readers, who see the last write |
//! | [`packets`] | the packet layer as programs see it (thesis chapter 3): a reference that takes the same sends as the real one, and says at each packet whether it agrees |
//! | [`random`] | numbers from a seed, the same on every machine |
//! | [`windows`] | the window protocol of careful-protocols 5.3, to explore its theorem 1 |
//!
//! May use `wire`, for the numbers of ranks and groups, and nothing that sends a packet. Nothing
//! here depends on time, on randomness or on the order in which a map was filled.

#![forbid(unsafe_code)]

pub mod consistency;
pub mod explore;
pub mod memory;
pub mod packets;
pub mod random;
pub mod windows;
