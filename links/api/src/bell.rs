//! How a thread of a rank sleeps until a frame arrives.
//!
//! A rank has two sleepers: the host, when it waits and has nothing else to do, and the upcall
//! thread, which waits for arrivals on behalf of a host that computes. Each has its own bell.

use std::time::Duration;
use weft_wire::Rank;

/// Who sleeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waiter {
    /// A thread that waits inside Weft.
    Host,
    /// The upcall thread.
    Watch,
}

/// Proof that a waiter's bell was armed, and since when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket(pub u32);

/// The bells of one rank. Shared by its threads, without the lock that guards the link.
pub trait Bells: Send + Sync {
    /// Sleeps until `waiter`'s bell rings after `ticket` was drawn, or `limit` has passed.
    fn wait(&self, waiter: Waiter, ticket: Ticket, limit: Duration);

    /// The ticket that waits for the next ring from now on, without arming anything.
    fn ticket(&self, waiter: Waiter) -> Ticket;

    /// Rings this rank's own bell.
    fn ring(&self, waiter: Waiter);

    /// The rank that was lost, once the job has lost one. Costs one load.
    fn loss(&self) -> Option<Loss>;

    /// Tells this rank that the job has lost another, and wakes all its threads. The first loss stays.
    fn announce(&self, loss: Loss);
}

/// A rank is gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loss {
    /// Which.
    pub rank: Rank,
    /// How it ended.
    pub cause: Cause,
}

/// How a rank ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// It exited with this status before the job was over.
    Exited(u8),
    /// A signal killed it.
    Killed(u8),
    /// It broke the protocol.
    Misbehaved,
    /// It ended before the job was over; how, only its parent knows.
    Ended,
    /// Nothing was heard of it for so many tenths of a second: its host is dead, or the network to it is
    /// cut, or it was stopped.
    Unreachable(u8),
    /// The way to it has become too narrow for this job's packets. It lives, and gets short ones.
    Narrow {
        /// Bytes of a packet that does not get through: with its IP header, where it is known what the way
        /// takes, and else user bytes.
        bytes: u16,
        /// What the way takes now, with the IP header; 0 if nobody says.
        takes: u16,
    },
}

impl Cause {
    /// This cause as a number that is never 0.
    pub fn to_bits(self) -> u32 {
        match self {
            Cause::Exited(status) => 0x100 | u32::from(status),
            Cause::Killed(signal) => 0x200 | u32::from(signal),
            Cause::Misbehaved => 0x300,
            Cause::Ended => 0x400,
            Cause::Unreachable(tenths) => 0x500 | u32::from(tenths),
            // No packet is empty, so that this is more than all others.
            Cause::Narrow { bytes, takes } => u32::from(bytes.max(1)) << 16 | u32::from(takes),
        }
    }

    /// The cause that [`Self::to_bits`] made.
    pub fn from_bits(bits: u32) -> Option<Self> {
        match bits >> 8 {
            1 => Some(Cause::Exited(bits as u8)),
            2 => Some(Cause::Killed(bits as u8)),
            3 => Some(Cause::Misbehaved),
            4 => Some(Cause::Ended),
            5 => Some(Cause::Unreachable(bits as u8)),
            0x100.. => Some(Cause::Narrow { bytes: (bits >> 16) as u16, takes: bits as u16 }),
            _ => None,
        }
    }
}

impl std::fmt::Display for Cause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Cause::Exited(status) => {
                write!(f, "exited with status {status} before the job was over")
            }
            Cause::Killed(signal) => {
                write!(f, "was killed by signal {signal} ({})", signal_name(i32::from(*signal)))
            }
            Cause::Misbehaved => f.write_str("broke the packet protocol"),
            Cause::Ended => f.write_str("ended before the job was over"),
            Cause::Unreachable(tenths) => {
                write!(f, "could not be reached for {}.{} s", tenths / 10, tenths % 10)
            }
            Cause::Narrow { bytes, takes: 0 } => write!(
                f,
                "gets no packets with {bytes} bytes any more, though it gets short ones: something on the way \
                 there takes less than when the job started; mend that, or start the job with a smaller --mtu"
            ),
            Cause::Narrow { bytes, takes } => write!(
                f,
                "gets no packets of {bytes} bytes any more: the way there takes {takes} now; widen it, or start \
                 the job with --mtu {takes}"
            ),
        }
    }
}

/// The name of a signal, such as `SIGKILL`; numbers without one are spelled out.
pub fn signal_name(number: i32) -> String {
    const NAMES: [&str; 31] = [
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
        "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
        "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
    ];
    let index = usize::try_from(number - 1).ok();
    match index.and_then(|index| NAMES.get(index)) {
        Some(name) => format!("SIG{name}"),
        None => format!("SIG{number}"),
    }
}

#[cfg(test)]
mod tests;
