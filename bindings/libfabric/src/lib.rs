//! A libfabric provider: `libweft-fi.so`, with which MPI libraries and other clients of libfabric
//! run on Weft.
//!
//! libfabric finds it by `FI_PROVIDER_PATH`, and calls [`provider::fi_prov_ini`]. What C holds are
//! objects that begin as libfabric's headers say (`abi`) and point to tables of functions; each
//! module of an object has its tables.
//!
//! | module | what |
//! |---|---|
//! | `provider`, `info` | what the provider offers, and whether that is what a client wants (`unsafe`) |
//! | `fabric`, `domain` | where the other objects come from |
//! | `endpoint` | sends, receives and remote accesses |
//! | `queue`, `counter`, `events` | completions, their counts, and other events |
//! | `wait`, `poll` | sets of them, to wait for several at once, or to ask which have something |
//! | `watch`, `descriptor` | what a program waits for, and what it waits for with `poll` |
//! | `vector`, `region` | addresses; memory that others may access |
//! | `job` | this process's place in its job, and the lock around everything |
//! | `state` | messages, queues, counters and addresses of a job: all that the lock is around |
//! | `collective` | what `libweft-coll` calls (`weft-coll.h`), and the operations behind it |
//! | `transfer`, `memory` | one send or receive, and the program's bytes (`memory` is `unsafe`) |
//! | `abi` | numbers and layouts of libfabric |
//! | `pointer`, `object` | pointers that C gives, and those that it gets (`unsafe`) |
//! | `open_mpi` | corrections of Open MPI 4, for ranks that preload the library (`unsafe`) |
//! | `refusal` | error numbers; no panic leaves the library |
//!
//! May use the facade for Rust, the packet layer, and `systems/tagged`, which matches messages with
//! receives. `docs/internals/libfabric.md` says what is there and what is not.

#![deny(unsafe_code)]

mod abi;
mod address;
mod collective;
mod counter;
mod descriptor;
mod domain;
mod endpoint;
mod events;
mod fabric;
mod info;
mod job;
mod looks;
mod memory;
mod object;
mod open_mpi;
mod pointer;
mod poll;
mod provider;
mod queue;
mod refusal;
mod region;
mod rest;
mod spans;
mod state;
mod transfer;
mod vain;
mod vector;
mod wait;
mod watch;
