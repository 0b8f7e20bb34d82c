//! Copies out of the memory of other processes.
//!
//! The kernel checks that this process might trace the other one (`ptrace(2)`: the same user, and whatever Yama or a seccomp filter
//! say besides), and it only reads there. What it writes it writes into memory that the caller owns.
#![allow(unsafe_code)]

use std::ptr::without_provenance_mut;

/// Fills `into` with what lies at `address` of `process`. False if that may not be, or is not there: then the first bytes may
/// have been written.
pub(crate) fn fetch(process: i32, address: u64, into: &mut [u8]) -> bool {
    let Ok(mut at) = usize::try_from(address) else { return false };
    let mut rest = into;
    while !rest.is_empty() {
        let own = libc::iovec { iov_base: rest.as_mut_ptr().cast(), iov_len: rest.len() };
        let other = libc::iovec { iov_base: without_provenance_mut(at), iov_len: rest.len() };
        // SAFETY: the kernel writes into `rest` alone, which is borrowed for it, and as many bytes as it is long at most; the other
        // address it takes for one of the other process, and checks it.
        let came =
            unsafe { libc::process_vm_readv(process, &raw const own, 1, &raw const other, 1, 0) };
        let Ok(came @ 1..) = usize::try_from(came) else { return false };
        rest = &mut rest[came..];
        at = at.wrapping_add(came);
    }
    true
}
