//! Operations in which no thread waits: whoever takes packets drives them, inside of the lock.
//!
//! A call [starts](StartedOperations::start) an operation, and leaves a notice of its owner's. What
//! combines elements is called inside of the lock too, and so may call nothing of the program's.
//! Several operations of a team may be under way, beside the one in which a thread waits; they
//! end in any order. Where all members have to begin a barrier first, it is started as well, and
//! nobody is told of its end.
//!
//! ```text
//! start(call, notice) ──▶ under way ──▶ due: something came for it ──▶ ended ──▶ the notice
//!                             ▲                    │ advance
//!                             └────────────────────┘
//! ```

use super::{CollectivePackets, Collectives};
use crate::Result;
use crate::network::Broadcast;
use std::collections::{BTreeMap, VecDeque};
use weft_collective::{BARRIER, OperationCall, OperationMemory, Refused, Stage, TeamId};

/// Function that makes one block of the first and the second, in place of the second.
pub type CombineInside = Box<dyn FnMut(&[u8], &mut [u8]) + Send>;

/// Operation of a team, by its number.
pub type OperationId = (TeamId, u32);

/// The operations of one rank that are started and have not ended, and notices `N` of those that
/// have.
pub struct StartedOperations<N> {
    under_way: BTreeMap<OperationId, Started<N>>,
    /// Those that may go on.
    due: VecDeque<OperationId>,
    /// True if any of them may.
    is_any_due: bool,
    ended: VecDeque<N>,
}

struct Started<N> {
    combine: CombineInside,
    /// `None` of a barrier that nobody has asked for.
    notice: Option<N>,
}

impl<N> Default for StartedOperations<N> {
    fn default() -> Self {
        StartedOperations {
            under_way: BTreeMap::new(),
            due: VecDeque::new(),
            is_any_due: false,
            ended: VecDeque::new(),
        }
    }
}

impl<N> StartedOperations<N> {
    /// Starts the next operation of a team. It goes on when it is [advanced](Self::advance).
    ///
    /// # Errors
    /// Those of [`weft_collective::Teams::begin`]; then nothing comes of the notice.
    pub fn start<M: OperationMemory + Default, K: AsRef<[u8]>>(
        &mut self,
        collectives: &mut Collectives<M, K>,
        team: TeamId,
        call: &OperationCall,
        memory: M,
        (combine, notice): (CombineInside, N),
    ) -> std::result::Result<(), Refused> {
        if collectives.needs_fence(team) {
            let number = collectives.begin(team, &BARRIER, M::default())?;
            let fence = Started { combine: Box::new(|_, _| ()), notice: None };
            self.add((team, number), fence);
        }
        let number = collectives.begin(team, call, memory)?;
        self.add((team, number), Started { combine, notice: Some(notice) });
        Ok(())
    }

    fn add(&mut self, id: OperationId, started: Started<N>) {
        self.under_way.insert(id, started);
        self.due.push_back(id);
    }

    /// Notes that something has come for an operation, if it is one of these.
    pub fn resume(&mut self, id: OperationId) {
        if self.under_way.contains_key(&id) {
            self.due.push_back(id);
        }
    }

    /// Notes that any of them may go on: there was room, or members have begun what they wait for.
    pub fn resume_all(&mut self) {
        self.is_any_due = !self.under_way.is_empty();
    }

    /// True if some may go on.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.is_any_due || !self.due.is_empty()
    }

    /// Has those that are due go on as far as can be. True if one has ended.
    ///
    /// # Errors
    /// An error of the network, or a violation that was found.
    pub fn advance<M: OperationMemory, K: AsRef<[u8]>>(
        &mut self,
        collectives: &mut Collectives<M, K>,
        packets: &mut CollectivePackets<'_, impl Broadcast>,
    ) -> Result<bool> {
        let mut any = false;
        loop {
            if std::mem::take(&mut self.is_any_due) {
                self.due = self.under_way.keys().copied().collect();
            }
            let Some(id) = self.due.pop_front() else { return Ok(any) };
            any |= self.drive(id, collectives, packets)?;
        }
    }

    fn drive<M: OperationMemory, K: AsRef<[u8]>>(
        &mut self,
        id @ (team, number): OperationId,
        collectives: &mut Collectives<M, K>,
        packets: &mut CollectivePackets<'_, impl Broadcast>,
    ) -> Result<bool> {
        let Some(started) = self.under_way.get_mut(&id) else { return Ok(false) };
        loop {
            match collectives.drive(team, number, packets)? {
                Stage::Waiting => return Ok(false),
                Stage::Combine => {
                    let Some(mut job) = collectives.take(team, number) else { return Ok(false) };
                    job.run.combine(&job.memory, &mut *started.combine);
                    // Nothing comes meanwhile: all of this happens inside of one lock.
                    collectives.put(team, number, job);
                }
                Stage::Done => break,
            }
        }
        drop(collectives.take(team, number));
        let waited = collectives.end(team, number);
        let notice = self.under_way.remove(&id).and_then(|started| started.notice);
        self.ended.extend(notice);
        if waited {
            self.resume_all();
        }
        Ok(true)
    }

    /// True if none is under way, and all ends are told.
    pub fn is_idle(&self) -> bool {
        self.under_way.is_empty() && self.ended.is_empty()
    }

    /// True if an owner has to be told of an end.
    #[inline]
    pub fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    /// Adds the notice of one that went on elsewhere, in shared memory, and has ended.
    pub fn tell(&mut self, notice: N) {
        self.ended.push_back(notice);
    }

    /// The notice of one that has ended.
    pub fn ended(&mut self) -> Option<N> {
        self.ended.pop_front()
    }
}

#[cfg(test)]
mod tests;
