//! Mistakes to plant in a machine: tests of the tests, which alone can plant one.

#[cfg(not(test))]
use std::marker::PhantomData;

/// A mistake of these kinds, if one is planted; outside of tests nothing, in memory and in code.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Mistake<P> {
    #[cfg(test)]
    planted: Option<P>,
    #[cfg(not(test))]
    planted: PhantomData<P>,
}

impl<P> Default for Mistake<P> {
    fn default() -> Self {
        Mistake { planted: Default::default() }
    }
}

#[cfg(test)]
impl<P: PartialEq> Mistake<P> {
    /// This mistake, or none.
    pub fn planted(planted: Option<P>) -> Self {
        Mistake { planted }
    }

    /// True if it is this one.
    pub fn is(&self, mistake: P) -> bool {
        self.planted == Some(mistake)
    }
}

#[cfg(not(test))]
impl<P> Mistake<P> {
    /// False.
    #[inline(always)]
    pub fn is(&self, _: P) -> bool {
        false
    }
}
