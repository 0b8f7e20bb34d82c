//! Packets that were copied out of link memory, because their system leaves them there.

use std::ptr::NonNull;
use weft_link::{Buffer, Layer, Link};
use weft_protocol::Delivery;
use weft_wire::Rank;

/// The copies of a node.
#[derive(Default)]
pub(crate) struct Copies {
    bytes: Vec<Option<Box<[u8]>>>,
    free: Vec<usize>,
}

impl Copies {
    /// True if `buffer` names a copy.
    #[inline(always)]
    pub fn has(buffer: Buffer) -> bool {
        buffer.unmarked(Layer::Endpoint).is_some()
    }

    /// The copy of a packet out of memory of the link of `local`, kept until [`Self::remove`].
    #[cold]
    pub fn copy<L: Link>(
        &mut self,
        delivery: &Delivery<Buffer>,
        link: &L,
        local: Rank,
    ) -> Delivery<Buffer> {
        let mut bytes = vec![0; usize::from(delivery.size)].into_boxed_slice();
        link.copy_out(delivery.buffer, &mut bytes);
        Delivery::copied(self.insert(bytes), delivery, local)
    }

    fn insert(&mut self, bytes: Box<[u8]>) -> Buffer {
        let index = self.free.pop().unwrap_or_else(|| {
            self.bytes.push(None);
            self.bytes.len() - 1
        });
        self.bytes[index] = Some(bytes);
        Buffer::new(0, index as u64).marked(Layer::Endpoint)
    }

    /// The address of the bytes of `copy`; they stay there.
    pub fn start(&self, copy: Buffer) -> NonNull<u8> {
        let bytes = self.bytes[index(copy)].as_deref();
        NonNull::from(bytes.unwrap_or_else(|| unreachable!("freed while in use"))).cast()
    }

    /// Frees `copy`.
    #[cold]
    pub fn remove(&mut self, copy: Buffer) {
        self.bytes[index(copy)] = None;
        self.free.push(index(copy));
    }
}

fn index(copy: Buffer) -> usize {
    copy.number() as usize
}
