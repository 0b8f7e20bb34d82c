//! One rank's network interface: the only place where a protocol, a link and a clock meet.
//!
//! The NI half of the protocols runs *inline* here: in the rank's own calls, and on its upcall
//! thread; or, on links that have a processor for it, as events of its own. A [`Node`] is entered
//! by one thread at a time (a lock that costs the rank's main thread no atomic instruction,
//! [`biased`](crate::biased)) and is never held while an upcall runs or a thread sleeps.
//!
//! | module | contents | thesis |
//! |---|---|---|
//! | `node` | the whole, which threads enter | 3.1, 3.6 |
//! | `any_node`, `endpoint` | a node whatever its link; the kind of link, decided once | |
//! | `outbound`, `inbound`, `atomics` | packets out and in, fetch-and-add and its like | 3.6, 3.8 |
//! | `dispatch` | packets on their way to the systems that they belong to | 3.1 |
//! | `plain` | the short way in, which most packets go | |
//! | `interface` | the lock, and what entering and leaving it takes | |
//! | `lossy`, `linger`, `paths` | timers, flushes, the end, MTUs, where frames get lost | 8.2.2 |
//! | `losses`, `burial` | ranks that were lost, where the job goes on | |
//! | `inner` | the inside of the lock: protocol, link, packets for the host | |
//! | `accept`, `queues`, `notices` | plain packets; those that wait, and senders that stop | 3.8 |
//! | `systems`, `backlog`, `copies`, `fetches` | what these keep | |
//! | `engine`, `offloaded` | the NI half apart from the host, on links with a processor | 8.1.2 |
//! | `attributes` | what is fixed when a node is made | |
//! | `attendance` | state that a rank's threads share, their bells, and their status page | |
//! | `wait`, `sleep` | waits and sleeps, as [`presence`](crate::presence) says | 6.2.2 |
//! | `pause` | the time between two looks | |
//! | `samples` | the system's counters, by which waits go | |
//! | `place` | as many ranks on each core, where they share cores | |
//! | `watch` | the upcall thread behind the polling watchdog | 4.4 |
//!
//! Keeps I6 (upcalls only when allowed, draining apart from upcalls) and I9 (bounded).

mod accept;
mod any_node;
mod arrival;
mod atomics;
mod attendance;
mod attributes;
mod backlog;
mod burial;
mod copies;
mod dispatch;
mod endpoint;
mod engine;
mod fetches;
mod inbound;
mod inner;
mod interface;
mod linger;
mod losses;
mod lossy;
mod network;
mod node;
mod notices;
mod offloaded;
mod outbound;
mod paths;
mod pause;
mod place;
mod plain;
mod queues;
mod samples;
mod sleep;
mod systems;
mod wait;
mod watch;

pub(crate) use any_node::{AnyNode, Destination, Handler, Polled, Verdict};
pub use any_node::{Inspect, Statistics, Taken, Upcalls};
pub(crate) use arrival::Arrival;
pub(crate) use attendance::Attendance;
pub(crate) use endpoint::{Endpoint, WeakEndpoint};
pub use network::network_settings;
pub use node::Node;
pub use pause::Pauses;
pub use place::Place;
pub use samples::quota;
pub use wait::WaitPolicy;
pub use watch::{WatchThread, default_interrupt_delay};
