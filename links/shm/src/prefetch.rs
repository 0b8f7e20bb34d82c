//! Prefetch of a line that will be written soon.
#![allow(unsafe_code)]

/// Prefetches the line at `line` for writing, while the processor goes on. Any address is allowed.
/// The intrinsic for it is of no use: for the oldest x86-64 it becomes a prefetch for reading.
#[inline(always)]
pub fn for_writing<T>(line: *const T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a hint; it neither reads nor writes memory, nor touches the stack or the flags.
    unsafe {
        std::arch::asm!("prefetchw [{line}]", line = in(reg) line, options(nostack, preserves_flags));
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = line;
}
