//! Jobs that a process manager started (`srun`, `mpiexec`, `mpirun`), which knows nothing of Weft.
//!
//! Nobody gives the ranks their memory then, nor watches over them for Weft. Each rank tells the
//! others who and where it is (`card`), over what the process manager offers for that (`pmi`).
//! Those that find that they are on one host come together over a socket of each pair, and exchange
//! the memory that the first of them has made (`meet`). The socket stays: over it a rank says that
//! it leaves, and a rank that ends without having said so is lost (`watch`). The process manager
//! ends the job then, or is asked to.
//!
//! To those of other hosts they go over AF_XDP, if all hosts can have that, which they find out
//! over the process manager's store, too (`ethernet`); else by UDP.
//!
//! A rank's card holds what others know of it, most of which the ranks of its host need; what all
//! need is gathered for them (`facts`). Rank 0's card names the job. The secret, which a job of
//! several hosts has, rank 0 hands to the others over the store, sealed (`secret`).

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use crate::pmi::PmiClient;
use rustix::net::SendFlags;
use weft_link::bell::Loss;
use weft_link_shm::{FULL_WINDOW_RANKS, MAX_RANKS, Settings, Supervisor, create_memory};
use weft_wire::Rank;
use weft_xdp::XdpPort;

use crate::channel;
use crate::limits::allow_peers;
use crate::messages::hosts::FarLink;
use crate::messages::{
    CORES, JobNetwork, Message as _, Options, RANKS_MAX, TRACE, ToRank, Welcome,
};
use crate::recording::{self, OwnTrace};

pub(crate) mod card;
mod conclusions;
mod cores;
mod datagrams;
mod environment;
mod error;
mod ethernet;
pub(crate) mod facts;
mod holders;
mod late_notice;
pub(crate) mod meet;
pub(crate) mod record;
mod secret;
mod shared;
#[allow(unsafe_code)] // Its opening paragraph says why.
mod status;
mod watch;

use card::Card;
use conclusions::{network, refused, spans_hosts, wish};
pub use environment::is_wanted;
pub(crate) use error::ManagedError;
use error::MeetError;
use ethernet::{Agreed, Attempt, Way};
use facts::Facts;
use late_notice::LateNotice;
use meet::Listener;
pub(crate) use meet::ToPeer;
use secret::OwnKey;
use shared::Shared;

/// Longest time for which a rank that ends because of a loss waits for the notice of it.
const NOTICE_LIMIT: Duration = Duration::from_millis(40);

/// True while this process has no place any more, because it has left, and may take one again.
static HAS_LEFT: AtomicBool = AtomicBool::new(false);

/// True if this process had a place, which it has given up.
pub(crate) fn has_left() -> bool {
    HAS_LEFT.load(Ordering::SeqCst)
}

/// A rank's place, as a launcher of Weft's would have given it.
#[derive(Debug)]
pub(crate) struct Joined {
    pub place: Managed,
    pub welcome: Welcome,
    pub memory: OwnedFd,
    /// Bound to this rank's address in the network, if there is one, and that is how it is reached.
    pub socket: Option<UdpSocket>,
    /// This rank's end of the interface, if that is how others are reached.
    pub port: Option<XdpPort>,
    /// Listens at this rank's address, if long packets go over TCP.
    pub listener: Option<TcpListener>,
}

/// The connection to the process manager and to the other ranks of the host.
#[derive(Debug)]
pub(crate) struct Managed {
    /// The job's public number.
    pub job: u32,
    shared: Arc<Shared>,
    /// Descriptors that keep the interface for the job as long as a rank of this host has them.
    _keepers: Vec<OwnedFd>,
}

/// True if a process manager started this process.
///
/// # Errors
/// The environment names a process manager, and not how to reach it.
pub(crate) fn is_started() -> Result<bool, ManagedError> {
    Ok(crate::pmi::detect()?.is_some())
}

