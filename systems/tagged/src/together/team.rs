//! One team at one of its members.

use super::early::Early;
use super::format::{Operation, Says, Signature};
use super::{AHEAD, EAGER_BYTES, Movement, Shares, TeamId};
use crate::network::{Broadcast, Sink, Source};
use crate::{Error, Result};
use std::collections::{BTreeMap, VecDeque};
use weft_packet::Rank;

/// Packets that leave before the next look at what has arrived.
const PACKETS_AT_ONCE: usize = 8;
pub(super) const DISAGREES: &str = "a part of another collective operation than this rank has begun: members call different ones, or with different sizes or roots";

/// A team.
#[derive(Debug)]
pub struct Team<S, D, K> {
    members: Box<[Rank]>,
    places: BTreeMap<Rank, usize>,
    me: usize,
    /// Whether it is the whole job, so that what goes to all others can be multicast.
    is_job: bool,
    /// The next movement's.
    number: u64,
    /// Movements that were begun since all others were known to have begun one.
    unheard: u64,
    /// Where the movement before has gathered, if it has.
    gathered: Option<usize>,
    current: Option<Current<S, D>>,
    /// What has come of movements that are not begun here, by member.
    early: Vec<Early<K>>,
    /// Packets that have left.
    sent: u64,
}

/// A movement that was begun.
#[derive(Debug)]
struct Current<S, D> {
    number: u64,
    signature: Signature,
    source: S,
    into: D,
    /// Members who wait to hear that this one is ready.
    to_tell: VecDeque<usize>,
    outgoing: VecDeque<Outgoing>,
    incoming: Vec<Option<Incoming>>,
    /// Of those, how many have not all come.
    awaited: usize,
    /// Members who are ready, and how many.
    ready: Vec<bool>,
    readies: usize,
}

#[derive(Clone, Copy, Debug)]
enum To {
    Member(usize),
    Others,
}

/// Bytes that go to one member or to all others.
#[derive(Clone, Copy, Debug)]
struct Outgoing {
    to: To,
    at: u64,
    length: u64,
    went: u64,
}

/// Bytes that come from one member.
#[derive(Clone, Copy, Debug)]
struct Incoming {
    at: u64,
    length: u64,
    came: u64,
    all: bool,
}

impl Movement {
    fn signature(&self) -> Signature {
        let whole = |operation, detail: u64, Shares { elements, size }: Shares| Signature {
            operation,
            detail: detail as u16,
            bytes: elements.saturating_mul(size),
        };
        match *self {
            Movement::Broadcast { root, bytes } => {
                Signature { operation: Operation::Broadcast, detail: root as u16, bytes }
            }
            Movement::Gather { root, shares } => whole(Operation::Gather, root as u64, shares),
            Movement::Spread { shares } => whole(Operation::Spread, shares.size, shares),
            Movement::Swap { shares } => whole(Operation::Swap, shares.size, shares),
        }
    }

    fn root(&self) -> Option<usize> {
        match *self {
            Movement::Broadcast { root, .. } | Movement::Gather { root, .. } => Some(root),
            Movement::Spread { .. } | Movement::Swap { .. } => None,
        }
    }

    /// What comes from `from` to `me`, another member, and where it begins there.
    fn incoming(&self, from: usize, me: usize, size: usize) -> Option<(u64, u64)> {
        match *self {
            Movement::Broadcast { root, bytes } => (from == root).then_some((0, bytes)),
            Movement::Gather { root, shares } => (me == root).then(|| shares.of(from, size)),
            Movement::Spread { shares } => Some(shares.of(from, size)),
            Movement::Swap { shares } => {
                let (_, length) = shares.of(me, size);
                Some((length * from as u64, length))
            }
        }
    }

    /// What goes from `me` to all others, or else to `to`: from where, and how much.
    fn outgoing(&self, me: usize, to: Option<usize>, size: usize) -> Option<(u64, u64)> {
        match (*self, to) {
            (Movement::Broadcast { root, bytes }, None) => (me == root).then_some((0, bytes)),
            (Movement::Spread { shares }, None) => Some((0, shares.of(me, size).1)),
            (Movement::Gather { root, shares }, Some(to)) => {
                (to == root).then(|| (0, shares.of(me, size).1))
            }
            (Movement::Swap { shares }, Some(to)) => Some(shares.of(to, size)),
            _ => None,
        }
    }
}

