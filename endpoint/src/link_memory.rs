//! Uses of the program's memory that a link may have, for who does not know its type.

use crate::Link;
use weft_link::memory::{Lending, Posting, ZeroCopy};

/// Uses of the program's memory that a link may have.
pub(crate) trait LinkMemory {
    fn lending(&mut self) -> Option<&mut dyn Lending>;
    fn posting(&mut self) -> Option<&mut dyn Posting>;
    fn zero_copy(&mut self) -> Option<&mut dyn ZeroCopy>;
}

impl<L: Link> LinkMemory for L {
    fn lending(&mut self) -> Option<&mut dyn Lending> {
        Link::lending(self)
    }

    fn posting(&mut self) -> Option<&mut dyn Posting> {
        Link::posting(self)
    }

    fn zero_copy(&mut self) -> Option<&mut dyn ZeroCopy> {
        Link::zero_copy(self)
    }
}
