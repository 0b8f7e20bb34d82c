//! Jobs that a process manager started (`srun`, `mpiexec`, `mpirun`), which knows nothing of Weft.
//!
//! Nobody gives the ranks their memory then, nor watches over them for Weft. Each rank tells the
//! others who and where it is (`card`), over what the process manager offers for that (`weft-pmi`).
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

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::event::{EventfdFlags, eventfd};
use rustix::net::SendFlags;
use weft_datagram::seal::{Protection, Secret};
use weft_link::bell::Loss;
use weft_link_shm::{FULL_WINDOW_RANKS, MAX_RANKS, Settings, Supervisor, create_memory};
use weft_pmi::Exchange;
use weft_wire::Rank;
use weft_xdp::XdpPort;

use crate::channel;
use crate::crew::memory_message;
use crate::hosts::FarLink;
use crate::limits::allow_peers;
use crate::member::{JoinError, mark_taken};
use crate::messages::{Message as _, Network, Options, RANKS_MAX, Welcome};

use crate::mtu::Mtu;
use crate::progress::{OnDeadlock, PROGRESS_LIMIT, progress_limit};
use crate::recording::{self, OwnTrace};
use crate::spec::TRACE;

pub(crate) mod card;
mod cores;
mod datagrams;
mod ethernet;
pub(crate) mod facts;
mod meet;
mod patience;
pub(crate) mod record;
mod secret;
#[allow(unsafe_code)] // Its opening paragraph says why.
mod status;
mod watch;

pub use card::is_wanted;
use card::{Card, given};
use ethernet::{Agreed, Attempt, Way};
use facts::Facts;
pub use meet::MeetError;
pub(crate) use meet::ToPeer;
use meet::{Listener, Peer};
use patience::Patience;
use secret::OwnKey;

/// Options that the environment may set, and their variables.
const OPTIONS: [(&str, &str); 9] = [
    ("check", "WEFT_CHECK"),
    ("lossless", "WEFT_LOSSLESS"),
    ("preset", "WEFT_PRESET"),
    ("provider", "WEFT_PROVIDER"),
    ("statistics", "WEFT_STATISTICS"),
    (TRACE, "WEFT_TRACE"),
    ("tree", "WEFT_TREE"),
    ("interrupt-delay-us", "WEFT_INTERRUPT_DELAY_US"),
    ("silence-ms", "WEFT_SILENCE_MS"),
];

/// Variable with the seconds after which ranks that wait for one another are in a deadlock.
const LIMIT: &str = "WEFT_PROGRESS_LIMIT";
/// Variable that says what is done about a deadlock.
const ON_DEADLOCK: &str = "WEFT_ON_DEADLOCK";

/// The silence in milliseconds after which a rank on another host is lost, unless the environment
/// says something else. Of ranks that end the process manager hears at once; this is for hosts that
/// are cut off, and not for those that stand still for a moment.
const SILENCE_MS: u32 = 5000;

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

/// State shared with the thread that watches.
#[derive(Debug)]
struct Shared {
    exchange: Mutex<Box<dyn Exchange>>,
    peers: Vec<Peer>,
    /// True if this rank says what only the network tells: one rank of each host does.
    speaks: bool,
    /// This rank.
    own: Rank,
    left: AtomicBool,
    /// Becomes readable when this rank has left.
    on_leave: OwnedFd,
    /// True if a loss is known to the thread that watches, and said if it was for this rank to say.
    noticed: Mutex<bool>,
    on_notice: Condvar,
    /// Trace that this rank writes, if that is wanted.
    trace: Option<OwnTrace>,
}

impl Shared {
    /// Of a rank that has met its peers.
    fn new(
        exchange: Box<dyn Exchange>,
        peers: Vec<Peer>,
        speaks: bool,
        own: Rank,
        trace: Option<OwnTrace>,
    ) -> io::Result<Self> {
        let (left, noticed, on_notice) = Default::default();
        let exchange = Mutex::new(exchange);
        let on_leave = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Shared { exchange, peers, speaks, own, left, on_leave, noticed, on_notice, trace })
    }

    fn exchange(&self) -> MutexGuard<'_, Box<dyn Exchange>> {
        self.exchange.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notice(&self) {
        *self.noticed.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.on_notice.notify_all();
    }
}

