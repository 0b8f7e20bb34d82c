//! Fetch-and-add by packets, where ranks do not share memory (thesis 3.8): one at a time, for a
//! caller that blocks or for one that comes again.

use crate::Result;
use crate::ni::any_node::AnyNode;
use crate::ni::inner::Inner;
use crate::ni::node::Node;
use crate::presence::backoff::Step;
use weft_link::Link;
use weft_link::clock::{Clock, Work};
use weft_wire::Rank;

/// Bytes of a fetch-and-add packet: two words, or one beside a hole.
const FETCH_ADD_BYTES: u16 = 16;

/// Callers that a fetch-and-add is outstanding for, or answered and not taken.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Fetching {
    /// None.
    #[default]
    Nobody,
    /// One that blocks.
    Blocked,
    /// One that comes again for the answer.
    Split,
}

impl<L: Link> Inner<L> {
    /// True if the next fetch-and-add may be asked for. An answer that nobody blocks for is put
    /// aside.
    pub fn may_fetch(&mut self) -> bool {
        if self.fetching == Fetching::Split
            && let Some(answer) = self.fetched.take()
        {
            self.split_answer = Some(answer);
            self.fetching = Fetching::Nobody;
        }
        self.fetching == Fetching::Nobody
    }
}

impl<L: Link> Node<L> {
    /// Asks the home, and blocks for the answer, draining.
    pub(crate) fn fetch_and_add_by_packet(
        &self,
        home: Rank,
        variable: u16,
        amount: u64,
    ) -> Result<u64> {
        self.clock.charge(Work::Allocate);
        self.clock.charge(Work::Launch { bytes: FETCH_ADD_BYTES });
        let mut asked = false;
        let mut value = None;
        let any: &dyn AnyNode = self;
        any.wait(&mut || {
            let mut inner = self.inner.enter();
            self.tell_time(&mut inner);
            if !asked && inner.may_fetch() {
                inner.fetching = Fetching::Blocked;
                inner.fetch_and_add(home, variable, amount);
                asked = true;
            }
            if asked && let Some(answer) = inner.fetched.take() {
                inner.fetching = Fetching::Nobody;
                value = Some(answer);
                return Ok(Step::Done);
            }
            let at_ni = L::NI.is_some() && !inner.protocol_at_host();
            drop(inner);
            let progress = self.drain()?;
            if at_ni {
                self.clock.charge(Work::PollNi);
            }
            Ok(Step::of(progress))
        })?;
        Ok(value.unwrap_or_default())
    }

    /// Asks the home, unless a fetch-and-add is outstanding or has an answer that nobody has taken.
    pub(crate) fn begin_split_fetch(&self, home: Rank, variable: u16, amount: u64) -> bool {
        self.clock.charge(Work::Allocate);
        self.clock.charge(Work::Launch { bytes: FETCH_ADD_BYTES });
        let mut inner = self.inner.enter();
        if !inner.may_fetch() || inner.split_answer.is_some() {
            return false;
        }
        if let Some(words) = &self.attributes.services.words {
            inner.split_answer = Some(words.fetch_add(home, variable, amount));
            return true;
        }
        self.tell_time(&mut inner);
        inner.fetching = Fetching::Split;
        inner.fetch_and_add(home, variable, amount);
        self.exit_after_launch(inner, None);
        true
    }
}
