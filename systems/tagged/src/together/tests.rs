//! Members in one vector, several teams of them at once, and a network of queues that is full now and then. What each has at the end is
//! compared with what one would compute who has all.

#![allow(clippy::unwrap_used)]

use super::format::{Says, Signature};
use super::*;
use crate::network::wires::{Memory, Net};
use weft_model::random::Random;

/// The team of all.
const ALL: TeamId = TeamId { leader: Rank(0), count: 0 };

struct World {
    ranks: Vec<Together<Memory, Memory, Vec<u8>>>,
    net: Net,
}

fn memory(bytes: Vec<u8>) -> Memory {
    Memory { number: 0, bytes }
}

impl World {
    fn new(ranks: usize, payload: usize, room: usize) -> Self {
        World {
            ranks: (0..ranks).map(|rank| Together::new(Rank(rank as u16), ranks, 2)).collect(),
            net: Net::new(ranks, payload, room),
        }
    }

    /// A world of so many ranks who all are in team 0.
    fn with_all(ranks: usize) -> Self {
        let mut world = World::new(ranks, 70_000, usize::MAX);
        let members: Vec<usize> = (0..ranks).collect();
        (0..ranks).for_each(|at| world.open(at, ALL, &members));
        world
    }

    fn open(&mut self, at: usize, team: TeamId, members: &[usize]) {
        assert_eq!(self.ranks[at].open(team, &ranks_of(members)), Ok(true));
    }

    fn begin(&mut self, at: usize, team: TeamId, movement: Movement, source: Vec<u8>, room: usize) {
        let (source, into) = (memory(source), memory(vec![0; room]));
        let network = &mut self.net.of(at);
        assert_eq!(self.ranks[at].begin(network, team, movement, source, into), Ok(true));
    }

    fn arrive(&mut self, from: usize, at: usize) -> Result<bool> {
        let Some(packet) = self.net.take(from, at) else { return Ok(false) };
        if from != at {
            assert!(is_together(&packet));
            self.ranks[at].arrive(Rank(from as u16), &packet[..])?;
        }
        Ok(true)
    }

    fn leave(&mut self, at: usize) -> bool {
        self.ranks[at].leave(&mut self.net.of(at)).unwrap()
    }

    fn take(&mut self, at: usize, team: TeamId) -> Option<Vec<u8>> {
        self.ranks[at].take(team).map(|(_, into)| into.bytes)
    }

    /// Until nothing moves any more.
    fn settle(&mut self) {
        loop {
            let mut any = false;
            for at in 0..self.ranks.len() {
                any |= (0..self.ranks.len()).any(|from| self.arrive(from, at).unwrap());
                any |= self.leave(at);
            }
            if !any {
                return;
            }
        }
    }
}

fn ranks_of(members: &[usize]) -> Vec<Rank> {
    members.iter().map(|&rank| Rank(rank as u16)).collect()
}

/// What a member has in one movement, which tells it from all others.
fn bytes_of(team: TeamId, number: usize, member: usize, length: u64) -> Vec<u8> {
    let salt = team.count as usize * 131 + number * 31 + member * 7;
    (0..length as usize).map(|place| (place * 5 + salt + place / 251) as u8).collect()
}

/// What a movement takes from a member, and the bytes that come to it, by the definition.
fn expected(
    movement: Movement,
    (team, number): (TeamId, usize),
    me: usize,
    size: usize,
) -> (Vec<u8>, Vec<u8>) {
    let has = |member: usize| {
        let length = match movement {
            Movement::Broadcast { root, bytes } if root == member => bytes,
            Movement::Broadcast { .. } => 0,
            Movement::Gather { shares, .. } | Movement::Spread { shares } => {
                shares.of(member, size).1
            }
            Movement::Swap { shares } => shares.elements * shares.size,
        };
        bytes_of(team, number, member, length)
    };
    // Where nothing comes from, zeros stay: a member's own share, too.
    let came = |from: usize| if from == me { vec![0; has(from).len()] } else { has(from) };
    let all = || (0..size).flat_map(came).collect();
    let comes = match movement {
        Movement::Broadcast { root, .. } if root == me => Vec::new(),
        Movement::Broadcast { root, .. } => has(root),
        Movement::Gather { root, .. } if root != me => Vec::new(),
        Movement::Gather { .. } | Movement::Spread { .. } => all(),
        Movement::Swap { shares } => {
            let (start, length) = shares.of(me, size);
            let part = start as usize..(start + length) as usize;
            (0..size).flat_map(|from| came(from)[part.clone()].to_vec()).collect()
        }
    };
    (has(me), comes)
}

