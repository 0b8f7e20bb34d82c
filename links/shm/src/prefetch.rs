//! A hint to the processor about a line that will be written soon.
#![allow(unsafe_code)]

/// Brings the line of `value` here to be written, while the processor goes on. The intrinsic for it
/// is of no use: for the oldest x86-64 it becomes a prefetch for reading.
#[inline(always)]
pub fn for_writing<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint; it neither reads nor writes memory, nor touches the stack or the flags.
    unsafe {
        let line = std::ptr::from_ref(value);
        std::arch::asm!("prefetchw [{line}]", line = in(reg) line, options(nostack, preserves_flags));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
