//! Weft for C programs: what `weft.h`, `weft-objects.h` and `weft-sim.h` declare.
//!
//! Each group of calls is a module here and a manual page in `man/`; the headers are made from the
//! modules of [`HEADERS`](../../../xtask/src/header.rs) by `cargo run -p xtask -- header`.
//!
//! | module | what | page |
//! |---|---|---|
//! | `status` | error codes, their text, versions | `weft(3)` |
//! | `job` | joining, leaving, what every job has | `weft_job(3)` |
//! | `statistics` | counters of a rank | `weft_job(3)` |
//! | `losses` | losses of ranks, where the job goes on | `weft_job(3)` |
//! | `atomic` | atomic operations on shared variables | `weft_atomic(3)` |
//! | `packet` | the packet layer | `weft_packet(3)` |
//! | `port` | ports and mailboxes | `weft_port(3)` |
//! | `message` | stream messages | `weft_message(3)` |
//! | `call` | remote procedure call | `weft_call(3)` |
//! | `order` | totally-ordered broadcast | `weft_order(3)` |
//! | `collective` | what all members of a team do together | `weft_collective(3)` |
//! | `region` | shared regions of memory | `weft_region(3)` |
//! | `place` | puts into receive buffers of other ranks | `weft_put(3)` |
//! | `object` | shared objects | `weft_object(3)` |
//! | `object_type` | types of objects: code of C's | `weft_object(3)` |
//! | `object_process` | processes that share objects | `weft_object(3)` |
//! | `space` | Linda | `weft_space(3)` |
//! | `simulation` | programs on simulated ranks | `weft_simulate(3)` |
//! | `aligned` | bytes that C reads as numbers | |
//! | `handle` | what a pointer that C holds points to | |
//! | `memory` | pointers that C gives (`unsafe`) | |
//! | `callback` | functions of C's that Weft calls | |
//! | `awaited` | what one call begins and another waits for | |
//! | `waiters` | threads that wait for what callbacks do | |
//! | `process` | this process's part in a job, and its children's (`unsafe`) | |
//! | `held` | what borrows a job or a region, and outlives the call (`unsafe`) | |
//!
//! It stands on the facade for Rust, regions and objects on their systems, simulations on the
//! simulator, and adds nothing to it
//! but C's ways. No panic leaves it: an exported function does its work in `status::call`.
//! Arguments are types that only C can make (`memory`), so that the exported functions are safe
//! code; what C promises of them is in `weft.h`.

#![deny(unsafe_code)]

mod aligned;
mod atomic;
mod awaited;
mod call;
mod callback;
mod collective;
mod handle;
mod held;
mod job;
mod losses;
mod memory;
mod message;
mod object;
mod object_process;
mod object_type;
mod order;
mod packet;
mod place;
mod port;
mod process;
mod region;
mod simulation;
mod space;
mod statistics;
mod status;
mod structures;
mod waiters;