fn any_movement(random: &mut Random, size: usize) -> Movement {
    let lengths = [0, 1, 3, 100, 999, 5000, 65_536, 70_000];
    let elements = lengths[random.below(lengths.len() as u64) as usize];
    let root = random.below(size as u64) as usize;
    let shares = Shares { elements: elements / 8, size: [1, 4, 8][random.below(3) as usize] };
    match random.below(4) {
        0 => Movement::Broadcast { root, bytes: elements },
        1 => Movement::Gather { root, shares },
        2 => Movement::Spread { shares },
        _ => Movement::Swap { shares },
    }
}

/// A team in the storm: its members, and what each of them has begun and ended.
struct Storm {
    team: TeamId,
    members: Vec<usize>,
    /// What all begin; whether it is there for its result, and not to meet.
    movements: Vec<Movement>,
    opened: Vec<bool>,
    ended: Vec<usize>,
    is_busy: Vec<bool>,
}

impl Storm {
    fn new(random: &mut Random, count: u32, ranks: usize) -> Self {
        let mut members: Vec<usize> = (0..ranks).collect();
        for place in (1..ranks).rev() {
            members.swap(place, random.below(place as u64 + 1) as usize);
        }
        if count > 0 {
            members.truncate(1 + random.below(ranks as u64) as usize);
        }
        let team = TeamId { leader: Rank(members[0] as u16), count };
        let size = members.len();
        let movements = (0..70).map(|_| any_movement(random, size)).collect();
        let (opened, ended, is_busy) = (vec![false; size], vec![0; size], vec![false; size]);
        Storm { team, members, movements, opened, ended, is_busy }
    }

    /// One step of one member; whether it could do something.
    fn step(&mut self, world: &mut World, me: usize) {
        let (at, size) = (self.members[me], self.members.len());
        if !self.opened[me] {
            world.open(at, self.team, &self.members);
            self.opened[me] = true;
            return;
        }
        if self.is_busy[me] {
            let (_, comes) =
                expected(self.movements[self.ended[me]], (self.team, self.ended[me]), me, size);
            if let Some(came) = world.take(at, self.team) {
                assert_eq!(came, comes, "member {me} of {:?}", self.team);
                self.is_busy[me] = false;
                self.ended[me] += 1;
            }
            return;
        }
        let number = self.ended[me];
        if number < self.movements.len() {
            if world.ranks[at].must_meet(self.team) {
                // All see that at the same place.
                let none = Shares { elements: 0, size: 1 };
                let meeting = [
                    Movement::Gather { root: 0, shares: none },
                    Movement::Broadcast { root: 0, bytes: 0 },
                ];
                if self.movements.get(number..number + 2) != Some(&meeting[..]) {
                    assert_eq!(self.ended.iter().max(), Some(&number), "the first who gets there");
                    self.movements.splice(number..number, meeting);
                }
            }
            let movement = self.movements[number];
            let (has, comes) = expected(movement, (self.team, number), me, size);
            world.begin(at, self.team, movement, has, comes.len());
            self.is_busy[me] = true;
        }
    }

    fn is_over(&self) -> bool {
        self.ended.iter().all(|&ended| ended == self.movements.len())
    }
}

