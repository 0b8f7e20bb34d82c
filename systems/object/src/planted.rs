//! Bugs to plant: a test of the tests. Only with the feature `planted` can they be.

/// Bug of the objects of a rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(not(feature = "planted"), allow(dead_code))]
pub enum Bug {
    /// A home executes a call before it has executed what the caller has.
    EarlyCall,
    /// A caller goes on before it has executed what the home has.
    EarlyReturn,
    /// A write of another rank is not executed, each fifth time.
    Skipped,
    /// A write is executed twice, each fifth time.
    Twice,
    /// A home goes on executing operations when it has sent the state away.
    LateFreeze,
    /// A replica stays when its object has moved elsewhere.
    Stale,
    /// A home executes what was broadcast for an object that is replicated no more, though it is
    /// started again.
    MovedTwice,
}

/// The bug of a rank, if it has one.
#[derive(Default)]
pub(crate) struct Planted {
    #[cfg(feature = "planted")]
    bug: std::sync::Mutex<Option<(Bug, u32)>>,
}

#[cfg(feature = "planted")]
impl Planted {
    /// Plants a bug.
    pub fn plant(&self, bug: Bug) {
        *crate::lock::lock(&self.bug) = Some((bug, 0));
    }

    /// True if the rank has this bug, `every` so many times that it is asked.
    pub fn has(&self, bug: Bug, every: u32) -> bool {
        match &mut *crate::lock::lock(&self.bug) {
            Some((planted, asked)) if *planted == bug => {
                *asked += 1;
                asked.is_multiple_of(every)
            }
            _ => false,
        }
    }
}

#[cfg(not(feature = "planted"))]
impl Planted {
    #[inline]
    pub fn has(&self, _: Bug, _: u32) -> bool {
        false
    }
}
