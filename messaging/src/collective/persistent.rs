//! Operations that are prepared once and started any number of times.

use super::pending::Pending;
use super::reduction::Reduction;
use super::team::{Shared, Team, nothing};
use super::values::{Combine, Each, Room};
use crate::{Error, Result};
use bytemuck::Pod;
use std::sync::Arc;
use weft_collective::{Operation, OperationCall};

/// Values that a member brings, and its result.
type Buffers<T, R> = (Vec<T>, R);

/// Beginning of an operation on buffers, which its end gives back.
type Begin<T, R> = Box<dyn Fn(Buffers<T, R>) -> Result<Pending<Buffers<T, R>>> + Send>;

/// Room for the result of an operation, unless that is in the place of what was brought.
type Flat<T> = Option<Vec<T>>;

/// An operation of a team that is prepared once, with its buffers, and started any number of times.
/// [`Team::prepare`] makes it.
///
/// A start goes together with a start of the same operation at the other members, or with one that
/// they begin. Starts allocate no memory for values: these stay in the same two buffers, or in one
/// where the result takes the place of what was brought. What is stored of other members meanwhile
/// is allocated each time, as is the operation itself.
///
/// After a start or a wait that failed it has no values; its team is of no use either.
pub struct Persistent<T, R = Option<Vec<T>>> {
    begin: Begin<T, R>,
    buffers: Buffers<T, R>,
    /// One that was started and not waited for.
    pending: Option<Pending<Buffers<T, R>>>,
}

/// A [`Persistent`] with lengths that members choose when they prepare it. Each start allocates
/// what it brings of others.
pub type PersistentVaried<T> = Persistent<T, Vec<Vec<T>>>;

/// A start of a [`Persistent`], whose buffers are the operation's until it is over. Dropping it
/// only gives up on this result: whoever uses the buffers next waits for it.
#[must_use = "nobody waits for what was started"]
pub struct Started<'a, T, R = Option<Vec<T>>> {
    persistent: &'a mut Persistent<T, R>,
}

/// Operations of a team to be prepared: each method makes one, and begins nothing.
///
/// # Errors
/// All: [`Error::NoSuchMember`] for a root; [`Error::Uneven`]; [`Error::Parts`] where lengths vary.
pub struct Prepare<'a> {
    pub(super) team: &'a Team,
}

impl Team {
    /// Operations of this team that are prepared once and started any number of times. Never
    /// blocks.
    pub fn prepare(&self) -> Prepare<'_> {
        Prepare { team: self }
    }
}

impl Prepare<'_> {
    /// Prepares a [`Team::broadcast`].
    ///
    /// # Errors
    /// See [`Prepare`].
    pub fn broadcast<T: Pod + Send>(&self, root: usize, values: Vec<T>) -> Result<Persistent<T>> {
        self.on((Operation::Broadcast, root, values.len()), (values, None), Each(nothing))
    }

    /// Prepares a [`Team::reduce`]: its result is at the root, and elsewhere what was brought.
    ///
    /// # Errors
    /// See [`Prepare`].
    pub fn reduce<T: Pod + Send>(
        &self,
        root: usize,
        values: Vec<T>,
        reduction: impl Reduction<T>,
    ) -> Result<Persistent<T>> {
        self.on((Operation::Reduce, root, values.len()), (values, None), Each(reduction))
    }

    /// Prepares a [`Team::all_reduce`].
    ///
    /// # Errors
    /// See [`Prepare`].
    pub fn all_reduce<T: Pod + Send>(
        &self,
        values: Vec<T>,
        reduction: impl Reduction<T>,
    ) -> Result<Persistent<T>> {
        self.on((Operation::AllReduce, 0, values.len()), (values, None), Each(reduction))
    }

    /// Prepares a [`Team::scan`].
    ///
    /// # Errors
    /// See [`Prepare`].
    pub fn scan<T: Pod + Send>(
        &self,
        values: Vec<T>,
        reduction: impl Reduction<T>,
    ) -> Result<Persistent<T>> {
        self.on((Operation::Scan, 0, values.len()), (values, None), Each(reduction))
    }

    /// Prepares a [`Team::exclusive_scan`].
    ///
    /// # Errors
    /// See [`Prepare`].
    pub fn exclusive_scan<T: Pod + Send>(
        &self,
        values: Vec<T>,
        reduction: impl Reduction<T>,
    ) -> Result<Persistent<T>> {
        self.on((Operation::ExclusiveScan, 0, values.len()), (values, None), Each(reduction))
    }

    /// Prepares a [`Team::gather`], whose result is empty but at the root.
    ///
    /// # Errors
    /// See [`Prepare`].
    pub fn gather<T: Pod + Send>(&self, root: usize, values: Vec<T>) -> Result<Persistent<T>> {
        let (length, is_root) = (values.len(), root == self.team.rank());
        let room = if is_root { length * self.team.size() } else { 0 };
        self.on((Operation::Gather, root, length), (values, Some(room)), Each(nothing))
    }

    /// Prepares a [`Team::scatter`] of `length` values to each; `values` are empty but at the root.
    ///
    /// # Errors
    /// See [`Prepare`].
    pub fn scatter<T: Pod + Send>(
        &self,
        root: usize,
        values: Vec<T>,
        length: usize,
    ) -> Result<Persistent<T>> {
        if root == self.team.rank() && values.len() != length * self.team.size() {
            return Err(Error::Uneven { values: values.len(), parts: self.team.size() });
        }
        self.on((Operation::Scatter, root, length), (values, Some(length)), Each(nothing))
    }

    /// Prepares a [`Team::all_gather`].
    ///
    /// # Errors
    /// See [`Prepare`].
    pub fn all_gather<T: Pod + Send>(&self, values: Vec<T>) -> Result<Persistent<T>> {
        let (length, room) = (values.len(), values.len() * self.team.size());
        self.on((Operation::AllGather, 0, length), (values, Some(room)), Each(nothing))
    }

    /// Prepares a [`Team::all_to_all`].
    ///
    /// # Errors
    /// See [`Prepare`].
    pub fn all_to_all<T: Pod + Send>(&self, values: Vec<T>) -> Result<Persistent<T>> {
        let length = values.len();
        if !length.is_multiple_of(self.team.size()) {
            return Err(Error::Uneven { values: length, parts: self.team.size() });
        }
        self.on((Operation::AllToAll, 0, length), (values, Some(length)), Each(nothing))
    }

    fn on<T: Pod + Send>(
        &self,
        (operation, root, count): (Operation, usize, usize),
        (mine, result): (Vec<T>, Option<usize>),
        combine: impl Combine<T> + Sync,
    ) -> Result<Persistent<T>> {
        let call = OperationCall { operation, root, count, size: size_of::<T>() };
        self.team.shared.check(call)?;
        let (shared, combine) = (Arc::clone(&self.team.shared), Arc::new(combine));
        let begin = move |buffers| begin(&shared, call, buffers, &combine);
        let result = result.map(|length| vec![T::zeroed(); length]);
        Ok(Persistent::new(mine, result, begin))
    }
}

