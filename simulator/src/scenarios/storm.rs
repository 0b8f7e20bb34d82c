//! Everything at once, from one seed.

use crate::scenarios::judge::Judge;
use std::sync::{Arc, Mutex, PoisonError};
use weft_endpoint::{Atomic, Error, Group, KeptPacket, Packets, Rank, Step, Variable};
use weft_model::packets::{FIRST_MIXED, Reference, Stream};
use weft_model::random::Random;

/// Counters of each rank, and its variables of other operations.
const VARIABLES: u64 = 3;
/// Ranks that do other operations than additions. With more the judge would take long.
const MIXING_RANKS: u16 = 4;

/// Options of a storm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Storm {
    /// Ranks of the job.
    pub ranks: u16,
    /// Things that each rank does.
    pub deeds: usize,
    /// The longest packet.
    pub most_bytes: usize,
    /// Multicast groups besides that of all ranks.
    pub groups: Vec<Vec<Rank>>,
    /// Ranks create these when they have done some of their deeds, and not before.
    pub late_groups: bool,
    /// Mix of operations of each rank.
    pub mix: Mix,
    /// Computations are of up to this many operations.
    pub most_operations: u64,
    /// Everything follows from it.
    pub seed: u64,
}

/// Mix of operations of a rank: frequencies relative to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mix {
    /// Sends to one rank.
    pub unicasts: u64,
    /// Sends to all, or to a group if there are some and broadcasts are not to be mixed with them.
    pub multicasts: u64,
    /// Fetch-and-adds, and other atomic operations.
    pub fetch_adds: u64,
    /// Computes.
    pub computations: u64,
    /// Polls.
    pub polls: u64,
}

impl Default for Mix {
    fn default() -> Self {
        Mix { unicasts: 60, multicasts: 15, fetch_adds: 5, computations: 10, polls: 10 }
    }
}

/// One thing that a rank does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// Sends a packet to a rank.
    Unicast(Rank),
    /// Sends a packet to a group: 0 is that of all ranks.
    Multicast(usize),
    /// Does an atomic operation on a variable: whose, which, what.
    Atomic(Rank, u16, Atomic),
    /// Computes this many operations.
    Compute(u64),
    /// Polls this often.
    Poll(u64),
}

/// Plan of a storm: the operations of all ranks, and what each of them must be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    deeds: Vec<Vec<Deed>>,
    due: Vec<u64>,
    groups: Vec<Vec<Rank>>,
    /// After so many deeds each rank creates them.
    late: Vec<usize>,
    most_bytes: usize,
}

impl Storm {
    /// The plan that follows from the seed.
    pub fn plan(&self) -> Plan {
        let late: Vec<usize> = (0..self.ranks).map(|rank| self.late(rank)).collect();
        let deeds: Vec<Vec<Deed>> =
            (0..).map(Rank).zip(&late).map(|(rank, late)| self.deeds_of(rank, *late)).collect();
        let mut due = vec![0; usize::from(self.ranks)];
        for (from, deed) in
            deeds.iter().enumerate().flat_map(|(from, d)| d.iter().map(move |d| (from, d)))
        {
            match *deed {
                Deed::Unicast(to) => due[to.index()] += 1,
                Deed::Multicast(0) => due.iter_mut().for_each(|due| *due += 1),
                Deed::Multicast(group) => {
                    self.groups[group - 1].iter().for_each(|member| due[member.index()] += 1);
                }
                _ => {}
            }
            if let Deed::Multicast(_) = deed {
                due[from] -= 1;
            }
        }
        Plan { deeds, due, groups: self.groups.clone(), late, most_bytes: self.most_bytes }
    }

    /// The deeds that `rank` has done when it creates groups.
    fn late(&self, rank: u16) -> usize {
        let mut random = Random::part(self.seed ^ 0x1a7e, u64::from(rank));
        let most = if self.late_groups { self.deeds as u64 / 2 } else { 0 };
        random.below(most + 1) as usize
    }

    /// The first deeds, until `rank` is `late` enough, wait for nobody: what it waits for might be
    /// behind more packets of groups than can come early.
    fn deeds_of(&self, rank: Rank, late: usize) -> Vec<Deed> {
        let mut random = Random::part(self.seed, u64::from(rank.0));
        let member = |(_, group): &(usize, &Vec<Rank>)| group.contains(&rank);
        let mut groups: Vec<usize> =
            (1..).zip(&self.groups).filter(member).map(|(number, _)| number).collect();
        if self.groups.is_empty() {
            groups.push(0);
        }
        let first = Mix { multicasts: 0, fetch_adds: 0, ..self.mix };
        let mix = |number| if number < late { first } else { self.mix };
        let deeds = (0..self.deeds).map(|number| self.deed(mix(number), &groups, &mut random));
        deeds.map(|deed| if rank.0 < MIXING_RANKS { mixed(deed) } else { deed }).collect()
    }

