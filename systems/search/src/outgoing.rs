//! Jobs on their way out: combined for each destination, and as many messages as it has credits
//! for (thesis 8.4.1, message combining).
//!
//! A message takes a credit, which comes back once its receiver has room for its jobs. So what a
//! rank has not taken has a bound, and nobody waits to send: a job for which there is neither room
//! in a message nor a credit is given back, and its rank searches it itself. That no rank waits
//! for another one's credits is why there is no deadlock.
//!
//! Sans-IO. Counters of messages wrap.

use crate::format::{HEADER_BYTES, Header};
use crate::job::{JOB_BYTES, Job};
use std::time::Duration;

/// Most messages that a rank has under way to another.
const MOST_MESSAGES: usize = 64;

/// Bytes of messages that a rank has under way to another, far less than what a port takes from
/// one sender: it never makes a rank wait.
const MOST_BYTES: usize = 512 << 10;

/// Jobs that all others have under way to one rank, about.
const JOBS_TO_ONE: usize = 64 << 10;

/// Messages that a rank may have under way to another, of `ranks`, if one has so many jobs.
pub(crate) fn window_messages(ranks: usize, jobs_per_message: usize) -> u32 {
    let by_bytes = MOST_BYTES / (HEADER_BYTES + jobs_per_message * JOB_BYTES);
    let by_jobs = JOBS_TO_ONE / (jobs_per_message * ranks.saturating_sub(1).max(1));
    MOST_MESSAGES.min(by_bytes).min(by_jobs).max(2) as u32
}

/// Outcome of giving a job away.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Given {
    /// It waits for others to go with.
    Kept,
    /// It has filled a message, which can go.
    Full,
    /// There is no room for it.
    Refused,
}

/// Messages for one rank, and those from it.
#[derive(Clone, Debug)]
struct Peer {
    /// Room for a header, and jobs behind it.
    message: Vec<u8>,
    /// Time of its first job.
    since: Duration,
    sent: u32,
    /// Those of them that it has taken.
    taken: u32,
    /// Messages of its own that this rank has taken.
    received: u32,
    /// Those of them that it knows of.
    told: u32,
}

/// Messages of one rank for all others.
#[derive(Clone, Debug)]
pub(crate) struct OutgoingJobs {
    peers: Vec<Peer>,
    message_bytes: usize,
    window: u32,
}

impl OutgoingJobs {
    /// Empty messages of so many jobs for each rank.
    pub fn new(ranks: usize, jobs_per_message: usize) -> Self {
        let message_bytes = HEADER_BYTES + jobs_per_message * JOB_BYTES;
        let mut message = Vec::with_capacity(message_bytes);
        message.resize(HEADER_BYTES, 0);
        let since = Duration::ZERO;
        let peer = Peer { message, since, sent: 0, taken: 0, received: 0, told: 0 };
        let window = window_messages(ranks, jobs_per_message);
        OutgoingJobs { peers: vec![peer; ranks], message_bytes, window }
    }

    /// Most jobs of all others that are under way to one rank.
    pub fn jobs_to_one(&self, ranks: usize) -> usize {
        let each = (self.message_bytes - HEADER_BYTES) / JOB_BYTES;
        (ranks - 1) * self.window as usize * each
    }

    /// Gives a job to rank `to`.
    #[inline]
    pub fn give(&mut self, to: usize, job: &Job, now: impl FnOnce() -> Duration) -> Given {
        let (window, most) = (self.window, self.message_bytes);
        let peer = &mut self.peers[to];
        if peer.message.len() == most {
            return Given::Refused;
        }
        if peer.message.len() == HEADER_BYTES {
            peer.since = now();
        }
        peer.message.extend_from_slice(&job.0);
        let is_full = peer.message.len() == most && peer.has_credit(window);
        if is_full { Given::Full } else { Given::Kept }
    }

    /// Puts bytes for rank `to` behind others, for which there is room as its caller counts them.
    /// True if they have filled a message, which can go.
    pub fn append(&mut self, to: usize, bytes: &[u8], now: impl FnOnce() -> Duration) -> bool {
        let (window, most) = (self.window, self.message_bytes);
        let peer = &mut self.peers[to];
        if peer.message.len() == HEADER_BYTES {
            peer.since = now();
        }
        peer.message.extend_from_slice(bytes);
        peer.message.len() >= most && peer.has_credit(window)
    }

