//! Frames for packets to send.

use crate::ni::any_node::{AnyNode, Polled, Upcalls};
use crate::ni::node::Node;
use crate::presence::backoff::Step;
use crate::{Error, Result};
use std::ptr::NonNull;
use weft_link::clock::{Clock, Work};
use weft_link::{Buffer, Link};
use weft_wire::{Protocol, Rank};

/// A frame to fill, and the address of its bytes.
pub(crate) type Frame = (Buffer, NonNull<u8>);

impl<L: Link> Node<L> {
    /// A frame, for a packet to this rank alone if it is given, and its bytes; `None` while there
    /// is none.
    #[inline]
    pub(super) fn try_frame(&self, protocol: Protocol, to: Option<Rank>) -> Result<Option<Frame>> {
        self.clock.charge(Work::Allocate);
        let mut inner = self.inner.enter();
        if !inner.gates.are_open() && inner.gates.held_back(protocol) >= self.most_held_back() {
            return Ok(None);
        }
        match inner.link.alloc(to) {
            Some(frame) => {
                inner.held += 1;
                Ok(Some((frame, inner.link.bytes(frame))))
            }
            None if inner.held >= self.attributes.capabilities.frames => {
                Err(Error::PoolExhausted { frames: self.attributes.capabilities.frames })
            }
            None => Ok(None),
        }
    }

    /// A frame and its bytes, once there is one.
    #[cold]
    pub(super) fn wait_for_frame(
        &self,
        protocol: Protocol,
        to: Option<Rank>,
        upcalls: Upcalls,
    ) -> Result<Frame> {
        let mut found = None;
        let any: &dyn AnyNode = self;
        any.wait(&mut || {
            found = self.try_frame(protocol, to)?;
            if found.is_some() {
                return Ok(Step::Done);
            }
            let progress = match upcalls {
                Upcalls::Allowed => match self.poll() {
                    None => return Err(self.trouble()),
                    polled => matches!(polled, Some(Polled::Packet | Polled::OthersWait)),
                },
                Upcalls::Deferred => self.drain()?,
            };
            self.detach_if_stuck();
            Ok(Step::of(progress))
        })?;
        found.ok_or(Error::PoolExhausted { frames: self.attributes.capabilities.frames })
    }

    /// Frames of one system that may wait until their receivers take its packets again.
    fn most_held_back(&self) -> usize {
        (self.attributes.capabilities.frames / 4).min(self.attributes.window_packets).max(1)
    }

    /// Takes pending packets out of their senders' memory if this is inside an upcall. Nothing is
    /// processed there: arrivals would hold their senders' frames, and if the senders are inside
    /// upcalls too, all would wait for one another.
    fn detach_if_stuck(&self) {
        let mut inner = self.inner.enter();
        if self.attendance.sleepers.may_be_in_upcall() {
            inner.detach_pending();
        }
    }
}
