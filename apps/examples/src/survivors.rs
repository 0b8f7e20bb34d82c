//! A bit of everything in a job whose ranks are lost: calls, an ordered broadcast, a shared object,
//! regions and operations of a team, round by round. At the end each rank that is left says what it
//! has, and all say the same.
//!
//! | what | a lost rank |
//! |---|---|
//! | calls | those to it fail, and say so |
//! | the order | all that live are handed the same, and hear of the loss between the same two |
//! | the object | lives on, with all that was done to it |
//! | regions | what it created is lost, and what it had written last |
//! | the team | shrinks to those that live |

use clap::{Parser, value_parser};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use weft::OrderEvent;
use weft::collective::{Sum, Team};
use weft::prelude::*;
use weft_object::{Handle, Objects, Placement, Types};
use weft_region::coherence::Policy;
use weft_region::{Mapped, RegionId, Regions};

const EXAMPLES: &str = "\
Examples:
  weft run -n 4 -- weft-example survivors
  weft run --on-loss continue -n 8 -- weft-example survivors --rounds 10000
                                        kill any of its processes but one, whenever you like";

/// Does a bit of everything on all ranks, and goes on when some of them are lost
#[derive(Clone, Debug, Parser)]
#[command(name = "survivors", after_help = EXAMPLES)]
pub struct SurvivorsOptions {
    /// Rounds, in each of which every rank does one of everything
    #[arg(long, value_name = "COUNT", default_value_t = 100,
          value_parser = value_parser!(u32).range(1..=1_000_000))]
    rounds: u32,
}

