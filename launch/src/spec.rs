//! Description of a job, as the launcher is given it.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::messages::{BadMessage, Options, check_options};
use crate::mtu::Mtu;
use crate::output::OutputPlan;
use crate::program::{FindError, own_directory};
use crate::progress::OnDeadlock;
use crate::roll::StacksOf;
use rustix::io::Errno;
use weft_datagram::seal::Protection;
use weft_link_shm::{MAX_RANKS, Settings};

/// Binding of ranks to cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Binding {
    /// Wherever the system puts them.
    #[default]
    None,
    /// Rank `i` on the `i`-th of the cores that the launcher may use, counted round and round.
    Core,
}

/// Option with the file for the trace.
pub(crate) const TRACE: &str = "trace";

/// A job: what to run, how often, and how.
#[derive(Clone, Debug)]
pub struct JobSpec {
    /// The sizes of the job's memory, the number of ranks among them.
    pub settings: Settings,
    /// The program, a path or a name.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Options that the ranks are given besides, by name. Unless it is here, `cores` is added: how
    /// many cores the ranks of this host share.
    pub options: Options,
    /// Binding of the ranks to cores.
    pub binding: Binding,
    /// Destination of their output.
    pub output: OutputPlan,
    /// Longest time that the ranks have to join; `None` for ever.
    pub join_limit: Option<Duration>,
    /// Longest time that survivors of a loss have before they are killed.
    pub(crate) loss_grace: Duration,
    /// The directory that is searched for the program before PATH.
    pub beside: Option<PathBuf>,
    /// An executable whose `main` begins with [`start_if_asked`](crate::start_if_asked).
    pub starter: PathBuf,
    /// True if each rank is given a socket of its own, and the job a network, though all ranks are
    /// on one host. Ranks on several hosts always are.
    pub sockets: bool,
    /// Way of long packets between hosts.
    pub bulk: Bulk,
    /// Longest packets between hosts; `None` for what the interfaces of all take.
    pub mtu: Option<Mtu>,
    /// Protection of packets between hosts.
    pub protection: Protection,
    pub(crate) silence: Duration,
    /// Time for which all ranks have to wait for one another before that is a deadlock; `None` if
    /// nobody is to look.
    pub progress_limit: Option<Duration>,
    /// Reaction to a deadlock.
    pub on_deadlock: OnDeadlock,
    /// Function that takes the stacks of the threads of these numbers: who asks how the job stands
    /// hears of them. On other hosts it is that of [`start_if_asked`](crate::start_if_asked).
    pub stacks_of: Option<StacksOf>,
    /// True if what the ranks write to standard error is for a terminal.
    pub terminal: bool,
    /// True if this process does nothing but run this job. It then passes signals on to the ranks,
    /// and adopts and ends what they leave behind.
    pub dedicated: bool,
}

/// Way of long packets between hosts, as wished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bulk {
    /// TCP connections, if hosts reach one another so; else datagrams.
    #[default]
    Auto,
    /// TCP connections.
    Tcp,
    /// Datagrams, as all packets.
    Datagrams,
}

/// Longest time that survivors of a loss have to notice it through an error and end by themselves,
/// unless the job says something else: the whole job is gone within 100 ms of the loss.
pub const LOSS_GRACE: Duration = Duration::from_millis(25);
/// Time that ranks have to end once that is over, before they are killed.
const MARGIN: Duration = Duration::from_millis(55);

impl JobSpec {
    /// A job of `settings.ranks` ranks of `program` in which everything else is as usual, started
    /// by a process that is not dedicated to it.
    pub fn new(settings: Settings, program: impl Into<OsString>) -> Self {
        JobSpec {
            settings,
            program: program.into(),
            arguments: Vec::new(),
            options: Options::new(),
            binding: Binding::None,
            output: OutputPlan::default(),
            join_limit: Some(Duration::from_secs(30)),
            loss_grace: LOSS_GRACE + MARGIN,
            beside: own_directory(),
            starter: PathBuf::from("/proc/self/exe"),
            sockets: false,
            bulk: Bulk::default(),
            mtu: None,
            protection: Protection::default(),
            silence: crate::hosts::HOST_SILENCE,
            progress_limit: None,
            on_deadlock: OnDeadlock::default(),
            stacks_of: None,
            terminal: io::stderr().is_terminal(),
            dedicated: false,
        }
    }

    /// Has the ranks write down what they do, and when, to this file. On several hosts each host
    /// writes its part, beside its own directory. Agents are told by the option `trace`.
    pub fn set_trace(&mut self, file: &str) {
        self.settings = self.settings.traced();
        self.options.insert(TRACE.into(), file.into());
    }

    /// File for the trace of the job, if there is to be one.
    pub(crate) fn trace(&self) -> Option<&Path> {
        self.options.get(TRACE).map(Path::new)
    }

    /// Says how long survivors of a loss have to end by themselves, if not [`LOSS_GRACE`]. Ranks
    /// are told by the option `grace-ms`, and have 55 ms more before they are killed.
    pub fn set_grace(&mut self, grace: Duration) {
        self.loss_grace = grace + MARGIN;
        self.options.insert("grace-ms".into(), grace.as_millis().to_string());
    }

    /// Says after how much silence another host, or a rank on one, is lost, if not after 0.8 s.
    /// Ranks are told by the option `silence-ms`.
    pub fn set_silence(&mut self, silence: Duration) {
        self.silence = silence;
        self.options.insert("silence-ms".into(), silence.as_millis().to_string());
    }

    pub(crate) fn check(&self) -> Result<(), LaunchError> {
        let asked = self.settings.ranks;
        if !(1..=MAX_RANKS).contains(&asked) {
            return Err(LaunchError::Ranks { asked });
        }
        self.settings.check().map_err(LaunchError::Settings)?;
        check_options(&self.options).map_err(LaunchError::Options)
    }
}

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
