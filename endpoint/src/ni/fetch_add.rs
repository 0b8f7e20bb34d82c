//! Fetch-and-add by packets, where ranks do not share memory (thesis 3.8): one at a time, for a
//! caller that blocks or for one that comes again.

use crate::Result;
use crate::ni::any_node::{AnyNode, Atomics};
use crate::ni::node::Node;
use crate::presence::backoff::Step;
use weft_link::Link;
use weft_link::clock::{Clock, Work};
use weft_wire::Rank;

/// Bytes of a fetch-and-add packet: two words, or one beside a hole.
const FETCH_ADD_BYTES: u16 = 16;

impl<L: Link> Atomics for Node<L> {
    #[inline]
    fn fetch_and_add(&self, home: Rank, variable: u16, amount: u64) -> Result<u64> {
        match &self.interface().attributes.services.words {
            Some(words) => Ok(words.fetch_add(home, variable, amount)),
            None => self.fetch_and_add_by_packet(home, variable, amount),
        }
    }

    fn begin_fetch_and_add(&self, home: Rank, variable: u16, amount: u64) -> bool {
        let interface = self.interface();
        interface.clock.charge(Work::Allocate);
        interface.clock.charge(Work::Launch { bytes: FETCH_ADD_BYTES });
        let mut inner = interface.inner.enter();
        if !inner.fetches.may_split() {
            return false;
        }
        if let Some(words) = &interface.attributes.services.words {
            inner.fetches.answer_split(words.fetch_add(home, variable, amount));
            return true;
        }
        interface.tell_time(&mut inner);
        inner.fetches.begin_split();
        inner.fetch_and_add(home, variable, amount);
        interface.exit_after_launch(inner, None);
        true
    }

    fn take_fetched(&self) -> Option<u64> {
        self.interface().inner.enter().fetches.take_split()
    }
}

impl<L: Link> Node<L> {
    /// Asks the home, and blocks for the answer, draining.
    fn fetch_and_add_by_packet(&self, home: Rank, variable: u16, amount: u64) -> Result<u64> {
        let interface = self.interface();
        interface.clock.charge(Work::Allocate);
        interface.clock.charge(Work::Launch { bytes: FETCH_ADD_BYTES });
        let mut asked = false;
        let mut value = None;
        let any: &dyn AnyNode = self;
        any.wait(&mut || {
            let mut inner = interface.inner.enter();
            interface.tell_time(&mut inner);
            if !asked && inner.fetches.begin_blocked() {
                inner.fetch_and_add(home, variable, amount);
                asked = true;
            }
            if asked && let Some(answer) = inner.fetches.take_blocked() {
                value = Some(answer);
                return Ok(Step::Done);
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
