//! Part of this process in a job: it joins once, and a child that it forks is no rank.
//!
//! A child has a copy of the rank's memory and none of its threads. What Weft shares with others is
//! the rank's: a child that used it would wait for ever, or harm the job. So its calls fail.
#![allow(unsafe_code)]

use crate::status::{Failure, Status};
use std::sync::Once;
use std::sync::atomic::{AtomicU8, Ordering};

/// This process has not joined.
const OUTSIDE: u8 = 0;
/// It has joined, and may have left.
const JOINED: u8 = 1;
/// It is the child of a process that had.
const CHILD: u8 = 2;

static PART: AtomicU8 = AtomicU8::new(OUTSIDE);

/// True in a child that a process forked after it had joined.
#[inline]
pub(crate) fn is_child() -> bool {
    PART.load(Ordering::Relaxed) == CHILD
}

/// Error of every call in a child.
pub(crate) fn child_failure() -> Failure {
    Failure::invalid(
        "this process is a child of a rank, forked after that had joined, and no rank itself: it \
         may run another program (exec) or end, and calls nothing of Weft",
    )
}

/// Has this process join, by `join`. It may try again if that fails.
///
/// # Errors
/// Those of `join`, or it has joined before.
pub(crate) fn once<T>(join: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    tell_children()?;
    let entered = PART.compare_exchange(OUTSIDE, JOINED, Ordering::Relaxed, Ordering::Relaxed);
    if entered.is_err() {
        let text = "this process has already joined its job, and may do so once";
        return Err(Failure::new(Status::CannotJoin, text));
    }
    let joined = join();
    if joined.is_err() {
        PART.store(OUTSIDE, Ordering::Relaxed);
    }
    joined
}

/// Has children know what they are, from now on.
fn tell_children() -> Result<(), Failure> {
    static TOLD: Once = Once::new();
    let mut error = 0;
    TOLD.call_once(|| {
        // SAFETY: the function stays as long as the library, which takes it back when it is
        // unloaded. It is called in a child before `fork` returns there, where only what is safe in
        // a signal handler may be done: it changes one atomic number.
        error = unsafe { libc::pthread_atfork(None, None, Some(become_child)) };
    });
    match error {
        0 => Ok(()),
        _ => Err(Failure::new(Status::NoMemory, "there is no memory to know of forks")),
    }
}

extern "C" fn become_child() {
    // A process that is outside may fork one that joins.
    let _ = PART.compare_exchange(JOINED, CHILD, Ordering::Relaxed, Ordering::Relaxed);
}
