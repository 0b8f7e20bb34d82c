//! Fetch-and-add: counters that the NI serves without its host (thesis 3.8).
//!
//! A request is a data packet; its credit goes back with the reply. The reply is a control packet,
//! and cannot pile up because a rank asks for one at a time.

use crate::ni::Departure;
use crate::{Actions, Body, Ni, Violation};
use weft_wire::{Rank, Tag, TreeId};

/// Fetch-and-add variables of each rank, numbered from 0; all start at 0.
pub const VARIABLES: u16 = 64;

/// The one fetch-and-add that a rank may have outstanding.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) enum Fetching {
    /// None.
    No,
    /// The request waits for a credit: nobody can have an answer yet.
    Blocked,
    /// The request has left, and only its home may answer.
    Asked(Rank),
}

/// Checks a request before it changes anything.
pub(crate) fn check<B>(from: Rank, body: &Body<B>) -> Result<(), Violation> {
    match body {
        Body::FetchAdd { variable, .. } if *variable >= VARIABLES => {
            Err(Violation::Variable(from, *variable))
        }
        _ => Ok(()),
    }
}

impl<B: Copy> Ni<B> {
    /// Adds `amount` to `variable` of `home`; the value before comes through
    /// [`Actions::fetched`]. One request at a time: [`Self::is_fetching`] tells.
    pub fn fetch_and_add(
        &mut self,
        home: Rank,
        variable: u16,
        amount: u64,
        out: &mut impl Actions<B>,
    ) {
        assert!(!self.is_fetching(), "a rank has one fetch-and-add outstanding at a time");
        assert!(variable < VARIABLES, "there are {VARIABLES} fetch-and-add variables");
        if home == self.local {
            let value = self.add(variable, amount);
            out.fetched(value);
            return;
        }
        self.fetching = Fetching::Blocked;
        let body = Body::FetchAdd { variable, amount };
        let tree = TreeId::unicast(self.local);
        let departure = Departure { tag: Tag::FaRequest, tree, size: 0, body, holders: None };
        self.credit_send(home, departure, out);
    }

    /// Whether an answer is outstanding.
    pub fn is_fetching(&self) -> bool {
        self.fetching != Fetching::No
    }

    pub(crate) fn serve_fetch_add(
        &mut self,
        from: Rank,
        variable: u16,
        amount: u64,
        out: &mut impl Actions<B>,
    ) {
        self.counters.fetch_adds_served += 1;
        let value = self.add(variable, amount);
        self.peers[from.index()].incoming.vacate();
        self.control(from, Tag::FaReply, Body::Fetched(value), out);
    }

    fn add(&mut self, variable: u16, amount: u64) -> u64 {
        let variable = &mut self.variables[usize::from(variable)];
        let value = *variable;
        *variable = value.wrapping_add(amount);
        value
    }
}
