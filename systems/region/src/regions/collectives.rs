//! Collective operations of all nodes: barriers, broadcasts and reductions.
//!
//! An operation goes up a binary tree of all ranks, the same for all operations, and comes down by
//! multicast:
//!
//! ```text
//!   barrier:    up: I and those below are there         down, from rank 0: all are
//!   broadcast:  the same; rank 0 tells the root to go   down, from the root: its values
//!   reduction:  up: our values, combined, by pieces     down, from rank 0: the result, by pieces
//! ```
//! Nobody sends a piece down before all are in the operation, so that none of them has to be kept
//! for somebody who is late; and nobody is more than [`WINDOW`] pieces further up than what has
//! come down, which bounds what waits at a parent that is late (I9). What goes up says which
//! operation it is for. The tree does not depend on that, so that parents find all disagreements.
//! Values are combined along the tree, whenever they come, so that the result is the same in each
//! run; and each value at one rank only, so that it is the same everywhere.

use super::{Error, Node, Regions, Result};
use crate::format::collectives::{Collective, Operation, Part, SIZE, Step};
use bytemuck::Pod;
use std::collections::VecDeque;
use weft_packet::{Packets, Rank};

/// Pieces of values that may be on their way up, and not down yet.
const WINDOW: usize = 8;
/// Children of a rank in the tree.
const CHILDREN: usize = 2;

/// A node's part in what all do.
#[derive(Default)]
pub(super) struct Collectives {
    /// Operations that this node has begun.
    begun: u32,
    now: Option<Now>,
    /// Parts received from each child, in order.
    up: [VecDeque<Up>; CHILDREN],
}

/// The operation that this node is in.
struct Now {
    operation: Operation,
    /// Room for the result, and how much of it is there.
    result: Vec<u8>,
    received: usize,
    /// Pieces of it that have come, or left, down.
    pieces: usize,
    /// True if the last piece of the result was received, or, at the root of a broadcast, all are
    /// there.
    is_over: bool,
}

struct Up {
    operation: Operation,
    offset: u64,
    values: Vec<u8>,
}

impl Regions {
    /// `rgn_barrier`: returns when all ranks have called it as often as this one. Requests of
    /// others are served meanwhile, as in all operations of all ranks: they call the same ones in
    /// the same order, from one thread at a time.
    ///
    /// # Errors
    /// [`Error::Disagreement`], a peer's breach, a lost rank.
    pub fn barrier(&self) -> Result<()> {
        self.run_collective(Collective::Barrier, 0, 0, |operation| {
            self.climb(&operation)?;
            if self.rank() == Rank(0) {
                return self.down(&operation, 0, &[]);
            }
            self.until_over()
        })
    }

    /// `rgn_bcast_send`, `rgn_bcast_recv`: gives all ranks the values of `root`. Returns when they
    /// are here, or have left.
    ///
    /// # Errors
    /// As [`Self::barrier`], and if there is no such rank.
    pub fn broadcast<T: Pod>(&self, root: Rank, values: &mut [T]) -> Result<()> {
        let (me, ranks) = (self.rank(), self.node.packets.size());
        if root.index() >= ranks {
            return Err(weft_packet::Error::NoSuchRank { rank: root, ranks }.into());
        }
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(values);
        let receives = if me == root { 0 } else { bytes.len() };
        self.run_collective(Collective::Broadcast { root }, bytes.len(), receives, |operation| {
            self.climb(&operation)?;
            if me == Rank(0) && me != root {
                self.send(Step::Go, &operation, 0, &[], Some(root))?;
            }
            if me != Rank(0) || me != root {
                self.until_over()?;
            }
            if me != root {
                self.take_result(bytes);
                return Ok(());
            }
            self.send_down(&operation, bytes)
        })
    }

