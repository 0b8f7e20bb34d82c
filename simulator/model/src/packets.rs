//! The packet layer as programs see it (thesis chapter 3), as a program that could not be simpler.
//!
//! It is told of every send as it is made, and asked about every packet as it is shown to a
//! program: each receiver must be shown each packet once, in the order sent to it or to the group,
//! with the bytes that were sent. It is told of every atomic operation as it is asked for, and
//! asked about each answer: the operations on a variable took place one after the other, each
//! between its request and its answer. At the end it says what is [`Reference::missing`]. It knows
//! of no credit, tree, buffer or acknowledgement, so it judges all presets alike, and the worlds of
//! `testing/world` like programs in virtual time.
//!
//! It keeps two numbers for each stream of packets and reader that has been used, and nothing for
//! a packet; an atomic operation takes room until all that took place before it were answered. Each
//! question takes a search in a map.

mod counters;
mod payload;
mod words;

use counters::Counters;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
pub use weft_wire::GroupId;
use weft_wire::{Atomic, Rank};
use words::Words;

/// The first of the variables on which ranks may do any atomic operation.
pub const FIRST_MIXED: u16 = 1 << 15;

/// Stream of an origin: packets of one origin to the same receivers arrive in the order sent (I3).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Stream {
    /// To one rank, which may be the origin.
    To(Rank),
    /// To all other members of a group.
    Group(GroupId),
}

/// Names a packet: the `number`-th, from 0, that `origin` sends to `stream`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Name {
    /// Rank that sent it.
    pub origin: Rank,
    /// To whom.
    pub stream: Stream,
    /// Number in the stream.
    pub number: u64,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "packet {} of {} to ", self.number, self.origin)?;
        match self.stream {
            Stream::To(rank) => rank.fmt(f),
            Stream::Group(group) => write!(f, "group {}", group.0),
        }
    }
}

/// Reason why the packet layer is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Disagreement {
    /// A packet came where it was not sent.
    #[error("rank {at} was shown {name}, which is not for it")]
    Misdelivered {
        /// Rank that was shown it.
        at: Rank,
        /// Packet.
        name: Name,
    },
    /// A packet came that nobody sent.
    #[error("rank {at} was shown {name}, which was never sent")]
    Invented {
        /// Rank that was shown it.
        at: Rank,
        /// Packet.
        name: Name,
    },
    /// A packet came once more.
    #[error("rank {at} was shown {name} twice")]
    Twice {
        /// Rank that was shown it.
        at: Rank,
        /// Packet.
        name: Name,
    },
    /// A packet came before one that was sent earlier.
    #[error("rank {at} was shown {name} before number {next}")]
    Overtook {
        /// Rank that was shown it.
        at: Rank,
        /// Packet.
        name: Name,
        /// The number that it should have been shown.
        next: u64,
    },
    /// A packet came with other bytes than it was sent with.
    #[error("rank {at} was shown {length} bytes that are not those of {name}, which is next")]
    Altered {
        /// Rank that was shown it.
        at: Rank,
        /// The packet that it should have been shown.
        name: Name,
        /// Bytes that it was shown.
        length: usize,
    },
    /// An atomic operation was answered that was not asked for.
    #[error("rank {by} got the answer {value} to no atomic operation")]
    Unasked {
        /// Rank that got an answer.
        by: Rank,
        /// Value in it.
        value: u64,
    },
    /// An atomic operation found a value that it cannot have found.
    #[error(
        "rank {by} fetched {value} from variable {variable} of rank {home}, which it cannot have \
         been when this operation took place"
    )]
    Fetched {
        /// Rank that fetched.
        by: Rank,
        /// Home of the variable.
        home: Rank,
        /// Number of the variable.
        variable: u16,
        /// Value that it is said to have had.
        value: u64,
    },
}

/// Packet or answer that should have been received and was not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Missing {
    /// Packets.
    Packets {
        /// Rank that was not shown them.
        at: Rank,
        /// Rank that sent them.
        origin: Rank,
        /// Stream.
        stream: Stream,
        /// Numbers in the stream.
        numbers: Range<u64>,
    },
    /// The answer to an atomic operation.
    Answer {
        /// Rank that asked.
        by: Rank,
        /// Home of the variable.
        home: Rank,
        /// Number of the variable.
        variable: u16,
    },
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Missing::Packets { at, origin, stream, numbers } => {
                let name = Name { origin: *origin, stream: *stream, number: numbers.start };
                let others = numbers.end - numbers.start - 1;
                write!(f, "rank {at} was never shown {name} and {others} after it")
            }
            Missing::Answer { by, home, variable } => {
                write!(f, "rank {by} never got an answer from variable {variable} of rank {home}")
            }
        }
    }
}

