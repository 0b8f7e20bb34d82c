//! Ways to each rank, which whoever knows the network chooses.

use super::Exchange;
use crate::network::{Sink, Source};
use weft_endpoint::Rank;

impl<S: Source, D: Sink> Exchange<S, D> {
    /// Chooses single copies: this rank's long messages to those for which `single_copy` is true
    /// carry the address of their bytes, and their receivers fetch them if they can. It is off at
    /// first. It is one copy in place of two, but by one core, where otherwise two share the work.
    pub fn set_single_copy(&mut self, single_copy: impl Fn(Rank) -> bool) {
        for (rank, peer) in (0..).map(Rank).zip(&mut self.peers) {
            peer.single_copy = single_copy(rank);
        }
    }

    /// Chooses who is sent messages in a way that suits a network that [reads them where they
    /// belong](crate::Network::post): those for which `in_place` is true. Nobody is at first.
    pub fn set_in_place(&mut self, in_place: impl Fn(Rank) -> bool) {
        for (rank, peer) in (0..).map(Rank).zip(&mut self.peers) {
            peer.in_place = in_place(rank);
        }
    }
}
