//! Calls of the kernel that nobody offers as safe ones, and the memory that ranks share with it.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use weft_datagram::memory::PageMapping;

/// Number of the address at which a memfd that cannot shrink is mapped from byte `offset` on, for
/// as long as `user` runs: whom it is told keeps the pages, or nothing.
///
/// # Errors
/// If it is shorter than `length`, or can shrink.
pub fn with_mapped<T>(
    file: &OwnedFd,
    offset: usize,
    length: usize,
    user: impl FnOnce(u64) -> T,
) -> io::Result<T> {
    let mapping = PageMapping::of_sealed(file, length)?;
    Ok(user(mapping.at(offset, length - offset).as_ptr().addr() as u64))
}

/// Answer of the kernel about an interface.
pub(crate) struct Hardware {
    pub ethernet: bool,
    pub mac: [u8; 6],
    pub mtu: usize,
}

/// Asks about the interface called `name`.
pub(crate) fn hardware(socket: &OwnedFd, name: &str) -> io::Result<Hardware> {
    // SAFETY: all zeros is a valid `ifreq`: integers, and an empty name.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if name.len() >= request.ifr_name.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let bytes = request.ifr_name.iter_mut().zip(name.as_bytes());
    bytes.for_each(|(place, byte)| *place = *byte as libc::c_char);
    let mut ask = |what| {
        // SAFETY: both requests read the name, which ends with a zero, and write the union after
        // it; `request` outlives the call.
        let done = unsafe { libc::ioctl(socket.as_raw_fd(), what, &raw mut request) };
        if done < 0 { Err(io::Error::last_os_error()) } else { Ok(request.ifr_ifru) }
    };
    // SAFETY: SIOCGIFMTU filled the number in.
    let mtu = unsafe { ask(libc::SIOCGIFMTU)?.ifru_mtu };
    // SAFETY: SIOCGIFHWADDR filled the address in.
    let address = unsafe { ask(libc::SIOCGIFHWADDR)?.ifru_hwaddr };
    Ok(Hardware {
        ethernet: address.sa_family == libc::ARPHRD_ETHER,
        mac: std::array::from_fn(|i| address.sa_data[i] as u8),
        mtu: usize::try_from(mtu).unwrap_or(0),
    })
}