/// Takes this process's place and meets the other ranks; `None` if no process manager started it.
///
/// Blocks until all ranks are here. The process manager ends ranks that wait for one that failed.
pub(crate) fn join() -> Result<Option<Joined>, JoinError> {
    if weft_pmi::detect()?.is_none() {
        return Ok(None);
    }
    // Before there are threads, which PMIx starts.
    mark_taken()?;
    let Some(mut exchange) = weft_pmi::find()? else { return Ok(None) };
    HAS_LEFT.store(false, Ordering::SeqCst);
    let (own, ranks) = numbers(&*exchange)?;
    let listener = Listener::open()?;
    let bound = card::bind_socket(card::wants_tcp()?);
    let (socket, tcp) = bound.map_or((None, None), |(socket, tcp)| (Some(socket), tcp));
    let address = socket.as_ref().and_then(|socket| socket.local_addr().ok());
    let own_key = OwnKey::draw()?;
    let card = Card::of_this_process(listener.name(), address, own_key.public())?;
    let card = Card { listens: tcp.is_some(), ..card };
    let patience = Patience::begin(own, ranks.0);
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
    drop(patience);
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
    let limit = given(LIMIT, progress_limit)?.unwrap_or(PROGRESS_LIMIT);
    let on_deadlock: OnDeadlock = given(ON_DEADLOCK, str::parse)?.unwrap_or_default();
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
    let message = || memory_message(settings, options.clone(), ranks.0);
    // The file becomes the link's, which maps it and closes it.
    let shown = || memory.try_clone().map(|memory| (message(), memory));
    let shown = speaks.then(shown).transpose()?;
    watch::start(Arc::clone(&shared), ranks.0, supervisor, shown, limit, on_deadlock)?;
    let welcome = Welcome { rank: own, settings, options, network };
    let place = Managed { job, shared, _keepers: keepers };
    Ok(Some(Joined { place, welcome, memory, socket, port, listener }))
}

