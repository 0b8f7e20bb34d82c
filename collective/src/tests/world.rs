//! Ranks in one vector, packets in queues between them, and the results of operations by their
//! definitions.

use crate::*;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use weft_endpoint::Group;
use weft_model::random::Random;

/// Bytes of the memory of one operation.
#[derive(Debug, Clone)]
pub struct Buffers {
    mine: Vec<u8>,
    /// `None`: in the place of Mine.
    result: Option<Vec<u8>>,
    /// Bytes of Mine for each member, where they vary.
    parts: Vec<Range<usize>>,
    /// Room in Result for the part of each, where that is known.
    rooms: Vec<Range<usize>>,
}

impl Buffers {
    pub fn new(mine: Vec<u8>, result: usize, in_place: bool) -> Self {
        let result = if in_place && mine.len() == result { None } else { Some(vec![0; result]) };
        Buffers { mine, result, parts: Vec::new(), rooms: Vec::new() }
    }

    /// Parts of `mine`, one for each member.
    pub fn of_parts(mine: Vec<u8>, parts: Vec<Range<usize>>) -> Self {
        Buffers { mine, result: Some(Vec::new()), parts, rooms: Vec::new() }
    }

    /// These parts, with room for others of these lengths, one after the other.
    pub fn with_rooms(self, lengths: impl Iterator<Item = usize>) -> Self {
        let rooms = one_after_the_other(lengths);
        let result = vec![0; rooms.last().map_or(0, |last| last.end)];
        Buffers { result: Some(result), rooms, ..self }
    }

    pub fn result(&self) -> &[u8] {
        self.result.as_deref().unwrap_or(&self.mine)
    }
}

impl OperationMemory for Buffers {
    fn read(&self, area: schedule::Area, at: usize, length: usize, take: &mut dyn FnMut(&[u8])) {
        let bytes = match area {
            schedule::Area::Mine => &self.mine,
            _ => self.result(),
        };
        // In two pieces, as from an I/O vector of elements.
        let (one, two) = bytes[at..at + length].split_at(length / 4 * 2);
        take(one);
        take(two);
    }

    fn write(&mut self, at: usize, bytes: &[u8]) {
        let result = self.result.as_mut().unwrap_or(&mut self.mine);
        result[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn copy(&mut self, from: usize, length: usize, at: usize) {
        let bytes = self.mine[from..from + length].to_vec();
        self.write(at, &bytes);
    }

    fn part(&self, member: usize) -> Range<usize> {
        self.parts[member].clone()
    }

    fn room(&self, member: usize) -> Option<Range<usize>> {
        self.rooms.get(member).cloned()
    }
}

/// The packets of one rank to each other one.
struct Wires<'a> {
    to: &'a mut [VecDeque<Vec<u8>>],
    members: &'a [Rank],
    own: Rank,
    room: usize,
    payload: usize,
}

impl Transport for Wires<'_> {
    type Error = ();

    fn payload(&self) -> usize {
        self.payload
    }

    fn multicast_payload(&self) -> usize {
        self.payload - 3
    }

    fn packets_at_once(&self) -> usize {
        5
    }

    fn send(&mut self, to: Rank, head: &[u8], body: &TransferBody<'_>) -> Result<bool, ()> {
        let wire = &mut self.to[to.index()];
        if wire.len() >= self.room {
            return Ok(false);
        }
        let mut packet = head.to_vec();
        body.read(0, body.len(), &mut |bytes| packet.extend_from_slice(bytes));
        assert_eq!(packet.len(), head.len() + body.len());
        assert!(packet.len() <= self.payload, "a packet is as long as there is room for");
        wire.push_back(packet);
        Ok(true)
    }

    fn multicast(&mut self, _: Group, head: &[u8], body: &TransferBody<'_>) -> Result<bool, ()> {
        let others: Vec<Rank> = self.members.iter().copied().filter(|&it| it != self.own).collect();
        if others.iter().any(|to| self.to[to.index()].len() >= self.room) {
            return Ok(false);
        }
        for to in others {
            assert_eq!(self.send(to, head, body), Ok(true), "there is room");
        }
        Ok(true)
    }
}

/// Combines elements that are functions `x -> a x + b` of bytes: that is associative, and does not
/// commute.
pub fn combine(before: &[u8], after: &mut [u8]) {
    for (one, two) in before.chunks_exact(2).zip(after.chunks_exact_mut(2)) {
        let (a, b) =
            (two[0].wrapping_mul(one[0]), two[0].wrapping_mul(one[1]).wrapping_add(two[1]));
        two.copy_from_slice(&[a, b]);
    }
}