fn begin<T: Pod + Send>(
    shared: &Shared,
    call: OperationCall,
    (mine, result): Buffers<T, Flat<T>>,
    combine: &Arc<impl Combine<T> + Sync>,
) -> Result<Pending<Buffers<T, Flat<T>>>> {
    let room = Room { mine, result, parts: Vec::new() };
    shared.begin(call, room, Arc::clone(combine), |mine, result, _| (mine, result))
}

impl<T, R: Default> Persistent<T, R> {
    pub(super) fn new(
        mine: Vec<T>,
        result: R,
        begin: impl Fn(Buffers<T, R>) -> Result<Pending<Buffers<T, R>>> + Send + 'static,
    ) -> Self {
        Persistent { begin: Box::new(begin), buffers: (mine, result), pending: None }
    }

    /// Values that this member brings when it is started next, to be changed. The result takes
    /// their place in a broadcast, a reduction and a scan. Blocks only if the start before was not
    /// waited for.
    ///
    /// # Errors
    /// Those of [`Started::wait`], of that start.
    pub fn values(&mut self) -> Result<&mut [T]> {
        self.wait()?;
        Ok(&mut self.buffers.0)
    }

    /// Starts it. Never blocks, unless the start before was not waited for.
    ///
    /// # Errors
    /// See [`Team`].
    pub fn start(&mut self) -> Result<Started<'_, T, R>> {
        self.wait()?;
        let buffers = std::mem::take(&mut self.buffers);
        self.pending = Some((self.begin)(buffers)?);
        Ok(Started { persistent: self })
    }

    /// Waits for what was started, if anything was.
    fn wait(&mut self) -> Result<()> {
        if let Some(pending) = self.pending.take() {
            self.buffers = pending.wait()?;
        }
        Ok(())
    }
}

impl<T, R> Started<'_, T, R> {
    /// True if it is over, so that [`Self::wait`] does not block. Never blocks and does not poll
    /// the network.
    ///
    /// # Errors
    /// Those of [`Pending::wait`].
    pub fn is_over(&mut self) -> Result<bool> {
        let Some(pending) = &mut self.persistent.pending else { return Ok(true) };
        let Some(buffers) = pending.try_take()? else { return Ok(false) };
        self.persistent.buffers = buffers;
        self.persistent.pending = None;
        Ok(true)
    }
}

impl<'a, T> Started<'a, T> {
    /// Waits for the result, which lies in the operation's buffer until the next start; handlers
    /// run meanwhile.
    ///
    /// # Errors
    /// Those of [`Pending::wait`].
    ///
    /// # Panics
    /// Those of [`Pending::wait`].
    pub fn wait(self) -> Result<&'a mut [T]> {
        self.persistent.wait()?;
        let (mine, result) = &mut self.persistent.buffers;
        Ok(result.as_mut().unwrap_or(mine))
    }
}

impl<'a, T> Started<'a, T, Vec<Vec<T>>> {
    /// Waits for the result, which is there until the next start: what each member has brought, or
    /// the one part of a scatter; nothing where a gather has no result. Handlers run meanwhile.
    ///
    /// # Errors
    /// Those of [`Pending::wait`].
    ///
    /// # Panics
    /// Those of [`Pending::wait`].
    pub fn wait(self) -> Result<&'a mut [Vec<T>]> {
        self.persistent.wait()?;
        Ok(&mut self.persistent.buffers.1)
    }
}
