//! Fetch-and-add: counters that the NI serves without its host (thesis 3.8).
//!
//! A request is a data packet; its credit goes back as soon as it has been served. The reply is a
//! control packet, and cannot pile up because a rank asks for one at a time.

use crate::ni::Departure;
use crate::{Actions, Body, Ni, Violation};
use weft_wire::{Rank, Tag, TreeId};

/// Fetch-and-add variables of each rank, numbered from 0; all start at 0.
pub const VARIABLES: u16 = 64;

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
        assert!(!self.fetching, "a rank has one fetch-and-add outstanding at a time");
        assert!(variable < VARIABLES, "there are {VARIABLES} fetch-and-add variables");
        if home == self.local {
            let value = self.add(variable, amount);
            out.fetched(value);
            return;
        }
        self.fetching = true;
        let body = Body::FetchAdd { variable, amount };
        let tree = TreeId::unicast(self.local);
        let departure = Departure { tag: Tag::FaRequest, tree, size: 0, body, holders: None };
        self.credit_send(home, departure, out);
    }

    /// Whether an answer is outstanding.
    pub fn is_fetching(&self) -> bool {
        self.fetching
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
        self.return_credit(from, out);
        self.control(from, Tag::FaReply, Body::Fetched(value), out);
    }

    fn add(&mut self, variable: u16, amount: u64) -> u64 {
        let variable = &mut self.variables[usize::from(variable)];
        let value = *variable;
        *variable = value.wrapping_add(amount);
        value
    }
}
