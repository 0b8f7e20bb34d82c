//! Presence: which of a rank's threads polls its link when.
//!
//! A rank has threads of its program, which compute, poll, wait and sleep, and an upcall thread,
//! which looks while none of them does. Here is what each is to do next, as machines without a
//! clock, a system call or a lock: events and times go in, effects come out. The shell in `ni` has
//! the clock, the bells and the link; it feeds these and obeys.
//!
//! ```text
//!                poll, send: a visit              looks in vain           gives up looking
//!   computes ─────────────────────▶ inside ──────────────────▶ backs off ────────────────▶ sleeps
//!      ▲            leaves: flush, or hold packets back            │ spin, yield            │
//!      └──────────────────────────────────┴────────────────────────┴──── found ─────────────┘
//!                                                                             rang, or time
//!   upcall thread:  looks ◀─── time, or ring ─── sleeps, armed; put off by visits
//!                     └── something waits, and the program makes no progress: interrupts
//! ```
//!
//! | event | machine | effects |
//! |---|---|---|
//! | a packet was launched, a look found something or nothing, a packet was released | [`coalescing`] | flush at once, soon, or with the next |
//! | a visit, packets held back, packets gone | [`fallback`] | set the link's timer, or leave it |
//! | a thread finds nothing | [`backoff`], [`polls`] | spin, yield, sleep |
//! | a thread gives up looking, was armed, has looked, was rung | [`sleep`] | arm, look, sleep, disarm, ring |
//! | the upcall thread has looked, slept, paused, interrupted | [`watch`], [`fallback`] | look, sleep for so long, pause, interrupt |
//! | a sample of the system's counters | [`contention`] | verdict about the core |
//! | the program has ended | [`stay`] | time until which the rank stays |
//!
//! # Invariants
//! - **P1 seen**: while an arrival is in the link, a thread is looking, or a ring is on its way to
//!   one that sleeps, or the upcall thread looks within [`constants::LATE`] of the program's last
//!   visit, and interrupts after the delays of the watchdog.
//! - **P2 flushed**: what was held back leaves while a thread is inside, or the upcall thread looks
//!   within twice [`constants::LONGEST_WAIT`], or after the pause that it was about to make.
//! - **P3 rung**: no ring is lost: who has something for a thread that sleeps sees it sleep, or
//!   that thread sees what there is; a thread that was woken and leaves rings for the others.
//! - **P4 off**: once interrupts are off none runs, and none begins.
//!
//! P1 to P3 are judged in every state of small worlds (`testing/world`, [`planted`] bugs included);
//! P3, an agreement of threads without a lock, under loom, too ([`cell`]), and P4 by threads that
//! run. To change a decision, change its machine, and see these.
//!
//! Constants are times, and all of them are in [`constants`], each with its measurement. `cell` has
//! the only atomics.

pub mod backoff;
pub mod cell;
pub mod coalescing;
pub mod constants;
pub(crate) mod contention;
pub mod fallback;
pub mod planted;
pub mod polls;
pub mod sleep;
pub mod stay;
pub mod watch;
