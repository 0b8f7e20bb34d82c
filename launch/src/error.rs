//! Errors of starting a job, and advice about those of the system.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use rustix::io::Errno;
use weft_link_shm::MAX_RANKS;

use crate::messages::BadMessage;
use crate::mtu::Mtu;
use crate::program::FindError;

/// Reason why a job could not be started, or not be watched.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// Too few or too many ranks.
    #[error("{asked} ranks were asked for: a job on one host has 1 to {MAX_RANKS}")]
    Ranks {
        /// Number that was asked for.
        asked: u16,
    },
    /// No memory can have these sizes.
    #[error("the job cannot be laid out: {0}")]
    Settings(String),
    /// The options do not fit into a message.
    #[error("the options are too many or too long: {0}")]
    Options(#[source] BadMessage),
    /// There is no program.
    #[error(transparent)]
    Find(#[from] FindError),
    /// There is no memory for the ranks.
    #[error(
        "cannot create the shared memory of {ranks} ranks, {bytes} bytes each: {error}{}",
        advice(error)
    )]
    Memory {
        /// Number of ranks.
        ranks: u16,
        /// Bytes of one segment.
        bytes: u64,
        /// Error of the system.
        error: io::Error,
    },
    /// A place for the output cannot be created.
    #[error("cannot write the output to {path:?}: {error}{}", advice(error))]
    Output {
        /// The place.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
    /// The file for the trace cannot be created.
    #[error("cannot write the trace to {path:?}: {error}{}", advice(error))]
    Trace {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
    /// The file that says where the door is cannot be written.
    #[error("cannot write where the door is to {path:?}: {}{}", door_error(error), advice(error))]
    Door {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
    /// A process cannot be started.
    #[error("cannot start rank {rank} of {ranks}: {error}{}", advice(error))]
    Spawn {
        /// The rank.
        rank: u16,
        /// Number of ranks of the job.
        ranks: u16,
        /// Error of the system.
        error: io::Error,
    },
    /// The list of hosts does not fit the job.
    #[error("{0}")]
    Hosts(String),
    /// A host cannot take part.
    #[error("host {host}: {what}")]
    Host {
        /// The host.
        host: String,
        /// Reason, and what to do.
        what: String,
    },
    /// A host does not reach another.
    #[error(
        "host {from} ({}) does not reach UDP port {} of host {to} ({}){}: let UDP through (firewall, routes), or \
         name another network with --interface",
        from_address.ip(),
        to_address.port(),
        to_address.ip(),
        way_back(*from_address, *back)
    )]
    Unreachable {
        /// The host whose packets do not arrive.
        from: String,
        /// Its address.
        from_address: SocketAddr,
        /// The host where they do not.
        to: String,
        /// Its address.
        to_address: SocketAddr,
        /// True if those of the other arrive, as far as that is known.
        back: Option<bool>,
    },
    /// Packets of a host arrive from another address than its own.
    #[error(
        "host {host} ({address}) comes to host {at} as {seen}: something between them translates addresses \
         (NAT), and ranks reach one another by their own only: put both hosts on one side of it, or name \
         another network with --interface"
    )]
    Translated {
        /// The host.
        host: String,
        /// Its address.
        address: IpAddr,
        /// The host where its packets arrive.
        at: String,
        /// Their address there.
        seen: IpAddr,
    },
    /// Short packets get from one host to another, and long ones do not.
    #[error(
        "packets of {mtu} bytes do not get from host {from} to host {to}, and shorter ones do: give \
         what the way between them takes with --mtu"
    )]
    Narrow {
        /// The host that asked.
        from: String,
        /// The host that did not answer.
        to: String,
        /// Length of the packets.
        mtu: Mtu,
    },
    /// Two hosts do not reach each other without IP.
    #[error(
        "host {from} ({from_interface}) does not reach host {to} ({to_interface}) over Ethernet with packets of {mtu} \
         bytes: for --link xdp they must be on one Ethernet, without routers, that lets protocol 0x{:04X} through; or use --link udp",
        weft_xdp::ETHERTYPE
    )]
    NoEthernet {
        /// The host that asked.
        from: String,
        /// Its interface.
        from_interface: String,
        /// The host that did not answer.
        to: String,
        /// Its interface.
        to_interface: String,
        /// Length of the packets.
        mtu: Mtu,
    },
    /// The launcher cannot prepare or wait.
    #[error("cannot watch over the ranks: {0}{advice}", advice = advice(.0))]
    Watch(io::Error),
}

fn door_error(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AlreadyExists => "there is such a file, which is no door".into(),
        _ => error.to_string(),
    }
}

fn way_back(from: SocketAddr, back: Option<bool>) -> String {
    match back {
        Some(true) => ", though it is reached from there".into(),
        Some(false) => format!(", nor the other way round port {}", from.port()),
        None => String::new(),
    }
}

impl From<io::Error> for LaunchError {
    /// Not as its source: it is in the line already.
    fn from(error: io::Error) -> Self {
        LaunchError::Watch(error)
    }
}

impl LaunchError {
    pub(crate) fn host(host: &str, what: impl Into<String>) -> Self {
        LaunchError::Host { host: host.into(), what: what.into() }
    }
}

/// Advice about a system error that has one usual remedy, to be said right after it.
pub fn advice(error: &io::Error) -> &'static str {
    match Errno::from_io_error(error) {
        Some(Errno::MFILE) => "; raise the limit on open files: ulimit -n 8192",
        Some(Errno::AGAIN) => {
            "; raise the limit on processes (ulimit -u), or on memory (ulimit -v, ulimit -d)"
        }
        Some(Errno::NOMEM) => "; raise the limit on memory (ulimit -v), or run fewer ranks here",
        Some(Errno::FBIG) => {
            "; raise the limit on the size of files, which holds for shared memory too: ulimit -f"
        }
        _ => "",
    }
}
