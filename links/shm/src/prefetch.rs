//! A hint to the processor about a line that will be written soon.
#![allow(unsafe_code)]

/// Brings the line at `line` here to be written, while the processor goes on. Where nothing lies,
/// nothing happens. The intrinsic for it is of no use: for the oldest x86-64 it becomes a prefetch
/// for reading.
#[inline(always)]
pub fn for_writing<T>(line: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint; it neither reads nor writes memory, nor touches the stack or the flags.
    unsafe {
        std::arch::asm!("prefetchw [{line}]", line = in(reg) line, options(nostack, preserves_flags));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}
