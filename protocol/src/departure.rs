//! Packets on their way out.

use crate::actions::PacketBody;
use crate::settings::Settings;
use crate::slab::Key;
use weft_wire::{Atomic, Tag, TreeId};

/// A data packet on its way to one destination (the thesis's send descriptor).
#[derive(Debug, Clone, Hash)]
pub(crate) struct Departure<B> {
    pub tag: Tag,
    pub tree: TreeId,
    pub size: u16,
    pub body: PacketBody<B>,
    /// Set if the buffer has other destinations or owners too.
    pub holders: Option<Key>,
}

impl<B> Departure<B> {
    /// A request for an atomic operation.
    pub fn request(tree: TreeId, variable: u16, operation: Atomic) -> Self {
        let (size, body) = (operation.size(), PacketBody::Atomic { variable, operation });
        Departure { tag: Tag::FaRequest, tree, size, body, holders: None }
    }

    /// A packet without user bytes, and in no buffer that others need.
    pub fn control(tag: Tag, tree: TreeId, body: PacketBody<B>) -> Self {
        Departure { tag, tree, size: 0, body, holders: None }
    }

    /// Send buffers that it takes for itself. A packet to several ranks takes them once, for
    /// all of them, if buffers are counted by size.
    pub fn send_buffers(&self, settings: &Settings) -> usize {
        match settings.pupa.send_buffers {
            None => 1,
            Some(_) if self.holders.is_some() => 0,
            Some(buffers) => buffers.taken_by(self.size),
        }
    }
}
