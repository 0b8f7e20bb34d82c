//! A rank's systems, all of them open at once, and the sums of what they have received.

use crate::systems::Result;
use crate::systems::tagged::Tagged;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use weft::collective::Sum;
use weft::prelude::*;
use weft_events::{Destination, Events, Flags, Settings, Source, Status};
use weft_model::random::Random;
use weft_region::coherence::Policy;
use weft_region::{RegionId, Regions};

/// The systems by which a rank sends.
pub const MESSAGES: usize = 0;
pub const CALLS: usize = 1;
pub const ORDERED: usize = 2;
pub const PACKETS: usize = 3;
pub const REGIONS: usize = 4;
pub const TAGGED: usize = 5;
/// The system by which all send to all at the end of a step.
pub const EVENTS: usize = 6;
/// Number of systems.
pub const KINDS: usize = 7;

/// Words of the region of each rank.
const WORDS: u64 = 16;

/// Amounts by system.
pub type Sums = [u64; KINDS];

#[weft::service]
trait Adder {
    fn add(&self, amount: u64) -> u64;
}

#[derive(Clone, Default)]
struct Total(Arc<AtomicU64>);

impl Total {
    fn plus(&self, amount: u64) {
        self.0.fetch_add(amount, Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

impl Adder for Total {
    fn add(&self, amount: u64) -> u64 {
        self.plus(amount);
        amount
    }
}

/// The sums that a rank has received, by system, and the entries of its log.
#[derive(Default)]
struct Received {
    messages: Total,
    calls: Total,
    packets: Total,
    ordered: Arc<Mutex<Vec<u64>>>,
}

/// A rank with all its systems open.
pub struct Systems<'a> {
    weft: &'a Weft,
    received: Received,
    port: Port,
    adders: AdderClient,
    order: Order,
    regions: Regions,
    events: Events,
    pub tagged: Tagged,
    _server: AdderServer,
}

/// Amounts that all ranks together have sent, and how many of them by the ordered broadcast.
#[derive(Clone, Copy, Debug)]
pub struct Due {
    pub sums: Sums,
    pub entries: u64,
}

impl<'a> Systems<'a> {
    pub fn open(weft: &'a Weft) -> Result<Self> {
        let received = Received::default();
        let messages = received.messages.clone();
        let port = weft.port("sum", move |mut message| {
            // That its sender was lost is no fault of a sum.
            message.read_to_vec().into_iter().for_each(|bytes| messages.plus(number(&bytes)));
        })?;
        let ordered = Arc::clone(&received.ordered);
        let order = weft.order("log", move |mut message: OrderedMessage| {
            let bytes = message.read_to_vec();
            bytes.into_iter().for_each(|bytes| lock(&ordered).push(number(&bytes)));
        })?;
        let packets = received.packets.clone();
        weft.packets().on_packet(move |packet| packets.plus(number(&packet)));
        let regions = Regions::open(weft.packets());
        regions.create(WORDS * 8, Policy::default())?;
        let events = Events::open(weft.packets(), Settings::default())?;
        let tagged = Tagged::open(weft.packets())?;
        regions.barrier()?;
        Ok(Systems {
            _server: AdderServer::new(weft, received.calls.clone())?,
            adders: AdderClient::new(weft)?,
            port,
            order,
            weft,
            received,
            regions,
            events,
            tagged,
        })
    }

    /// Sends `amount` to rank `to` by the system numbered `kind`.
    pub fn send(&self, kind: usize, to: Rank, amount: u64, random: &mut Random) -> Result<()> {
        match kind {
            MESSAGES => self.port.send(to, &amount.to_le_bytes())?,
            CALLS => assert_eq!(self.adders.at(to).add(amount).wait()?, amount, "a wrong reply"),
            ORDERED => drop(self.order.broadcast(&amount.to_le_bytes())?),
            PACKETS => {
                let mut packet = self.weft.packets().packet()?;
                packet.put(&amount.to_le_bytes())?;
                packet.unicast(to)?;
            }
            REGIONS => {
                let words = self.regions.map::<u64>(RegionId { home: to, index: 0 })?;
                words.write()?[(amount % WORDS) as usize] += amount;
            }
            _ => self.tagged.send_any(to, amount, random)?,
        }
        Ok(())
    }

    /// Sends `amount` to all others as an event, and returns the sum of theirs.
    pub fn meet(&self, event: u32, amount: u64) -> Result<u64> {
        let everyone = Destination::Everyone;
        self.events.send(everyone, event, &amount.to_le_bytes(), Flags::CROWD)?;
        let mut sum = 0;
        loop {
            let fragment = self.events.receive(Source::Anyone, event)?;
            sum += number(&fragment);
            if fragment.status() == Status::EventDone {
                return Ok(sum);
            }
        }
    }

    /// The sums of all ranks.
    pub fn all(&self, mut values: Sums) -> Result<Sums> {
        self.weft.all_reduce(&mut values, Sum)?;
        Ok(values)
    }

    /// True if all ranks together have received what is `due`, by every system but those left out.
    ///
    /// # Panics
    /// If something came twice, or ordered broadcasts were lost or have several orders.
    pub fn have_all(&self, due: &Due, left_out: &[usize]) -> Result<bool> {
        let log = lock(&self.received.ordered).clone();
        let mine: u64 = {
            let words = self.regions.map::<u64>(RegionId { home: self.weft.rank(), index: 0 })?;
            words.read()?.iter().sum()
        };
        let Received { messages, calls, packets, .. } = &self.received;
        let tagged = self.tagged.received();
        // What is due in the log is compared below.
        let there = self.all([messages.get(), calls.get(), 0, packets.get(), mine, tagged, 0])?;
        let kinds = [MESSAGES, CALLS, PACKETS, REGIONS, TAGGED];
        let sums = kinds.map(|kind| (kind, there[kind], due.sums[kind]));
        assert!(sums.iter().all(|(_, there, due)| there <= due), "something came twice: {sums:?}");
        let lengths = self.weft.all_gather(&[log.len() as u64])?;
        let is_missing = |&(kind, there, due): &_| there < due && !left_out.contains(&kind);
        if sums.iter().any(is_missing) || lengths.iter().any(|it| *it < due.entries) {
            return Ok(false);
        }
        assert!(lengths.iter().all(|it| *it == due.entries), "the order has too many entries");
        self.judge_log(&log, due)?;
        Ok(true)
    }

    /// Compares the log with those of the others, and with what is due.
    fn judge_log(&self, log: &[u64], due: &Due) -> Result<()> {
        assert_eq!(log.iter().sum::<u64>(), due.sums[ORDERED], "the order lost something");
        let fold = |hash: u64, entry: &u64| hash.rotate_left(9).wrapping_add(*entry);
        let digests = self.weft.all_gather(&[log.iter().fold(0, fold)])?;
        assert!(digests.iter().all(|other| *other == digests[0]), "orders differ: {digests:x?}");
        Ok(())
    }

    /// Closes all of them; `event` is one that was not used.
    pub fn close(self, event: u32) -> Result<()> {
        let Systems { weft, events, regions, tagged, .. } = self;
        tagged.finish()?;
        events.close(event)?;
        regions.close()?;
        // Until here all ranks answer tagged messages.
        weft.barrier()?;
        drop(tagged);
        Ok(())
    }
}

fn number(bytes: &[u8]) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(bytes);
    u64::from_le_bytes(number)
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
