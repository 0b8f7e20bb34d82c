//! Sender-based communication: the sender names the place in the receiver's memory (sender-based-protocols 2).
//!
//! ```text
//!   receiver                                        sender
//!   offer("rows", to, bytes) ── offer ────────────▶ connect("rows", from)
//!        ▲                  ◀── accept ───────────
//!   [ receive buffer ]      ◀── offset, bytes ───── put(offset, bytes)
//!   notifications           ◀── and the last ones ─ put_notify(offset, bytes, word)
//!   [ receive buffer ]      ─── bytes ────────────▶ get(offset, into)
//! ```
//! A connection is opened by consent: a rank [offers](Packets::offer) a receive buffer to one other, which
//! [takes](Packets::connect) it by its name. Either side closes it. In between, whatever the sender puts is placed
//! when the receiver's node takes it from the network, by whatever it does there: no program takes part, and
//! nobody has to ask for it. A [`Notification`] comes after the bytes that it is about.
//!
//! Every packet says which connection it belongs to, and where in its buffer its bytes go. Both are checked,
//! against who sent it, before the first byte is placed; a sender that is wrong, late or hostile changes nothing,
//! and is told why ([`Refusal`]). Puts of one rank to another are placed in order, and in order with its gets, and
//! before packets that it launches later and that are taken in upcalls; in no order with messages.
//!
//! | module | what |
//! |---|---|
//! | `table` | which receive buffers there are, and who may do what to them |
//! | `state` | what a placed packet does |
//! | `placer` | where placed packets come in, and answers go out |
//! | `queue` | notifications |
//! | `memory` | receive buffers, and where answers land |
//! | `receiver`, `sender` | the two ends of a connection, as programs hold them |
//! | `landing` | memory that is open to puts until they have come |
//! | `heap` | memory for landings that ranks of this host reach without packets |

pub(crate) mod fuzzing;
mod heap;
mod landing;
mod memory;
mod placer;
mod queue;
mod receiver;
mod sender;
mod state;
mod table;

pub use heap::{Heap, HeapName, Reach};
pub use landing::{Landed, Landing, LandingRefused};
pub use memory::Block;
pub(crate) use placer::Placer;
pub use receiver::{Notifications, ReceiveBuffer};
pub use sender::Connection;
pub(crate) use state::Places;
pub use weft_wire::place::Refusal;

use crate::{Packets, Rank};

/// What a receiver lets the other side of a connection do.
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

/// Something happened at a receive buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Notification {
    /// The rank at the other end.
    pub from: Rank,
    /// Which of this rank's buffers ([`ReceiveBuffer::connection`]).
    pub connection: u32,
    /// Where in it, in bytes.
    pub offset: usize,
    /// What.
    pub what: What,
}

/// What happened at a receive buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// Bytes were placed, all of them.
    Put {
        /// How many.
        length: usize,
        /// What the sender says about them.
        word: u32,
    },
    /// The sender closed the connection; nothing of it follows.
    Closed,
}

impl Packets {
    /// Placed packets that were refused here because of what they said.
    pub fn puts_refused(&self) -> u64 {
        self.places.state.enter().refusals
    }
}