    /// True if there are jobs for rank `to`.
    #[inline]
    pub fn has_jobs(&self, to: usize) -> bool {
        self.peers[to].message.len() > HEADER_BYTES
    }

    /// Jobs for rank `to` that wait.
    pub fn jobs(&self, to: usize) -> usize {
        (self.peers[to].message.len() - HEADER_BYTES) / JOB_BYTES
    }

    /// True if the message for rank `to` is full.
    pub fn is_full(&self, to: usize) -> bool {
        self.peers[to].message.len() >= self.message_bytes
    }

    /// Ranks whose messages are full, or have waited for so long, and can go.
    pub fn due(&self, delay: Duration, now: impl FnOnce() -> Duration) -> Vec<usize> {
        let waiting = (0..self.peers.len()).filter(|to| self.waits_since(*to).is_some());
        let mut waiting: Vec<usize> = waiting.collect();
        if waiting.is_empty() {
            return waiting;
        }
        let now = now();
        waiting.retain(|&to| {
            let since = self.waits_since(to).unwrap_or(now);
            (self.is_full(to) || now.saturating_sub(since) >= delay) && self.has_credit(to)
        });
        waiting
    }

    /// Time since which jobs for rank `to` wait, if any do.
    #[inline]
    pub fn waits_since(&self, to: usize) -> Option<Duration> {
        self.has_jobs(to).then(|| self.peers[to].since)
    }

    /// True if a message may go to rank `to`.
    #[inline]
    pub fn has_credit(&self, to: usize) -> bool {
        self.peers[to].has_credit(self.window)
    }

    /// The message for rank `to`, which takes a credit and is to be sent now, and then
    /// [cleared](Self::clear).
    ///
    /// # Panics
    /// There is no credit: see [`Self::has_credit`].
    pub fn launch(&mut self, to: usize, header: Header) -> &[u8] {
        let peer = &mut self.peers[to];
        i9_credited(peer.sent.wrapping_sub(peer.taken), self.window);
        peer.sent = peer.sent.wrapping_add(1);
        peer.message[..HEADER_BYTES].copy_from_slice(&header.emit());
        &peer.message
    }

    /// Forgets the jobs for rank `to`.
    pub fn clear(&mut self, to: usize) {
        self.peers[to].message.truncate(HEADER_BYTES);
    }

    /// Gives back the jobs for rank `to`.
    pub fn take_back(&mut self, to: usize, mut each: impl FnMut(Job)) {
        let (jobs, _) = self.peers[to].message[HEADER_BYTES..].as_chunks::<JOB_BYTES>();
        jobs.iter().for_each(|job| each(Job(*job)));
        self.clear(to);
    }

    /// Rank `from` has taken `messages` of this rank's messages in all. False if it cannot have.
    #[must_use]
    pub fn taken_by(&mut self, from: usize, messages: u32) -> bool {
        let peer = &mut self.peers[from];
        let is_possible = messages.wrapping_sub(peer.taken) <= peer.sent.wrapping_sub(peer.taken);
        if is_possible {
            peer.taken = messages;
        }
        is_possible
    }

    /// This rank has taken a message of rank `from`.
    pub fn took_from(&mut self, from: usize) {
        let peer = &mut self.peers[from];
        peer.received = peer.received.wrapping_add(1);
    }

    /// Messages of rank `to` that this rank has taken in all, to be told to it now.
    pub fn tell(&mut self, to: usize) -> u32 {
        let peer = &mut self.peers[to];
        peer.told = peer.received;
        peer.told
    }

    /// Number of them that rank `to` knows of already.
    pub fn told(&self, to: usize) -> u32 {
        self.peers[to].told
    }

    /// True if rank `to` is to be told, as half of a window was taken.
    pub fn owes_credit(&self, to: usize) -> bool {
        let peer = &self.peers[to];
        peer.received.wrapping_sub(peer.told) >= self.window / 2
    }
}

impl Peer {
    #[inline]
    fn has_credit(&self, window: u32) -> bool {
        self.sent.wrapping_sub(self.taken) < window
    }
}

/// I9: no more messages of jobs are under way to a rank than it has room for.
fn i9_credited(under_way: u32, window: u32) {
    assert!(under_way < window, "I9: {under_way} messages under way to a rank, {window} at most");
}

#[cfg(test)]
mod tests;
