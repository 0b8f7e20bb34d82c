//! The signals that the launcher takes in, to pass them on.
//!
//! Every rank leads a process group of its own, so that what a terminal sends to its foreground
//! group (Ctrl-C, Ctrl-\, Ctrl-Z), or `timeout` to the group it started, reaches the launcher only,
//! and each rank exactly once, from here. The same group makes a wrapper and all it has started one
//! target.

use std::fs;
use std::io;
use std::os::unix::net::UnixStream;

use rustix::process::Signal;
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;

/// Signals that are passed on, that of the end of an adopted process, and that of a file which
/// becomes longer than this process may make it.
const TAKEN_IN: [Signal; 10] = [
    Signal::INT,
    Signal::TERM,
    Signal::HUP,
    Signal::QUIT,
    Signal::USR1,
    Signal::USR2,
    Signal::TSTP,
    Signal::CONT,
    Signal::CHILD,
    Signal::XFSZ,
];

/// The signals that have arrived and are not yet taken in.
#[derive(Debug)]
pub(crate) struct Signals(SignalDelivery<UnixStream, SignalOnly>);

impl Signals {
    /// From here on signals are collected, those excepted that whoever started the launcher had it
    /// ignore (`nohup`, a shell's background jobs). They stay collected until the process ends.
    pub fn collect() -> io::Result<Self> {
        let ignored = ignored()?;
        let is_ignored = |signal: &Signal| ignored & (1 << (signal.as_raw() - 1)) != 0;
        let taken_in = TAKEN_IN.iter().filter(|signal| !is_ignored(signal));
        let (read, write) = UnixStream::pair()?;
        let numbers = taken_in.map(|signal| signal.as_raw());
        SignalDelivery::with_pipe(read, write, SignalOnly, numbers).map(Signals)
    }

    /// The descriptor that becomes readable when a signal has arrived.
    pub fn waits_for(&self) -> &UnixStream {
        self.0.get_read()
    }

    /// Takes in what has arrived, but for a file that became too long: the call that made it so
    /// fails, and whoever made that says so.
    pub fn take(&mut self) -> Vec<Signal> {
        let arrived = self.0.pending().filter_map(Signal::from_named_raw);
        arrived.filter(|signal| *signal != Signal::XFSZ).collect()
    }
}

/// The signals that this process ignores, a bit each, from 1 at the lowest.
fn ignored() -> io::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.ok_or_else(|| io::ErrorKind::InvalidData.into())
}