/// Reason why a rank cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Calls, orders or operations of a team.
    #[error(transparent)]
    Weft(#[from] weft::Error),
    /// The object.
    #[error(transparent)]
    Object(#[from] weft_object::Error),
    /// Regions.
    #[error(transparent)]
    Region(#[from] weft_region::Error),
}

impl Failure {
    /// The rank that is lost, if that is the reason.
    fn lost_rank(&self) -> Option<Rank> {
        match self {
            Failure::Weft(error) => error.lost_rank(),
            Failure::Object(error) => error.lost_rank(),
            Failure::Region(error) => error.lost_rank(),
        }
    }
}

type Result<T> = std::result::Result<T, Failure>;

#[weft::service]
trait Adder {
    fn add(&self, one: u64, other: u64) -> u64;
}

struct Adds;

impl Adder for Adds {
    fn add(&self, one: u64, other: u64) -> u64 {
        one + other
    }
}

/// An object that counts.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Count(u64);

#[weft_object::object]
impl Count {
    #[write]
    fn add(&mut self, more: u64) -> u64 {
        self.0 += more;
        self.0
    }
}

/// Messages of the order that this rank was handed.
#[derive(Default)]
struct Handed {
    count: u64,
    /// Made of all messages, one after the other, and of the losses between them.
    digest: u64,
    /// Losses since the last message: there may be no other, and who is done early does not hear
    /// of them.
    lost: Vec<Rank>,
    /// Messages of each rank.
    of: BTreeMap<Rank, u32>,
}

impl Handed {
    fn hand(&mut self, rank: Rank, number: u32) {
        self.count += 1;
        self.of.insert(rank, number);
        let mut lost = std::mem::take(&mut self.lost);
        lost.sort_unstable();
        lost.iter().for_each(|rank| self.digest(u64::from(rank.0) << 32 | 1 << 48));
        self.digest(u64::from(rank.0) << 32 | u64::from(number));
    }

    fn digest(&mut self, event: u64) {
        self.digest = self.digest.rotate_left(7) ^ (event + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// A rank, and what it does things with.
struct Survivor {
    weft: Weft,
    rounds: u32,
    client: AdderClient,
    order: Order,
    handed: Arc<Mutex<Handed>>,
    count: Handle<Count>,
    regions: Regions,
    mapped: Vec<Option<Mapped<u64>>>,
    team: Team,
    /// Sum of this rank's additions to the object.
    added: u64,
    /// Calls and accesses that failed by a loss.
    failed: u64,
}

/// Does everything in rounds, and says at the end what is left.
///
/// # Errors
/// A lost rank, in a job that does not go on.
pub fn survivors(weft: Weft, options: &SurvivorsOptions) -> Result<()> {
    let _server = AdderServer::new(&weft, Adds)?;
    let types = Types::default().with::<Count>();
    let objects = Objects::new(weft.orders(), weft.rpc(), types)?;
    let mut survivor = Survivor::new(&weft, options.rounds, &objects)?;
    for round in 1..=options.rounds {
        survivor.round(round)?;
        if weft.rank() == survivor.team.member(0) && round % options.rounds.div_ceil(10) == 0 {
            println!("{round} of {} rounds are done", options.rounds);
        }
    }
    survivor.settle()?;
    survivor.report()?;
    // Others may still read what is here.
    survivor.settle()
}

impl Survivor {
    fn new(weft: &Weft, rounds: u32, objects: &Objects) -> Result<Self> {
        let handed = Arc::new(Mutex::new(Handed::default()));
        let notes = Arc::clone(&handed);
        let handler = move |event| {
            let mut handed = lock(&notes);
            match event {
                OrderEvent::Message(mut message) => {
                    let mut number = [0; 4];
                    // What all are handed all can read.
                    message.read_exact(&mut number).expect("it is here");
                    handed.hand(message.source(), u32::from_le_bytes(number));
                }
                OrderEvent::Loss(rank) => handed.lost.push(rank),
            }
        };
        let order =
            weft.orders().order_with_losses("survivors", handler).map_err(weft::Error::from)?;
        let regions = Regions::open(weft.packets());
        regions.create(8, Policy::default())?;
        let count = match weft.rank() {
            Rank(0) => objects.create("count", &Count::default(), Placement::Replicated),
            _ => objects.find("count"),
        };
        Ok(Survivor {
            weft: weft.clone(),
            rounds,
            client: AdderClient::new(weft)?,
            order,
            handed,
            count: count?,
            regions,
            mapped: weft.ranks().map(|_| None).collect(),
            team: weft.everyone().clone(),
            added: 0,
            failed: 0,
        })
    }

    /// One of everything.
    fn round(&mut self, round: u32) -> Result<()> {
        let (me, size) = (self.weft.rank(), self.weft.size());
        // All have created their regions once all are here.
        self.team_operation(round)?;
        self.order.broadcast(&round.to_le_bytes()).map_err(weft::Error::from)?;
        self.count.add(u64::from(round))?;
        self.added += u64::from(round);
        let other = Rank(((me.index() + round as usize) % size) as u16);
        let sum = self.client.at(other).add(round.into(), me.0.into()).wait();
        if let Some(sum) = self.unless_lost(sum.map_err(Failure::from))? {
            assert_eq!(sum, u64::from(round) + u64::from(me.0), "rank {other} adds");
        }
        let written = self.region(other).and_then(|region| {
            region.write()?[0] += 1;
            Ok(())
        });
        self.unless_lost(written).map(drop)
    }

    /// A sum of all that are left, who shrink the team if it fails: at all of them or at none.
    fn team_operation(&mut self, round: u32) -> Result<()> {
        let mut sum = [1, u64::from(round)];
        let summed = self.team.all_reduce(&mut sum, Sum).map_err(weft::Error::from);
        let size = self.team.size() as u64;
        match self.unless_lost(summed.map_err(Failure::from))? {
            Some(()) => assert_eq!(sum, [size, size * u64::from(round)], "in step"),
            None => self.shrink()?,
        }
        Ok(())
    }

    fn region(&mut self, home: Rank) -> Result<&Mapped<u64>> {
        let place = &mut self.mapped[home.index()];
        if place.is_none() {
            *place = Some(self.regions.map(RegionId { home, index: 0 })?);
        }
        Ok(place.as_ref().expect("it is mapped"))
    }

    /// The value of what went well; `None` if it failed by a loss, in a job that goes on.
    fn unless_lost<T>(&mut self, outcome: Result<T>) -> Result<Option<T>> {
        match outcome {
            Ok(value) => Ok(Some(value)),
            Err(error) if self.weft.goes_on() && error.lost_rank().is_some() => {
                self.failed += 1;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Waits until all that are left are as far.
    fn settle(&mut self) -> Result<()> {
        while !self.team.agree(0).map_err(weft::Error::from)?.lost.is_empty() {
            self.shrink()?;
        }
        Ok(())
    }

    fn shrink(&mut self) -> Result<()> {
        self.team = self.team.shrink().map_err(weft::Error::from)?;
        Ok(())
    }

    /// Says what this rank has, once it was handed all that others have broadcast.
    fn report(&mut self) -> Result<()> {
        let (handed, rounds) = (Arc::clone(&self.handed), self.rounds);
        let order = &self.order;
        self.weft.poll_until(|| {
            let members = order.members();
            let handed = lock(&handed);
            members.iter().all(|rank| handed.of.get(rank) == Some(&rounds))
        })?;
        let count = self.count.add(0)?;
        let mut regions = String::new();
        for rank in self.weft.ranks() {
            let seen = self.region(rank).and_then(|region| Ok(region.read()?[0]));
            match self.unless_lost(seen)? {
                Some(value) => regions += &format!(" {value}"),
                None => regions += " lost",
            }
        }
        let (handed, left) = (lock(&handed), self.team.size());
        println!(
            "rank {} of {left} left: {} messages ({:016x}), count {count} of which {} are mine; regions{regions}; {} \
             failed",
            self.weft.rank(),
            handed.count,
            handed.digest,
            self.added,
            self.failed,
        );
        Ok(())
    }
}

fn lock(handed: &Mutex<Handed>) -> MutexGuard<'_, Handed> {
    handed.lock().unwrap_or_else(PoisonError::into_inner)
}
