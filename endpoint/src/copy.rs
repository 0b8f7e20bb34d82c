//! Copies of long packets, into frames that another core reads and out of those that it wrote.
//!
//! The system's copy is made for memory of one's own. Here the lines of a frame are another core's,
//! and two things differ:
//! - **Out of a frame** bytes go to any address, and few are aligned as those in the frame are. The
//!   system's library leaves long copies to an instruction (`rep movsb`) that then takes twice as
//!   long on some processors. Loads of 16 bytes do not, with lines fetched ahead.
//! - **Into a frame**, a store needs the line that the reader had last. Where cores share a cache,
//!   it is there; where they do not, it is called back from the other core, and few are at a time:
//!   2 GB/s in place of 20 on one machine. Stores past the cache call nothing back. On the same
//!   machine they take twice as long as others where the cores do share one. Nobody says how cores
//!   lie to one another, a virtual machine least of all, and it may change; so a rank measures what
//!   its own copies take ([`Choice`]).
#![allow(unsafe_code)]

#[cfg(all(target_arch = "x86_64", not(miri)))]
use std::arch::x86_64::{
    __m128i, _MM_HINT_T0, _mm_loadu_si128, _mm_prefetch, _mm_sfence, _mm_storeu_si128,
    _mm_stream_si128,
};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Instant;

/// Bytes from which on a copy is a long one.
pub(crate) const LONG: usize = 4 << 10;
/// Bytes of a copy that is long enough to be timed: two looks at the clock take 50 ns.
const TIMED: usize = 16 << 10;
/// Bytes by which lines are fetched ahead.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const AHEAD: usize = 2 << 10;

/// Copies the bytes of a packet to the program's memory.
///
/// # Panics
/// If the two differ in length.
#[inline]
pub fn copy_out(into: &mut [u8], packet: &[u8]) {
    assert_eq!(into.len(), packet.len(), "all bytes are copied");
    match packet.len() {
        0..LONG => into.copy_from_slice(packet),
        // SAFETY: there are as many bytes.
        _ => unsafe { copy_out_long(into.as_mut_ptr(), packet) },
    }
}

/// Copies the bytes of a packet to memory that may be the program's own to misuse: if it overlaps
/// with the packet, what is there afterwards is anybody's guess, and nothing worse.
///
/// # Safety
/// The memory at `to` has room for as many bytes, and nobody else uses it meanwhile.
#[inline]
pub unsafe fn copy_out_to(to: *mut u8, packet: &[u8]) {
    match packet.len() {
        // SAFETY: as the caller says.
        0..LONG => unsafe { to.copy_from(packet.as_ptr(), packet.len()) },
        // SAFETY: as the caller says.
        _ => unsafe { copy_out_long(to, packet) },
    }
}

/// Copies long bytes into a frame, by the stores of this choice if there is one, which learns from
/// it.
///
/// # Safety
/// The frame has room for as many bytes at `to`, and is nobody else's meanwhile. Who is told of
/// them afterwards may read them at once.
#[inline(never)]
pub(crate) unsafe fn copy_in(choice: Option<&Choice>, to: NonNull<u8>, bytes: &[u8]) {
    let (stores, is_timed) = match choice {
        None => (Stores::Cached, false),
        Some(choice) if bytes.len() < TIMED => (choice.best(), false),
        Some(choice) => choice.next(),
    };
    let start = is_timed.then(Instant::now);
    match stores {
        // SAFETY: as the caller says; a slice does not overlap with what is the caller's alone.
        Stores::Cached => unsafe {
            to.copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len());
        },
        // SAFETY: as the caller says.
        Stores::Streamed => unsafe { stream(to, bytes) },
    }
    if let (Some(start), Some(choice)) = (start, choice) {
        choice.took(stores, start.elapsed().as_nanos() as u64 * 1000 / bytes.len() as u64);
    }
}

