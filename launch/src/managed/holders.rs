//! Holders: the first rank of each host, which acts for all of its host, and what holders tell all
//! ranks through the process manager's store.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::thread;

use crate::pmi::PmiClient;
use rustix::event::PollFlags;
use rustix::pipe::{PipeFlags, pipe_with};
use weft_wire::Rank;

use super::error::{ManagedError, MeetError};
use super::record::Record;
use crate::hosts::pace::{MEETING_LIMIT, Pace, Probe};
use crate::messages::Message as _;
use crate::wait::{Waited, wait_for};

/// The first rank of each host, by host.
pub(super) fn holders(hosts: &[u16]) -> Vec<Rank> {
    let count = hosts.iter().max().map_or(0, |last| last + 1);
    let first = |host| hosts.iter().position(|other| *other == host);
    (0..count).filter_map(first).map(|rank| Rank(rank as u16)).collect()
}

/// Holders say something, and all ranks hear it, by host.
pub(super) fn round(
    exchange: &mut dyn PmiClient,
    key: &str,
    own: Option<&Record>,
    holders: &[Rank],
) -> Result<Vec<Record>, ManagedError> {
    if let Some(record) = own {
        exchange.put(key, &record.emit())?;
    }
    exchange.fence()?;
    let record = |holder: &Rank| {
        let bytes = exchange.get(holder.0.into(), key)?;
        Ok(Record::parse(&bytes).map_err(MeetError::from)?)
    };
    holders.iter().map(record).collect()
}

/// Greetings between this host and the others.
pub(super) struct Greetings<P> {
    probe: P,
    pace: Pace,
}

impl<P: Probe + Send> Greetings<P> {
    /// Asks the others until all have answered, or the time is over.
    pub fn begin(probe: P) -> io::Result<Self> {
        let mut greetings = Greetings { probe, pace: Pace::new(MEETING_LIMIT) };
        while !greetings.pace.is_over(greetings.probe.progress()) {
            greetings.step(false, None)?;
        }
        Ok(greetings)
    }

    /// The probe, and what it has found.
    pub fn probe(&self) -> &P {
        &self.probe
    }

    /// Answers the others while `body` runs, which may block.
    pub fn answer_during<T>(
        self,
        body: impl FnOnce() -> Result<T, ManagedError>,
    ) -> Result<T, ManagedError> {
        let (until, done) = pipe_with(PipeFlags::CLOEXEC).map_err(io::Error::from)?;
        thread::scope(|scope| {
            let answer = move || self.answer(&until);
            thread::Builder::new().name("weft-greeting".into()).spawn_scoped(scope, answer)?;
            let outcome = body();
            drop(done);
            outcome
        })
    }

    /// Answers until the other end of `until` is closed.
    fn answer(mut self, until: &OwnedFd) {
        while let Ok(false) = self.step(true, Some(until)) {}
    }

    /// Waits for something to do, and does it. Says whether it is to end.
    fn step(&mut self, told: bool, until: Option<&OwnedFd>) -> io::Result<bool> {
        let progress = self.probe.progress();
        if self.pace.asks_now(progress) {
            self.probe.ask();
        }
        let mut sources: Vec<Waited<'_, bool>> =
            vec![(false, self.probe.arrivals(), PollFlags::IN)];
        sources.extend(until.map(|until| (true, until.as_fd(), PollFlags::IN)));
        let ready = wait_for(&sources, self.pace.wait(progress, told))?;
        self.probe.take_in();
        Ok(ready.contains(&true))
    }
}