#[test]
fn storms_of_teams_move_what_the_definitions_say() {
    for seed in 0..5 {
        let mut random = Random::new(seed);
        let ranks = 1 + random.below(5) as usize;
        let payload = [1000, 9000, 70_000][random.below(3) as usize];
        let room = 1 + random.below(6) as usize;
        let mut world = World::new(ranks, payload, room);
        let mut teams: Vec<Storm> =
            (0..3).map(|count| Storm::new(&mut random, count, ranks)).collect();
        let mut steps = 0_u64;
        while !teams.iter().all(Storm::is_over) {
            let team = &mut teams[random.below(3) as usize];
            let me = random.below(team.members.len() as u64) as usize;
            team.step(&mut world, me);
            for _ in 0..4 {
                let (from, at) = (random.below(ranks as u64), random.below(ranks as u64));
                world.arrive(from as usize, at as usize).unwrap();
                world.leave(random.below(ranks as u64) as usize);
            }
            steps += 1;
            assert!(steps < 50_000_000, "seed {seed}: it goes on");
        }
        world.settle();
        for (rank, together) in world.ranks.iter_mut().enumerate() {
            assert!(!together.has_to_leave() && together.unopened.is_empty());
            for team in &teams {
                assert_eq!(together.close(team.team), team.members.contains(&rank));
            }
        }
    }
}

#[test]
fn nobody_gets_further_ahead_than_it_may() {
    let mut world = World::with_all(2);
    let movement = Movement::Broadcast { root: 0, bytes: EAGER_BYTES };
    for number in 0..AHEAD {
        assert!(!world.ranks[0].must_meet(ALL), "movement {number}");
        world.begin(0, ALL, movement, vec![number as u8; EAGER_BYTES as usize], 0);
        assert!(world.take(0, ALL).is_some());
    }
    assert!(world.ranks[0].must_meet(ALL));
    world.settle();
    // The other has stored all of it, and finds it in order.
    for number in 0..AHEAD {
        world.begin(1, ALL, movement, Vec::new(), EAGER_BYTES as usize);
        assert_eq!(world.take(1, ALL), Some(vec![number as u8; EAGER_BYTES as usize]));
    }
    assert!(world.ranks[1].must_meet(ALL));
    let none = Shares { elements: 0, size: 1 };
    for at in [1, 0] {
        world.begin(at, ALL, Movement::Gather { root: 0, shares: none }, Vec::new(), 0);
    }
    world.settle();
    for at in [1, 0] {
        assert!(world.take(at, ALL).is_some());
        world.begin(at, ALL, Movement::Broadcast { root: 0, bytes: 0 }, Vec::new(), 0);
        assert!(!world.ranks[at].must_meet(ALL));
    }
}

#[test]
fn long_ones_wait_until_all_are_ready() {
    let mut world = World::with_all(3);
    let movement = Movement::Broadcast { root: 0, bytes: 80_000 };
    world.begin(0, ALL, movement, vec![7; 80_000], 0);
    world.begin(1, ALL, movement, Vec::new(), 80_000);
    world.settle();
    assert_eq!(world.take(1, ALL), None);
    world.begin(2, ALL, movement, Vec::new(), 80_000);
    world.settle();
    assert_eq!(world.take(1, ALL), Some(vec![7; 80_000]));
    assert_eq!(world.take(2, ALL), Some(vec![7; 80_000]));
    assert!(world.take(0, ALL).is_some());
}

#[test]
fn what_cannot_be_is_refused() {
    let mut world = World::with_all(2);
    let one = &mut world.ranks[0];
    let named = |leader, count| TeamId { leader: Rank(leader), count };
    assert_eq!(one.name(), named(0, 0));
    assert_eq!(one.name(), named(0, 1));
    assert_eq!(one.open(ALL, &ranks_of(&[0, 1])), Ok(false), "one that is open");
    assert_eq!(one.open(named(1, 5), &ranks_of(&[0, 1])), Ok(false), "another leader");
    assert_eq!(one.open(named(1, 5), &ranks_of(&[1])), Ok(false), "of others");
    assert_eq!(one.open(named(0, 5), &ranks_of(&[0, 1, 1])), Ok(false), "a rank twice");
    assert_eq!(one.open(named(0, 5), &ranks_of(&[0, 2])), Ok(false), "no rank of the job");
    let mut wires = world.net.of(0);
    let (none, movement) = (memory(Vec::new()), Movement::Broadcast { root: 2, bytes: 0 });
    assert_eq!(one.begin(&mut wires, ALL, movement, none.clone(), none.clone()), Ok(false));
    let movement = Movement::Broadcast { root: 1, bytes: 3 };
    assert_eq!(one.begin(&mut wires, named(0, 9), movement, none.clone(), none.clone()), Ok(false));
    assert_eq!(one.begin(&mut wires, ALL, movement, none.clone(), none.clone()), Ok(true));
    assert_eq!(one.begin(&mut wires, ALL, movement, none.clone(), none), Ok(false), "one goes on");
    assert_eq!(world.net.take(0, 1), None, "nothing was sent");
}