/// Stores of a copy into a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stores {
    /// By way of the cache.
    Cached,
    /// Past it.
    Streamed,
}

/// Choice of the stores for frames that one rank reads, by the time that copies have taken: those
/// by way of the cache, unless they take [much longer](Self::WORTH). Any
/// thread may use it; what two of them learn at once may be lost.
///
/// ```text
///            ┌── each 1,024 copies, or the usual take twice as long ──┐
///   usual ───┘                                                        ▼
///     ▲                                                  two copies by the others
///     └──────────── the better of the two kinds ◀─────────────────────┘
/// ```
#[derive(Debug)]
pub(crate) struct Choice {
    /// True if stores past the cache are the quicker ones, as far as is known.
    streams: AtomicBool,
    /// Copies until the next trial of the others.
    left: AtomicU32,
    /// Picoseconds of a byte by the usual stores: of late, and at the last trial.
    usual: AtomicU32,
    at_trial: AtomicU32,
    /// The least of the trial under way; 0 if there is none.
    tried: AtomicU32,
}

impl Default for Choice {
    fn default() -> Self {
        Choice {
            streams: AtomicBool::new(false),
            left: AtomicU32::new(Self::FIRST),
            usual: AtomicU32::new(0),
            at_trial: AtomicU32::new(0),
            tried: AtomicU32::new(0),
        }
    }
}

impl Choice {
    /// Copies between two trials. In a trial of stores that are ten times slower each copy takes
    /// ten times as long.
    const EVERY: u32 = 1024;
    /// Copies until the first: as many go to memory that has never been written.
    const FIRST: u32 = 64;
    /// Times by which stores past the cache have to be quicker, because the reader pays, too: its
    /// lines come from memory. They are ten times quicker where cores share no cache; where they
    /// do, up to 2.6 times, and the stream as a whole is up to 40 % slower for it.
    const WORTH: u32 = 3;
    /// Copies of which one is timed.
    const SAMPLED: u32 = 8;

    /// The quicker stores, as far as is known.
    pub fn best(&self) -> Stores {
        match self.streams.load(Ordering::Relaxed) {
            true => Stores::Streamed,
            false => Stores::Cached,
        }
    }

    /// The stores for the next copy, and whether its time is to be [said](Self::took).
    pub fn next(&self) -> (Stores, bool) {
        let left = self.left.load(Ordering::Relaxed);
        if left == 0 {
            return (self.best().others(), true);
        }
        self.left.store(left - 1, Ordering::Relaxed);
        (self.best(), left.is_multiple_of(Self::SAMPLED))
    }

    /// A copy by these stores took so many picoseconds a byte.
    pub fn took(&self, stores: Stores, picoseconds: u64) {
        let time = u32::try_from(picoseconds).unwrap_or(u32::MAX).max(1);
        if stores == self.best() {
            self.took_usual(time);
        } else {
            self.took_in_trial(time);
        }
    }

    /// Others are tried at once when the usual ones take twice as long as they did: one of the two
    /// ranks is on another core.
    fn took_usual(&self, time: u32) {
        let before = u64::from(self.usual.load(Ordering::Relaxed));
        // One that was interrupted proves nothing.
        let smoothed = (before * 3 + u64::from(time).min(before * 4)) / 4;
        let usual = if before == 0 { time } else { smoothed as u32 };
        self.usual.store(usual, Ordering::Relaxed);
        let at_trial = self.at_trial.load(Ordering::Relaxed);
        if at_trial > 0 && usual > at_trial.saturating_mul(2) {
            self.left.store(0, Ordering::Relaxed);
        }
    }

