//! Settings: the protocol, and the numbers of buffers.

use crate::careful::LEAST_WINDOW;
use crate::traditional::Room;
use std::time::Duration;

/// Protocol that makes fragments arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Protocol {
    /// Nobody has to: windows keep every fragment from being dropped (careful-protocols 5.3).
    #[default]
    Careful,
    /// The receiver asks for what it misses (careful-protocols 5.2). It has no flow control: who
    /// sends much more than is received makes it drop fragments, and it may never end.
    Traditional,
}

/// Settings with which events are carried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The protocol.
    pub protocol: Protocol,
    /// Receive buffers of a node, for all senders together: fragments that are kept where they
    /// arrived. The careful protocol divides them among the nodes, three for each at least.
    pub receive_buffers: usize,
    /// Fragments of one sender that are kept where they arrived; if not given, so many that its
    /// packets suffice even if all nodes keep that number. For machines whose receivers have memory
    /// of their own.
    pub kept_of_one: Option<usize>,
    /// Traditional: fragments that are copied out of receive buffers at most, when these are full.
    pub receive_copies: usize,
    /// Traditional: fragments sent that are kept where they are until they are acknowledged.
    pub send_buffers: usize,
    /// Traditional: fragments sent that are kept at all. With half of them kept, acknowledgements
    /// are asked for; with all, senders wait.
    pub send_copies: usize,
    /// Traditional: time after which a waiting node asks for what is missing.
    pub request_after: Duration,
    /// Cost of the protocol, for each fragment sent and each frame received, in operations of
    /// [`work`](weft_endpoint::Packets::work): for simulated machines. Real ones take their time by
    /// themselves.
    pub send_operations: u64,
    /// See there.
    pub receive_operations: u64,
}

impl Default for Settings {
    /// The careful protocol with the paper's 128 receive buffers.
    fn default() -> Self {
        Settings {
            protocol: Protocol::Careful,
            receive_buffers: 128,
            kept_of_one: None,
            receive_copies: 64,
            send_buffers: 128,
            send_copies: 1024,
            request_after: Duration::from_millis(20),
            send_operations: 0,
            receive_operations: 0,
        }
    }
}

/// Frames of the packet layer that are left for what is not kept.
const SPARE: usize = 8;

/// Limits that follow from the settings in a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Limits {
    pub window: u16,
    pub room: Room,
}

impl Settings {
    /// The settings with the traditional protocol.
    pub fn traditional() -> Self {
        Settings { protocol: Protocol::Traditional, ..Settings::default() }
    }

    /// Limits among `ranks`, on packets of which `in_flight` may be under way. `Err` has the
    /// receive buffers that it takes.
    ///
    /// Kept fragments are kept in their sender's frames. It must not run out of these: who waits
    /// for a frame cannot send what the others wait for.
    pub(crate) fn limits(&self, ranks: usize, in_flight: usize) -> Result<Limits, usize> {
        let share = self.receive_buffers / ranks;
        if share < usize::from(LEAST_WINDOW) {
            return Err(usize::from(LEAST_WINDOW) * ranks);
        }
        let of_one = in_flight.saturating_sub(SPARE) / (ranks - 1).max(1);
        let (of_one, at_once) = match self.kept_of_one {
            Some(kept) => (kept, usize::MAX),
            None => (of_one, in_flight),
        };
        let window = share.min(2 * of_one + 2).min(at_once).min(1 << 14);
        let room = Room {
            receive: self.receive_buffers,
            receive_of_one: of_one,
            memory: self.receive_copies + if of_one == 0 { self.receive_buffers } else { 0 },
            send: self.send_buffers,
            kept: self.send_copies.max(4),
        };
        Ok(Limits { window: (window as u16).max(LEAST_WINDOW), room })
    }
}