/// The packet layer of one job.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Reference {
    ranks: u16,
    most_bytes: usize,
    /// Members of the groups from 1 on; all ranks are in group 0.
    groups: Vec<BTreeSet<Rank>>,
    sent: BTreeMap<(Rank, Stream), u64>,
    /// By origin, stream and reader: packets shown.
    shown: BTreeMap<(Rank, Stream, Rank), u64>,
    outstanding: u64,
    total_shown: u64,
    counters: Counters,
    words: Words,
}

impl Reference {
    /// A job of `ranks` ranks that has sent nothing, whose packets have at most `most_bytes` bytes.
    pub fn new(ranks: u16, most_bytes: usize) -> Self {
        Reference {
            ranks,
            most_bytes,
            groups: Vec::new(),
            sent: BTreeMap::new(),
            shown: BTreeMap::new(),
            outstanding: 0,
            total_shown: 0,
            counters: Counters::default(),
            words: Words::default(),
        }
    }

    /// All ranks create the next group, of `members`.
    pub fn create_group(&mut self, members: &[Rank]) -> GroupId {
        self.groups.push(members.iter().copied().collect());
        GroupId(self.groups.len() as u16)
    }

    /// `origin` sends a packet to `stream`. Returns its name, from which its bytes follow.
    ///
    /// # Panics
    /// If `origin` cannot send there: there is no such rank or group, or it is no member.
    pub fn sends(&mut self, origin: Rank, stream: Stream) -> Name {
        let readers = self.readers(origin, stream);
        let sent = self.sent.entry((origin, stream)).or_default();
        let name = Name { origin, stream, number: *sent };
        *sent += 1;
        self.outstanding += readers;
        name
    }

    /// The packet that `at` must be shown next of those that `origin` sends to `stream`.
    pub fn next(&self, at: Rank, origin: Rank, stream: Stream) -> Name {
        let number = self.shown.get(&(origin, stream, at)).copied().unwrap_or(0);
        Name { origin, stream, number }
    }

    /// A program of `at` is shown the packet `name`, as something else than its bytes told.
    ///
    /// # Errors
    /// [`Disagreement`] if this is not what must be shown next; nothing is changed.
    pub fn shows(&mut self, at: Rank, name: Name) -> Result<(), Disagreement> {
        self.judge(at, name)?;
        self.count(at, name);
        Ok(())
    }

    /// A program of `at` is shown `bytes`, which `origin` sent to `stream`.
    ///
    /// # Errors
    /// Those of [`Self::shows`].
    pub fn shows_bytes(
        &mut self,
        at: Rank,
        origin: Rank,
        stream: Stream,
        bytes: &[u8],
    ) -> Result<Name, Disagreement> {
        let next = self.next(at, origin, stream);
        if let Some(name) = self.recognise(next, bytes) {
            self.judge_after(next.number, at, name)?;
            self.count(at, name);
            return Ok(name);
        }
        self.judge_after(next.number, at, next)?;
        Err(Disagreement::Altered { at, name: next, length: bytes.len() })
    }

    /// The bytes of the packet `name`.
    pub fn bytes(&self, name: Name) -> Vec<u8> {
        payload::bytes(name, self.length(name))
    }

    /// Length of the packet `name` in bytes.
    pub fn length(&self, name: Name) -> usize {
        payload::length(name, self.most_bytes)
    }

    /// `by` asks for `operation` on `variable` of `home`. Variables before [`FIRST_MIXED`] are
    /// counters: whatever is not 0 may be added to them, and nothing else be done.
    ///
    /// # Panics
    /// If it has not been answered the last time that it asked, or the variable is a counter and
    /// the operation none.
    pub fn asks(&mut self, by: Rank, home: Rank, variable: u16, operation: Atomic) {
        match operation {
            _ if variable >= FIRST_MIXED => self.words.ask(by, home, variable, operation),
            Atomic::Add(amount) => self.counters.ask(by, home, variable, amount),
            _ => panic!("variable {variable} is a counter, and {operation:?} no addition"),
        }
    }

