//! Weft's micro-benchmarks. Each runs beside its *floor*: the same movement of data by the barest
//! means of this machine, measured in the same run, in turns (A B A B), so that what the machine
//! does meanwhile happens to both.
//!
//! [`run`] starts the ranks; each rank calls [`rank`]. Floors use an [`arena::Arena`], memory that
//! all ranks map and Weft does not know of.
//!
//! Between two hosts ([`pair`]) the floors are sockets, and a TCP connection takes the arena's
//! place.
//!
//! A figure is the median of many samples, a sample the mean of a batch that is long enough for the
//! clock not to matter.

mod after_pause;
pub mod arena;
mod authentication;
mod bandwidth;
mod barrier;
mod coexist;
mod congestion;
mod events;
mod fairness;
mod fetch_add;
pub mod hostile;
mod latency;
mod launch;
mod linda;
mod loggp;
mod meeting;
mod message;
mod multicast;
mod network;
mod object;
mod orca;
mod order;
mod pages;
pub mod pair;
mod poll;
mod program;
mod protocols;
mod put;
mod rate;
mod region;
mod rendezvous;
mod report;
mod rpc;
mod stream;
mod switches;
mod trace;
mod upcalls;

pub use launch::{Kind, RANK, Spec, rank, run};
pub use program::{command, main};
