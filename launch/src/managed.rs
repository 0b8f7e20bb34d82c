//! Jobs that a process manager started (`srun`, `mpiexec`, `mpirun`), which knows nothing of Weft.
//!
//! Nobody gives the ranks their memory then, nor watches over them for Weft. Each rank tells the others who
//! and where it is (`card`), over what the process manager offers for that (`weft-pmi`). Those that find that
//! they are on one host come together over a socket of each pair, and exchange the segments that they have
//! made (`meet`). The socket stays: over it a rank says that it leaves, and a rank that ends without having
//! said so is lost (`watch`). The process manager ends the job then, or is asked to.
//!
//! What all know about the job is on the cards: rank 0's names the job and its secret, which are as private
//! as the process manager keeps its store.

use std::collections::BTreeMap;
use std::env;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::net::SendFlags;
use weft_link_shm::{MAX_RANKS, Settings, Supervisor, create_segment};
use weft_pmi::Exchange;
use weft_wire::Rank;

use crate::channel;
use crate::member::{JoinError, mark_taken};
use crate::messages::{Options, Welcome};

pub(crate) mod card;
mod meet;
#[allow(unsafe_code)] // Its opening paragraph says why.
mod status;
mod watch;

use card::Card;
pub use meet::MeetError;
pub(crate) use meet::ToPeer;
use meet::{Listener, Peer};

/// Options that the environment may set, and their variables.
const OPTIONS: [(&str, &str); 3] = [
    ("preset", "WEFT_PRESET"),
    ("tree", "WEFT_TREE"),
    ("interrupt-delay-us", "WEFT_INTERRUPT_DELAY_US"),
];

/// How long a rank that ends because of a loss waits for the loss to be said.
const NOTICE_LIMIT: Duration = Duration::from_millis(40);

/// A rank's place, as a launcher of Weft's would have given it.
#[derive(Debug)]
pub(crate) struct Joined {
    pub place: Managed,
    pub welcome: Welcome,
    pub segments: Vec<std::os::fd::OwnedFd>,
}

/// The connection to the process manager and to the other ranks of the host.
#[derive(Debug)]
pub(crate) struct Managed {
    shared: Arc<Shared>,
    /// Held, because all have been told where it is bound.
    _socket: Option<UdpSocket>,
}

/// What the thread that watches needs too.
#[derive(Debug)]
struct Shared {
    exchange: Mutex<Box<dyn Exchange>>,
    peers: Vec<Peer>,
    left: AtomicBool,
    /// Whether a loss is known to the thread that watches, and said if it was for this rank to say.
    noticed: Mutex<bool>,
    on_notice: Condvar,
}

impl Shared {
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
    let (own, ranks) = numbers(&*exchange)?;
    let settings = Settings::new(ranks.0);
    let segment = create_segment(&settings)?;
    let listener = Listener::open()?;
    let socket = card::bind_socket();
    let address = socket.as_ref().and_then(|socket| socket.local_addr().ok());
    exchange.put("card", &Card::of_this_process(listener.name(), address)?.emit())?;
    exchange.fence()?;
    let cards = (0..ranks.0).map(|rank| {
        let bytes = exchange.get(rank.into(), "card")?;
        Ok(Card::parse(&bytes)?)
    });
    let cards = cards.collect::<Result<Vec<_>, JoinError>>()?;
    one_host(&cards)?;
    let (peers, segments) = meet::meet(own, &listener, &cards, segment)?;
    let supervisor = Supervisor::attach(&settings, &segments)?;
    let exchange = Mutex::new(exchange);
    let (left, noticed, on_notice) = Default::default();
    let shared = Arc::new(Shared { exchange, peers, left, noticed, on_notice });
    watch::start(Arc::clone(&shared), ranks.0, supervisor)?;
    let welcome = Welcome { rank: own, settings, options: options(&cards), network: None };
    Ok(Some(Joined { place: Managed { shared, _socket: socket }, welcome, segments }))
}

impl Managed {
    /// Says to the other ranks and the process manager that this rank ends cleanly.
    pub fn leave(&self) -> Result<(), JoinError> {
        // First: from here on neither the end of a peer nor that of the process manager is a loss.
        self.shared.left.store(true, Ordering::SeqCst);
        for peer in &self.shared.peers {
            // A peer that is gone has left before, or its end is noticed elsewhere.
            let _ = channel::send(&peer.channel, &ToPeer::Leaving.emit(), &[], SendFlags::empty());
        }
        Ok(self.shared.exchange().finalize()?)
    }

    /// This rank gives up because another was lost, which the thread that watches has said, or is about to
    /// say: it is given the time.
    pub fn give_up(&self) {
        let noticed = self.shared.noticed.lock().unwrap_or_else(PoisonError::into_inner);
        // Poisoned or not, the wait is over.
        drop(self.shared.on_notice.wait_timeout_while(noticed, NOTICE_LIMIT, |noticed| !*noticed));
    }
}

/// How many ranks there are; another type than which one this is.
struct Ranks(u16);

fn numbers(exchange: &dyn Exchange) -> Result<(Rank, Ranks), MeetError> {
    let ranks = exchange.ranks();
    let fits = u16::try_from(ranks).ok().filter(|ranks| (1..=MAX_RANKS).contains(ranks));
    match (u16::try_from(exchange.rank()), fits) {
        (Ok(rank), Some(ranks)) if rank < ranks => Ok((Rank(rank), Ranks(ranks))),
        _ => Err(MeetError::Ranks { ranks, manager: exchange.name().into() }),
    }
}

/// The hosts of the ranks, numbered as they first appear.
fn hosts(cards: &[Card]) -> Vec<u16> {
    let mut known = BTreeMap::new();
    let mut number_of = |card: &Card| {
        let next = known.len() as u16;
        *known.entry(card.host.clone()).or_insert(next)
    };
    cards.iter().map(&mut number_of).collect()
}

fn one_host(cards: &[Card]) -> Result<(), MeetError> {
    let hosts = hosts(cards);
    match (0u16..).zip(&hosts).find(|(_, host)| **host != 0) {
        None => Ok(()),
        Some((rank, _)) => Err(MeetError::Hosts {
            rank,
            first: cards[0].node.clone(),
            other: cards[usize::from(rank)].node.clone(),
        }),
    }
}

/// The options: what the environment says, and how many cores the ranks share.
fn options(cards: &[Card]) -> Options {
    let mut options = Options::new();
    for (name, variable) in OPTIONS {
        if let Ok(value) = env::var(variable) {
            options.insert(name.into(), value);
        }
    }
    options.insert("cores".into(), card::cores_of_all(cards).to_string());
    options
}

#[cfg(test)]
mod tests;
