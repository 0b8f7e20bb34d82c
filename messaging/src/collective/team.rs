//! Ranks that act together.

use super::algorithms;
use super::counters::{Counters, Set, Value};
use super::exchange::Exchange;
use super::operations::{Members, Operations, Outcome};
use super::pending::Pending;
use super::reduction::Reduction;
use super::signature::{Operation, Signature};
use crate::engine::Engine;
use crate::{Error, Result};
use bytemuck::Pod;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use weft_packet::Rank;

/// A set of ranks that act together, each a *member* with a number from 0 on. Clones are handles.
///
/// All members begin the same operations in the same order, with as many values; if they do not, all
/// of them get [`Error::Disagreement`], and the team is of no use any more. One thread at a time
/// begins operations. A blocking call of one member goes together with a blocking call of the others,
/// and one that begins an operation with others that do.
///
/// Any number of operations may be under way. Up to 32 bytes of an all-reduce (8 in the first three
/// teams of a part of all ranks), and barriers, go through shared memory where ranks have it.
///
/// # Errors
/// All operations: a lost rank; [`Error::Disagreement`]; [`Error::Panicked`] if a reduction panicked
/// at another member; [`Error::NoSuchMember`] for a root; [`Error::Uneven`].
#[derive(Clone)]
pub struct Team {
    shared: Arc<Shared>,
}

struct Shared {
    operations: Arc<Operations>,
    members: Arc<Members>,
    number: u16,
    counters: Option<Counters>,
    /// Whether a thread is at the counters.
    busy: AtomicBool,
}

impl Team {
    /// The team of all ranks; one a rank. Others are made of it by [`Self::part`].
    ///
    /// # Errors
    /// [`Error::PortTaken`] if this rank has one already.
    pub fn all(engine: &Arc<Engine>) -> Result<Self> {
        let packets = engine.packets();
        let members = Members::all(packets.size(), packets.rank());
        Ok(Self::create(Operations::new(engine)?, members))
    }

    /// The team of `members`, in this order; `None` if this rank is not one of them. All ranks of the
    /// job make the same teams in the same order, with multicast groups among them.
    ///
    /// # Errors
    /// As [`weft_packet::Packets::group`].
    pub fn part(&self, members: &[Rank]) -> Result<Option<Self>> {
        let operations = &self.shared.operations;
        let packets = operations.engine().packets();
        let group = packets.group(members)?;
        let Some(members) = Members::subset(members, packets.rank(), group) else {
            operations.create(None);
            return Ok(None);
        };
        Ok(Some(Self::create(Arc::clone(operations), members)))
    }

    fn create(operations: Arc<Operations>, members: Members) -> Self {
        let members = Arc::new(members);
        let number = operations.create(Some(&members));
        let counters = Counters::new(operations.engine().packets(), &members, number);
        let busy = AtomicBool::new(false);
        Team { shared: Arc::new(Shared { operations, members, number, counters, busy }) }
    }

    /// This member's number.
    pub fn rank(&self) -> usize {
        self.shared.members.me
    }

    /// How many members there are.
    pub fn size(&self) -> usize {
        self.shared.members.size
    }

    /// The rank of a member.
    ///
    /// # Panics
    /// If there is no such member.
    pub fn member(&self, number: usize) -> Rank {
        assert!(number < self.size(), "a team of {} has no member {number}", self.size());
        self.shared.members.rank(number)
    }

    /// Returns when all members have called it as often as this one. Handlers run meanwhile.
    ///
    /// # Errors
    /// See [`Team`].
    pub fn barrier(&self) -> Result<()> {
        match &self.shared.counters {
            None => self.begin_barrier()?.wait(),
            Some(counters) => {
                let barrier = Signature::new(Operation::Barrier, 0, 0);
                self.meet(counters, barrier, brought(&[]), |_| ())
            }
        }
    }

    /// Begins a barrier, which ends when all members have begun it.
    ///
    /// # Errors
    /// See [`Team`].
    pub fn begin_barrier(&self) -> Result<Pending<()>> {
        self.begin(Operation::Barrier, 0, 0, algorithms::barrier)
    }

    /// Gives all members the `values` of member `root`: one multicast.
    ///
    /// # Errors
    /// See [`Team`].
    pub fn broadcast<T: Pod + Send>(&self, root: usize, values: &mut [T]) -> Result<()> {
        let all = self.begin_broadcast(root, values.to_vec())?.wait()?;
        values.copy_from_slice(&all);
        Ok(())
    }

    /// Begins a [`Self::broadcast`]; every member brings as many values.
    ///
    /// # Errors
    /// See [`Team`].
    pub fn begin_broadcast<T: Pod + Send>(
        &self,
        root: usize,
        values: Vec<T>,
    ) -> Result<Pending<Vec<T>>> {
        self.begin(Operation::Broadcast, root, size_of_val(&values[..]), |exchange| {
            algorithms::broadcast(exchange, root, values)
        })
    }

