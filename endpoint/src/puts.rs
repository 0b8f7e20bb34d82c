//! Puts and gets: the sender names the range of the receiver's memory (sender-based-protocols 2).
//!
//! ```text
//!   receiver                                        sender
//!   offer("rows", to, bytes) ── offer ────────────▶ connect("rows", from)
//!        ▲                  ◀── accept ───────────
//!   [ receive buffer ]      ◀── offset, bytes ───── put(offset, bytes)
//!   notifications           ◀── and the last ones ─ put_notify(offset, bytes, word)
//!   [ receive buffer ]      ─── bytes ────────────▶ get(offset, into)
//! ```
//! A connection is opened by consent: a rank [offers](Puts::offer) a receive buffer to one
//! other, which [takes](Puts::connect) it by its name. Either side closes it. In between, what
//! the sender puts is copied into the buffer when the receiver's node takes it from the network,
//! whatever call does that: the program takes no part, and need not ask for it. A [`Notification`]
//! comes after the bytes that it is about.
//!
//! Every packet names its connection, and the offset in the buffer at which its bytes go. Both are
//! checked, against the rank that sent it, before the first byte is copied; a sender that is wrong,
//! late or hostile changes nothing, and is told why ([`Refusal`]). Puts of one rank to another
//! happen in order, and in order with its gets, and before packets that it launches later and that
//! are taken in upcalls; in no order with messages.
//!
//! | module | contents |
//! |---|---|
//! | `table` | receive buffers, and the rights to them |
//! | `state` | connections, and the effect of packets on them |
//! | `target` | the handler of packets of puts and gets, and the replies to them |
//! | `queue` | notifications |
//! | `memory` | the memory of receive buffers, of blocks, and of other ranks |
//! | `receiver`, `sender` | the two ends of a connection, as programs hold them |
//! | `landing` | blocks that are open to puts until they are closed |
//! | `heap` | memory for blocks that ranks of this host write without packets |

pub(crate) mod fuzzing;
mod heap;
mod landing;
mod memory;
mod queue;
mod receiver;
mod sender;
mod state;
mod table;
mod target;

pub use heap::{Heap, HeapName, RemoteHeap};
pub use landing::{ClosedLanding, Landing};
pub use memory::{Block, ReadBlock};
pub use queue::{Notification, NotificationKind};
pub use receiver::{Notifications, ReceiveBuffer};
pub use sender::Connection;
pub use state::LandingRefused;
pub(crate) use state::PutState;
pub use table::Rights;
pub(crate) use target::PutTarget;
pub use weft_wire::place::Refusal;

use crate::Rank;
use crate::handle::Handle;
use std::sync::Arc;

/// Puts and gets of a rank: connections that it opens with others, and memory that it opens to them
/// ([`crate::Packets::puts`]).
#[derive(Clone, Copy)]
pub struct Puts<'a>(&'a Handle);

impl<'a> Puts<'a> {
    pub(crate) fn new(handle: &'a Handle) -> Self {
        Puts(handle)
    }

    /// A heap of `bytes`; the system provides the pages that are used. `None` where no rank can map
    /// the memory of another.
    pub fn heap(self, bytes: usize) -> Option<Arc<Heap>> {
        Heap::new(self.0.shared_memory()?, bytes)
    }

    /// The heap that `rank` has under `name`, if it is on this host.
    pub fn remote_heap(self, rank: Rank, name: &HeapName) -> Option<RemoteHeap> {
        RemoteHeap::new(self.0.shared_memory()?, rank, name, &self.0.trace)
    }

    /// Packets of puts and gets that were refused here because of what they said.
    pub fn refused(self) -> u64 {
        self.0.puts.connections.enter().refusals
    }
}