    /// `by` is told that the variable was `value` before its operation.
    ///
    /// # Errors
    /// [`Disagreement`] if it cannot have been.
    pub fn answers(&mut self, by: Rank, value: u64) -> Result<(), Disagreement> {
        let Some((home, variable)) = self.words.asked_by(by) else {
            return self.counters.answer(by, value);
        };
        match self.words.answer(by, value) {
            true => Ok(()),
            false => Err(Disagreement::Fetched { by, home, variable, value }),
        }
    }

    /// Packets that programs were shown so far, each counted once for each reader.
    pub fn packets_shown(&self) -> u64 {
        self.total_shown
    }

    /// True if all that was sent was shown, and all that was asked answered.
    pub fn is_done(&self) -> bool {
        self.outstanding == 0 && self.counters.is_done() && self.words.is_done()
    }

    /// All that was sent and not shown, or asked and not answered.
    pub fn missing(&self) -> impl Iterator<Item = Missing> + '_ {
        let packets = self.sent.iter().flat_map(move |(&(origin, stream), &sent)| {
            let readers = (0..self.ranks).map(Rank);
            let readers = readers.filter(move |&at| self.is_reader(at, origin, stream));
            readers.filter_map(move |at| {
                let numbers = self.next(at, origin, stream).number..sent;
                (!numbers.is_empty()).then_some(Missing::Packets { at, origin, stream, numbers })
            })
        });
        let words = self.words.missing();
        let words = words.map(|(by, (home, variable))| Missing::Answer { by, home, variable });
        packets.chain(self.counters.missing()).chain(words)
    }

    fn count(&mut self, at: Rank, name: Name) {
        *self.shown.entry((name.origin, name.stream, at)).or_default() += 1;
        self.outstanding -= 1;
        self.total_shown += 1;
    }

    /// Checks that `name` is the next packet of its stream that `at` must be shown.
    fn judge(&self, at: Rank, name: Name) -> Result<(), Disagreement> {
        self.judge_after(self.next(at, name.origin, name.stream).number, at, name)
    }

    /// Checks that `name` is packet number `next` of its stream, and that `at` must be shown it.
    fn judge_after(&self, next: u64, at: Rank, name: Name) -> Result<(), Disagreement> {
        let Name { origin, stream, number } = name;
        if !self.is_reader(at, origin, stream) {
            return Err(Disagreement::Misdelivered { at, name });
        }
        if number >= self.sent.get(&(origin, stream)).copied().unwrap_or(0) {
            return Err(Disagreement::Invented { at, name });
        }
        match number.cmp(&next) {
            Ordering::Less => Err(Disagreement::Twice { at, name }),
            Ordering::Equal => Ok(()),
            Ordering::Greater => Err(Disagreement::Overtook { at, name, next }),
        }
    }

    /// Number of ranks that a packet of `origin` to `stream` is for.
    fn readers(&self, origin: Rank, stream: Stream) -> u64 {
        let outside = "a packet goes to a rank or a group of the job, from a member";
        match stream {
            Stream::To(rank) => {
                assert!(rank.0 < self.ranks && origin.0 < self.ranks, "{outside}");
                1
            }
            Stream::Group(group) => {
                assert!(self.is_member(origin, group), "{outside}");
                let members = self.group(group).map_or(usize::from(self.ranks), BTreeSet::len);
                members as u64 - 1
            }
        }
    }

    fn is_reader(&self, at: Rank, origin: Rank, stream: Stream) -> bool {
        match stream {
            Stream::To(rank) => at == rank,
            Stream::Group(group) => at != origin && self.is_member(at, group),
        }
    }

    fn is_member(&self, rank: Rank, group: GroupId) -> bool {
        match self.group(group) {
            Some(members) => members.contains(&rank),
            None => group == GroupId::ALL && rank.0 < self.ranks,
        }
    }

    fn group(&self, group: GroupId) -> Option<&BTreeSet<Rank>> {
        self.groups.get(usize::from(group.0).checked_sub(1)?)
    }

    /// The packet near `next` that has these bytes: `next` itself, if nothing is wrong.
    fn recognise(&self, next: Name, bytes: &[u8]) -> Option<Name> {
        const NEAR: u64 = 64;
        if self.has_bytes(next, bytes) {
            return Some(next);
        }
        let near = next.number.saturating_sub(NEAR)..next.number + NEAR;
        near.map(|number| Name { number, ..next }).find(|&name| self.has_bytes(name, bytes))
    }

    fn has_bytes(&self, name: Name, bytes: &[u8]) -> bool {
        bytes.len() == self.length(name) && payload::begins_with(name, bytes)
    }
}

#[cfg(test)]
mod tests;