/// The contribution of a member to an operation, different from all others.
pub fn contribution(salt: u64, member: usize, length: usize) -> Vec<u8> {
    let first = (salt * 131 + member as u64 * 7 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..length as u64).map(|at| ((first >> (at % 50)) ^ (at * 3)) as u8).collect()
}

/// Bytes of Mine that a member has for each, where they vary: nothing, a little, or much.
fn parts(call: &OperationCall, salt: u64, me: usize, size: usize) -> Vec<Range<usize>> {
    let whole = |of: usize| call.count * ((salt as usize + of) % 4) / 2 * call.size;
    let lengths: Vec<usize> = match call.operation {
        Operation::GatherVaried | Operation::AllGatherVaried => return vec![0..whole(me); size],
        Operation::ScatterVaried if me != call.root => vec![0; size],
        Operation::ScatterVaried => (0..size).map(whole).collect(),
        Operation::AllToAllVaried => (0..size).map(|to| whole(3 * me + to)).collect(),
        _ => Vec::new(),
    };
    one_after_the_other(lengths.into_iter())
}

fn one_after_the_other(lengths: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut start = 0;
    let after = |length| {
        start += length;
        start - length..start
    };
    lengths.map(after).collect()
}

/// The part of what a member brings that is for another.
fn given(call: &OperationCall, salt: u64, (from, to): (usize, usize), size: usize) -> Vec<u8> {
    let parts = parts(call, salt, from, size);
    let all = parts.last().map_or(0, |last| last.end);
    contribution(salt, from, all)[parts[to].clone()].to_vec()
}

/// Bytes that a member brings and room for its result.
fn lengths(call: &OperationCall, salt: u64, me: usize, size: usize) -> (usize, usize) {
    let (bytes, is_root) = (call.bytes(), me == call.root);
    match call.operation {
        Operation::Barrier => (0, 0),
        Operation::Broadcast => (bytes, bytes),
        Operation::Reduce | Operation::AllReduce | Operation::AllToAll => (bytes, bytes),
        Operation::Scan | Operation::ExclusiveScan => (bytes, bytes),
        Operation::ReduceScatter => (bytes, call.share(me, size).len()),
        Operation::Gather => (bytes, if is_root { bytes * size } else { 0 }),
        Operation::Scatter => (if is_root { bytes * size } else { 0 }, bytes),
        Operation::AllGather | Operation::Split => (bytes, bytes * size),
        Operation::GatherVaried
        | Operation::ScatterVaried
        | Operation::AllGatherVaried
        | Operation::AllToAllVaried => {
            (parts(call, salt, me, size).last().map_or(0, |last| last.end), 0)
        }
    }
}

/// The result of a member by the definition; `None` where it has none.
fn expected(call: &OperationCall, salt: u64, me: usize, size: usize) -> Option<Vec<u8>> {
    let brings = |member| contribution(salt, member, lengths(call, salt, member, size).0);
    let everyones = || (0..size).flat_map(brings).collect::<Vec<u8>>();
    let combined_of = |members: Range<usize>| {
        let mut all = brings(members.end - 1);
        members.rev().skip(1).for_each(|member| combine(&brings(member), &mut all));
        all
    };
    let combined = || combined_of(0..size);
    let all_given = || (0..size).flat_map(|from| given(call, salt, (from, me), size)).collect();
    let is_root = me == call.root;
    match call.operation {
        Operation::Barrier => Some(Vec::new()),
        Operation::Broadcast if is_root => None,
        Operation::Broadcast => Some(brings(call.root)),
        Operation::Reduce => is_root.then(combined),
        Operation::AllReduce => Some(combined()),
        Operation::ReduceScatter => Some(combined()[call.share(me, size)].to_vec()),
        Operation::Gather => is_root.then(everyones),
        Operation::GatherVaried => is_root.then(all_given),
        Operation::Scatter => {
            let bytes = call.bytes();
            Some(brings(call.root)[me * bytes..][..bytes].to_vec())
        }
        Operation::AllGather | Operation::Split => Some(everyones()),
        Operation::ScatterVaried => Some(given(call, salt, (call.root, me), size)),
        Operation::AllGatherVaried | Operation::AllToAllVaried => Some(all_given()),
        Operation::Scan => Some(combined_of(0..me + 1)),
        Operation::ExclusiveScan => (me > 0).then(|| combined_of(0..me)),
        Operation::AllToAll => {
            let part = call.bytes() / size;
            let of = |from| brings(from)[part * me..][..part].to_vec();
            Some((0..size).flat_map(of).collect())
        }
    }
}

