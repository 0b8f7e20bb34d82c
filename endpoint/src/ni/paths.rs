//! Paths of a network, which a link looks after now and then.

use std::io::{self, Write};
use weft_link::clock::Nanoseconds;
use weft_link::{Link, PathMtu};
use weft_protocol::Settings;
use weft_wire::Rank;

/// Period in which a link looks after its paths; half that of heartbeats, if that is less.
const TEND_EVERY: Nanoseconds = 100_000_000;

/// Times at which a link looks after its paths.
#[derive(Default)]
pub(crate) struct PathChecks {
    next: Nanoseconds,
}

impl PathChecks {
    /// True if it is time for one.
    #[inline]
    pub fn is_due(&self, now: Nanoseconds) -> bool {
        now >= self.next
    }

    /// Has the link of `local` look after its paths, and says what it found out.
    #[cold]
    pub fn run<L: Link>(
        &mut self,
        link: &mut L,
        local: Rank,
        settings: &Settings,
        now: Nanoseconds,
    ) {
        let period = settings.silence.map_or(TEND_EVERY, |silence| silence.heartbeat_after / 2);
        self.next = now + period.min(TEND_EVERY);
        let news = link.paths().and_then(|paths| paths.tend(now));
        let Some(PathMtu { to, mtu, job }) = news else { return };
        // A rank that cannot be told does not stop the job.
        let _ = if mtu < job {
            writeln!(
                io::stderr(),
                "weft: packets of {job} bytes do not get from rank {local} to rank {to} any more: the way there \
                 takes {mtu} now; longer ones go in pieces, which is slower, until it is widened"
            )
        } else {
            writeln!(
                io::stderr(),
                "weft: packets of {job} bytes get from rank {local} to rank {to} again"
            )
        };
    }
}