/// What rank 0 of two says of a packet of rank 1, which awaits 3 bytes of it.
fn hears(
    count: u32,
    number: u64,
    operation: Operation,
    bytes: u64,
    piece: Option<&[u8]>,
) -> Result<()> {
    let mut world = World::with_all(2);
    world.begin(0, ALL, Movement::Broadcast { root: 1, bytes: 3 }, Vec::new(), 3);
    let signature = Signature { operation, detail: 1, bytes };
    let says = Says { team: TeamId { count, ..ALL }, number, signature, piece };
    let mut packet = says.head().bytes().to_vec();
    packet.extend_from_slice(piece.unwrap_or_default());
    let once = world.ranks[0].arrive(Rank(1), &packet[..]);
    if once.is_ok() && number > 0 {
        // What may be said once may not be said for ever.
        let again =
            (0..EAGER_BYTES).find_map(|_| world.ranks[0].arrive(Rank(1), &packet[..]).err());
        assert!(matches!(again, Some(Error::Violation { from: Rank(1), .. })), "{again:?}");
    }
    once
}

#[test]
fn hostile_packets_are_refused() {
    use Operation::{Broadcast, Gather};
    assert_eq!(hears(0, 0, Broadcast, 3, Some(&[1, 2, 3])), Ok(()));
    assert_eq!(hears(0, 0, Broadcast, 3, Some(&[1])), Ok(()));
    assert_eq!(hears(0, 1, Gather, 3, Some(&[1])), Ok(()), "of the next");
    assert_eq!(hears(7, 1, Gather, 3, None), Ok(()), "of a team that is not open");
    let refused = |outcome: Result<()>, what: &str| {
        let Err(Error::Violation { from: Rank(1), what: said }) = outcome else {
            panic!("{outcome:?} where {what} was expected");
        };
        assert!(said.contains(what), "{said}");
    };
    refused(hears(0, 0, Broadcast, 3, Some(&[1, 2, 3, 4])), "more of");
    refused(hears(0, 0, Broadcast, 3, Some(&[])), "more of");
    refused(hears(0, 0, Broadcast, 4, Some(&[1])), "members call different ones");
    refused(hears(0, 0, Gather, 3, Some(&[1])), "members call different ones");
    refused(hears(0, 0, Broadcast, 3, None), "ready for what does not come");
    refused(hears(0, MOST_AHEAD + 2, Broadcast, 3, None), "further ahead");
    let long = vec![0; EAGER_BYTES as usize + 1];
    refused(hears(0, 1, Broadcast, 3, Some(&long)), "unasked");
    let mut world = World::with_all(2);
    refused(world.ranks[0].arrive(Rank(1), &[24; 9][..]), "none");
    for count in 1..=MOST_UNOPENED as u32 + 1 {
        let signature = Signature { operation: Broadcast, detail: 0, bytes: 0 };
        let says = Says { team: TeamId { count, ..ALL }, number: 0, signature, piece: None };
        let outcome = world.ranks[0].arrive(Rank(1), says.head().bytes());
        match count as usize > MOST_UNOPENED {
            true => refused(outcome, "more teams"),
            false => assert_eq!(outcome, Ok(())),
        }
    }
}
