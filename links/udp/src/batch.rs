//! Several datagrams in one system call.
//!
//! The kernel is handed pointers to buffers that are borrowed for the length of the call, and
//! nothing of what it is handed outlives the call.
#![allow(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd};
use weft_datagram::Landed;
use weft_datagram::memory::DatagramPlace;

/// Datagrams in one call at most.
pub(crate) const MOST: usize = 32;
/// Pieces of one buffer that the kernel cuts up at most.
pub(crate) const MOST_SEGMENTS: usize = 32;
/// Bytes of such a buffer at most: what fits into an IP packet.
pub(crate) const MOST_BYTES: usize = 60_000;
/// Bytes of datagrams that the kernel hands over together at most.
pub(crate) const MOST_JOINED: usize = 1 << 16;

/// One message to the kernel: datagrams of one size to one peer, the last of them perhaps shorter.
pub(crate) struct Run<'a> {
    /// Destination, if the socket does not know it.
    pub to: Option<SocketAddr>,
    /// Their bytes, in one part or more.
    pub parts: &'a [&'a [u8]],
    /// Bytes of each datagram but the last, if there are several.
    pub cut_at: Option<usize>,
}

impl<'a> Run<'a> {
    /// Datagrams of which each is a part.
    pub fn of(to: Option<SocketAddr>, datagrams: &'a [&'a [u8]]) -> Self {
        let cut_at = (datagrams.len() > 1).then(|| datagrams[0].len());
        Run { to, parts: datagrams, cut_at }
    }
}

/// A socket address as the kernel wants it.
union Address {
    v4: libc::sockaddr_in,
    v6: libc::sockaddr_in6,
}

/// Room for one control message with a 16-bit number, aligned as the kernel wants it.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Control([u8; 32]);

/// Sends `runs`, at most [`MOST`]; a run of one datagram needs no segmentation. Returns how many
/// were sent: all, or those before the first that the kernel would not take now.
///
/// # Errors
/// What is wrong with the first run.
pub(crate) fn send(socket: BorrowedFd<'_>, runs: &[Run<'_>]) -> io::Result<usize> {
    match runs.len() {
        // Most often: the memory for many takes some time to fill.
        1 => send_most::<1>(socket, runs),
        _ => send_most::<MOST>(socket, runs),
    }
}

fn send_most<const N: usize>(socket: BorrowedFd<'_>, runs: &[Run<'_>]) -> io::Result<usize> {
    let runs = &runs[..runs.len().min(N)];
    let mut addresses = [const { MaybeUninit::<Address>::uninit() }; N];
    let mut controls = [Control([0; 32]); N];
    let pieces: usize = runs.iter().map(|run| run.parts.len()).sum();
    let mut vectors: Vec<libc::iovec> = Vec::with_capacity(pieces);
    let mut messages = [const { MaybeUninit::<libc::mmsghdr>::zeroed() }; N];
    for (i, run) in runs.iter().enumerate() {
        let first = vectors.len();
        vectors.extend(run.parts.iter().map(|part| libc::iovec {
            iov_base: part.as_ptr().cast_mut().cast(),
            iov_len: part.len(),
        }));
        // SAFETY: all zeros is a valid `mmsghdr`: null pointers and lengths of 0.
        let message = unsafe { messages[i].assume_init_mut() };
        let header = &mut message.msg_hdr;
        if let Some(to) = &run.to {
            header.msg_namelen = write_address(&mut addresses[i], to);
            header.msg_name = addresses[i].as_mut_ptr().cast();
        }
        // The capacity was reserved above, so the elements do not move.
        header.msg_iov = vectors.as_mut_ptr().wrapping_add(first);
        header.msg_iovlen = run.parts.len() as _;
        if let Some(bytes) = run.cut_at {
            header.msg_control = (&raw mut controls[i]).cast();
            header.msg_controllen = write_segment(&mut controls[i], bytes) as _;
        }
    }
    // SAFETY: the first `runs.len()` messages are initialised. Their names, vectors and controls
    // lie in the arrays above, the bytes in slices that `runs` borrows; all outlive the call, and
    // the kernel only reads the bytes. A control is written within its 32 bytes.
    let sent = unsafe {
        libc::sendmmsg(
            socket.as_raw_fd(),
            messages.as_mut_ptr().cast(),
            runs.len() as libc::c_uint,
            libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL,
        )
    };
    if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(sent as usize) }
}