    /// `rgn_reduce_*`: combines the values of all ranks, one by one, and gives all of them the
    /// result, which is the same at all, to the last bit, and in each run: `combine` is given
    /// values of ranks and results of `combine`, in the order of a tree. After an error the values
    /// are nobody's.
    ///
    /// # Errors
    /// As [`Self::barrier`].
    ///
    /// # Panics
    /// If `T` has no bytes, or more than a packet.
    pub fn reduce<T: Pod>(&self, values: &mut [T], combine: impl Fn(T, T) -> T) -> Result<()> {
        let element = size_of::<T>();
        let most = piece(&self.node.packets).checked_div(element).unwrap_or(0);
        assert!(most > 0, "values to reduce have some bytes, and fit into a packet");
        let collective = Collective::Reduce { element: element as u16 };
        let bytes = size_of_val(values);
        let receives = if self.rank() == Rank(0) { 0 } else { bytes };
        self.run_collective(collective, bytes, receives, |operation| {
            for index in 0..values.len().div_ceil(most).max(1) {
                let (from, to) = (index * most, values.len().min((index + 1) * most));
                let offset = from * element;
                let piece = &mut values[from..to];
                for up in self.of_children(&operation, index, offset, size_of_val(piece))? {
                    let pairs = piece.iter_mut().zip(up.values.chunks_exact(element));
                    pairs.for_each(|(mine, theirs)| {
                        *mine = combine(*mine, bytemuck::pod_read_unaligned(theirs));
                    });
                }
                let piece = bytemuck::cast_slice(piece);
                match parent(self.rank()) {
                    None => self.down(&operation, offset, piece)?,
                    parent => self.send(Step::Up, &operation, offset, piece, parent)?,
                }
            }
            if self.rank() != Rank(0) {
                self.until_over()?;
                self.take_result(bytemuck::cast_slice_mut(values));
            }
            Ok(())
        })
    }

    /// Takes part in an operation on `bytes` bytes, of which this node gets `receives`.
    fn run_collective<R>(
        &self,
        collective: Collective,
        bytes: usize,
        receives: usize,
        act: impl FnOnce(Operation) -> Result<R>,
    ) -> Result<R> {
        let result = vec![0; receives];
        let mut collectives = self.node.collectives.enter();
        let operation = Operation { collective, number: collectives.begun, bytes: bytes as u64 };
        assert!(collectives.now.is_none(), "one thread at a time takes part in what all ranks do");
        collectives.begun = collectives.begun.wrapping_add(1);
        collectives.now = Some(Now { operation, result, received: 0, pieces: 0, is_over: false });
        drop(collectives);
        let outcome = act(operation);
        self.node.collectives.enter().now = None;
        outcome
    }

    /// Waits until all below are there, and says so to the parent.
    fn climb(&self, operation: &Operation) -> Result<()> {
        self.of_children(operation, 0, 0, 0)?;
        match parent(self.rank()) {
            None => Ok(()),
            parent => self.send(Step::Up, operation, 0, &[], parent),
        }
    }

    /// Waits for a piece of each child, and for this node's turn to send it on.
    fn of_children(
        &self,
        operation: &Operation,
        index: usize,
        offset: usize,
        bytes: usize,
    ) -> Result<Vec<Up>> {
        let children: Vec<Rank> = children(self.rank(), self.node.packets.size()).collect();
        let all = children.len();
        let ups = self.node.wait(|node| node.collectives.enter().pieces_of_children(all, index))?;
        for (&child, up) in children.iter().zip(&ups) {
            if up.operation != *operation {
                return Err(self.disagree(operation, child));
            }
            if (up.offset, up.values.len()) != (offset as u64, bytes) {
                return Err(Error::Packet(child));
            }
        }
        Ok(ups)
    }

    fn until_over(&self) -> Result<()> {
        self.node.wait(|node| node.collectives.enter().now.as_ref()?.is_over.then_some(()))
    }

    fn take_result(&self, into: &mut [u8]) {
        if let Some(now) = &self.node.collectives.enter().now {
            into.copy_from_slice(&now.result);
            self.node.packets.copied(into.len());
        }
    }

    /// Tells everybody that `child` does something else.
    fn disagree(&self, operation: &Operation, child: Rank) -> Error {
        let error =
            Error::Disagreement { one: self.rank(), other: child, number: operation.number };
        self.node.break_off(error.clone());
        match self.send(Step::Disagree(child), operation, 0, &[], None) {
            Ok(()) => error,
            Err(lost) => lost,
        }
    }

