//! Futexes: sleep until a word is changed. Under loom a sleeper looks again and again, and one that
//! nobody wakes makes the model fail. Under Miri it looks at once: `rustix` hands the system call a
//! pointer of another type than Miri expects.

use std::time::Duration;
use weft_link::sync::AtomicU32;

/// Sleeps while `word` is `value`, up to `limit`; may return before.
#[cfg(not(any(loom, miri)))]
pub(crate) fn wait(word: &AtomicU32, value: u32, limit: Duration) {
    let limit = rustix::fs::Timespec {
        tv_sec: limit.as_secs() as i64,
        tv_nsec: i64::from(limit.subsec_nanos()),
    };
    // Woken, timed out, interrupted, or changed before: the caller looks again in every case.
    let flags = rustix::thread::futex::Flags::empty();
    let _ = rustix::thread::futex::wait(word, flags, value, Some(&limit));
}

/// Wakes all that sleep until `word` is changed, which it has been.
#[cfg(not(any(loom, miri)))]
pub(crate) fn wake_all(word: &AtomicU32) {
    let flags = rustix::thread::futex::Flags::empty();
    let _ = rustix::thread::futex::wake(word, flags, i32::MAX as u32);
}

#[cfg(loom)]
pub(crate) fn wait(word: &AtomicU32, value: u32, _limit: Duration) {
    while word.load(weft_link::sync::Ordering::SeqCst) == value {
        weft_link::sync::yield_now();
    }
}

#[cfg(miri)]
pub(crate) fn wait(_word: &AtomicU32, _value: u32, _limit: Duration) {
    std::thread::yield_now();
}

#[cfg(any(loom, miri))]
pub(crate) fn wake_all(_word: &AtomicU32) {}