    fn deed(&self, mix: Mix, groups: &[usize], random: &mut Random) -> Deed {
        let Mix { unicasts, multicasts, fetch_adds, computations, polls } = mix;
        let ranks = u64::from(self.ranks);
        let any = |random: &mut Random| Rank(random.below(ranks) as u16);
        let mut dice = random.below(unicasts + multicasts + fetch_adds + computations + polls);
        let mut is = |often: u64| {
            let yes = dice < often;
            dice = dice.wrapping_sub(often);
            yes
        };
        if is(multicasts) && !groups.is_empty() {
            Deed::Multicast(*random.choose(groups))
        } else if is(fetch_adds) {
            let (home, index) = (any(random), random.below(VARIABLES) as u16);
            Deed::Atomic(home, index, Atomic::Add(1 + random.below(9)))
        } else if is(computations) {
            Deed::Compute(random.below(self.most_operations.max(1)))
        } else if is(polls) {
            Deed::Poll(1 + random.below(4))
        } else {
            Deed::Unicast(any(random))
        }
    }
}

/// Another operation in place of some additions, on a variable that is no counter; else the deed.
fn mixed(deed: Deed) -> Deed {
    let Deed::Atomic(home, index, Atomic::Add(amount)) = deed else { return deed };
    let operation = match amount {
        1 => Atomic::CompareSwap { expected: 0, new: 2 },
        2 => Atomic::CompareSwap { expected: 2, new: 5 },
        3 => Atomic::Swap(0),
        4 => Atomic::Xor(7),
        5 => Atomic::Max(1),
        _ => return deed,
    };
    Deed::Atomic(home, FIRST_MIXED + index, operation)
}

impl Plan {
    /// A judge of a run of this plan.
    pub fn judge(&self) -> Judge {
        let mut reference = Reference::new(self.deeds.len() as u16, self.most_bytes);
        for members in &self.groups {
            reference.create_group(members);
        }
        Judge::new(reference)
    }

    /// Packets that programs must be shown in all.
    pub fn packets(&self) -> u64 {
        self.due.iter().sum()
    }

    /// One rank's part. Returns when it has done all its deeds, all have left for good, and it has
    /// been shown what it was due; or early, when the judge objects to anything. The rank must be
    /// there, and poll, until all ranks are done: they may add to its variables.
    ///
    /// # Errors
    /// What the packet layer says.
    pub fn run(&self, packets: &Packets, judge: &Arc<Judge>) -> Result<(), Error> {
        let rank = packets.rank();
        let mut groups = vec![Group::ALL];
        let seen = Arc::new(Mutex::new(Seen::default()));
        self.watch(packets, judge, &seen);
        let forget = || lock(&seen).kept = None;
        for (number, deed) in self.deeds[rank.index()].iter().enumerate() {
            if number == self.late[rank.index()] {
                for members in &self.groups {
                    groups.push(packets.group(members)?);
                }
            }
            forget();
            if judge.objects() {
                return Ok(());
            }
            act(packets, judge, &groups, *deed)?;
        }
        packets.presence().wait(&mut || {
            let progress = packets.poll()?;
            forget();
            let done = lock(&seen).shown == self.due[rank.index()] && packets.is_flushed();
            Ok(match (done || judge.objects(), progress) {
                (true, _) => Step::Done,
                (false, true) => Step::Progress,
                (false, false) => Step::Idle,
            })
        })
    }

    /// Shows every packet to the judge, and keeps every seventh for a while, one at a time: a rank
    /// that waits for a send buffer must not keep all the buffers that others wait for.
    fn watch(&self, packets: &Packets, judge: &Arc<Judge>, seen: &Arc<Mutex<Seen>>) {
        let (rank, judge, seen) = (packets.rank(), Arc::clone(judge), Arc::clone(seen));
        packets.on_packet(move |packet| {
            let stream = match packet.group() {
                None => Stream::To(rank),
                Some(group) => Stream::Group(weft_model::packets::GroupId(group.number())),
            };
            judge.ask(|reference| reference.shows_bytes(rank, packet.source(), stream, &packet));
            let mut seen = lock(&seen);
            seen.shown += 1;
            if seen.shown % 7 == 0 && seen.kept.is_none() {
                seen.kept = packet.keep();
            }
        });
    }
}

/// Packets that a rank has seen.
#[derive(Default)]
struct Seen {
    shown: u64,
    kept: Option<KeptPacket>,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn act(packets: &Packets, judge: &Judge, groups: &[Group], deed: Deed) -> Result<(), Error> {
    let rank = packets.rank();
    match deed {
        Deed::Unicast(to) => {
            let mut packet = packets.packet()?;
            packet.put(&sends(judge, rank, Stream::To(to)))?;
            packet.unicast(to)
        }
        Deed::Multicast(group) => {
            let mut packet = packets.packet()?;
            packet.put(&sends(judge, rank, Stream::Group(group_id(group))))?;
            packet.multicast(groups[group])
        }
        Deed::Atomic(home, index, operation) => {
            judge.with(|reference| reference.asks(rank, home, index, operation));
            let value = packets.atomic(Variable::new(home, index), operation)?;
            judge.ask(|reference| reference.answers(rank, value));
            Ok(())
        }
        Deed::Compute(operations) => {
            packets.work(operations);
            Ok(())
        }
        Deed::Poll(often) => {
            for _ in 0..often {
                packets.poll()?;
            }
            Ok(())
        }
    }
}

/// Tells the judge of a send at the moment of the send, and returns what the packet has to say.
fn sends(judge: &Judge, origin: Rank, stream: Stream) -> Vec<u8> {
    judge.with(|reference| {
        let name = reference.sends(origin, stream);
        reference.bytes(name)
    })
}

fn group_id(number: usize) -> weft_model::packets::GroupId {
    weft_model::packets::GroupId(u16::try_from(number).unwrap_or(u16::MAX))
}
