//! A lock that is free for the thread that owns it.
//!
//! One thread, the *owner*, enters and exits with plain loads and stores; any other thread pays for
//! both, with a barrier that the kernel makes the owner's core pass (membarrier). It is Dekker's
//! algorithm with the fence moved to the side that comes seldom. Masking the upcall thread is a
//! flag in memory, not a call (optimistic interrupt protection).
//!
//! ```text
//!   owner                      other
//!   busy = 1                   wanted = 1
//!   (compiler fence)           membarrier
//!   wanted == 0 ? in : wait    busy == 0 ? in : wait
//! ```
//! A lock that is [shared](Biased::share) has no owner any more: `wanted` stays set for ever, so
//! that the thread that was the owner falls into the slow path, where it finds that it is one of
//! the others, and all of them exclude one another by the mutex alone.
//!
//! If both read 0, the owner read `wanted` before the barrier, hence its `busy = 1` was written
//! before the barrier too, and the other must have seen it: a contradiction.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::sync::PoisonError;
use weft_link::sync::{
    AtomicBool, AtomicUsize, Mutex, MutexGuard, Ordering, Scope, fence, light_fence, yield_now,
};

/// No thread: no thread-local lies there.
pub(crate) const NOBODY: usize = 0;

/// Fences between threads of this process, of which one does so often and the other seldom: the
/// seldom one pays for both, where the kernel passes barriers.
#[derive(Clone, Copy, Debug)]
pub struct Fences {
    asymmetric: bool,
}

impl Fences {
    /// Fences of this process.
    pub fn new() -> Self {
        Fences { asymmetric: Scope::Process.register().is_ok() }
    }

    /// Light side of a pair: this thread's earlier writes are seen by a thread that reads after
    /// [`Self::heavy`], or this thread sees what that one wrote before it. Costs nothing where the
    /// kernel passes barriers.
    #[inline(always)]
    pub fn light(self) {
        match self.asymmetric {
            true => light_fence(),
            false => fence(Ordering::SeqCst),
        }
    }

    /// Heavy side of a pair with [`Self::light`], which pays for both.
    pub fn heavy(self) {
        match self.asymmetric {
            true => Scope::Process.heavy_fence(),
            false => fence(Ordering::SeqCst),
        }
    }
}

impl Default for Fences {
    fn default() -> Self {
        Fences::new()
    }
}

/// A value that one thread at a time may enter.
pub struct Biased<T> {
    owner: AtomicUsize,
    busy: AtomicBool,
    wanted: AtomicBool,
    others: Others,
    /// Fences of the owner and others. Where the kernel passes no barriers there is no owner.
    fences: Fences,
    value: UnsafeCell<T>,
}

// SAFETY: the lock gives out `&mut T` to one thread at a time, so `T` only has to be `Send`.
unsafe impl<T: Send> Sync for Biased<T> {}

impl<T: Default> Default for Biased<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Biased<T> {
    /// A lock around `value`, owned by the calling thread.
    pub fn new(value: T) -> Self {
        let fences = Fences::new();
        let owner = if fences.asymmetric { this_thread() } else { NOBODY };
        Biased {
            owner: AtomicUsize::new(owner),
            busy: AtomicBool::new(false),
            wanted: AtomicBool::new(!fences.asymmetric),
            others: Others::default(),
            fences,
            value: UnsafeCell::new(value),
        }
    }

    /// A lock around `value` that has no owner, as if it had been [shared](Self::share).
    pub fn shared(value: T) -> Self {
        let (owner, wanted) = (AtomicUsize::new(NOBODY), AtomicBool::new(true));
        Biased { owner, wanted, ..Self::new(value) }
    }

    /// Makes the calling thread the owner. No thread may be inside or try to enter meanwhile.
    pub fn adopt(&mut self) {
        if self.fences.asymmetric {
            self.owner.store(this_thread(), Ordering::Relaxed);
        }
    }

