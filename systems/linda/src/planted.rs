//! Bugs to plant: a test of the tests. Only with the feature `planted` can they be.

/// Bug of a tuple space at a rank, each seventh time that it could be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(not(feature = "planted"), allow(dead_code))]
pub enum Bug {
    /// A tuple is put nowhere.
    Lost,
    /// A tuple is put twice.
    Twice,
    /// A tuple that is taken stays.
    Stays,
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
        *self.lock() = Some((bug, 0));
    }

    /// True if the rank has this bug, each seventh time that it is asked.
    pub fn has(&self, bug: Bug) -> bool {
        match &mut *self.lock() {
            Some((planted, asked)) if *planted == bug => {
                *asked += 1;
                asked.is_multiple_of(7)
            }
            _ => false,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<(Bug, u32)>> {
        self.bug.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(not(feature = "planted"))]
impl Planted {
    #[inline]
    pub fn has(&self, _: Bug) -> bool {
        false
    }
}
