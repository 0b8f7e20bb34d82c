//! Ranks that act together.

use super::operations::{Opened, Operations, TeamId};
use super::pending::{Begun, Pending, Promise};
use super::reduction::Reduction;
use super::values::{Combine, Each, Room, Typed, Values, combine_bytes};
use crate::poll::Poller;
use crate::wait::{Polls, What};
use crate::{Error, Result};
use bytemuck::Pod;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;
use weft_collective::arena::{Arena, ArenaOperation, CONTRIBUTION_BYTES, Met};
use weft_collective::{Abort, BARRIER, Members, Operation, OperationCall, Signature};
use weft_endpoint::{Awaited, Rank};

/// A set of ranks that act together, each a *member* with a number from 0 on. Clones are handles.
///
/// All members begin the same operations in the same order, with as many values; if they do not,
/// all of them get [`Error::Disagreement`], and the team is of no use any more. One thread at a
/// time begins operations. A blocking call of one member goes together with a blocking call of the
/// others, and one that begins an operation with others that do.
///
/// Any number of operations may be under way. Barriers and up to 64 bytes of an all-reduce go
/// through shared memory where ranks have it, as long as there is room for their teams.
///
/// # Errors
/// All operations: a lost rank, in a job that goes on after it at all members that live or at none;
/// [`Error::Disagreement`]; [`Error::Panicked`] if a reduction
/// panicked at another member; [`Error::NoSuchMember`] for a root; [`Error::Uneven`].
#[derive(Clone)]
pub struct Team {
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub operations: Arc<Operations>,
    pub id: TeamId,
    pub members: Arc<Members>,
    arena: Option<Arena>,
    /// True while a thread is in the arena.
    busy: AtomicBool,
}

impl Team {
    /// The team of `members`, in this order; `None` if this rank is not one of them. All ranks of
    /// the job make the same teams in the same order, with multicast groups among them. Each 32nd
    /// team is made once all ranks make it; the others wait for nobody.
    ///
    /// # Errors
    /// Those of [`weft_endpoint::Packets::group`]; a lost rank.
    pub fn part(&self, members: &[Rank]) -> Result<Option<Self>> {
        let operations = &self.shared.operations;
        operations.engine().packets().check_founder("teams that all ranks make")?;
        operations.keep_pace()?;
        let packets = operations.engine().packets();
        let group = packets.group(members)?;
        let first = (members[0], members.len());
        create(operations, first, Members::subset(members, packets.rank(), Some(group)))
    }

    /// This member's number.
    pub fn rank(&self) -> usize {
        self.shared.members.me()
    }

    /// Number of members.
    pub fn size(&self) -> usize {
        self.shared.members.size()
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
        self.shared.pass_barrier(BARRIER)
    }

    /// Begins a barrier, which ends when all members have begun it.
    ///
    /// # Errors
    /// See [`Team`].
    pub fn begin_barrier(&self) -> Result<Pending<()>> {
        self.shared.operations.begin(self.shared.id, &BARRIER, barrier_values)
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
        let call = (Operation::Broadcast, root, values.len());
        self.begin(call, (values, None), nothing, |values, _, _| values)
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
        let (call, is_root) = ((Operation::Reduce, root, values.len()), root == self.rank());
        self.begin(call, (values, None), reduction, move |values, _, _| is_root.then_some(values))
    }