/// Size of a job, its tuning, and the limits of the network between its ranks.
pub struct Setting {
    pub ranks: usize,
    pub tuning: Tuning,
    pub payload: usize,
    /// Packets of a rank to another that may be on their way.
    pub room: usize,
    /// True if teams have multicast groups.
    pub groups: bool,
}

pub struct World {
    pub setting: Setting,
    pub ranks: Vec<Teams<Buffers, Vec<u8>>>,
    /// By sender and receiver.
    wires: Vec<Vec<VecDeque<Vec<u8>>>>,
    teams: BTreeMap<TeamId, Vec<Rank>>,
}

impl World {
    pub fn new(setting: Setting) -> Self {
        let teams = |rank| Teams::new(Rank(rank as u16), setting.tuning, 2);
        World {
            ranks: (0..setting.ranks).map(teams).collect(),
            wires: vec![vec![VecDeque::new(); setting.ranks]; setting.ranks],
            teams: BTreeMap::new(),
            setting,
        }
    }

    pub fn open(&mut self, at: usize, id: TeamId, members: &[Rank]) {
        self.teams.insert(id, members.to_vec());
        let group = self.setting.groups.then_some(Group::ALL);
        let members = Members::subset(members, Rank(at as u16), group).unwrap();
        assert_eq!(self.ranks[at].open(id, members), Ok(true));
    }

    /// A packet from one rank to another arrives. True if there was one.
    pub fn arrive(&mut self, from: usize, at: usize) -> bool {
        let Some(packet) = self.wires[from][at].pop_front() else { return false };
        let outcome = self.ranks[at].arrive(Rank(from as u16), &packet[..]);
        assert!(
            matches!(outcome, Ok(PacketEffect::None | PacketEffect::Resume(..))),
            "{outcome:?}"
        );
        true
    }

    pub fn transmit(&mut self, at: usize) {
        let setting = &self.setting;
        let everybody: Vec<Rank> = (0..setting.ranks as u16).map(Rank).collect();
        let members = if setting.groups { self.teams.values().next() } else { None };
        let mut wires = Wires {
            to: &mut self.wires[at],
            members: members.unwrap_or(&everybody),
            own: Rank(at as u16),
            room: setting.room,
            payload: setting.payload,
        };
        self.ranks[at].transmit(&mut wires).unwrap();
    }

    /// Goes on with an operation in one of the two ways that transports have. Returns its memory if
    /// it is over.
    pub fn drive(&mut self, at: usize, id: TeamId, number: u32, out: bool) -> Option<Done> {
        let setting = &self.setting;
        let mut wires = Wires {
            to: &mut self.wires[at],
            members: &self.teams[&id],
            own: Rank(at as u16),
            room: setting.room,
            payload: setting.payload,
        };
        let teams = &mut self.ranks[at];
        if !out && teams.drive(id, number, &mut wires).unwrap() == Stage::Waiting {
            return None;
        }
        let mut job = teams.take(id, number)?;
        loop {
            match job.advance(&mut wires).unwrap() {
                Stage::Combine => job.run.combine(&job.memory, combine),
                Stage::Waiting => break,
                Stage::Done => {
                    teams.end(id, number);
                    return Some(Done { blocks: job.run.take_blocks(), memory: job.memory });
                }
            }
        }
        assert!(matches!(teams.put(id, number, job), Parked::Parked));
        None
    }
}

pub struct Done {
    memory: Buffers,
    blocks: Vec<Vec<u8>>,
}

/// A team, and what each of its members has begun and ended.
pub struct Actors {
    pub id: TeamId,
    pub members: Vec<Rank>,
    calls: Vec<OperationCall>,
    /// By member: operations begun, with which call it was, and those that go on.
    begun: Vec<usize>,
    going: Vec<Vec<(u32, usize)>>,
    at_once: usize,
}

impl Actors {
    pub fn new(id: TeamId, members: Vec<Rank>, calls: Vec<OperationCall>, at_once: usize) -> Self {
        let size = members.len();
        let (begun, going) = (vec![0; size], vec![Vec::new(); size]);
        Actors { id, members, calls, begun, going, at_once }
    }

