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
//! | `vector`, `region` | addresses; memory that others may access |
//! | `collective` | what `libweft-coll` calls (`weft-coll.h`), and the operations behind it |
//! | `in_arena` | such operations in shared memory, and those that are started there |
//! | `open_mpi` | corrections of Open MPI 4, for ranks that preload the library (`unsafe`) |
//! | `watch` | what a program waits for |
//! | `entry`, `object` | functions that C calls; objects that it calls them with (`unsafe`) |
//! | `job` | this process's place in its job, and the lock around everything |
//! | `published_wait` | what others see a program wait for that polls |
//! | `state` | messages, queues, counters and addresses of a job: all that the lock is around |
//! | `transfer`, `memory` | one send or receive, and the program's bytes (`memory` is `unsafe`) |
//! | `slots`, `address`, `descriptor` | numbers of objects, addresses, what to wait for with `poll` |
//! | `abi`, `pointer`, `refusal` | libfabric's layouts, pointers of C (`unsafe`), error numbers |
//!
//! A module names modules below it, and none above: from below, these are plain data, the state of
//! a job, objects of libfabric, and what makes these.
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
mod entry;
mod events;
mod fabric;
mod in_arena;
mod info;
mod job;
mod memory;
mod object;
mod open_mpi;
mod pointer;
mod poll;
mod provider;
mod published_wait;
mod queue;
mod refusal;
mod region;
mod slots;
mod spans;
mod state;
mod transfer;
mod vector;
mod wait;
mod watch;
