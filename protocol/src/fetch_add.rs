//! Fetch-and-add: counters that the NI serves without its host (thesis 3.8).
//!
//! A request is a data packet; its credit goes back with the reply. The reply is a control packet,
//! and cannot pile up because a rank asks for one at a time. Where packets are lost, both are
//! numbered.

use crate::ni::Departure;
use crate::{Actions, Body, Ni, Violation};
use weft_wire::{Channel, Header, Rank, Tag, TreeId};

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

impl Fetching {
    /// True if `home` has been asked and has not answered.
    pub fn asked(self, home: Rank) -> bool {
        self == Fetching::Asked(home)
    }
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
        self.credit_send(home, departure, Channel::NONE, out);
    }

    /// True if an answer is outstanding.
    pub fn is_fetching(&self) -> bool {
        self.fetching != Fetching::No
    }

    pub(crate) fn serve_fetch_add(
        &mut self,
        request: &Header,
        variable: u16,
        amount: u64,
        out: &mut impl Actions<B>,
    ) {
        self.counters.fetch_adds_served += 1;
        let body = Body::Fetched(self.add(variable, amount));
        let (from, tree) = (request.source, TreeId::unicast(self.local));
        if self.peers.is_numbered(request.source) {
            // Nobody asks twice, so the answer must not be lost: it is numbered like data.
            let departure = Departure { tag: Tag::FaReply, tree, size: 0, body, holders: None };
            self.credit_send(from, departure, Channel::NONE, out);
            return;
        }
        if !self.release_channel(request.tree, out) {
            let incoming = &mut self.peers[from].incoming;
            incoming.count_freed();
            incoming.vacate();
        }
        let mut header = Header::new(Tag::FaReply, self.local, tree, 0);
        header.credits = self.peers[from].incoming.collect();
        out.transmit(from, &header, &body);
    }

    fn add(&mut self, variable: u16, amount: u64) -> u64 {
        let variable = &mut self.variables[usize::from(variable)];
        let value = *variable;
        *variable = value.wrapping_add(amount);
        value
    }
}
