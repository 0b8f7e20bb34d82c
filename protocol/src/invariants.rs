//! The invariants: one name, one function, one fact each (`ARCHITECTURE.md` lists them).
//!
//! Each function panics with the name of the invariant and the values that break it. Tests call
//! them after every step; the code calls those that are cheap where the state changes. What one
//! rank sees of an invariant, of itself and one peer, is in `local`: those forms return what is
//! broken, and end the job with it.

mod local;

pub use local::Broken;
pub(crate) use local::{
    BuffersHere, ChannelHere, CreditsHere, NumbersHere, i1_buffers_here, i1_credits_here,
    i2_window_here, i3_none_overtaken, i3_numbers_here, i4_buffers_counted, i5_none_waits_here,
    i7_channel_here,
};

use std::collections::BTreeSet;
use weft_wire::{Rank, Tag, TreeId};

/// Places of the credits of one ordered pair (sender, receiver).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairCredits {
    /// `W`: all credits that the pair has. Where windows follow demand, those that it has now.
    pub window: u16,
    /// Held by the sender.
    pub held: u16,
    /// Spent on data packets that have not arrived.
    pub in_flight: u16,
    /// Spent on packets that fill buffers at the receiver.
    pub buffered: u16,
    /// Free at the receiver, not yet returned.
    pub owed: u16,
    /// Travelling back in packets.
    pub returning: u16,
    /// Travelling to the receiver, to be others' from there on; none where windows stay.
    pub handed_back: u16,
}

/// I1: credits are neither made nor lost.
pub fn i1_credit_conservation(pair: &PairCredits) {
    let PairCredits { held, in_flight, buffered, owed, returning, handed_back, .. } = *pair;
    let places = [held, in_flight, buffered, owed, returning, handed_back];
    let sum: u32 = places.iter().map(|&n| u32::from(n)).sum();
    assert_eq!(sum, u32::from(pair.window), "I1 credit conservation: {pair:?}");
}

/// I2: no data packet leaves without a credit, and none that was accepted is dropped.
pub fn i2_careful(data_packets_in_flight_and_buffered: u64, window: u16, dropped: u64) {
    assert!(
        data_packets_in_flight_and_buffered <= u64::from(window),
        "I2 careful: {data_packets_in_flight_and_buffered} packets for {window} credits"
    );
    assert_eq!(dropped, 0, "I2 careful: {dropped} accepted packets were dropped");
}

/// I2, of one receiver: it has promised its senders no more buffers than it has.
pub fn i2_promised(promised: u64, buffers: usize) {
    assert!(
        promised <= buffers as u64,
        "I2 careful: {promised} buffers are promised, of {buffers}"
    );
}

/// I3: what one rank sends on one tree arrives in that order; `last` is the number before.
pub fn i3_order(last: Option<u64>, next: u64) {
    assert_eq!(next, last.map_or(0, |n| n + 1), "I3 order: {next} arrived after {last:?}");
}

/// I4: a buffer has one owner and is released once.
///
/// Keep one of these beside the code under test and tell it of every transfer.
#[derive(Debug, Default, Clone)]
pub struct Ownership {
    lent: BTreeSet<u64>,
}

impl Ownership {
    /// `buffer` passes to the NI.
    pub fn lend(&mut self, buffer: u64) {
        assert!(self.lent.insert(buffer), "I4 one owner: buffer {buffer} was lent twice");
    }

    /// The NI gives `buffer` up.
    pub fn give_back(&mut self, buffer: u64) {
        assert!(self.lent.remove(&buffer), "I4 one owner: buffer {buffer} was released twice");
    }

    /// True if `buffer` is the NI's.
    pub fn is_lent(&self, buffer: u64) -> bool {
        self.lent.contains(&buffer)
    }

    /// Buffers that the NI holds.
    pub fn len(&self) -> usize {
        self.lent.len()
    }

    /// True if the NI holds none.
    pub fn is_empty(&self) -> bool {
        self.lent.is_empty()
    }
}

/// I5: a packet that waits, for a credit or in a queue, is a data packet.
pub fn i5_control_never_blocks(waiting: Tag) {
    assert!(waiting.is_data(), "I5 control never blocks: a {waiting:?} packet waits");
}

/// Reasons why an upcall may run now (thesis 3.1.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpcallConditions {
    /// 1: the client has not disabled interrupts.
    pub interrupts_enabled: bool,
    /// 2: the client polls.
    pub polling: bool,
    /// 3: the client called something with upcalls allowed.
    pub upcalls_allowed: bool,
}

/// I6: an upcall runs only under one of the three conditions of thesis 3.1.4, and never inside
/// another one.
pub fn i6_upcalls_only_when_allowed(conditions: UpcallConditions, nested: bool) {
    let UpcallConditions { interrupts_enabled, polling, upcalls_allowed } = conditions;
    assert!(
        interrupts_enabled || polling || upcalls_allowed,
        "I6 upcalls only when allowed: none of the three conditions holds"
    );
    assert!(!nested, "I6 upcalls only when allowed: an upcall ran inside another");
}

/// I7: the channel of `owner` serves one tree, has one buffer at each NI, and does not lead back to
/// its owner. `uses` are the packets on it: where each is, or is about to be, and its tree.
pub fn i7_recovery(owner: Rank, uses: &[(Rank, TreeId)]) {
    let mut places = BTreeSet::new();
    for &(at, tree) in uses {
        assert_ne!(at, owner, "I7 recovery: the channel of {owner:?} leads back to it");
        assert!(
            places.insert(at),
            "I7 recovery: two packets on the channel of {owner:?} at {at:?}"
        );
        assert_eq!(tree, uses[0].1, "I7 recovery: the channel of {owner:?} serves two trees");
    }
}

/// I9: a queue stays within its bound.
pub fn i9_bounded(what: &str, length: usize, bound: usize) {
    assert!(length <= bound, "I9 bounded: {what} has {length} entries, its bound is {bound}");
}

#[cfg(test)]
mod tests;
