//! Values of which any of the last ones will do.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use weft_link::sync::{AtomicU64, Ordering};

/// A value that fits into a word.
pub trait Bits: Copy {
    /// Its word.
    fn to_bits(self) -> u64;
    /// The value of a word that [`Self::to_bits`] made.
    fn of_bits(bits: u64) -> Self;
}

impl Bits for u64 {
    #[inline(always)]
    fn to_bits(self) -> u64 {
        self
    }

    #[inline(always)]
    fn of_bits(bits: u64) -> Self {
        bits
    }
}

impl Bits for u32 {
    #[inline(always)]
    fn to_bits(self) -> u64 {
        self.into()
    }

    #[inline(always)]
    fn of_bits(bits: u64) -> Self {
        bits as u32
    }
}

impl Bits for bool {
    #[inline(always)]
    fn to_bits(self) -> u64 {
        self.into()
    }

    #[inline(always)]
    fn of_bits(bits: u64) -> Self {
        bits != 0
    }
}

/// A value that threads read and change in relaxed order. A reader may get one of the last values,
/// and of two threads that change it at once one may miss the other's change: decisions that are
/// made by it are as good with either. It orders nothing else.
pub struct Relaxed<T> {
    bits: AtomicU64,
    _of: PhantomData<fn() -> T>,
}

impl<T: Bits> Relaxed<T> {
    /// One with this value.
    pub fn new(value: T) -> Self {
        Relaxed { bits: AtomicU64::new(value.to_bits()), _of: PhantomData }
    }

    /// The value.
    #[inline(always)]
    pub fn get(&self) -> T {
        T::of_bits(self.bits.load(Ordering::Relaxed))
    }

    /// Changes the value.
    #[inline(always)]
    pub fn set(&self, value: T) {
        self.bits.store(value.to_bits(), Ordering::Relaxed);
    }

    /// Changes the value, and returns the one before: of two who do so at once each gets another.
    #[inline]
    pub fn replace(&self, value: T) -> T {
        T::of_bits(self.bits.swap(value.to_bits(), Ordering::Relaxed))
    }
}

impl<T: Bits + Default> Default for Relaxed<T> {
    fn default() -> Self {
        Relaxed::new(T::default())
    }
}

impl<T: Bits> Clone for Relaxed<T> {
    fn clone(&self) -> Self {
        Relaxed::new(self.get())
    }
}

impl<T: Bits> Hash for Relaxed<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.get().to_bits().hash(state);
    }
}

impl<T: Bits + fmt::Debug> fmt::Debug for Relaxed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}