impl<S: Source, D: Sink, K: AsRef<[u8]>> Team<S, D, K> {
    /// Of these members in a job of `ranks`, one of them `rank`; `None` if that cannot be.
    pub fn new(members: &[Rank], rank: Rank, ranks: usize) -> Option<Self> {
        let places: BTreeMap<Rank, usize> =
            members.iter().enumerate().map(|(place, rank)| (*rank, place)).collect();
        let me = *places.get(&rank)?;
        let fits = places.len() == members.len() && members.iter().all(|it| it.index() < ranks);
        fits.then(|| Team {
            members: members.into(),
            me,
            is_job: members.len() == ranks,
            number: 0,
            unheard: 0,
            gathered: None,
            current: None,
            early: members.iter().map(|_| Early::default()).collect(),
            sent: 0,
            places,
        })
    }

    /// What a member has sent before the team was opened here.
    pub fn adopt(&mut self, from: Rank, early: Early<K>) -> Result<(), &'static str> {
        let place = *self.places.get(&from).ok_or("a part of a team that it is not in")?;
        self.early[place] = early;
        Ok(())
    }

    /// How many members, and which is this one.
    pub fn size(&self) -> (usize, usize) {
        (self.members.len(), self.me)
    }

    pub fn member(&self, member: usize) -> Option<Rank> {
        self.members.get(member).copied()
    }

    /// Bytes that have come for what is not begun here.
    pub fn stored(&self) -> usize {
        self.early.iter().map(Early::stored).sum()
    }

    pub fn must_meet(&self) -> bool {
        self.unheard >= AHEAD
    }

    /// All members have begun all movements so far.
    pub fn met(&mut self) {
        self.unheard = 0;
        self.gathered = None;
    }

    /// Packets that have left.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Begins a movement; false if it cannot be begun.
    pub fn begin(&mut self, movement: Movement, source: S, into: D) -> Result<bool> {
        let (size, me) = self.size();
        if self.current.is_some() || movement.root().is_some_and(|root| root >= size) {
            return Ok(false);
        }
        let incoming: Vec<_> = (0..size)
            .map(|from| (from != me).then(|| movement.incoming(from, me, size)).flatten())
            .map(|it| it.map(|(at, length)| Incoming { at, length, came: 0, all: false }))
            .collect();
        let is_long = |it: &Option<Incoming>| it.is_some_and(|it| it.length > EAGER_BYTES);
        let mut current = Current {
            number: self.number,
            signature: movement.signature(),
            source,
            into,
            to_tell: (0..size).filter(|&from| is_long(&incoming[from])).collect(),
            outgoing: self.outgoing(&movement),
            awaited: incoming.iter().flatten().count(),
            incoming,
            ready: vec![false; size],
            readies: 0,
        };
        self.number += 1;
        self.count(&movement);
        for (place, early) in self.early.iter_mut().enumerate() {
            let came = early.next(|signature, piece| current.came(place, signature, piece));
            let from = self.members[place];
            came.map_err(|what| Error::Violation { from, what })?;
        }
        self.current = Some(current);
        Ok(true)
    }

    /// What goes out, beginning behind this member, so that not all send to the same one at once.
    fn outgoing(&self, movement: &Movement) -> VecDeque<Outgoing> {
        let (size, me) = self.size();
        let others = || (1..size).map(move |distance| (me + distance) % size);
        let to_all = movement.outgoing(me, None, size);
        let piece = |to, (at, length)| Outgoing { to, at, length, went: 0 };
        match to_all {
            Some(_) if size == 1 => VecDeque::new(),
            Some(bytes) if self.is_job => VecDeque::from([piece(To::Others, bytes)]),
            Some(bytes) => others().map(|to| piece(To::Member(to), bytes)).collect(),
            None => others()
                .filter_map(|to| {
                    Some(piece(To::Member(to), movement.outgoing(me, Some(to), size)?))
                })
                .collect(),
        }
    }

    /// Counts movements that this member may end without having heard of all others. All count alike.
    fn count(&mut self, movement: &Movement) {
        let gathered = self.gathered.take();
        self.unheard += 1;
        match *movement {
            Movement::Spread { .. } | Movement::Swap { .. } => self.unheard = 0,
            Movement::Broadcast { root, .. } if gathered == Some(root) => self.unheard = 0,
            Movement::Gather { root, .. } => self.gathered = Some(root),
            Movement::Broadcast { .. } => {}
        }
    }

    /// What the movement used, if it has ended.
    pub fn take(&mut self) -> Option<(S, D)> {
        let ended = self.current.take_if(|current| current.has_ended())?;
        Some((ended.source, ended.into))
    }

    pub fn abandon(&mut self) {
        self.current = None;
    }

    /// Something has come. Where to store it, and of which movement after the next one it is, if it is not of the current one.
    pub fn came(
        &mut self,
        from: Rank,
        says: &Says<'_>,
    ) -> Result<Option<(&mut Early<K>, u64)>, &'static str> {
        let place = self.places.get(&from).copied().filter(|place| *place != self.me);
        let place = place.ok_or("a part of a collective operation of a team that it is not in")?;
        if let Some(distance) = says.number.checked_sub(self.number) {
            return Ok(Some((&mut self.early[place], distance)));
        }
        match &mut self.current {
            Some(current) if current.number == says.number => {
                current.came(place, says.signature, says.piece).map(|()| None)
            }
            _ => Err("a part of a collective operation that has ended"),
        }
    }

    /// Sends what there is room for. Whether that was all.
    pub fn leave<N: Broadcast>(&mut self, network: &mut N, team: TeamId) -> Result<bool> {
        let Some(current) = &mut self.current else { return Ok(true) };
        let says =
            |piece| Says { team, number: current.number, signature: current.signature, piece };
        let (ready, piece) = (says(None).head(), says(Some(&[])).head());
        while let Some(&place) = current.to_tell.front() {
            if !network.send::<S>(self.members[place], ready.bytes(), None)? {
                return Ok(false);
            }
            self.sent += 1;
            current.to_tell.pop_front();
        }
        let mut room = PACKETS_AT_ONCE;
        for _ in 0..current.outgoing.len() {
            let Some(mut it) = current.outgoing.pop_front() else { break };
            let mut ended = false;
            while room > 0 && !ended {
                let Some(allowed) = current.allowed(&it) else { break };
                let most = match it.to {
                    To::Member(_) => network.payload(),
                    To::Others => network.broadcast_payload(),
                } - piece.bytes().len();
                let length = allowed.min(most as u64);
                let body = Some((&current.source, it.at + it.went, length as usize));
                let went = match it.to {
                    To::Member(place) => network.send(self.members[place], piece.bytes(), body)?,
                    To::Others => network.broadcast(piece.bytes(), body)?,
                };
                if !went {
                    current.outgoing.push_front(it);
                    return Ok(false);
                }
                self.sent += 1;
                room -= 1;
                it.went += length;
                ended = it.went == it.length;
            }
            if !ended {
                current.outgoing.push_back(it);
            }
        }
        Ok(current.outgoing.is_empty())
    }
}

