//! Each protocol event on its own: what an NI does about it, action by action.

mod adaptive;
mod atomics;
mod credits;
mod early;
mod groups;
mod in_order;
mod multicast;
mod names;
mod pupa;
pub mod recorder;
mod recovery;
mod reinjection;
mod retransmission;
mod unicast;
mod violations;
