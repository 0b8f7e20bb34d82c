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
//! A connection is opened by consent: a rank [offers](Packets::offer) a receive buffer to one
//! other, which [takes](Packets::connect) it by its name. Either side closes it. In between, what
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
pub use landing::{ClosedLanding, Landing, LandingRefused};
pub use memory::{Block, ReadBlock};
pub use receiver::{Notifications, ReceiveBuffer};
pub use sender::Connection;
pub(crate) use state::Puts;
pub(crate) use target::{OWED_BY_PUTS, PutTarget};
pub use weft_wire::place::Refusal;

use crate::{Packets, Rank};

/// Rights that a receiver gives to the other side of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rights {
    /// Put bytes into the buffer.
    pub put: bool,
    /// Get bytes from it.
    pub get: bool,
}

impl Rights {
    /// Puts only.
    pub const PUT: Rights = Rights { put: true, get: false };
    /// Gets only.
    pub const GET: Rights = Rights { put: false, get: true };
    /// Both.
    pub const BOTH: Rights = Rights { put: true, get: true };

    fn to_word(self) -> u32 {
        u32::from(self.put) | u32::from(self.get) << 1
    }

    fn from_word(word: u32) -> Option<Self> {
        (word < 4).then_some(Rights { put: word & 1 != 0, get: word & 2 != 0 })
    }
}

/// Notification of an event at a receive buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Notification {
    /// The rank at the other end.
    pub from: Rank,
    /// Number of this rank's buffer ([`ReceiveBuffer::connection`]).
    pub connection: u32,
    /// Offset of the event in the buffer, in bytes.
    pub offset: usize,
    /// Kind of the event.
    pub kind: NotificationKind,
}

/// Kind of a [`Notification`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotificationKind {
    /// Bytes were put into the buffer, all of them.
    Put {
        /// Number of the bytes.
        length: usize,
        /// Word that the sender has attached to them.
        word: u32,
    },
    /// The sender closed the connection; nothing of it follows.
    Closed,
}

impl Packets {
    /// Packets of puts and gets that were refused here because of what they said.
    pub fn puts_refused(&self) -> u64 {
        self.puts.state.enter().refusals
    }
}
