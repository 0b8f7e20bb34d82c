//! Guard that keeps interrupts off.

use crate::presence::cell::Interrupts;

/// Keeps interrupts off while it lives. Guards may nest.
#[must_use = "interrupts are on again as soon as the guard is dropped"]
pub struct InterruptsOff<'a>(&'a Interrupts);

impl<'a> InterruptsOff<'a> {
    pub(super) fn new(interrupts: &'a Interrupts) -> Self {
        interrupts.off();
        InterruptsOff(interrupts)
    }
}

impl Drop for InterruptsOff<'_> {
    fn drop(&mut self) {
        self.0.on();
    }
}
