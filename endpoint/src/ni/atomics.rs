//! Atomic operations by packets, where ranks do not share memory (thesis 3.8): one at a time, for a
//! caller that blocks or for one that comes again.

use crate::ni::any_node::{AnyNode, Atomics};
use crate::ni::node::Node;
use crate::presence::backoff::Step;
use crate::{Error, Result};
use weft_link::Link;
use weft_link::clock::{Clock, Work};
use weft_link::status::Awaited;
use weft_wire::{Atomic, Rank, envelope};

impl<L: Link> Atomics for Node<L> {
    fn atomic(&self, home: Rank, variable: u16, operation: Atomic) -> Result<u64> {
        match &self.interface().attributes.services.words {
            Some(words) => Ok(words.atomic(home, variable, operation)),
            None => self.atomic_by_packet(home, variable, operation),
        }
    }

    #[inline]
    fn fetch_and_add(&self, home: Rank, variable: u16, amount: u64) -> Result<u64> {
        match &self.interface().attributes.services.words {
            Some(words) => Ok(words.fetch_add(home, variable, amount)),
            None => self.atomic_by_packet(home, variable, Atomic::Add(amount)),
        }
    }

    fn begin_atomic(&self, home: Rank, variable: u16, operation: Atomic) -> bool {
        let interface = self.interface();
        interface.clock.charge(Work::Allocate);
        interface.clock.charge(Work::Launch { bytes: request_bytes(operation) });
        let mut inner = interface.inner.enter();
        if !inner.fetches.may_split() {
            return false;
        }
        if let Some(words) = &interface.attributes.services.words {
            inner.fetches.answer_split(words.atomic(home, variable, operation));
            return true;
        }
        interface.tell_time(&mut inner);
        inner.fetches.begin_split();
        inner.atomic(home, variable, operation);
        interface.exit_after_launch(inner, None);
        true
    }

    fn take_fetched(&self) -> Option<u64> {
        self.interface().inner.enter().fetches.take_split()
    }
}

impl<L: Link> Node<L> {
    /// Asks the home, and blocks for the answer, draining.
    fn atomic_by_packet(&self, home: Rank, variable: u16, operation: Atomic) -> Result<u64> {
        let interface = self.interface();
        interface.clock.charge(Work::Allocate);
        interface.clock.charge(Work::Launch { bytes: request_bytes(operation) });
        if let Some(loss) = interface.attendance.losses.of(home) {
            return Err(Error::RankLost(loss));
        }
        let mut asked = false;
        let mut value = None;
        let any: &dyn AnyNode = self;
        // The home answers whatever its program waits for: this is never part of a deadlock.
        let what = || {
            let what = format!("rank {home} to answer an operation on its variable {variable}");
            Awaited::of_unknown(what)
        };
        any.wait_for(&what, None, &mut || {
            let mut inner = interface.inner.enter();
            interface.tell_time(&mut inner);
            if !asked && inner.fetches.begin_blocked() {
                inner.atomic(home, variable, operation);
                asked = true;
            }
            if asked && let Some(answer) = inner.fetches.take_blocked() {
                value = Some(answer);
                return Ok(Step::Done);
            }
            if asked && let Some(lost) = inner.fetches.take_loss() {
                drop(inner);
                return Err(interface.lost(lost));
            }
            let at_ni = L::NI.is_some() && !inner.ni.settings().preset.runs_at_host();
            drop(inner);
            let progress = interface.drain()?;
            if at_ni {
                interface.clock.charge(Work::PollNi);
            }
            Ok(Step::of(progress))
        })?;
        Ok(value.unwrap_or_default())
    }
}

/// Bytes of the request for an operation.
fn request_bytes(operation: Atomic) -> u16 {
    operation.size().max(envelope::WORDS_BYTES as u16)
}
