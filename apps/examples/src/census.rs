//! Shared regions, packets, an ordered broadcast and remote calls in one program: they share a
//! rank's network interface, and none of them knows of the others.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use weft::prelude::*;
use weft_region::coherence::Policy;
use weft_region::{RegionId, Regions};

/// Districts that each rank counts.
const DISTRICTS: u64 = 8;

/// The office at rank 0, which others call.
#[weft::service]
trait Office {
    fn report(&self, people: u64) -> u64;
}

#[derive(Default)]
struct Books(AtomicU64);

impl Office for Books {
    fn report(&self, people: u64) -> u64 {
        self.0.fetch_add(people, Relaxed) + people
    }
}

/// All ranks count people, district by district: into a region that the others read, by calls to
/// the office, in a register of which every rank has the same copy, and with a packet to each
/// neighbour.
///
/// # Errors
/// A lost rank.
pub fn census(weft: Weft) -> weft::Result<()> {
    let _office = match weft.rank() {
        Rank(0) => Some(OfficeServer::new(&weft, Books::default())?),
        _ => None,
    };
    let client = OfficeClient::new(&weft)?;
    let office = client.at(0);
    let register = Arc::new(Mutex::new(Vec::new()));
    let copy = Arc::clone(&register);
    let entries = weft.order("register", move |mut message: OrderedMessage| {
        // An entry that cannot be read is one whose sender is lost: then nothing follows it.
        let Ok(entry) = message.text() else { return };
        copy.lock().unwrap_or_else(PoisonError::into_inner).push(entry.to_owned());
    })?;
    let visits = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&visits);
    weft.packets().on_packet(move |packet| {
        seen.fetch_add(packet.len() as u64, Relaxed);
    });
    let regions = Regions::open(weft.packets());
    regions.create(DISTRICTS * 8, Policy::default()).map_err(gone)?;
    regions.barrier().map_err(gone)?;

    let map = |rank| regions.map::<u64>(RegionId { home: rank, index: 0 }).map_err(gone);
    let mine = map(weft.rank())?;
    let neighbour = Rank((weft.rank().0 + 1) % weft.size() as u16);
    let mut counted = 0;
    for district in 0..DISTRICTS {
        let people = 100 * (u64::from(weft.rank().0) + 1) + district;
        mine.write().map_err(gone)?[district as usize] = people;
        counted += people;
        assert!(office.report(people).wait()? >= counted, "the office has lost a report");
        entries.broadcast(&format!("rank {} district {district}", weft.rank()))?;
        let mut packet = weft.packets().packet()?;
        packet.put(&[district as u8])?;
        packet.unicast(neighbour)?;
    }

    let expected = DISTRICTS * weft.size() as u64;
    while visits.load(Relaxed) < DISTRICTS || register_of(&register).len() < expected as usize {
        weft.poll()?;
    }
    weft.barrier()?;
    let mut total = 0;
    for rank in weft.ranks() {
        total += map(rank)?.read().map_err(gone)?.iter().sum::<u64>();
    }
    assert_eq!(office.report(0).wait()?, total, "regions and calls disagree");
    let same = weft.all_gather(&[digest(&register_of(&register))])?;
    assert!(same.iter().all(|other| *other == same[0]), "registers differ: {same:x?}");
    if weft.rank() == 0 {
        println!("{total} people in {expected} districts, and all ranks agree");
    }
    drop(mine);
    regions.close().map_err(gone)?;
    weft.barrier()
}

fn register_of(register: &Mutex<Vec<String>>) -> Vec<String> {
    register.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

fn digest(entries: &[String]) -> u64 {
    let bytes = entries.iter().flat_map(|entry| entry.bytes());
    bytes.fold(0, |hash: u64, byte| hash.rotate_left(7) ^ u64::from(byte).wrapping_mul(0x9e37_79b9))
}

/// Regions fail when a rank is lost, which messages report, too.
fn gone(error: weft_region::Error) -> weft::Error {
    std::io::Error::other(error).into()
}