impl<S: Source, D: Sink> Current<S, D> {
    fn has_ended(&self) -> bool {
        self.awaited == 0 && self.outgoing.is_empty() && self.to_tell.is_empty()
    }

    /// How many bytes may leave now: what is left, as far as its receivers store it or are ready. `None` if they have to
    /// say so first.
    fn allowed(&self, it: &Outgoing) -> Option<u64> {
        let is_ready = match it.to {
            To::Member(place) => self.ready[place],
            To::Others => self.readies + 1 == self.ready.len(),
        };
        match it.length {
            length if is_ready || length <= EAGER_BYTES => Some(length - it.went),
            _ => EAGER_BYTES.checked_sub(it.went).filter(|&bytes| bytes > 0),
        }
    }

    /// Member `place` is ready, or this is a piece of it.
    fn came(
        &mut self,
        place: usize,
        signature: Signature,
        piece: Option<&[u8]>,
    ) -> Result<(), &'static str> {
        if signature != self.signature {
            return Err(DISAGREES);
        }
        match piece {
            None => self.ready_came(place),
            Some(bytes) => self.piece_came(place, bytes),
        }
    }

    fn ready_came(&mut self, place: usize) -> Result<(), &'static str> {
        let is_its = |it: &Outgoing| match it.to {
            To::Member(to) => to == place && it.length > EAGER_BYTES,
            To::Others => it.length > EAGER_BYTES,
        };
        if self.ready[place] || !self.outgoing.iter().any(is_its) {
            return Err("that it is ready for what does not come");
        }
        self.ready[place] = true;
        self.readies += 1;
        Ok(())
    }

    fn piece_came(&mut self, place: usize, bytes: &[u8]) -> Result<(), &'static str> {
        let Some(it) = &mut self.incoming[place] else {
            return Err("a part of a collective operation that is not its to send");
        };
        let came = it.came + bytes.len() as u64;
        if it.all || came > it.length || (bytes.is_empty() && it.length > 0) {
            return Err("more of a collective operation than there is");
        }
        self.into.place(it.at + it.came, bytes);
        it.came = came;
        if came == it.length {
            it.all = true;
            self.awaited -= 1;
        }
        Ok(())
    }
}
