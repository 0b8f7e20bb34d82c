//! Losses of ranks, in a job that goes on after them.
#![allow(unsafe_code)] // For `no_mangle` only; tidy sees to that.

use crate::handle::{given, put};
use crate::job::{Job, state};
use crate::memory::LossRoom;
use crate::status::{Status, call};
use std::collections::BTreeSet;
use std::ffi::{CStr, CString, c_char};
use std::mem::MaybeUninit;
use std::sync::{Mutex, PoisonError};

/// Cause of the end of a rank.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// It exited before the job was over; the value is its status.
    Exited = 0,
    /// A signal killed it; the value is the signal's number.
    Killed,
    /// It broke the protocol.
    Misbehaved,
    /// It ended before the job was over. Only its parent knows the cause.
    Ended,
    /// Nothing was received from it; the value is for how many tenths of a second.
    Unreachable,
    /// The path to it takes only packets that are too short; the value is the bytes of one that
    /// does not get through.
    MtuExceeded,
}

/// Loss of a rank.
#[repr(C)]
pub struct Loss {
    /// The rank.
    rank: u32,
    /// The cause of its end.
    cause: Cause,
    /// The number that the cause has; 0 if it has none.
    value: u32,
    /// The cause in words, such as "was killed by signal 9 (SIGKILL)", which is there as long as
    /// the program runs.
    text: *const c_char,
}

/// Says whether this job goes on after a loss, as weft run --on-loss continue has it; if not, the
/// first loss ends it. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_goes_on(
    job: Option<&Job>,
    goes_on: Option<&mut MaybeUninit<bool>>,
) -> Status {
    call(|| put(goes_on, state(job)?.packets().losses().goes_on()))
}

/// Losses that this rank has heard of, the first one first, in a job that goes on after them; none
/// in others. count is how many there are, of which at most room come to losses, the first ones;
/// losses may be null if room is 0. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_losses(
    job: Option<&Job>,
    mut losses: LossRoom<'_>,
    room: usize,
    count: Option<&mut MaybeUninit<usize>>,
) -> Status {
    call(|| {
        let out = given(count, "the pointer for the result")?;
        losses.check(room, "the pointer to the losses")?;
        let all = state(job)?.packets().losses().all();
        losses.fill(all.iter().take(room).map(Loss::of));
        out.write(all.len());
        Ok(())
    })
}

impl Loss {
    fn of(loss: &weft::Loss) -> Self {
        let (cause, value) = match loss.cause {
            weft::Cause::Exited(status) => (Cause::Exited, status.into()),
            weft::Cause::Killed(signal) => (Cause::Killed, signal.into()),
            weft::Cause::Misbehaved => (Cause::Misbehaved, 0),
            weft::Cause::Ended => (Cause::Ended, 0),
            weft::Cause::Unreachable(tenths) => (Cause::Unreachable, tenths.into()),
            weft::Cause::MtuExceeded { bytes } => (Cause::MtuExceeded, bytes.into()),
        };
        let text = kept(loss.cause.to_string()).as_ptr();
        Loss { rank: loss.rank.0.into(), cause, value, text }
    }
}

/// This text, which stays. There are not many.
fn kept(text: String) -> &'static CStr {
    static TEXTS: Mutex<BTreeSet<&CStr>> = Mutex::new(BTreeSet::new());
    let text = CString::new(text).unwrap_or_default().into_boxed_c_str();
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = texts.get(&*text) {
        return known;
    }
    let text: &'static CStr = Box::leak(text);
    texts.insert(text);
    text
}

#[cfg(test)]
mod tests;