    /// Combines the `values` of all members, one by one and in their order, at member `root`: there
    /// `values` are the result afterwards, elsewhere what they were.
    ///
    /// # Errors
    /// See [`Team`].
    ///
    /// # Panics
    /// With what `reduction` panics.
    pub fn reduce<T: Pod + Send>(
        &self,
        root: usize,
        values: &mut [T],
        reduction: impl Reduction<T>,
    ) -> Result<()> {
        if let Some(all) = self.begin_reduce(root, values.to_vec(), reduction)?.wait()? {
            values.copy_from_slice(&all);
        }
        Ok(())
    }

    /// Begins a [`Self::reduce`], which gives `Some` at the root.
    ///
    /// # Errors
    /// See [`Team`].
    pub fn begin_reduce<T: Pod + Send>(
        &self,
        root: usize,
        values: Vec<T>,
        reduction: impl Reduction<T>,
    ) -> Result<Pending<Option<Vec<T>>>> {
        self.begin(Operation::Reduce, root, size_of_val(&values[..]), |exchange| {
            algorithms::reduce(exchange, root, values, reduction)
        })
    }

    /// Combines the `values` of all members, one by one and in their order, and gives all of them the
    /// same result, bit by bit.
    ///
    /// # Errors
    /// See [`Team`].
    ///
    /// # Panics
    /// With what `reduction` panics.
    pub fn all_reduce<T: Pod + Send>(
        &self,
        values: &mut [T],
        reduction: impl Reduction<T>,
    ) -> Result<()> {
        let bytes = size_of_val(values);
        match &self.shared.counters {
            Some(counters) if bytes <= counters.room() => {
                let signature = Signature::new(Operation::AllReduce, 0, bytes);
                let mine = brought(bytemuck::cast_slice(values));
                self.meet(counters, signature, mine, |set| {
                    combine_all(&self.shared.members, set, values, &reduction);
                })
            }
            _ => {
                let all = self.begin_all_reduce(values.to_vec(), reduction)?.wait()?;
                values.copy_from_slice(&all);
                Ok(())
            }
        }
    }

    /// Begins an [`Self::all_reduce`].
    ///
    /// # Errors
    /// See [`Team`].
    pub fn begin_all_reduce<T: Pod + Send>(
        &self,
        values: Vec<T>,
        reduction: impl Reduction<T>,
    ) -> Result<Pending<Vec<T>>> {
        self.begin(Operation::AllReduce, 0, size_of_val(&values[..]), |exchange| {
            algorithms::all_reduce(exchange, values, reduction)
        })
    }

    /// Brings the `values` of all members, one member's after the other's, to member `root`; `None`
    /// elsewhere.
    ///
    /// # Errors
    /// See [`Team`].
    pub fn gather<T: Pod + Send>(&self, root: usize, values: &[T]) -> Result<Option<Vec<T>>> {
        let all = self.begin_gather(root, values.to_vec())?.wait()?;
        Ok(all.map(|all| all.concat()))
    }

    /// Begins a [`Self::gather`], which gives the root what each member brought.
    ///
    /// # Errors
    /// See [`Team`].
    pub fn begin_gather<T: Pod + Send>(
        &self,
        root: usize,
        values: Vec<T>,
    ) -> Result<Pending<Option<Vec<Vec<T>>>>> {
        self.begin(Operation::Gather, root, size_of_val(&values[..]), |exchange| {
            algorithms::gather(exchange, root, values)
        })
    }

    /// As [`Self::gather`], of as many values as each member wants to bring.
    ///
    /// # Errors
    /// See [`Team`].
    pub fn gather_varied<T: Pod + Send>(
        &self,
        root: usize,
        values: &[T],
    ) -> Result<Option<Vec<Vec<T>>>> {
        self.begin_gather_varied(root, values.to_vec())?.wait()
    }

    /// Begins a [`Self::gather_varied`].
    ///
    /// # Errors
    /// See [`Team`].
    pub fn begin_gather_varied<T: Pod + Send>(
        &self,
        root: usize,
        values: Vec<T>,
    ) -> Result<Pending<Option<Vec<Vec<T>>>>> {
        self.begin(Operation::GatherVaried, root, 0, |exchange| {
            algorithms::gather(exchange, root, values)
        })
    }

    /// Gives each member its part of the `values` of member `root`, who alone has some: as many for
    /// each as there is room `into`.
    ///
    /// # Errors
    /// See [`Team`].
    ///
    /// # Panics
    /// If `values` are `None` at the root, or `Some` elsewhere.
    pub fn scatter<T: Pod + Send>(
        &self,
        root: usize,
        values: Option<&[T]>,
        into: &mut [T],
    ) -> Result<()> {
        assert_eq!(values.is_some(), root == self.rank(), "the root alone has values to scatter");
        if let Some(values) = values
            && values.len() != into.len() * self.size()
        {
            return Err(Error::Uneven { values: values.len(), parts: self.size() });
        }
        let values = values.unwrap_or_default().to_vec();
        into.copy_from_slice(&self.begin_scatter(root, values, into.len())?.wait()?);
        Ok(())
    }