/// Takes this process's place and meets the other ranks; `None` if the process manager that started
/// it has no place for it.
///
/// Blocks until all ranks are here. The process manager ends ranks that wait for one that failed.
pub(crate) fn join() -> Result<Option<Joined>, ManagedError> {
    let Some(mut exchange) = crate::pmi::find()? else { return Ok(None) };
    HAS_LEFT.store(false, Ordering::SeqCst);
    let (own, ranks) = numbers(&*exchange)?;
    let listener = Listener::open()?;
    let bound = card::bind_socket(environment::wants_tcp()?);
    let (socket, tcp) = bound.map_or((None, None), |(socket, tcp)| (Some(socket), tcp));
    let address = socket.as_ref().and_then(|socket| socket.local_addr().ok());
    let own_key = OwnKey::draw()?;
    let card = Card::of_this_process(listener.name(), address, own_key.public())?;
    let card = Card { listens: tcp.is_some(), ..card };
    let notice = LateNotice::begin(own, ranks.0);
    let mut cards = facts::publish((own, ranks.0), &card, &mut *exchange)?;
    // Rank 0 knows all cards by now.
    let drawn = match own == Rank(0) && spans_hosts(cards.values().map(|card| &card.host)) {
        true => Some(own_key.hand_out(&cards, &mut *exchange)?),
        false => None,
    };
    // From here on a rank may find something wrong and end, and the process manager ends the
    // others. One that is about to answer a rank just ended (hydra) takes fright, and says that
    // instead of why.
    exchange.fence()?;
    drop(notice);
    let facts = facts::gather(own, ranks.0, &mut cards, &mut *exchange)?;
    let job = cards[&Rank(0)].job;
    let mut network = match (spans_hosts(facts.iter().map(|facts| facts.host)), drawn) {
        (false, _) => None,
        (true, Some(secret)) => Some(network(&facts, job, secret)?),
        (true, None) => Some(network(&facts, job, own_key.take(own, &cards, &mut *exchange)?)?),
    };
    drop(own_key);
    let agreed = agree(own, &facts, network.as_ref().zip(socket.as_ref()), &mut *exchange)?;
    let here = ranks_here(own, ranks.0, network.as_ref());
    let settings = settings(here.len(), network.as_ref(), &*exchange)?;
    let own_number = here.iter().position(|rank| *rank == own).unwrap_or_default();
    let speaks = own_number == 0;
    let memory = if speaks { Some(create_memory(&settings)?) } else { None };
    allow_peers(here.len());
    let (peers, memory) = meet::meet(own, &here, &listener, &cards, memory)?;
    let supervisor = Arc::new(Supervisor::attach(&settings, &memory)?);
    cores::warn(own, &facts);
    let (limit, on_deadlock) = environment::progress()?;
    let options = options(own, &facts, cores::own_cores(&facts, &here, &cards));
    let trace = record(&facts, &options, (own, own_number), &supervisor)?;
    let (mut port, mut keepers) = (None, Vec::new());
    if let (Some(network), Some(agreed)) = (&mut network, agreed) {
        network.copied = agreed.copied;
        let Way { ethernet, port: own, keepers: all } = agreed.share(&peers)?;
        (network.ethernet, port, keepers) = (Some(ethernet), Some(own), all);
    }
    let socket = socket.filter(|_| network.is_some() && port.is_none());
    let listener = tcp.filter(|_| network.as_ref().is_some_and(|network| network.bulk));
    let shared = Arc::new(Shared::new(exchange, peers, speaks, own, trace)?);
    let message = || ToRank::memory(settings, options.clone(), ranks.0).emit();
    // The file becomes the link's, which maps it and closes it.
    let shown = || memory.try_clone().map(|memory| (message(), memory));
    let shown = speaks.then(shown).transpose()?;
    let wishes = (limit, on_deadlock, environment::on_loss()?);
    watch::start(Arc::clone(&shared), ranks.0, supervisor, shown, wishes)?;
    let welcome = Welcome { rank: own, settings, options, network, growth: None };
    let place = Managed { job, shared, _keepers: keepers };
    Ok(Some(Joined { place, welcome, memory, socket, port, listener }))
}

/// The ranks on this one's host, itself included.
fn ranks_here(own: Rank, ranks: u16, network: Option<&JobNetwork>) -> Vec<Rank> {
    match network {
        Some(network) => network.ranks_beside(own).collect(),
        None => (0..ranks).map(Rank).collect(),
    }
}

/// Begins this rank's part of a trace, if that is wanted.
fn record(
    facts: &[Facts],
    options: &Options,
    rank: (Rank, usize),
    supervisor: &Arc<Supervisor>,
) -> Result<Option<OwnTrace>, MeetError> {
    let Some(file) = options.get(TRACE) else { return Ok(None) };
    let words: Vec<_> = env::args_os().collect();
    let hosts = facts.iter().map(|facts| facts.node.clone()).collect();
    let words = words.iter().map(OsString::as_os_str);
    let run = recording::describe(words, hosts, facts.len() as u16, options);
    let trace = OwnTrace::create(Path::new(file), &run, rank, Arc::clone(supervisor));
    match trace {
        Ok(trace) => Ok(Some(trace)),
        // Ranks that a rank of MPI has started go on: the trace is that one's job's.
        Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
            if rank.0 == Rank(0) {
                eprintln!("weft: this job is not recorded in {file}: {error}");
            }
            Ok(None)
        }
        Err(error) => Err(MeetError::Trace { rank: rank.0, path: file.into(), error }),
    }
}

/// Agreement of ranks of several hosts on Ethernet; `None` if they reach one another by datagrams,
/// or need to reach nobody.
fn agree(
    own: Rank,
    facts: &[Facts],
    way: Option<(&JobNetwork, &UdpSocket)>,
    exchange: &mut dyn PmiClient,
) -> Result<Option<Agreed>, ManagedError> {
    let possible = refused(facts).map_or(Ok(()), Err);
    let far = match possible.and_then(|()| wish(facts, way.is_some(), exchange.name())) {
        Ok(far) => far,
        Err(error) => return Err(found_by_all(error, own, exchange)),
    };
    let Some((network, socket)) = way else { return Ok(None) };
    let agreed = match far {
        FarLink::Udp => None,
        _ => ethernet::agree(&Attempt { own, facts, network, far }, exchange)?,
    };
    if agreed.is_none() {
        datagrams::check(own, facts, network, socket, exchange)?;
    }
    Ok(agreed)
}