    pub fn is_over(&self) -> bool {
        let begun = self.begun.iter().all(|&begun| begun == self.calls.len());
        begun && self.going.iter().all(Vec::is_empty)
    }

    /// One step of one member.
    pub fn step(&mut self, world: &mut World, me: usize, random: &mut Random) {
        let (at, size) = (self.members[me].index(), self.members.len());
        if world.ranks[at].members(self.id).is_none() {
            return world.open(at, self.id, &self.members);
        }
        let may_begin = self.begun[me] < self.calls.len() && self.going[me].len() < self.at_once;
        if may_begin && (self.going[me].is_empty() || random.below(2) == 0) {
            return self.begin(world, me, random.below(2) == 0);
        }
        if self.going[me].is_empty() {
            return;
        }
        let which = random.below(self.going[me].len() as u64) as usize;
        let (number, index) = self.going[me][which];
        let Some(done) = world.drive(at, self.id, number, random.below(2) == 0) else { return };
        self.going[me].swap_remove(which);
        if index == usize::MAX {
            return;
        }
        let (call, salt) = (&self.calls[index], index as u64);
        let result = match call.operation {
            operation if operation.is_varied() => {
                let Buffers { rooms, .. } = &done.memory;
                let placed = |room: &Range<usize>| done.memory.result()[room.clone()].to_vec();
                let mut blocks = match rooms.is_empty() {
                    true => done.blocks,
                    false => rooms.iter().map(placed).collect(),
                };
                let own = done.memory.mine[done.memory.parts[me].clone()].to_vec();
                if operation != Operation::ScatterVaried || me == call.root {
                    blocks[me] = own;
                }
                blocks.concat()
            }
            _ => done.memory.result().to_vec(),
        };
        if let Some(expected) = expected(call, salt, me, size) {
            assert!(result == expected, "operation {index}, {call:?} at member {me} of {size}");
        }
    }

    fn begin(&mut self, world: &mut World, me: usize, in_place: bool) {
        let (teams, size) = (&mut world.ranks[self.members[me].index()], self.members.len());
        if teams.needs_fence(self.id) {
            let number =
                teams.begin(self.id, &BARRIER, Buffers::new(Vec::new(), 0, false)).unwrap();
            return self.going[me].push((number, usize::MAX));
        }
        let index = self.begun[me];
        let (mut call, salt) = (self.calls[index], index as u64);
        let (mine, result) = lengths(&call, salt, me, size);
        // Whoever knows the others' lengths has room for their parts.
        let knows = in_place && call.operation.is_varied();
        let in_place = in_place && call.operation != Operation::AllToAll;
        let mine = contribution(salt, me, mine);
        let memory = match call.operation.is_varied() {
            true if knows => Buffers::of_parts(mine, parts(&call, salt, me, size))
                .with_rooms((0..size).map(|from| given(&call, salt, (from, me), size).len())),
            true => Buffers::of_parts(mine, parts(&call, salt, me, size)),
            false => Buffers::new(mine, result, in_place),
        };
        if call.operation.is_varied() {
            call.count = 0;
        }
        let number = teams.begin(self.id, &call, memory).unwrap();
        self.going[me].push((number, index));
        self.begun[me] += 1;
    }
}

/// Runs teams until all is over; anything may happen next.
pub fn run(world: &mut World, teams: &mut [Actors], random: &mut Random) {
    let ranks = world.setting.ranks as u64;
    for steps in 0_u64.. {
        if teams.iter().all(Actors::is_over) {
            break;
        }
        let team = &mut teams[random.below(teams.len() as u64) as usize];
        let me = random.below(team.members.len() as u64) as usize;
        team.step(world, me, random);
        for _ in 0..4 {
            let (from, at) = (random.below(ranks), random.below(ranks));
            world.arrive(from as usize, at as usize);
            if !world.setting.groups {
                world.transmit(random.below(ranks) as usize);
            }
        }
        assert!(steps < 20_000_000, "it goes on for ever");
    }
    for (from, at) in
        (0..ranks as usize).flat_map(|from| (0..ranks as usize).map(move |at| (from, at)))
    {
        while world.arrive(from, at) {}
    }
    for teams in &world.ranks {
        assert_eq!(teams.stored(), 0, "all that came is used");
    }
}
