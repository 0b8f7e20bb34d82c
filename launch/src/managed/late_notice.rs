//! Notice of ranks that are late: process managers wait for them as long as it takes, and a rank
//! that ends before it joins is no failure to them.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use weft_wire::Rank;

/// Time after which rank 0 says that it waits, if it has come itself; the next one is behind.
const LIMIT: Duration = Duration::from_secs(10);
/// Ranks that say it: one of them has most likely come.
const SPEAKERS: u16 = 2;

/// Notice on standard error if a wait for all ranks takes long. The wait is over when this is
/// dropped.
pub(super) struct LateNotice {
    _until: Option<Sender<()>>,
}

impl LateNotice {
    /// Begins it, at one of the first of `ranks` ranks.
    pub fn begin(own: Rank, ranks: u16) -> Self {
        if own.0 >= SPEAKERS || ranks == 1 {
            return LateNotice { _until: None };
        }
        let (until, over) = channel();
        let limit = LIMIT * (1 + u32::from(own.0));
        let report = move || {
            if is_in_vain(&over, limit) {
                // Without a standard error there is nobody to tell.
                let _ = writeln!(
                    io::stderr(),
                    "weft: rank {own} has waited for {} s for all {ranks} ranks to join: has one ended, or not come to MPI_Init \
                     (or fi_domain) yet?",
                    limit.as_secs()
                );
            }
        };
        // Without it nothing is said.
        let _ = thread::Builder::new().name("weft-late".into()).spawn(report);
        LateNotice { _until: Some(until) }
    }
}

/// Waits until the wait is over, or for `limit`; true if it is not over then.
fn is_in_vain(over: &Receiver<()>, limit: Duration) -> bool {
    over.recv_timeout(limit) == Err(RecvTimeoutError::Timeout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_in_vain_unless_it_ends() {
        let (until, over) = channel();
        assert!(is_in_vain(&over, Duration::ZERO));
        drop(until);
        assert!(!is_in_vain(&over, LIMIT));
    }
}
