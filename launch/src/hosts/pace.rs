//! Schedule of hosts that probe each other: when they ask again, and how long they wait.

use std::collections::BTreeSet;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use crate::clock::Clock;

/// Longest time for which hosts try to reach one another. A firewall that drops packets is to be
/// known within three seconds, with the start of the agents.
pub(crate) const MEETING_LIMIT: Duration = Duration::from_millis(2500);
/// From how many hosts on a frame that the network copies can reach several.
pub(crate) const COPIED_FROM: usize = 3;

/// Hosts of which each asks every other, and greets all.
const FEW: u16 = 16;

/// The other hosts that a host asks whether they hear it, and hears in turn: all of few. Of many
/// those whose numbers are 1, 2, 4, ... higher: what is wrong with a host shows, and questions are
/// not as many as pairs.
pub(crate) fn probed(own: u16, hosts: u16) -> BTreeSet<u16> {
    let higher = |step: u32| ((u32::from(own) + step) % u32::from(hosts)) as u16;
    match hosts {
        0..=FEW => (0..hosts).filter(|host| *host != own).collect(),
        _ => (0..u16::BITS)
            .map(|power| 1 << power)
            .take_while(|step| *step < u32::from(hosts))
            .map(higher)
            .collect(),
    }
}

/// The hosts that greet all others at once: all of few, of many some that are far apart. Each such
/// greeting is one at every host.
pub(crate) fn greeters(hosts: u16) -> BTreeSet<u16> {
    (0..hosts).step_by(hosts.div_ceil(FEW).max(1).into()).collect()
}

/// Delay after which a host that has not answered is asked again; each time it doubles, so often.
const ASK_AGAIN: Duration = Duration::from_millis(20);
const DOUBLED_MAX: u32 = 4;
/// Shortest time between two looks for what wakes nobody: connections that come about.
const LOOK_AGAIN: Duration = Duration::from_millis(1);
/// Number of times that a host greets all others at once, and waits for such greetings, once it has
/// met all others: before that some may not listen yet. Few networks lose them all, and those that
/// copy none are not to keep jobs waiting.
const COPIED_ROUNDS: u32 = 4;
const COPIED_LIMIT: Duration = Duration::from_millis(80);

/// Messages that are taken in before the deadline is looked at again: whoever sends on and on, as
/// anybody on the network may, must not keep a host from its own questions.
pub(crate) const TAKEN_AT_ONCE: usize = 64;

/// Progress of a host's part in finding out who reaches whom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    /// All others have answered.
    pub met_all: bool,
    /// It greets all at once, too.
    pub copies: bool,
    /// All that greet all at once, by ways that this host hears, have been heard.
    pub heard_all: bool,
}

/// One host's part in finding out who reaches whom by a link.
pub(crate) trait Probe {
    /// Descriptor that is readable while something waits.
    fn arrivals(&self) -> BorrowedFd<'_>;
    /// Asks those that have not answered, and greets all at once.
    fn ask(&mut self);
    /// Takes in what has arrived, [`TAKEN_AT_ONCE`] or a few more at most: answers questions, notes
    /// answers. What is left keeps [`arrivals`](Self::arrivals) readable.
    fn take_in(&mut self);
    /// Progress of the probe.
    fn progress(&self) -> Progress;
}

/// Schedule of a host's questions.
#[derive(Debug)]
pub(crate) struct Pace {
    clock: Clock,
    limit: Duration,
    ask_at: Duration,
    /// Time at which all others had answered.
    met_at: Option<Duration>,
    /// Number of questions since then.
    rounds: u32,
}

impl Pace {
    /// From now on, for so long.
    pub fn new(limit: Duration) -> Self {
        Pace { clock: Clock::start(), limit, ask_at: Duration::ZERO, met_at: None, rounds: 0 }
    }

    /// True if the outcome is known: all is found out, or the time is over.
    pub fn is_over(&mut self, progress: Progress) -> bool {
        let Progress { met_all, heard_all, .. } = progress;
        let now = self.clock.now();
        if met_all && self.met_at.is_none() {
            (self.met_at, self.rounds) = (Some(now), 0);
        }
        let has_waited = self.met_at.is_some_and(|met_at| now >= met_at + COPIED_LIMIT);
        met_all && (heard_all || has_waited) || now >= self.limit
    }

    /// True if it is time to ask; it is taken for done.
    pub fn asks_now(&mut self, progress: Progress) -> bool {
        let now = self.clock.now();
        let asks = self.asks(progress) && now >= self.ask_at;
        if asks {
            let doubled = if progress.met_all { 0 } else { self.rounds.min(DOUBLED_MAX) };
            (self.ask_at, self.rounds) = (now + ASK_AGAIN * (1 << doubled), self.rounds + 1);
        }
        asks
    }

    /// Longest wait for messages; `None` if there is nothing to do before one is received.
    pub fn wait(&self, progress: Progress, told: bool) -> Option<Duration> {
        let now = self.clock.now();
        let wait = self.ask_at.saturating_sub(now).max(LOOK_AGAIN);
        (self.asks(progress) || !told).then_some(wait)
    }

    fn asks(&self, progress: Progress) -> bool {
        !progress.met_all || progress.copies && self.rounds < COPIED_ROUNDS
    }
}

#[cfg(test)]
mod tests;
