//! One rank's network interface: the only place where a protocol, a link and a clock meet.
//!
//! The NI half of the protocols runs *inline* here: in the rank's own calls, and on its upcall
//! thread; or, on links that have a processor for it, as events of its own. A [`Node`] is entered
//! by one thread at a time (a lock that costs the rank's main thread no atomic instruction,
//! [`biased`](crate::biased)) and is never held while an upcall runs or a thread sleeps.
//!
//! | module | contents | thesis |
//! |---|---|---|
//! | `attributes` | what is fixed when a node is made | |
//! | `node` | sending, draining, upcalls, release | 3.1, 3.6 |
//! | `frames` | frames for packets to send | 3.6 |
//! | `dispatch` | packets on their way to the systems that they belong to | 3.1 |
//! | `endpoint` | the kind of link, decided once | |
//! | `plain` | the short way in, which most packets go | |
//! | `systems`, `backlog` | the systems, the packets that wait for them, and who has to stop | 3.8 |
//! | `engine` | the NI half apart from the host, where a link has a processor for it | 8.1.2 |
//! | `fetch_add` | fetch-and-add, blocking or in two steps | 3.8 |
//! | `attendance` | what threads share of their presence, the bells, what others are told | |
//! | `wait`, `sleep` | waits and sleeps, as [`presence`](crate::presence) says | 6.2.2 |
//! | `pause` | the time between two looks | |
//! | `samples` | the system's counters, by which waits go | |
//! | `place` | as many ranks on each core, where they share cores | |
//! | `lossy` | timers, flushing and lingering, where frames may be lost | 8.2.2 |
//! | `watch` | the upcall thread behind the polling watchdog | 4.4 |
//!
//! Keeps I6 (upcalls only when allowed, draining apart from upcalls) and I9 (bounded).

mod any_node;
mod arrival;
mod attendance;
mod attributes;
mod backlog;
mod copies;
mod dispatch;
mod endpoint;
mod engine;
mod fetch_add;
mod frames;
mod inner;
mod lossy;
mod network;
mod node;
mod pause;
mod place;
mod plain;
mod samples;
mod sleep;
mod systems;
mod wait;
mod watch;

pub(crate) use any_node::{AnyNode, Destination, Handler, Polled, Verdict};
pub use any_node::{Inspect, Statistics, Taken, Upcalls};
pub(crate) use arrival::Arrival;
pub(crate) use endpoint::Endpoint;
pub use network::network_settings;
pub use node::Node;
pub use pause::Pauses;
pub use place::Place;
pub use samples::quota;
pub use wait::WaitPolicy;
pub use watch::{WatchThread, default_interrupt_delay};