    /// Makes all threads equal, for good: each pays for an ordinary lock, and none for a barrier.
    pub fn share(&self) {
        assert!(
            this_thread() != self.owner.load(Ordering::Relaxed)
                || !self.busy.load(Ordering::Relaxed),
            "a thread shared a lock that it is inside of"
        );
        self.others.lock();
        // As for an entry of another thread; after it, the owner is outside and finds `wanted`. It
        // exits as the owner: it is none any more only when it is outside.
        self.wanted.store(true, Ordering::SeqCst);
        self.fences.heavy();
        while self.busy.load(Ordering::Acquire) {
            yield_now();
        }
        self.owner.store(NOBODY, Ordering::SeqCst);
        // SAFETY: locked above, by this thread.
        unsafe { self.others.unlock() };
    }

    /// Fences by which threads may agree beside this lock.
    pub(crate) fn fences(&self) -> Fences {
        self.fences
    }

    /// Enters, waiting for a thread that is inside. A thread that is inside already must not: that
    /// panics for the owner, and never returns for others.
    #[inline(always)]
    pub fn enter(&self) -> Entered<'_, T> {
        if this_thread() == self.owner.load(Ordering::Relaxed) && self.enter_as_owner() {
            return Entered::new(self);
        }
        self.enter_slowly()
    }

    #[cold]
    #[inline(never)]
    fn enter_slowly(&self) -> Entered<'_, T> {
        self.enter_as_other(usize::MAX).unwrap_or_else(|| unreachable!("tries are unlimited"))
    }

    /// Enters if this thread is the owner, is outside, and no other thread wants to enter. Never
    /// waits, so it may also be called inside another lock.
    #[inline(always)]
    pub fn enter_at_once(&self) -> Option<Entered<'_, T>> {
        if this_thread() != self.owner.load(Ordering::Relaxed) || self.busy.load(Ordering::Relaxed)
        {
            return None;
        }
        self.busy.store(true, Ordering::Relaxed);
        light_fence();
        if self.wanted.load(Ordering::Acquire) {
            self.busy.store(false, Ordering::Release);
            return None;
        }
        Some(Entered::new(self))
    }

    /// Enters unless the owner stays inside for long.
    pub fn try_enter(&self) -> Option<Entered<'_, T>> {
        if this_thread() == self.owner.load(Ordering::Relaxed) {
            return Some(self.enter());
        }
        self.enter_as_other(8)
    }

    /// Enters with plain loads and stores. False if the lock was shared meanwhile: the caller is
    /// one of the others then.
    #[inline(always)]
    fn enter_as_owner(&self) -> bool {
        if self.busy.load(Ordering::Relaxed) {
            inside_already();
        }
        self.busy.store(true, Ordering::Relaxed);
        // A thread that wants to enter has the kernel pass a barrier here.
        light_fence();
        !self.wanted.load(Ordering::Acquire) || self.wait_for_others()
    }

    #[cold]
    fn wait_for_others(&self) -> bool {
        loop {
            self.busy.store(false, Ordering::Release);
            // The thread that is inside holds this mutex: sleep with it rather than spin.
            self.others.lock();
            // SAFETY: locked above, by this thread.
            unsafe { self.others.unlock() };
            if self.owner.load(Ordering::SeqCst) == NOBODY {
                return false;
            }
            self.busy.store(true, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            if !self.wanted.load(Ordering::Acquire) {
                return true;
            }
        }
    }

    fn enter_as_other(&self, tries: usize) -> Option<Entered<'_, T>> {
        self.others.lock();
        // `share` set this with the mutex held, after the owner had exited for good.
        if self.owner.load(Ordering::Relaxed) == NOBODY || self.keep_owner_out(tries) {
            return Some(Entered::new(self));
        }
        // SAFETY: locked above, by this thread, which did not enter.
        unsafe { self.others.unlock() };
        None
    }

    #[cold]
    #[inline(never)]
    fn unlock_as_other(&self) {
        if self.owner.load(Ordering::Relaxed) != NOBODY {
            self.wanted.store(false, Ordering::Release);
        }
        // SAFETY: a thread that is inside and not the owner locked it when it entered: an `Entered`
        // stays in its thread.
        unsafe { self.others.unlock() };
    }

    /// Waits until the owner is outside, with `others` held; false after `tries`.
    #[cold]
    fn keep_owner_out(&self, tries: usize) -> bool {
        self.wanted.store(true, Ordering::SeqCst);
        self.fences.heavy();
        let mut tried = 0;
        while self.busy.load(Ordering::Acquire) {
            tried += 1;
            if tried > tries {
                self.wanted.store(false, Ordering::Release);
                return false;
            }
            yield_now();
        }
        true
    }
}