    /// Begins a [`Self::scatter`] of `length` values to each; `values` are empty but at the root.
    ///
    /// # Errors
    /// See [`Team`].
    pub fn begin_scatter<T: Pod + Send>(
        &self,
        root: usize,
        values: Vec<T>,
        length: usize,
    ) -> Result<Pending<Vec<T>>> {
        if root == self.rank() && values.len() != length * self.size() {
            return Err(Error::Uneven { values: values.len(), parts: self.size() });
        }
        self.begin(Operation::Scatter, root, length * size_of::<T>(), |exchange| {
            algorithms::scatter(exchange, root, values)
        })
    }

    /// Brings the `values` of all members, one member's after the other's, to all.
    ///
    /// # Errors
    /// See [`Team`].
    pub fn all_gather<T: Pod + Send>(&self, values: &[T]) -> Result<Vec<T>> {
        self.begin_all_gather(values.to_vec())?.wait()
    }

    /// Begins an [`Self::all_gather`].
    ///
    /// # Errors
    /// See [`Team`].
    pub fn begin_all_gather<T: Pod + Send>(&self, values: Vec<T>) -> Result<Pending<Vec<T>>> {
        self.begin(Operation::AllGather, 0, size_of_val(&values[..]), |exchange| {
            algorithms::all_gather(exchange, values)
        })
    }

    /// Gives each member its part of the `values` of each: the first of as many equal parts as there
    /// are members goes to member 0. Returns the parts for this one, in the order of members.
    ///
    /// # Errors
    /// See [`Team`].
    pub fn all_to_all<T: Pod + Send>(&self, values: &[T]) -> Result<Vec<T>> {
        self.begin_all_to_all(values.to_vec())?.wait()
    }

    /// Begins an [`Self::all_to_all`].
    ///
    /// # Errors
    /// See [`Team`].
    pub fn begin_all_to_all<T: Pod + Send>(&self, values: Vec<T>) -> Result<Pending<Vec<T>>> {
        if !values.len().is_multiple_of(self.size()) {
            return Err(Error::Uneven { values: values.len(), parts: self.size() });
        }
        self.begin(Operation::AllToAll, 0, size_of_val(&values[..]), |exchange| {
            algorithms::all_to_all(exchange, values)
        })
    }

    fn begin<T, F>(
        &self,
        operation: Operation,
        root: usize,
        bytes: usize,
        run: impl FnOnce(Exchange) -> F,
    ) -> Result<Pending<T>>
    where
        T: Send + 'static,
        F: Future<Output = Outcome<T>> + Send + 'static,
    {
        let Shared { operations, members, number, .. } = &*self.shared;
        if root >= members.size {
            return Err(Error::NoSuchMember { root, members: members.size });
        }
        operations.begin(*number, members, Signature::new(operation, root, bytes), run)
    }

    /// Meets all members in shared memory, bringing some words, and calls `done` with what all brought.
    fn meet<T>(
        &self,
        counters: &Counters,
        signature: Signature,
        brought: (Value, usize),
        done: impl FnOnce(&Set<'_>) -> T,
    ) -> Result<T> {
        let Shared { operations, members, number: team, busy, .. } = &*self.shared;
        let number = operations.pass(*team, members, signature)?;
        assert!(!busy.swap(true, Ordering::Acquire), "two threads began operations of one team");
        let engine = operations.engine();
        let failed = || operations.failure(*team);
        let met = counters.meet(engine, members, signature, brought, failed);
        let met = met.map(|set| set.map(|set| done(&set)));
        busy.store(false, Ordering::Release);
        match met? {
            Some(done) => Ok(done),
            None => {
                // Everybody says what it began, until somebody finds that it began something else.
                Exchange::new(operations, *team, members, signature, number).declare()?;
                engine.wait(|_, _| failed().map_or(Ok(None), Err))
            }
        }
    }
}

/// A value for all to see, and the words that it takes.
fn brought(bytes: &[u8]) -> (Value, usize) {
    let mut value = Value::default();
    bytemuck::bytes_of_mut(&mut value)[..bytes.len()].copy_from_slice(bytes);
    (value, bytes.len().div_ceil(size_of::<u64>()))
}

/// Combines what all members brought, in their order.
fn combine_all<T: Pod>(
    members: &Members,
    set: &Set<'_>,
    values: &mut [T],
    reduction: &impl Reduction<T>,
) {
    let bytes = size_of_val(values);
    for member in 0..members.size {
        let value = set.value(members.rank(member));
        let brought = bytemuck::bytes_of(&value)[..bytes].chunks_exact(size_of::<T>().max(1));
        for (into, next) in values.iter_mut().zip(brought.map(bytemuck::pod_read_unaligned)) {
            match member {
                0 => *into = next,
                _ => reduction.combine(into, &next),
            }
        }
    }
}