    /// Combines the `values` of all members, one by one and in their order, and gives all of them
    /// the same result, bit by bit.
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
        match &self.shared.arena {
            Some(arena) if size_of_val(values) <= CONTRIBUTION_BYTES => {
                let (count, size) = (values.len(), size_of::<T>());
                let call = OperationCall { operation: Operation::AllReduce, root: 0, count, size };
                let bytes = bytemuck::cast_slice_mut(values);
                let combine = |one: &[u8], two: &mut [u8]| combine_bytes(&reduction, one, two);
                self.shared.meet(arena, call, bytes, combine)
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
        let call = (Operation::AllReduce, 0, values.len());
        self.begin(call, (values, None), reduction, |values, _, _| values)
    }

    /// Brings the `values` of all members, one member's after the other's, to member `root`; `None`
    /// elsewhere.
    ///
    /// # Errors
    /// See [`Team`].
    pub fn gather<T: Pod + Send>(&self, root: usize, values: &[T]) -> Result<Option<Vec<T>>> {
        gather_into(self, root, values.to_vec(), |all, _| all)?.wait()
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
        let size = self.size();
        gather_into(self, root, values, move |all, length| match length {
            0 => vec![Vec::new(); size],
            length => all.chunks(length).map(<[T]>::to_vec).collect(),
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
        let call = (Operation::Scatter, root, length);
        self.begin(call, (values, Some(length)), nothing, |_, part, _| part.unwrap_or_default())
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
        let (call, room) = ((Operation::AllGather, 0, values.len()), values.len() * self.size());
        self.begin(call, (values, Some(room)), nothing, |_, all, _| all.unwrap_or_default())
    }

    /// Gives each member its part of the `values` of each: the first of as many equal parts as
    /// there are members goes to member 0. Returns the parts for this one, in the order of members.
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
        let (call, room) = ((Operation::AllToAll, 0, values.len()), values.len());
        self.begin(call, (values, Some(room)), nothing, |_, all, _| all.unwrap_or_default())
    }

    /// Begins an operation on `mine`. Its result has so many values, or is in the place of `mine`
    /// if that is `None`; `finish` makes the outcome.
    pub(super) fn begin<T: Pod + Send, O: Send + 'static>(
        &self,
        (operation, root, count): (Operation, usize, usize),
        (mine, result): (Vec<T>, Option<usize>),
        reduction: impl Reduction<T>,
        finish: impl FnOnce(Vec<T>, Option<Vec<T>>, Vec<Vec<u8>>) -> O + Send + 'static,
    ) -> Result<Pending<O>> {
        let call = OperationCall { operation, root, count, size: size_of::<T>() };
        let result = result.map(|length| vec![T::zeroed(); length]);
        let room = Room { mine, result, parts: Vec::new() };
        self.shared.begin(call, room, Each(reduction), finish)
    }
}

/// The team of all ranks that the job has begun with, of which this is one.
pub(super) fn of_founders(operations: &Arc<Operations>) -> Result<Team> {
    let packets = operations.engine().packets();
    let size = packets.size();
    let all = Members::all(size, packets.rank());
    create(operations, (Rank(0), size), Some(all))?.ok_or(Error::Abandoned)
}

/// The next team, of so many members beginning with `leader`.
fn create(
    operations: &Arc<Operations>,
    (leader, size): (Rank, usize),
    members: Option<Members>,
) -> Result<Option<Team>> {
    let created = operations.create(leader, size, members)?;
    Ok(created.map(|created| opened(operations, created)))
}

/// A team that was opened.
pub(super) fn opened(operations: &Arc<Operations>, (id, members, arena): Opened) -> Team {
    let (operations, busy) = (Arc::clone(operations), AtomicBool::new(false));
    Team { shared: Arc::new(Shared { operations, id, members, arena, busy }) }
}

fn gather_into<T: Pod + Send, O: Send + 'static>(
    team: &Team,
    root: usize,
    values: Vec<T>,
    finish: impl FnOnce(Vec<T>, usize) -> O + Send + 'static,
) -> Result<Pending<Option<O>>> {
    let (is_root, length) = (root == team.rank(), values.len());
    let room = if is_root { length * team.size() } else { 0 };
    let call = (Operation::Gather, root, length);
    team.begin(call, (values, Some(room)), nothing, move |_, all, _| {
        is_root.then(|| finish(all.unwrap_or_default(), length))
    })
}

impl Shared {
    /// Refuses a root that there is not.
    pub fn check(&self, OperationCall { root, .. }: OperationCall) -> Result<()> {
        let members = self.members.size();
        if root < members { Ok(()) } else { Err(Error::NoSuchMember { root, members }) }
    }