/// Receives into `buffers`, at most [`MOST`], without waiting. Writes what landed in each and
/// returns how many buffers there are to look at; what is longer than its buffer is cut off.
///
/// # Errors
/// Would block, if there is none; or what the kernel reports about earlier ones.
pub(crate) fn receive(
    socket: BorrowedFd<'_>,
    buffers: &mut [DatagramPlace],
    landed: &mut [Landed; MOST],
) -> io::Result<usize> {
    let count = buffers.len().min(MOST);
    let mut vectors = [libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; MOST];
    let mut controls = [const { MaybeUninit::<Control>::uninit() }; MOST];
    let mut messages = [const { MaybeUninit::<libc::mmsghdr>::uninit() }; MOST];
    for (i, buffer) in buffers[..count].iter_mut().enumerate() {
        vectors[i] = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
        let control = controls[i].write(Control([0; 32]));
        // SAFETY: all zeros is a valid `mmsghdr`: null pointers and lengths of 0.
        let message = messages[i].write(unsafe { std::mem::zeroed() });
        message.msg_hdr.msg_iov = (&raw mut vectors[i]).cast();
        message.msg_hdr.msg_iovlen = 1;
        message.msg_hdr.msg_control = (&raw mut *control).cast();
        message.msg_hdr.msg_controllen = size_of::<Control>() as _;
    }
    // SAFETY: the first `count` messages are initialised. Their vectors and controls lie in the
    // arrays above, with their lengths; the vectors point to buffers that are borrowed exclusively,
    // with theirs. All outlive the call.
    let received = unsafe {
        libc::recvmmsg(
            socket.as_raw_fd(),
            messages.as_mut_ptr().cast(),
            count as libc::c_uint,
            libc::MSG_DONTWAIT,
            std::ptr::null_mut(),
        )
    };
    let received = usize::try_from(received).map_err(|_| io::Error::last_os_error())?;
    for i in 0..received {
        // SAFETY: `received` is at most `count`, and that number of both were initialised above.
        let (message, control) =
            unsafe { (messages[i].assume_init_ref(), controls[i].assume_init_ref()) };
        let bytes = message.msg_len as usize;
        let given = message.msg_hdr.msg_controllen;
        let datagram_bytes = read_segment(control, given).unwrap_or(bytes);
        landed[i] = Landed { start: 0, end: bytes, datagram_bytes };
    }
    Ok(received)
}

/// Has the kernel hand over datagrams of groups that this very socket has joined, and of no others.
///
/// # Errors
/// Errors of the kernel.
pub(crate) fn hear_joined_only(socket: BorrowedFd<'_>) -> io::Result<()> {
    set(socket, libc::IPPROTO_IP, libc::IP_MULTICAST_ALL, 0)
}

/// True if the kernel cuts up buffers into datagrams.
pub(crate) fn can_segment(socket: BorrowedFd<'_>) -> bool {
    set(socket, libc::SOL_UDP, libc::UDP_SEGMENT, 0).is_ok()
}

/// Has the kernel hand over datagrams of one sender joined; says whether it does.
pub(crate) fn join_arrivals(socket: BorrowedFd<'_>) -> bool {
    set(socket, libc::SOL_UDP, libc::UDP_GRO, 1).is_ok()
}

fn set(socket: BorrowedFd<'_>, level: i32, option: i32, value: i32) -> io::Result<()> {
    // SAFETY: the kernel reads four bytes of `value`, which outlives the call.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            (&raw const value).cast(),
            size_of::<i32>() as libc::socklen_t,
        )
    };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Writes `to` and returns how many bytes of it count.
fn write_address(place: &mut MaybeUninit<Address>, to: &SocketAddr) -> libc::socklen_t {
    match to {
        SocketAddr::V4(to) => {
            place.write(Address {
                v4: libc::sockaddr_in {
                    sin_family: libc::AF_INET as _,
                    sin_port: to.port().to_be(),
                    sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(to.ip().octets()) },
                    sin_zero: [0; 8],
                },
            });
            size_of::<libc::sockaddr_in>() as _
        }
        SocketAddr::V6(to) => {
            place.write(Address {
                v6: libc::sockaddr_in6 {
                    sin6_family: libc::AF_INET6 as _,
                    sin6_port: to.port().to_be(),
                    sin6_flowinfo: to.flowinfo(),
                    sin6_addr: libc::in6_addr { s6_addr: to.ip().octets() },
                    sin6_scope_id: to.scope_id(),
                },
            });
            size_of::<libc::sockaddr_in6>() as _
        }
    }
}

/// Bytes before the number in a control message: its length, level and type.
const CONTROL_HEADER: usize = size_of::<libc::cmsghdr>();
const LEVEL: Range<usize> = size_of::<usize>()..size_of::<usize>() + 4;
const TYPE: Range<usize> = LEVEL.end..CONTROL_HEADER;

const _: () =
    assert!(TYPE.end - TYPE.start == 4 && CONTROL_HEADER.is_multiple_of(align_of::<usize>()));

/// Writes a control message that asks for pieces of `bytes` bytes; returns how many bytes it has.
fn write_segment(control: &mut Control, bytes: usize) -> usize {
    let length = CONTROL_HEADER + size_of::<u16>();
    control.0[..LEVEL.start].copy_from_slice(&length.to_ne_bytes());
    control.0[LEVEL].copy_from_slice(&libc::SOL_UDP.to_ne_bytes());
    control.0[TYPE].copy_from_slice(&libc::UDP_SEGMENT.to_ne_bytes());
    control.0[CONTROL_HEADER..length].copy_from_slice(&(bytes as u16).to_ne_bytes());
    length.next_multiple_of(align_of::<usize>())
}

/// Reads how long the pieces are, from a control message of so many bytes; `None` if it does not
/// say.
fn read_segment(control: &Control, bytes: usize) -> Option<usize> {
    let number = |range: Range<usize>| control.0[range].try_into().ok().map(i32::from_ne_bytes);
    let says = bytes >= CONTROL_HEADER + 4
        && number(LEVEL) == Some(libc::SOL_UDP)
        && number(TYPE) == Some(libc::UDP_GRO);
    let length = number(CONTROL_HEADER..CONTROL_HEADER + 4).filter(|_| says)?;
    usize::try_from(length).ok().filter(|&length| length > 0)
}
