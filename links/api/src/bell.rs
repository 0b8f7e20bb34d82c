//! Bells: how a thread of a rank sleeps until a frame arrives.
//!
//! Two threads of a rank may sleep. The host sleeps when it waits and has nothing else to do. The
//! upcall thread waits for arrivals on behalf of a host that computes. Each has its own bell.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use weft_wire::Rank;

/// Thread that sleeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waiter {
    /// Program's thread that waits inside Weft.
    Host,
    /// The upcall thread.
    Upcall,
}

/// Proof that the bell of a waiter was armed, and count of its rings at that time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket(pub u32);

/// Bells of one rank. Its threads share them, without the lock around the link.
pub trait Bells: Send + Sync {
    /// Sleeps until the bell of `waiter` rings after `ticket` was drawn, or `limit` has passed.
    fn wait(&self, waiter: Waiter, ticket: Ticket, limit: Duration);

    /// Returns a ticket for the next ring from now on, without arming anything.
    fn ticket(&self, waiter: Waiter) -> Ticket;

    /// Rings this rank's own bell.
    fn ring(&self, waiter: Waiter);

    /// Returns a loss that was announced and not [taken](Self::take_losses); the first of all while
    /// none was. Costs one load.
    fn loss(&self) -> Option<Loss>;

    /// Announces to this rank that the job has lost another, and wakes all its threads.
    fn announce(&self, loss: Loss);

    /// Takes all losses that were announced: a rank that goes on has heard of them. One that is
    /// announced again is taken again.
    fn take_losses(&self) -> Vec<Loss>;
}

/// Losses that were announced to a rank, for [`Bells`] that share no memory with others.
#[derive(Debug, Default)]
pub struct AnnouncedLosses {
    /// The first that was not taken: see [`Loss::to_bits`].
    first: AtomicU64,
    untaken: Mutex<Vec<Loss>>,
}

impl AnnouncedLosses {
    /// See [`Bells::loss`].
    #[inline]
    pub fn first(&self) -> Option<Loss> {
        match self.first.load(Ordering::Relaxed) {
            0 => None,
            bits => Loss::from_bits(bits),
        }
    }

    /// See [`Bells::announce`].
    pub fn add(&self, loss: Loss) {
        let mut untaken = self.untaken.lock().unwrap_or_else(PoisonError::into_inner);
        untaken.push(loss);
        self.first.store(untaken[0].to_bits(), Ordering::Relaxed);
    }

    /// See [`Bells::take_losses`].
    pub fn take(&self) -> Vec<Loss> {
        let mut untaken = self.untaken.lock().unwrap_or_else(PoisonError::into_inner);
        self.first.store(0, Ordering::Relaxed);
        std::mem::take(&mut *untaken)
    }
}

/// Loss of a rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loss {
    /// Rank that was lost.
    pub rank: Rank,
    /// Cause of its end.
    pub cause: Cause,
}

impl Loss {
    /// This loss as a number that is never 0.
    pub fn to_bits(self) -> u64 {
        (u64::from(self.rank.0) + 1) | u64::from(self.cause.to_bits()) << 32
    }

    /// The loss that [`Self::to_bits`] made.
    pub fn from_bits(bits: u64) -> Option<Self> {
        let rank = Rank((bits as u32).checked_sub(1)?.try_into().ok()?);
        Some(Loss { rank, cause: Cause::from_bits((bits >> 32) as u32)? })
    }
}

/// Cause of the end of a rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// It exited with this status before the job was over.
    Exited(u8),
    /// A signal killed it.
    Killed(u8),
    /// It broke the protocol.
    Misbehaved,
    /// It ended before the job was over. Only its parent knows the cause.
    Ended,
    /// Nothing was received from it for so many tenths of a second: its host is dead, or the
    /// network to it is cut, or it was stopped.
    Unreachable(u8),
    /// The path to it takes only packets that are too short to cut longer ones into. It lives, and
    /// gets those.
    MtuExceeded {
        /// User bytes of a packet that does not get through.
        bytes: u16,
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
            Cause::MtuExceeded { bytes } => u32::from(bytes.max(1)) << 16,
        }
    }

    /// True if who shares a host with the rank learns of it at once; false if the network makes it
    /// known, to each that uses it.
    pub fn is_seen_by_its_host(self) -> bool {
        !matches!(self, Cause::Unreachable(_) | Cause::MtuExceeded { .. })
    }

    /// The cause that [`Self::to_bits`] made.
    pub fn from_bits(bits: u32) -> Option<Self> {
        match bits >> 8 {
            1 => Some(Cause::Exited(bits as u8)),
            2 => Some(Cause::Killed(bits as u8)),
            3 => Some(Cause::Misbehaved),
            4 => Some(Cause::Ended),
            5 => Some(Cause::Unreachable(bits as u8)),
            0x100.. => Some(Cause::MtuExceeded { bytes: (bits >> 16) as u16 }),
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
            Cause::MtuExceeded { bytes } => write!(
                f,
                "gets no packets with {bytes} bytes any more, though it gets short ones: something on the way \
                 there takes less than when the job started; mend that, or start the job with a smaller --mtu"
            ),
        }
    }
}

/// Name of a signal, such as `SIGKILL`. A signal without a name has its number.
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