    /// Of the two copies of a trial the quicker one counts: the other may have been interrupted.
    fn took_in_trial(&self, time: u32) {
        let before = self.tried.load(Ordering::Relaxed);
        if before == 0 {
            self.tried.store(time, Ordering::Relaxed);
            return;
        }
        let (tried, usual) = (time.min(before), self.usual.load(Ordering::Relaxed));
        self.tried.store(0, Ordering::Relaxed);
        let is_quicker = match self.best() {
            Stores::Cached => tried < usual / Self::WORTH,
            Stores::Streamed => tried < usual.saturating_mul(Self::WORTH),
        };
        if is_quicker {
            self.streams.fetch_xor(true, Ordering::Relaxed);
            self.usual.store(tried, Ordering::Relaxed);
        }
        self.at_trial.store(if is_quicker { tried } else { usual }, Ordering::Relaxed);
        self.left.store(Self::EVERY, Ordering::Relaxed);
    }
}

impl Stores {
    fn others(self) -> Stores {
        match self {
            Stores::Cached => Stores::Streamed,
            Stores::Streamed => Stores::Cached,
        }
    }
}

/// Bytes of a line.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const LINE: usize = 64;

/// Loads a line, which need not be aligned.
///
/// # Safety
/// It can be read.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
unsafe fn load(line: *const u8) -> [__m128i; 4] {
    // SAFETY: as the caller says: the four quarters of the line.
    std::array::from_fn(|quarter| unsafe { _mm_loadu_si128(line.cast::<__m128i>().add(quarter)) })
}

/// Copies by loads of 16 bytes, with lines fetched ahead.
///
/// # Safety
/// That of [`copy_out_to`].
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(never)]
unsafe fn copy_out_long(mut to: *mut u8, packet: &[u8]) {
    let mut from = packet.as_ptr();
    for _ in 0..packet.len() / LINE {
        // SAFETY: both have a line here, and that is no more than what is left of them. A prefetch
        // may have any address.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(AHEAD).cast());
            for (quarter, bytes) in load(from).into_iter().enumerate() {
                _mm_storeu_si128(to.cast::<__m128i>().add(quarter), bytes);
            }
            (to, from) = (to.add(LINE), from.add(LINE));
        }
    }
    // SAFETY: both have as many bytes left.
    unsafe { to.copy_from(from, packet.len() % LINE) };
}

/// Copies past the cache. What is stored so may be seen later than what is stored after it, and so
/// a fence ends the copy.
///
/// # Safety
/// That of [`copy_in`].
#[cfg(all(target_arch = "x86_64", not(miri)))]
unsafe fn stream(to: NonNull<u8>, bytes: &[u8]) {
    let head = to.as_ptr().align_offset(LINE).min(bytes.len());
    let (head, rest) = bytes.split_at(head);
    let (lines, tail) = rest.split_at(rest.len() / LINE * LINE);
    let mut line = to.as_ptr().wrapping_add(head.len());
    // SAFETY: head, lines and tail are as long as `bytes` together, and `line` is aligned, because
    // there is only a line where the head ended at one.
    unsafe {
        to.copy_from_nonoverlapping(NonNull::from(head).cast(), head.len());
        for bytes in lines.chunks_exact(LINE) {
            for (quarter, bytes) in load(bytes.as_ptr()).into_iter().enumerate() {
                _mm_stream_si128(line.cast::<__m128i>().add(quarter), bytes);
            }
            line = line.add(LINE);
        }
        line.copy_from_nonoverlapping(tail.as_ptr(), tail.len());
        _mm_sfence();
    }
}

/// Copies as any other.
///
/// # Safety
/// That of [`copy_out_to`].
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
unsafe fn copy_out_long(to: *mut u8, packet: &[u8]) {
    // SAFETY: as the caller says.
    unsafe { to.copy_from(packet.as_ptr(), packet.len()) };
}

/// Copies as any other: this processor has no such stores that Rust knows of.
///
/// # Safety
/// That of [`copy_in`].
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
unsafe fn stream(to: NonNull<u8>, bytes: &[u8]) {
    // SAFETY: as the caller says.
    unsafe { to.copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len()) }
}

#[cfg(test)]
mod tests;
