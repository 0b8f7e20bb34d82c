//! Guard that keeps interrupts off.

use crate::AnyNode;

/// Keeps interrupts off while it lives. Guards may nest.
#[must_use = "interrupts are on again as soon as the guard is dropped"]
pub struct InterruptsOff<'a> {
    pub(super) node: &'a dyn AnyNode,
}

impl Drop for InterruptsOff<'_> {
    fn drop(&mut self) {
        self.node.interrupts_on();
    }
}
