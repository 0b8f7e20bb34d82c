//! Time, and what work costs of it.
//!
//! On real machines time passes by itself, and work takes the time that it takes: [`SystemClock`]
//! charges nothing and compiles to nothing. In the simulator time is virtual, and passes only
//! because somebody charges for work.

/// A point in time, in nanoseconds since whatever the clock counts from.
pub type Nanoseconds = u64;

/// Work of a host processor that the layers above a link declare as they do it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// Getting a frame to fill.
    Allocate,
    /// Filling a frame with so many bytes and handing it to the NI.
    Launch {
        /// User bytes.
        bytes: u16,
    },
    /// A look for arrivals.
    Poll,
    /// A look into the memory of an NI that is apart, for the answer to a fetch-and-add (thesis 5.2).
    PollNi,
    /// Accepting a packet that a look has found.
    Process {
        /// User bytes.
        bytes: u16,
    },
    /// Handing a packet that arrived back to the NI, to be forwarded (`hmc`).
    Reinject {
        /// User bytes.
        bytes: u16,
    },
    /// Running the protocol for so many packets that the NI left to the host (`hrx`).
    Deferred {
        /// Packets.
        packets: u32,
    },
    /// Moving bytes in memory.
    Copy {
        /// How many.
        bytes: usize,
    },
    /// Giving a packet back.
    Release,
    /// The program's own computation, in operations of a size that the program chooses.
    Operations(u64),
}

/// The clock of a link's host. Clones are handles to the same clock.
pub trait Clock: Clone + Send + Sync + 'static {
    /// The time now; never goes back.
    fn now(&self) -> Nanoseconds;

    /// The host has done, or is about to do, `work`. A simulated host may be switched in here, so no
    /// lock that others need may be held.
    fn charge(&self, work: Work);
}

/// The clock of the machine: monotonic, and work takes the time that it takes.
#[derive(Clone, Copy, Default, Debug)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Nanoseconds {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }

    #[inline(always)]
    fn charge(&self, _: Work) {}
}