    /// Gives all ranks `bytes`, which may be none.
    fn send_down(&self, operation: &Operation, bytes: &[u8]) -> Result<()> {
        let most = piece(&self.node.packets);
        for index in 0..bytes.len().div_ceil(most).max(1) {
            let (from, to) = (index * most, bytes.len().min((index + 1) * most));
            self.down(operation, from, &bytes[from..to])?;
        }
        Ok(())
    }

    fn down(&self, operation: &Operation, offset: usize, values: &[u8]) -> Result<()> {
        self.send(Step::Down, operation, offset, values, None)?;
        if let Some(now) = &mut self.node.collectives.enter().now {
            now.pieces += 1;
        }
        Ok(())
    }

    /// Sends a part to a rank, or to all.
    fn send(
        &self,
        step: Step,
        operation: &Operation,
        offset: usize,
        values: &[u8],
        to: Option<Rank>,
    ) -> Result<()> {
        let packets = &self.node.packets;
        let part = Part { step, operation: *operation, offset: offset as u64 };
        let mut packet = packets.packet()?;
        packet.put(&part.emit())?.put(values)?;
        packets.copied(values.len());
        match to {
            Some(rank) => packet.unicast(rank)?,
            None if packets.size() > 1 => packet.broadcast()?,
            None => {}
        }
        Ok(())
    }
}

impl Collectives {
    /// A piece of each of `children` children, once there are all and this node may send one of
    /// that `index`.
    fn pieces_of_children(&mut self, children: usize, index: usize) -> Option<Vec<Up>> {
        let may_send = self.now.as_ref().is_some_and(|now| index < now.pieces + WINDOW);
        if !may_send || self.up[..children].iter().any(VecDeque::is_empty) {
            return None;
        }
        Some(self.up[..children].iter_mut().filter_map(VecDeque::pop_front).collect())
    }
}

impl Node {
    /// Handles a part of a collective operation from another node.
    pub(super) fn take_part(&self, from: Rank, part: &Part, values: &[u8]) -> Result<()> {
        let (me, ranks) = (self.packets.rank(), self.packets.size());
        let Part { step, operation, offset } = *part;
        self.packets.copied(values.len());
        let mut collectives = self.collectives.enter();
        match step {
            Step::Up => {
                let child = children(me, ranks).position(|child| child == from);
                let queue = child.map(|child| &mut collectives.up[child]);
                let queue =
                    queue.filter(|queue| queue.len() < WINDOW).ok_or(Error::Packet(from))?;
                queue.push_back(Up { operation, offset, values: values.to_vec() });
            }
            Step::Go | Step::Down => {
                let now = collectives.now.as_mut().filter(|now| now.expects(from, me, part));
                now.ok_or(Error::Packet(from))?.take(step, values);
            }
            Step::Disagree(other) => {
                return Err(Error::Disagreement { one: from, other, number: operation.number });
            }
        }
        Ok(())
    }
}

impl Now {
    /// True if `from` may send this to `me` now.
    fn expects(&self, from: Rank, me: Rank, part: &Part) -> bool {
        let (sender, receives) = match (part.step, self.operation.collective) {
            (Step::Go, Collective::Broadcast { root }) => (Rank(0), me == root),
            (Step::Down, Collective::Broadcast { root }) => (root, me != root),
            (Step::Down, _) => (Rank(0), true),
            _ => return false,
        };
        let is_next = !self.is_over && part.offset == self.received as u64;
        from == sender && receives && is_next && part.operation == self.operation
    }

    fn take(&mut self, step: Step, values: &[u8]) {
        let end = self.received + values.len();
        self.pieces += 1;
        self.is_over = step == Step::Go || end as u64 == self.operation.bytes;
        if step == Step::Down {
            self.result[self.received..end].copy_from_slice(values);
            self.received = end;
        }
    }
}

/// Bytes of values that a packet to all holds, at every rank the same.
fn piece(packets: &Packets) -> usize {
    packets.max_payload().min(packets.multicast_payload()) - SIZE
}

fn children(rank: Rank, ranks: usize) -> impl Iterator<Item = Rank> {
    let first = CHILDREN * rank.index() + 1;
    (first..first + CHILDREN).filter(move |&child| child < ranks).map(|child| Rank(child as u16))
}

fn parent(rank: Rank) -> Option<Rank> {
    rank.index().checked_sub(1).map(|before| Rank((before / CHILDREN) as u16))
}
