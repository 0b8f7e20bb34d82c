//! Ends of processes.

use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use weft_link::bell::Cause;

use super::checks::ensure;
use super::format::BadMessage;

/// Ending of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// By itself, with this status.
    Exited(i32),
    /// By the signal of this number.
    Killed(i32),
    /// By SIGKILL, when the system killed processes because memory was full.
    OutOfMemory,
    /// In a way that only its parent knows, which is not the launcher: it had come by the door.
    Unseen,
}

impl From<Ending> for Cause {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Exited(status) => Cause::Exited(status as u8),
            Ending::Killed(signal) => Cause::Killed(signal as u8),
            Ending::OutOfMemory => Cause::Killed(Signal::KILL.as_raw() as u8),
            Ending::Unseen => Cause::Ended,
        }
    }
}

impl Ending {
    /// Checks that the system gives such an ending: a status or signal outside would end in
    /// another's number.
    pub(crate) fn check(self) -> Result<(), BadMessage> {
        let is_given = match self {
            Ending::Exited(status) => (0..=255).contains(&status),
            Ending::Killed(signal) => (1..=127).contains(&signal),
            Ending::OutOfMemory | Ending::Unseen => true,
        };
        ensure(is_given, "ending")
    }
}
