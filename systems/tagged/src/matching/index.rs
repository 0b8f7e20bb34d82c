//! Indexes of long queues.
//!
//! A receive leaves open who sends, or not, and some bits of the tag: its *shape*. Of receives with
//! one shape each wants the messages with one key, and each message has one key for a shape. So
//! messages are indexed by the keys that they have for the shapes of those who ask, and receives by
//! their own. MPI libraries ask in few shapes: with a tag or any, from somebody or anybody, and
//! with some bits that are their own.
//!
//! An entry that leaves the queue stays in the index until a search comes across it, or most of
//! the index are such entries.

use super::{Line, MANY, MessageEnvelope, ReceivePattern};
use crate::Address;
use std::collections::{BTreeMap, VecDeque};

/// Shapes by which messages are indexed at most, so that an index costs so many times its messages
/// at most.
const SHAPES: usize = 4;

/// Part of an envelope that a receive leaves open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Shape {
    anybody: bool,
    ignore: u64,
}

/// By what members are found, for a shape.
type Key = (Option<Address>, u64);

/// Members of a queue, by their numbers in it.
#[derive(Debug)]
struct Index {
    shape: Shape,
    /// Those of each key, as they stand in the queue.
    bins: BTreeMap<Key, VecDeque<u64>>,
    written: usize,
}

/// The indexes of a queue, one for each shape.
#[derive(Debug, Default)]
pub(super) struct Indexes(Vec<Index>);

impl Shape {
    #[inline]
    fn of(pattern: &ReceivePattern) -> Self {
        Shape { anybody: pattern.source.is_none(), ignore: pattern.ignore }
    }

    #[inline]
    fn key_of(self, source: Option<Address>, tag: u64) -> Key {
        (source.filter(|_| !self.anybody), tag & !self.ignore)
    }
}

impl Index {
    fn new(shape: Shape) -> Self {
        Index { shape, bins: BTreeMap::new(), written: 0 }
    }

    #[inline]
    fn write(&mut self, source: Option<Address>, tag: u64, number: u64) {
        let key = self.shape.key_of(source, tag);
        self.bins.entry(key).or_default().push_back(number);
        self.written += 1;
    }

    /// The number of the first that has not left.
    #[inline]
    fn first<T>(&mut self, source: Option<Address>, tag: u64, line: &Line<T>) -> Option<u64> {
        let key = self.shape.key_of(source, tag);
        let bin = self.bins.get_mut(&key)?;
        while let Some(&number) = bin.front() {
            if line.get(number).is_some() {
                return Some(number);
            }
            bin.pop_front();
            self.written -= 1;
        }
        self.bins.remove(&key);
        None
    }
}

/// True if most of the entries have left, of a queue of `written`.
fn is_old(written: usize, count: usize) -> bool {
    written > 2 * count + MANY
}

impl Indexes {
    /// True if there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Forgets all.
    #[inline]
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The number of the first receive of the line that wants the message. The indexes are of all
    /// of the line.
    #[inline]
    pub fn first_that_wants<R>(
        &mut self,
        envelope: &MessageEnvelope,
        line: &Line<(ReceivePattern, R)>,
    ) -> Option<u64> {
        let firsts = self.0.iter_mut();
        let firsts =
            firsts.filter_map(|index| index.first(Some(envelope.source), envelope.tag, line));
        firsts.min()
    }

    /// Writes down where a receive stands that came last; and all others, if there are many and
    /// that is not known.
    pub fn post<R>(
        &mut self,
        pattern: &ReceivePattern,
        number: u64,
        line: &Line<(ReceivePattern, R)>,
    ) {
        let written: usize = self.0.iter().map(|index| index.written).sum();
        if is_old(written, line.count()) {
            self.clear();
        }
        if self.is_empty() {
            self.renew(line);
        } else {
            self.write_pattern(pattern, number);
        }
    }

    /// Forgets where receives stood, and writes down where they stand now, if they are many.
    pub fn renew<R>(&mut self, line: &Line<(ReceivePattern, R)>) {
        self.clear();
        if line.count() > MANY {
            for (number, (pattern, _)) in line.numbered() {
                self.write_pattern(pattern, number);
            }
        }
    }

    fn write_pattern(&mut self, pattern: &ReceivePattern, number: u64) {
        let shape = Shape::of(pattern);
        let known = self.0.iter().position(|index| index.shape == shape);
        let place = known.unwrap_or_else(|| {
            self.0.push(Index::new(shape));
            self.0.len() - 1
        });
        self.0[place].write(pattern.source, pattern.tag, number);
    }

    /// The number of the first message of a long line that the receive wants.
    pub fn first_wanted<M>(
        &mut self,
        pattern: &ReceivePattern,
        line: &Line<(MessageEnvelope, M)>,
    ) -> Option<u64> {
        let shape = Shape::of(pattern);
        let known = self.0.iter().position(|index| index.shape == shape);
        let place = known.unwrap_or_else(|| self.add(shape, line));
        self.0[place].first(pattern.source, pattern.tag, line)
    }

    /// Indexes a line by another shape, instead of by the one that came first if there are too
    /// many.
    #[cold]
    fn add<M>(&mut self, shape: Shape, line: &Line<(MessageEnvelope, M)>) -> usize {
        let mut index = Index::new(shape);
        for (number, (envelope, _)) in line.numbered() {
            index.write(Some(envelope.source), envelope.tag, number);
        }
        if self.0.len() == SHAPES {
            self.0.remove(0);
        }
        self.0.push(index);
        self.0.len() - 1
    }

    /// Writes down where a message stands that came last. So many messages are there now.
    pub fn store(&mut self, envelope: &MessageEnvelope, number: u64, count: usize) {
        self.0.retain(|index| !is_old(index.written, count));
        for index in &mut self.0 {
            index.write(Some(envelope.source), envelope.tag, number);
        }
    }
}