    /// Begins an operation. `finish` makes the outcome of the room, and of what others brought.
    ///
    /// # Errors
    /// See [`Team`].
    pub fn begin<T: Pod + Send, O: Send + 'static>(
        &self,
        call: OperationCall,
        room: Room<T>,
        combine: impl Combine<T>,
        finish: impl FnOnce(Vec<T>, Option<Vec<T>>, Vec<Vec<u8>>) -> O + Send + 'static,
    ) -> Result<Pending<O>> {
        self.check(call)?;
        self.operations
            .begin(self.id, &call, |promise| Box::new(Typed { room, combine, finish, promise }))
    }

    /// Meets all members in shared memory with up to a line of bytes, which are the result
    /// afterwards. The last to arrive combines what all have brought.
    fn meet(
        &self,
        arena: &Arena,
        call: OperationCall,
        bytes: &mut [u8],
        combine: impl FnMut(&[u8], &mut [u8]),
    ) -> Result<()> {
        let Shared { operations, id, busy, .. } = self;
        let mut meeting = ArenaOperation::new(&call, bytes.len());
        meeting.bytes().copy_from_slice(bytes);
        let (number, others_wait) = operations.pass(*id, call.signature())?;
        assert!(!busy.swap(true, Ordering::Acquire), "two threads began operations of one team");
        let engine = operations.engine();
        let _span = engine.packets().trace().span_of(|| call.signature().operation.to_string());
        engine.packets().trace().record_meeting((id.leader.0, id.count, number));
        let what = || self.begun(number, call.signature()).awaited(engine);
        let combined = self.wait_in(arena, &mut meeting, &what).map(|met| {
            let combine = AssertUnwindSafe(|| meeting.combine(arena, combine));
            (met, if met == Met::Combine { catch_unwind(combine) } else { Ok(()) })
        });
        busy.store(false, Ordering::Release);
        let (met, combined) = combined?;
        if let Err(panic) = combined {
            operations.abort(*id, Abort::Panicked(self.members.rank(self.members.me())));
            resume_unwind(panic);
        }
        if met == Met::Disagree {
            // Everybody says what it began, until somebody finds that it began something else.
            operations.declare(*id, number, call.signature())?;
            let what = || Awaited::of_unknown("its peers");
            let look = |_: Option<&Waker>| operations.failure(*id).map_or(Ok(None), Err);
            return Poller::new(&engine.messages).wait_for(&what, look);
        }
        bytes.copy_from_slice(meeting.bytes());
        if others_wait {
            operations.resume_all(*id);
        }
        Ok(())
    }

    /// Returns when all members have come to this barrier: one of the program, or that in which
    /// they leave.
    #[inline]
    pub fn pass_barrier(&self, call: OperationCall) -> Result<()> {
        match &self.arena {
            None => self.operations.begin(self.id, &call, barrier_values)?.wait(),
            Some(arena) => self.meet(arena, call, &mut [], |_, _| ()),
        }
    }

    /// An operation of this team that this member has begun.
    fn begun(&self, number: u32, signature: Signature) -> Begun {
        let Shared { id, members, .. } = self;
        Begun { team: *id, members: Some(Arc::clone(members)), number, signature }
    }

    /// Waits until a meeting goes on.
    fn wait_in(&self, arena: &Arena, meeting: &mut ArenaOperation, what: What<'_>) -> Result<Met> {
        let mut met = meeting.poll(arena);
        if met != Met::Waiting {
            return Ok(met);
        }
        let Shared { operations, id, .. } = self;
        let mut idle = 0_u32;
        Poller::new(&operations.engine().messages).watch_for(what, || {
            met = meeting.poll(arena);
            idle = idle.wrapping_add(1);
            // Somebody who began something else says so with a message.
            let looks = met == Met::Waiting && idle.is_multiple_of(8);
            match looks.then(|| operations.failure(*id)).flatten() {
                Some(error) => Err(error),
                None => Ok(met != Met::Waiting),
            }
        })?;
        Ok(met)
    }
}

/// The values of a barrier: none.
pub(super) fn barrier_values(promise: Promise<()>) -> Box<dyn Values> {
    let room = Room { mine: Vec::<u8>::new(), result: None, parts: Vec::new() };
    Box::new(Typed { room, combine: Each(nothing), finish: |_, _, _| (), promise })
}

/// Combines nothing: the reduction of operations that reduce nothing.
pub(super) fn nothing<T>(_: &mut T, _: &T) {}