/// The ranks on this one's host, itself included.
fn ranks_here(own: Rank, ranks: u16, network: Option<&Network>) -> Vec<Rank> {
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
    way: Option<(&Network, &UdpSocket)>,
    exchange: &mut dyn Exchange,
) -> Result<Option<Agreed>, JoinError> {
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
    pub fn leave(&self) -> Result<(), JoinError> {
        self.bid_farewell();
        Ok(self.shared.exchange().finalize()?)
    }

    /// Does what [`Self::leave`] does, if the program may say to the process manager itself that it
    /// ends.
    pub fn leave_beside_others(&self) -> Result<(), JoinError> {
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
fn found_by_all(error: MeetError, own: Rank, exchange: &mut dyn Exchange) -> JoinError {
    let error = JoinError::FoundByAll(error);
    if own == Rank(0) {
        // Without a standard error there is nobody to tell.
        let _ = writeln!(io::stderr(), "weft: {error}");
    }
    let _ = exchange.fence();
    error
}

/// The first rank to which the system refuses what it needs.
fn refused(all: &[Facts]) -> Option<MeetError> {
    let (rank, facts) = (0..).zip(all).find(|(_, facts)| !facts.refused.is_empty())?;
    Some(MeetError::Refused { rank, host: facts.node.clone(), why: facts.refused.clone() })
}

/// Number of ranks; another type than a rank's own number.
struct Ranks(u16);

fn numbers(exchange: &dyn Exchange) -> Result<(Rank, Ranks), MeetError> {
    let ranks = exchange.ranks();
    let fits = u16::try_from(ranks).ok().filter(|ranks| (1..=RANKS_MAX).contains(ranks));
    match (u16::try_from(exchange.rank()), fits) {
        (Ok(rank), Some(ranks)) if rank < ranks => Ok((Rank(rank), Ranks(ranks))),
        _ => Err(MeetError::Ranks { ranks, manager: exchange.name().into() }),
    }
}

/// The hosts of the ranks, numbered as they first appear.
fn hosts(facts: &[Facts]) -> Vec<u16> {
    let mut known = BTreeMap::new();
    let mut number_of = |facts: &Facts| {
        let next = known.len() as u16;
        *known.entry(facts.host).or_insert(next)
    };
    facts.iter().map(&mut number_of).collect()
}

/// True if the ranks are on several hosts.
fn spans_hosts<H: PartialEq>(mut hosts: impl Iterator<Item = H>) -> bool {
    let first = hosts.next();
    hosts.any(|host| Some(host) != first)
}

/// Network between the ranks of several hosts.
fn network(all: &[Facts], job: u32, secret: Secret) -> Result<Network, MeetError> {
    let kind = all[0].address.map(|address| address.is_ipv6());
    let address = |(rank, facts): (u16, &Facts)| {
        let address = facts.address.filter(|address| Some(address.is_ipv6()) == kind);
        address.ok_or_else(|| MeetError::Address { rank, host: facts.node.clone() })
    };
    let addresses = (0..).zip(all).map(address).collect::<Result<_, _>>()?;
    let mtu = all.iter().map(|facts| facts.mtu).min().unwrap_or(Mtu::USUAL);
    Ok(Network {
        job,
        secret,
        protection: protection(all)?,
        mtu,
        addresses,
        hosts: hosts(all),
        ethernet: None,
        copied: false,
        bulk: all.iter().all(|facts| facts.listens),
    })
}

/// Protection of packets between hosts: the most that any rank asks for, unless one asks for
/// encryption and another for none.
fn protection(all: &[Facts]) -> Result<Protection, MeetError> {
    let of = |wanted| (0..).zip(all).find(|(_, facts)| facts.protection == Some(wanted));
    if let (Some((encrypts, _)), Some((other, _))) =
        (of(Protection::Encrypted), of(Protection::Headers))
    {
        return Err(MeetError::Protection { encrypts, other });
    }
    Ok(all.iter().filter_map(|facts| facts.protection).max().unwrap_or_default())
}

/// By which links the ranks are to reach those of other hosts: what `WEFT_LINK` says, for whichever
/// ranks it does.
fn wish(all: &[Facts], several: bool, manager: &str) -> Result<FarLink, MeetError> {
    let mut asked = (0..).zip(all).filter(|(_, facts)| !facts.link.is_empty());
    let Some((rank, first)) = asked.next() else { return Ok(FarLink::Auto) };
    let one = first.link.clone();
    if let Some((other_rank, other)) = asked.find(|(_, other)| other.link != one) {
        return Err(MeetError::Links { rank, one, other_rank, other: other.link.clone() });
    }
    match (&*one, several) {
        ("auto", _) | ("shm", false) => Ok(FarLink::Auto),
        ("xdp", true) => Ok(FarLink::Xdp),
        // Ranks tell one another over UDP where on the fabric they are.
        ("udp" | "fabric", true) => Ok(FarLink::Udp),
        _ => {
            let have = match several {
                false => "are on one host, and share memory (shm)",
                true => "are on several hosts, and use xdp, udp or fabric between them",
            };
            Err(MeetError::Link { asked: one, manager: manager.into(), have })
        }
    }
}

/// The memory of a host with `here` of the job's ranks.
fn settings(
    here: usize,
    network: Option<&Network>,
    exchange: &dyn Exchange,
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
    let is_traced = env::var_os("WEFT_TRACE").is_some();
    let settings = if is_traced { settings.traced() } else { settings };
    Ok(if network.is_some() { settings.beside_network() } else { settings })
}

/// The options: what the environment says, how many cores the ranks of this host have, and this
/// rank's number among those that may use the same ones.
fn options(own: Rank, facts: &[Facts], cores: usize) -> Options {
    let (index, count) = cores::among_same_cores(own, facts);
    let mut options = Options::new();
    for (name, variable) in OPTIONS {
        if let Ok(value) = env::var(variable) {
            options.insert(name.into(), value);
        }
    }
    options.entry("silence-ms".into()).or_insert_with(|| SILENCE_MS.to_string());
    options.insert("cores".into(), cores.to_string());
    options.insert("among-same-cores".into(), format!("{index}/{count}"));
    if facts.iter().any(|facts| facts.link == "fabric") {
        options.insert("link".into(), "fabric".into());
    }
    options
}

#[cfg(test)]
mod tests;
