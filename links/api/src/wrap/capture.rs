//! Wrapper that keeps the headers of the last frames, for a person to read.

use super::{delegate, wrapper};
use crate::{Link, LinkViolation, Payload, Received};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use weft_wire::{Header, Rank};

/// Header of a frame that passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Captured {
    /// Header of a frame that was transmitted to a rank.
    Transmitted(Rank, Header),
    /// Header of a frame that was received.
    Received(Header),
}

/// Inner link, with the headers of the last frames kept.
pub struct Capture<L> {
    inner: L,
    frames: Arc<Mutex<VecDeque<Captured>>>,
    limit: usize,
}

impl<L: Link> Capture<L> {
    /// Keeps the last `limit` headers that pass through `inner`.
    pub fn new(inner: L, limit: usize) -> Self {
        Capture { inner, frames: Arc::default(), limit }
    }

    /// Returns the headers, oldest first. They are shared, and can be read after the link has
    /// moved.
    pub fn frames(&self) -> Arc<Mutex<VecDeque<Captured>>> {
        Arc::clone(&self.frames)
    }

    fn keep(&self, frame: Captured) {
        let mut frames = self.frames.lock().unwrap_or_else(PoisonError::into_inner);
        if frames.len() >= self.limit {
            frames.pop_front();
        }
        frames.push_back(frame);
    }
}

wrapper!(Capture);

impl<L: Link> Link for Capture<L> {
    delegate!(no_short, network, host, capabilities, frames, services, no_memory);

    fn transmit(&mut self, to: Rank, header: &Header, payload: Payload) {
        self.keep(Captured::Transmitted(to, *header));
        self.inner.transmit(to, header, payload);
    }

    fn receive(&mut self) -> Result<Option<Received>, LinkViolation> {
        let received = self.inner.receive()?;
        if let Some(received) = received {
            self.keep(Captured::Received(received.header));
        }
        Ok(received)
    }
}
