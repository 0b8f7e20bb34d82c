//! Faults around any transport: one that takes no more for a while, completions that come late and
//! in another order, and those that fail. A seed replays them.

use crate::error::{FabricError, LibfabricError};
use crate::memory::ProgramMemory;
use crate::transport::{DatagramTransport, TransportEvent, Unsent};
use fastrand::Rng;
use std::collections::VecDeque;
use std::ops::Range;
use weft_datagram::memory::DatagramPlace;
use weft_wire::Rank;

/// Faults to inject, each with its probability.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TransportFaults {
    /// Seed of all choices.
    pub seed: u64,
    /// A send finds the provider full.
    pub full: f64,
    /// A completion waits for the next look; those of sends change places with others.
    pub late: f64,
    /// A send completes with an error, and its datagram does not arrive.
    pub failed: f64,
}

/// A transport with faults.
pub struct Faulty<T> {
    inner: T,
    faults: TransportFaults,
    dice: Rng,
    late: VecDeque<TransportEvent>,
}

impl<T> Faulty<T> {
    /// `inner`, with these faults.
    pub fn new(inner: T, faults: TransportFaults) -> Self {
        Faulty { inner, faults, dice: Rng::with_seed(faults.seed), late: VecDeque::new() }
    }
}

impl<T: DatagramTransport> DatagramTransport for Faulty<T> {
    fn grow(&mut self) -> Result<Vec<DatagramPlace>, FabricError> {
        self.inner.grow()
    }

    fn send(
        &mut self,
        place: DatagramPlace,
        part: Range<usize>,
        to: Rank,
    ) -> Result<Option<DatagramPlace>, (DatagramPlace, Unsent)> {
        if self.dice.f64() < self.faults.full {
            return Err((place, Unsent::Full));
        }
        if self.dice.f64() < self.faults.failed {
            self.late.push_back(TransportEvent::SendFailed(place, to, injected()));
            return Ok(None);
        }
        self.inner.send(place, part, to)
    }

    fn post(&mut self, place: DatagramPlace) -> Result<(), DatagramPlace> {
        self.inner.post(place)
    }

    fn sending(&self, index: u32) -> Option<&DatagramPlace> {
        let late = self.late.iter().filter_map(|event| match event {
            TransportEvent::Sent(place) | TransportEvent::SendFailed(place, ..) => Some(place),
            _ => None,
        });
        self.inner.sending(index).or_else(|| late.into_iter().find(|place| place.index() == index))
    }

    fn poll(&mut self, events: &mut VecDeque<TransportEvent>) {
        self.inner.poll(&mut self.late);
        let (mut received, mut others) = (VecDeque::new(), Vec::new());
        for event in self.late.drain(..) {
            match event {
                TransportEvent::Received(..) => received.push_back(event),
                other => others.push(other),
            }
        }
        // Arrivals keep their order: that is what the provider promises.
        while !received.is_empty() && self.dice.f64() >= self.faults.late {
            events.extend(received.pop_front());
        }
        while !others.is_empty() && self.dice.f64() >= self.faults.late {
            let any = self.dice.usize(..others.len());
            events.push_back(others.swap_remove(any));
        }
        self.late.extend(received);
        self.late.extend(others);
    }

    fn may_sleep(&mut self) -> bool {
        self.late.is_empty() && self.inner.may_sleep()
    }

    fn longest_piece(&self) -> usize {
        self.inner.longest_piece()
    }

    fn send_piece(
        &mut self,
        number: usize,
        to: Rank,
        tag: u64,
        piece: &ProgramMemory,
    ) -> Result<(), Unsent> {
        if self.dice.f64() < self.faults.full {
            return Err(Unsent::Full);
        }
        if self.dice.f64() < self.faults.failed {
            self.late.push_back(TransportEvent::Ended(number, Err(injected())));
            return Ok(());
        }
        self.inner.send_piece(number, to, tag, piece)
    }

    fn post_piece(&mut self, number: usize, tag: u64, piece: &ProgramMemory) -> bool {
        self.dice.f64() >= self.faults.full && self.inner.post_piece(number, tag, piece)
    }

    fn cancel_piece(&mut self, number: usize) {
        self.inner.cancel_piece(number);
    }

    fn shut_down(&mut self) {
        self.inner.shut_down();
    }
}

fn injected() -> LibfabricError {
    LibfabricError { call: "fi_send", code: 5, text: "injected".into() }
}