impl Managed {
    /// Says to the other ranks and the process manager that this rank ends cleanly.
    pub fn leave(&self) -> Result<(), ManagedError> {
        self.bid_farewell();
        Ok(self.shared.exchange().finalize()?)
    }

    /// Does what [`Self::leave`] does, if the program may say to the process manager itself that it
    /// ends.
    pub fn leave_beside_others(&self) -> Result<(), ManagedError> {
        self.bid_farewell();
        self.shared.exchange().finalize_beside_others()?;
        HAS_LEFT.store(true, Ordering::SeqCst);
        Ok(())
    }

    fn bid_farewell(&self) {
        if let Some(trace) = &self.shared.trace {
            trace.finish();
        }
        // First: from here on neither the end of a peer nor that of the process manager is a loss.
        self.shared.left.store(true, Ordering::SeqCst);
        // It cannot fail: nobody has written to it before.
        let _ = rustix::io::write(&self.shared.on_leave, &1u64.to_ne_bytes());
        for peer in &self.shared.peers {
            // A peer that is gone has left before, or its end is noticed elsewhere.
            let _ = channel::send(&peer.channel, &ToPeer::Leaving.emit(), &[], SendFlags::empty());
        }
    }

    /// This rank gives up because another was lost, which the thread that watches has said, or is
    /// about to say: it is given the time. What only the network makes known it does not see.
    pub fn give_up(&self, loss: Loss, words: &str) {
        let is_here = self.shared.peers.iter().any(|peer| peer.rank == loss.rank);
        if !is_here && loss.cause.is_seen_by_its_host() {
            return; // A rank there has said it.
        }
        let noticed = self.shared.noticed.lock().unwrap_or_else(PoisonError::into_inner);
        let waited =
            self.shared.on_notice.wait_timeout_while(noticed, NOTICE_LIMIT, |noticed| !*noticed);
        let (noticed, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if !*noticed && self.shared.speaks {
            // Without a standard error there is nobody to tell.
            let _ = writeln!(io::stderr(), "weft: {words}; the others end");
        }
    }
}

/// Error of all ranks, which find the same in the same facts, and end, but not before rank 0 has
/// said why, nor while the process manager still answers one of them.
fn found_by_all(error: MeetError, own: Rank, exchange: &mut dyn PmiClient) -> ManagedError {
    let error = ManagedError::FoundByAll(error);
    if own == Rank(0) {
        // Without a standard error there is nobody to tell.
        let _ = writeln!(io::stderr(), "weft: {error}");
    }
    let _ = exchange.fence();
    error
}

/// Number of ranks; another type than a rank's own number.
struct Ranks(u16);

fn numbers(exchange: &dyn PmiClient) -> Result<(Rank, Ranks), MeetError> {
    let ranks = exchange.ranks();
    let fits = u16::try_from(ranks).ok().filter(|ranks| (1..=RANKS_MAX).contains(ranks));
    match (u16::try_from(exchange.rank()), fits) {
        (Ok(rank), Some(ranks)) if rank < ranks => Ok((Rank(rank), Ranks(ranks))),
        _ => Err(MeetError::Ranks { ranks, manager: exchange.name().into() }),
    }
}

/// The memory of a host with `here` of the job's ranks.
fn settings(
    here: usize,
    network: Option<&JobNetwork>,
    exchange: &dyn PmiClient,
) -> Result<Settings, MeetError> {
    if here > usize::from(MAX_RANKS) {
        let (ranks, manager) = (here as u32, exchange.name().into());
        return Err(MeetError::Ranks { ranks, manager });
    }
    let here = here as u16;
    let settings = match network {
        None => Settings::new(here),
        // The window is the same on all hosts.
        Some(network) => {
            let usual = Settings::new(network.ranks().min(FULL_WINDOW_RANKS));
            Settings { ranks: here, ..usual }.bounded_for(network.most_ranks_of_a_host())
        }
    };
    let settings = if environment::is_traced() { settings.traced() } else { settings };
    Ok(if network.is_some() { settings.beside_network() } else { settings })
}

/// The options: what the environment says, how many cores the ranks of this host have, and this
/// rank's number among those that may use the same ones.
fn options(own: Rank, facts: &[Facts], cores: usize) -> Options {
    let (index, count) = cores::among_same_cores(own, facts);
    let mut options = environment::options();
    options.insert(CORES.into(), cores.to_string());
    options.insert("among-same-cores".into(), format!("{index}/{count}"));
    if facts.iter().any(|facts| facts.link == "fabric") {
        options.insert("link".into(), "fabric".into());
    }
    options
}

#[cfg(test)]
mod tests;
