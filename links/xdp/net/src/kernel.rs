//! Calls of the kernel that nobody offers as safe ones, and nothing else.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// Has an interface accept frames to `address`, for as long as the packet socket is there.
pub(crate) fn accept(socket: &OwnedFd, interface: u32, address: [u8; 6]) -> io::Result<()> {
    let mut wish = libc::packet_mreq {
        mr_ifindex: interface.cast_signed(),
        mr_type: libc::PACKET_MR_MULTICAST as libc::c_ushort,
        mr_alen: address.len() as libc::c_ushort,
        mr_address: [0; 8],
    };
    wish.mr_address[..address.len()].copy_from_slice(&address);
    let (level, name) = (libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP);
    let bytes = size_of_val(&wish) as libc::socklen_t;
    // SAFETY: the kernel reads so many bytes of `wish`, which outlives the call.
    let done = unsafe {
        libc::setsockopt(socket.as_raw_fd(), level, name, (&raw const wish).cast(), bytes)
    };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// `BPF_LINK_CREATE`, and `BPF_XDP` as the kind of link.
const LINK_CREATE: libc::c_long = 28;
const XDP: u32 = 37;

/// Attributes of the `bpf` call that links a program with an interface.
#[repr(C)]
struct LinkWish {
    program: u32,
    interface: u32,
    attach_type: u32,
    flags: u32,
}

/// Puts a program on an interface, for as long as anybody has what this returns.
pub(crate) fn put_on(program: BorrowedFd<'_>, interface: u32, flags: u32) -> io::Result<OwnedFd> {
    let program = program.as_raw_fd().cast_unsigned();
    let wish = LinkWish { program, interface, attach_type: XDP, flags };
    // SAFETY: the kernel reads so many bytes of `wish`, which outlives the call, and takes what
    // follows for zeros.
    let made =
        unsafe { libc::syscall(libc::SYS_bpf, LINK_CREATE, &raw const wish, size_of_val(&wish)) };
    if made < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a new descriptor, close-on-exec, that nobody else has.
    Ok(unsafe { OwnedFd::from_raw_fd(made as RawFd) })
}

/// Closes what this process has inherited, but for standard input, output and error.
///
/// It is for the beginning of `main`: nothing has been opened yet.
pub fn close_inherited() -> io::Result<()> {
    // SAFETY: no value of this process owns a descriptor from 3 on, as it has opened none.
    let done = unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Empties the environment.
///
/// It is for the beginning of `main`: there is one thread.
pub fn clear_environment() {
    // SAFETY: there is no other thread that could read it meanwhile, and nobody has kept a pointer
    // into it.
    unsafe { libc::clearenv() };
}
