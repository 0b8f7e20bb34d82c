//! Copies by the kernel out of the memory of other processes.
//!
//! The kernel checks that this process might trace the other one (`ptrace(2)`: same user, and the
//! rules of Yama and seccomp filters besides). It only reads there, and writes into memory that the
//! caller owns.
#![allow(unsafe_code)]

use std::ptr::without_provenance_mut;

/// Copies from `address` of `process` into `into`. False if that is forbidden, as Miri does, or
/// nothing is mapped there: then the first bytes may have been written.
pub(crate) fn fetch(process: i32, address: u64, into: &mut [u8]) -> bool {
    if cfg!(miri) {
        return false;
    }
    let Ok(mut at) = usize::try_from(address) else { return false };
    let mut rest = into;
    while !rest.is_empty() {
        let own = libc::iovec { iov_base: rest.as_mut_ptr().cast(), iov_len: rest.len() };
        let other = libc::iovec { iov_base: without_provenance_mut(at), iov_len: rest.len() };
        // SAFETY: the kernel writes into `rest` alone, which is borrowed for it, and at most as
        // many bytes as it has. It takes the other address for one of the other process, and checks
        // it.
        let copied =
            unsafe { libc::process_vm_readv(process, &raw const own, 1, &raw const other, 1, 0) };
        let Ok(copied @ 1..) = usize::try_from(copied) else { return false };
        rest = &mut rest[copied..];
        at = at.wrapping_add(copied);
    }
    true
}
