//! A whole job in one value: `N` NIs, the wires between them, their hosts, and judges.
//!
//! A [`World`] changes one [`Step`] at a time: a host sends, a wire delivers its head packet, a
//! host processes a packet, a host releases one that it kept. Its driver chooses the order,
//! and any order is an interleaving that a real job could show; [`run`] drives it by numbers from
//! outside, so that the same numbers give the same run, and [`explore`] takes every order there is.
//! There is no thread, clock or randomness.
//!
//! After *every* step the world checks the invariants I1 to I6 and I9 (`check`) from what it saw
//! itself: packets on its wires, buffers lent and given back. What the program sees is judged by
//! the [`Reference`], which knows only what was sent to whom: everything arrives, once, in order
//! (I3), at all members and at no others. A world that can go no further is quiescent, or it names
//! the cycle of its [`Deadlock`] (thesis A.1).
//!
//! The wires are those of a careful network: nothing is lost, and each ordered pair of ranks keeps
//! its order. (Jobs in which some pairs lose packets are another matter: [`Mixed`].) [`Fault`]s
//! break that, or the NIs, on purpose: they show that the judges judge.
//!
//! Beside them stands one rank as a value, with its threads, bells and timers: a [`Room`], in which
//! the machines of presence are explored.
//!
//! May use `protocol`, `wire`, `simulator/model`, and of `endpoint` the machines of presence. It
//! panics, naming the invariant, where one is broken.

#![forbid(unsafe_code)]

mod check;
mod deadlock;
mod explore;
mod fault;
mod host;
mod ledger;
mod mixed;
mod room;
mod run;
mod sink;
mod step;
mod wire;
mod world;

pub use deadlock::{Deadlock, Wait};
pub use explore::{Runs, explore};
pub use fault::Fault;
pub use host::Host;
pub use mixed::{Mixed, MixedOptions, Weather};
pub use room::{Do, Happens, Room, RoomOptions};
pub use run::{in_order, run, seeded};
pub use step::Step;
pub use weft_model::packets::Reference;
pub use wire::{Contents, Packet};
pub use world::{Options, World};

#[cfg(test)]
mod tests;
