//! Reasons why an interface cannot be used.

use std::io;

/// Bytes of a packet at most, without its Ethernet header, on an interface that a plain XDP program
/// can be attached to: a page less what the kernel keeps beside the frame.
pub const MOST_MTU: usize = 3506;

/// Reason why there is no link over AF_XDP; each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum XdpError {
    /// The build script found no compiler for the XDP program.
    #[error(
        "this weft was built without clang, so it has no XDP program: install clang and build again, \
         or use --link udp"
    )]
    NotBuilt,
    /// The program that would take the interface is built without it.
    #[error(
        "this program was built without the feature xdp of weft-parallel: build it with that, or use --link udp"
    )]
    Without,
    /// The kernel is too old.
    #[error("AF_XDP needs Linux 5.9 or later, and this is {0}: use --link udp")]
    OldKernel(String),
    /// `weft-net` lacks a capability.
    #[error(
        "AF_XDP needs {missing}, which {helper} does not have: as root, `setcap \
         cap_net_raw,cap_bpf,cap_net_admin+ep {helper}`, or use --link udp"
    )]
    NotPermitted {
        /// The capabilities, in words.
        missing: String,
        /// `weft-net`, where it is.
        helper: String,
    },
    /// There is no `weft-net`.
    #[error(
        "AF_XDP needs the program weft-net, and it is not in {0}: `make install` puts it there, or \
         use --link udp"
    )]
    NoHelper(String),
    /// There is one, and it gave nothing.
    #[error("{helper}, by which weft has AF_XDP, {what}; or use --link udp")]
    Helper {
        /// `weft-net`, where it is.
        helper: String,
        /// Reason, and what to do about it.
        what: String,
    },
    /// It says why not.
    #[error("{0}")]
    Refused(String),
    /// There is no such interface.
    #[error("there is no interface {0}: see `ip link`")]
    NoInterface(String),
    /// The interface is no Ethernet.
    #[error("{0} is no Ethernet interface: choose another, or use --link udp")]
    NotEthernet(String),
    /// Its driver runs no XDP programs, so that the kernel would have to behind it.
    #[error(
        "the driver of {0} knows no XDP, and without that AF_XDP is no faster than UDP; --link xdp \
         takes it all the same"
    )]
    Generic(String),
    /// Its packets are too long.
    #[error(
        "the MTU of {interface} is {mtu}, and XDP takes {MOST_MTU} at most: \
         `ip link set {interface} mtu {MOST_MTU}` on all hosts, or use --link udp"
    )]
    Mtu {
        /// The interface.
        interface: String,
        /// Its MTU in bytes.
        mtu: usize,
    },
    /// Another XDP program is there.
    #[error(
        "{0} has an XDP program already, of another job or of somebody else (see `ip link show {0}`): \
         wait until it is gone, choose another interface, or use --link udp"
    )]
    Taken(String),
    /// Another socket has the queue.
    #[error(
        "queue {queue} of {interface} has an AF_XDP socket already: wait until it is gone, or use --link udp"
    )]
    Busy {
        /// The interface.
        interface: String,
        /// The queue.
        queue: u32,
    },
    /// The kernel did not take the program.
    #[error("the kernel does not take the XDP program: {0}")]
    Program(String),
    /// Sizes that make no link.
    #[error("{0}")]
    Sizes(String),
    /// Anything else that the kernel said.
    #[error("AF_XDP on {interface}: {doing}: {error}")]
    System {
        /// The interface.
        interface: String,
        /// Operation that was tried.
        doing: &'static str,
        /// Error of the kernel.
        error: io::Error,
    },
}
