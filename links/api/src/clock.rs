//! Clock of a host: time, and the cost of work.
//!
//! On real machines time passes by itself, and work takes the time that it takes: [`SystemClock`]
//! charges nothing and compiles to nothing. In the simulator time is virtual. It passes only
//! because somebody charges for work.

/// Point in time, in nanoseconds since the epoch of the clock.
pub type Nanoseconds = u64;

/// Work of a host processor that the layers above a link declare as they do it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// Allocating a frame.
    Allocate,
    /// Filling a frame with so many bytes and handing it to the NI.
    Launch {
        /// User bytes.
        bytes: u16,
    },
    /// Polling for arrivals.
    Poll,
    /// Polling the memory of a separate NI for the answer to a fetch-and-add (thesis 5.2).
    PollNi,
    /// Accepting a packet that a poll has found.
    Process {
        /// User bytes.
        bytes: u16,
    },
    /// Handing a received packet back to the NI, to be forwarded (`hmc`).
    Reinject {
        /// User bytes.
        bytes: u16,
    },
    /// Running the protocol for packets that the NI left to the host (`hrx`).
    Deferred {
        /// Number of packets.
        packets: u32,
    },
    /// Moving bytes in memory.
    Copy {
        /// Number of bytes.
        bytes: usize,
    },
    /// Releasing a packet.
    Release,
    /// Computation of the program, in operations of a size that the program chooses.
    Operations(u64),
}

/// Clock of the host of a link. Clones are handles to one clock.
pub trait Clock: Clone + Send + Sync + 'static {
    /// Returns the time now, which never goes back.
    fn now(&self) -> Nanoseconds;

    /// Charges `work` that the host has done, or is about to do. A simulated host may be suspended
    /// in here, so the caller holds no lock that others need.
    fn charge(&self, work: Work);
}

/// Monotonic clock of the machine, where work takes the time that it takes.
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