/// The mutex of all threads but the owner, locked and unlocked by different functions. Its waiters
/// sleep: one that yielded would give its core to the thread that it waits for again and again,
/// which then takes all packets at the price of a barrier each.
#[derive(Default)]
struct Others {
    mutex: Mutex<()>,
    /// The guard of the thread that has it locked; only that thread looks here.
    guard: UnsafeCell<Option<MutexGuard<'static, ()>>>,
}

// SAFETY: guards stay in their threads: the thread that locks it unlocks it, before it is moved.
unsafe impl Send for Others {}

impl Others {
    fn lock(&self) {
        let guard = self.mutex.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the guard does not outlive the mutex: it is dropped by `unlock`, or leaks with
        // `self`, which `Entered` borrows meanwhile.
        let guard = unsafe { mem::transmute::<MutexGuard<'_, ()>, MutexGuard<'static, ()>>(guard) };
        // SAFETY: only the thread looks there that has the mutex locked, and this one has.
        unsafe { *self.guard.get() = Some(guard) };
    }

    /// # Safety
    /// This thread has it locked.
    unsafe fn unlock(&self) {
        // SAFETY: as the caller says; and the guard is out of the cell before the mutex is free.
        let guard = unsafe { (*self.guard.get()).take() };
        debug_assert!(guard.is_some(), "a thread unlocks what it has locked");
        drop(guard);
    }
}

/// Proof of being inside, of the thread that entered.
pub struct Entered<'a, T> {
    lock: &'a Biased<T>,
    _stays: PhantomData<*const ()>,
}

impl<'a, T> Entered<'a, T> {
    #[inline(always)]
    fn new(lock: &'a Biased<T>) -> Self {
        Entered { lock, _stays: PhantomData }
    }
}

impl<T> Entered<'_, T> {
    /// Runs `outside` while this thread is not inside, and enters again.
    #[inline(always)]
    pub fn while_outside<R>(self, outside: impl FnOnce() -> R) -> (Self, R) {
        let lock = self.lock;
        if this_thread() != lock.owner.load(Ordering::Relaxed) {
            drop(self);
            let result = outside();
            return (lock.enter_slowly(), result);
        }
        drop(self);
        let result = outside();
        // The owner is still the owner, or the lock was shared meanwhile: then `wanted` says so.
        lock.busy.store(true, Ordering::Relaxed);
        light_fence();
        if !lock.wanted.load(Ordering::Acquire) || lock.wait_for_others() {
            return (Entered::new(lock), result);
        }
        (lock.enter_slowly(), result)
    }
}

impl<T> Deref for Entered<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the owner is inside with `busy` set, or another thread with `wanted` set and the
        // mutex held; the module's argument excludes the one while the other is there.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Entered<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as for `deref`, and `self` is borrowed exclusively.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Entered<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        // The owner entered as such: the lock is not shared while it is inside.
        if this_thread() == self.lock.owner.load(Ordering::Relaxed) {
            self.lock.busy.store(false, Ordering::Release);
        } else {
            self.lock.unlock_as_other();
        }
    }
}

#[cold]
#[inline(never)]
fn inside_already() -> ! {
    panic!("a thread entered a node that it is inside of")
}

/// A number that is different for every live thread, and never 0: where its thread-locals are.
#[inline(always)]
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(any(loom, miri))))]
pub fn this_thread() -> usize {
    let here;
    // SAFETY: the first word of the thread control block is its own address (ELF Handling for
    // Thread-Local Storage, 3.4.6), for as long as the thread lives; nothing else is read, and
    // nothing written.
    unsafe {
        std::arch::asm!("mov {}, fs:0", out(reg) here, options(pure, readonly, nostack, preserves_flags));
    }
    here
}

/// A number that is different for every live thread, and never 0: the address of a thread-local.
#[inline]
#[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(any(loom, miri)))))]
pub fn this_thread() -> usize {
    #[cfg(not(loom))]
    thread_local!(static HERE: u8 = const { 0 });
    #[cfg(loom)]
    loom::thread_local!(static HERE: u8 = 0);
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

#[cfg(test)]
mod tests;
