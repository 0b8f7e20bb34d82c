//! Duties of a rank's systems to one another: whoever polls or waits for one has the others take
//! their packets, and do what they owe.

use crate::{Protocol, Result};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, Weak};

/// The function of a layer that takes its packets itself: takes those that have arrived, and says
/// whether any had, or anything else came of it.
pub type Progress = dyn Fn() -> Result<bool> + Send + Sync;

/// Duties of a rank's systems.
#[derive(Default)]
pub(crate) struct Duties {
    /// The systems that owe something, a bit each.
    owing: AtomicU32,
    /// The systems that have a progress function, a bit each.
    taking: AtomicU32,
    /// Progress functions of the systems that take their packets themselves, by number. One whose
    /// layer is gone takes nothing.
    progress: OnceLock<RwLock<[Option<Weak<Progress>>; Protocol::LIMIT]>>,
    /// True while a thread has systems take their packets for another one.
    helping: AtomicBool,
}

/// The bit of a system.
#[inline]
pub(crate) const fn bit(system: Protocol) -> u32 {
    1 << system.index()
}

impl Duties {
    /// Has the packets of `system` taken by `progress`, as long as that lives.
    ///
    /// # Panics
    /// If another function that lives takes them.
    pub fn set_progress(&self, system: Protocol, progress: &Arc<Progress>) {
        let functions = self.progress.get_or_init(RwLock::default);
        let mut functions = functions.write().unwrap_or_else(PoisonError::into_inner);
        let current = &mut functions[system.index()];
        let other = current.as_ref().and_then(Weak::upgrade);
        // A second layer would wait for packets that the first one takes.
        let is_free = other.is_none_or(|other| Arc::ptr_eq(&other, progress));
        assert!(is_free, "one layer takes the packets of a protocol");
        *current = Some(Arc::downgrade(progress));
        self.taking.fetch_or(bit(system), Ordering::Relaxed);
    }

    /// Notes whether `system` owes something. Said inside of the lock of what there is to do, it is
    /// never wrong for long.
    #[inline]
    pub fn note_owing(&self, system: Protocol, owes: bool) {
        if (self.owing() & bit(system) != 0) != owes {
            self.set_owing(bit(system), owes);
        }
    }

    #[cold]
    fn set_owing(&self, systems: u32, owe: bool) {
        match owe {
            true => self.owing.fetch_or(systems, Ordering::Relaxed),
            false => self.owing.fetch_and(!systems, Ordering::Relaxed),
        };
    }

    /// The systems that owe something, a bit each.
    #[inline(always)]
    pub fn owing(&self) -> u32 {
        self.owing.load(Ordering::Relaxed)
    }

    /// Has these systems, a bit each, do what they owe. True if anything came of it.
    pub fn pay(&self, systems: u32) -> bool {
        let is_gone = |at: &usize| systems & (1 << at) != 0 && self.function(*at).is_none();
        for index in (0..Protocol::LIMIT).filter(is_gone) {
            self.set_owing(1 << index, false);
        }
        // A rank that cannot go on hears of it where it polls.
        self.help(systems).unwrap_or_default()
    }

    /// Has these systems, a bit each, take their packets and do what they owe. One that fails does
    /// not keep the others from it; a thread that helps already does not help again.
    #[inline]
    pub fn help(&self, systems: u32) -> Result<bool> {
        match systems & self.taking.load(Ordering::Relaxed) {
            0 => Ok(false),
            systems => self.have_taken(systems),
        }
    }

    #[cold]
    fn have_taken(&self, systems: u32) -> Result<bool> {
        if self.helping.swap(true, Ordering::Acquire) {
            return Ok(false);
        }
        let mut any = Ok(false);
        for index in (0..Protocol::LIMIT).filter(|index| systems & (1 << index) != 0) {
            if let Some(progress) = self.function(index) {
                let made = progress();
                any = any.and_then(|before| made.map(|more| before | more));
            }
        }
        self.helping.store(false, Ordering::Release);
        any
    }

    fn function(&self, index: usize) -> Option<Arc<Progress>> {
        let functions = self.progress.get()?.read().unwrap_or_else(PoisonError::into_inner);
        functions.get(index)?.as_ref().and_then(Weak::upgrade)
    }
}
