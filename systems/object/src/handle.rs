//! An object of a known type, as one rank sees it: the decision process of fig. 7.4.

use crate::calls::Answer;
use crate::copy::{Broken, Fault, Overs, Role, Statistics, Way};
use crate::deadlock::Other;
use crate::entry::Entry;
use crate::error::{Error, Result};
use crate::format::{Invocation, Place, REPLY, Reply, Why, emit_delete};
use crate::local::{Local, LocalCopy, Resume};
use crate::lock::lock;
use crate::operation::{Effect, Executable};
use crate::placement::{Placement, Site};
use crate::shared::Node;
use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;
use weft_endpoint::{Awaited, Rank, Whom};
use weft_messaging::rpc::Call;
use weft_messaging::{Completion, Parts};

/// An object of a known type, as one rank sees it.
pub struct Handle<T> {
    node: Arc<Node>,
    entry: Arc<Entry>,
    /// The copy here, or the place for one, if this rank knows the type.
    copy: Option<Arc<LocalCopy<T>>>,
}

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        let Handle { node, entry, copy } = self;
        Handle { node: Arc::clone(node), entry: Arc::clone(entry), copy: copy.clone() }
    }
}

#[expect(private_bounds, reason = "objects of Rust, and `Dynamic`")]
impl<T: Executable> Handle<T> {
    /// A handle of an object that is a `T`.
    pub(crate) fn new(node: Arc<Node>, entry: Arc<Entry>) -> Self {
        let copy = entry.copy.clone();
        let copy = copy.and_then(|copy| (copy as Arc<dyn Any + Send + Sync>).downcast().ok());
        Handle { node, entry, copy }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.entry.name
    }

    /// Its number, the same on all ranks. It stands for the object in arguments of processes and
    /// operations: [`crate::Objects::get`].
    pub fn id(&self) -> u64 {
        self.entry.id
    }

    /// Place of its copies, as far as this rank has executed the order.
    pub fn placement(&self) -> Placement {
        self.entry.site().into()
    }

    /// Has the object be there from now on. Returns once this rank knows of it; a single copy may
    /// still be on its way then, and whoever operates on it waits for that. Of several changes that
    /// come meanwhile the last is done afterwards. An object that is broken, or whose state cannot
    /// be captured, stays where it is.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`], [`Error::Deleted`], or a lost rank.
    pub fn place(&self, placement: Placement) -> Result<()> {
        let ranks = self.node.shared.engine.packets().size();
        placement.check(ranks)?;
        let (site, is_automatic) = placement.site(ranks);
        let why = match (site, is_automatic) {
            (None, _) => Why::Left,
            (_, true) => Why::Estimate,
            (_, false) => Why::Fixed,
        };
        let place = Place { object: self.id(), site: site.unwrap_or(self.entry.site()) };
        self.node.order.broadcast_and_wait(&place.emit(why))?;
        match self.entry.deleted_by().is_some() || self.entry.lost_with().is_some() {
            true => Err(self.entry.gone()),
            false => Ok(()),
        }
    }

    /// Deletes the object, at all ranks and at one place in the sequence of all operations: those
    /// that come after it, or wait for a guard there, fail with [`Error::Deleted`], wherever they
    /// were begun. Its memory is free then, and its name may be used again. Returns once this rank
    /// has executed that, as the others do when they come to that place. Not for handlers, which
    /// must not wait.
    ///
    /// # Errors
    /// [`Error::Deleted`] if somebody else has deleted it; a lost rank.
    pub fn delete(self) -> Result<()> {
        let number = self.node.order.broadcast_and_wait(&emit_delete(self.id()))?;
        match self.entry.deleted_by() {
            Some(by) if by == number => Ok(()),
            _ => Err(Error::Deleted(self.name().into())),
        }
    }

    /// Counters of the copy here, if there is one. They count what this rank has executed as long
    /// as it had one.
    pub fn statistics(&self) -> Option<Statistics> {
        let copy = lock(self.copy.as_ref()?);
        let is_here = !matches!(copy.role(), Role::Absent | Role::Deleted);
        is_here.then_some(copy.statistics)
    }

    /// Executes the operation with this number, and returns its result. Its arguments may be in
    /// pieces, which are gathered where they lie. Waits while its guards are false; handlers run
    /// meanwhile. Not for handlers, which must not wait.
    ///
    /// # Errors
    /// [`Error::NoSuchOperation`], [`Error::Malformed`], [`Error::Broken`], [`Error::NoCopy`],
    /// [`Error::Deleted`], or a lost rank.
    pub fn invoke(&self, operation: u16, arguments: &(impl Parts + ?Sized)) -> Result<Vec<u8>> {
        match self.node.shared.watch.process() {
            None => {
                let state = self.start(operation, 0, arguments);
                self.wait(operation, None, state.map_err(|error| self.after_loss(error))?)
            }
            Some(process) => {
                let number = self.node.shared.watch.number();
                let state = self.start(operation, number, arguments);
                let state = state.map_err(|error| self.after_loss(error))?;
                self.wait_as(operation, (process, number), state)
            }
        }
    }

    /// Begins the operation with this number, whose result is waited for, or awaited, later. Those
    /// that a thread has begun and not waited for are executed in any order; and one whose object
    /// moves before it is executed starts again when it is waited for, or dropped.
    ///
    /// # Errors
    /// A lost rank. What is wrong with the operation is said when it is waited for.
    pub fn begin(&self, operation: u16, arguments: &(impl Parts + ?Sized)) -> Result<Pending<T>> {
        let state = self.start(operation, 0, arguments)?;
        let rest = Rest { handle: self.clone(), operation, state: Some(state), end: spawn_end };
        Ok(Pending { rest, read: Ok })
    }

    /// Begins an operation; its number is 0 unless a process will wait for it.
    #[inline]
    fn start(
        &self,
        operation: u16,
        number: u32,
        arguments: &(impl Parts + ?Sized),
    ) -> Result<Begun> {
        let effect = self.entry.kind.effects.get(usize::from(operation));
        Ok(match (self.entry.site(), effect) {
            (_, None) => Begun::Over(Err(Fault::NoSuchOperation)),
            (Site::Single(home), _) if home != self.node.shared.own => {
                self.call(home, (operation, number), arguments)?
            }
            (_, Some(Effect::Read)) => self.execute(Way::Read, (operation, number), arguments),
            (Site::Single(_), _) => self.execute(Way::Home, (operation, number), arguments),
            (_, Some(Effect::Either)) => match self.read(operation, arguments) {
                Ok(None) => self.broadcast((operation, number), arguments)?,
                Ok(Some(result)) => Begun::Over(Ok(result)),
                Err(fault) => Begun::Over(Err(fault)),
            },
            (_, Some(Effect::Write)) => self.broadcast((operation, number), arguments)?,
        })
    }

    /// Waits for the result, as a process that waits for nothing else.
    fn wait_as(
        &self,
        operation: u16,
        (process, number): (u64, u32),
        state: Begun,
    ) -> Result<Vec<u8>> {
        let watch = &self.node.shared.watch;
        watch.waits(process, (number, self.id(), operation));
        let result = self.wait(operation, Some(process), state);
        watch.goes_on(process);
        result
    }

    /// Awaits the result of an operation of no process.
    async fn end(&self, operation: u16, state: Begun) -> Result<Vec<u8>> {
        match self.end_unless_lost(operation, state).await {
            Err(error) if error.lost_rank().is_some() => Err(self.after_loss_async(error).await),
            ended => ended,
        }
    }

    async fn end_unless_lost(&self, operation: u16, mut state: Begun) -> Result<Vec<u8>> {
        let shared = &self.node.shared;
        let mut moved = None;
        loop {
            let answer = match state {
                Begun::Over(answer) => answer,
                Begun::Expected(key) => self.completion(key).await?,
                Begun::Called(call, number, home) => {
                    let _other = self.counted(number);
                    let mut bytes = call.await?.bytes().await?;
                    let (head, _) = bytes.split_first_chunk().ok_or(Error::Unreadable)?;
                    let reply = Reply::parse(head);
                    if let Some(behind) = shared.catch_up(reply.seen, home) {
                        behind.await?;
                    }
                    bytes.drain(..REPLY);
                    reply.answer(bytes)
                }
            };
            let Err(Fault::Moved(arguments)) = answer else {
                return answer.map_err(|fault| {
                    self.entry.fault(fault, operation, || shared.programs.ending())
                });
            };
            moved.get_or_insert_with(|| shared.watch.other());
            if let Some(behind) = shared.catch_up(shared.position.seen(), shared.own) {
                behind.await?;
            }
            state = self.start(operation, 0, &arguments)?;
        }
    }

    /// Waits for the result, as this process or as none.
    #[inline]
    fn wait(&self, operation: u16, process: Option<u64>, state: Begun) -> Result<Vec<u8>> {
        match self.answer(operation, state) {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(fault)) => {
                let outcome = self.go_after(operation, process, fault);
                outcome.map_err(|error| self.after_loss(error))
            }
            Err(error) => Err(self.after_loss(error)),
        }
    }

    /// Error of an operation whose call has failed because its home is lost: what that means for
    /// the object is known once the order has told of the loss. (An object that has moved before is
    /// not lost, and nobody knows whether its old home has executed the operation.)
    #[cold]
    fn after_loss(&self, error: Error) -> Error {
        let shared = &self.node.shared;
        let Some(rank) = error.lost_rank().filter(|_| shared.engine.packets().losses().goes_on())
        else {
            return error;
        };
        let told = shared.losses.wait_for(rank, &shared.engine);
        match told.map(Completion::wait).transpose() {
            Ok(_) if self.entry.lost_with() == Some(rank) => self.entry.gone(),
            Ok(_) => error,
            Err(other) => other.into(),
        }
    }

    /// Does what [`Self::after_loss`] does, for tasks.
    async fn after_loss_async(&self, error: Error) -> Error {
        let shared = &self.node.shared;
        if let Some(rank) = error.lost_rank()
            && shared.engine.packets().losses().goes_on()
            && let Some(told) = shared.losses.wait_for(rank, &shared.engine)
            && let Err(other) = told.await
        {
            return other.into();
        }
        // It has told.
        self.after_loss(error)
    }

    /// Starts again, as often as the object has moved.
    #[cold]
    fn go_after(&self, operation: u16, process: Option<u64>, fault: Fault) -> Result<Vec<u8>> {
        let (shared, mut fault) = (&self.node.shared, fault);
        let _other = process.is_none().then(|| shared.watch.other());
        while let Fault::Moved(arguments) = fault {
            // What moved it is executed to its end before it starts again.
            shared
                .catch_up(shared.position.seen(), shared.own)
                .map(Completion::wait)
                .transpose()?;
            let number = process.map_or(0, |_| shared.watch.number());
            let state = self.start(operation, number, &arguments)?;
            if let Some(process) = process {
                shared.watch.waits(process, (number, self.id(), operation));
            }
            match self.answer(operation, state)? {
                Ok(result) => return Ok(result),
                Err(again) => fault = again,
            }
        }
        Err(self.entry.fault(fault, operation, || shared.programs.ending()))
    }

    /// Waits for the end of an invocation.
    #[inline]
    fn answer(&self, operation: u16, state: Begun) -> Result<Answer> {
        let what = || self.awaited(operation);
        Ok(match state {
            Begun::Over(answer) => answer,
            Begun::Expected(key) => {
                let shared = &self.node.shared;
                shared.calls.wait(key, &shared.engine, &what)?
            }
            Begun::Called(call, number, home) => {
                let _other = self.counted(number);
                let mut message = call.wait_for(&what)?;
                let mut head = [0; REPLY];
                message.read_exact(&mut head)?;
                let reply = Reply::parse(&head);
                let shared = &self.node.shared;
                let rest = message.read_pieces(|bytes| shared.engine.packets().copied(bytes))?;
                // This rank sees what the home has.
                let behind = shared.catch_up(reply.seen, home);
                behind.map(Completion::wait).transpose()?;
                reply.answer(rest)
            }
        })
    }

    /// Object of the wait for an operation.
    fn awaited(&self, operation: u16) -> Awaited {
        let (name, kind) = (self.name(), &self.entry.kind);
        let what = format!("{} on object '{name}', of which a guard", kind.operation(operation));
        Awaited::new(format!("{what} may be false"), Whom::Anyone)
    }

    /// Has `read` look at the copy here, for an operation with this number that reads. `None` if
    /// there is no copy here, or `read` returns that because its guard is false; then it has not
    /// been executed.
    ///
    /// # Errors
    /// [`Error::Broken`] after a panic of `read`. (What is broken already is no copy.)
    #[inline]
    pub fn read_here<O>(
        &self,
        operation: u16,
        read: impl FnOnce(&T) -> Option<O>,
    ) -> Result<Option<O>> {
        let Some(copy) = &self.copy else { return Ok(None) };
        let found = lock(copy).read_with(read);
        found.map_err(|broken| self.broken(broken, operation))
    }

    /// Has `write` change the only copy, for an operation with this number that writes, if that is
    /// here. `None` if it is not, or `write` returns that because its guard is false; then nothing
    /// was changed.
    ///
    /// # Errors
    /// [`Error::Broken`] after a panic of `write`. (What is broken already is no copy.)
    pub fn write_here<O>(
        &self,
        operation: u16,
        write: impl FnOnce(&mut T) -> Option<O>,
    ) -> Result<Option<O>> {
        let (Site::Single(_), Some(copy)) = (self.entry.site(), &self.copy) else {
            return Ok(None);
        };
        let mut over = Overs::new();
        let done = lock(copy).write_with(write, &mut over);
        self.node.shared.tell(over);
        done.map_err(|broken| self.broken(broken, operation))
    }

    #[cold]
    fn broken(&self, broken: Broken, operation: u16) -> Error {
        self.entry.fault(broken.into(), operation, || self.node.shared.programs.ending())
    }

    /// Executes those alternatives of an operation that read, on the copy here; `None` if their
    /// guards are false.
    fn read(
        &self,
        operation: u16,
        arguments: &(impl Parts + ?Sized),
    ) -> std::result::Result<Option<Vec<u8>>, Fault> {
        let copy = self.copy.as_ref().ok_or(Fault::NoCopy)?;
        lock(copy).read(operation, &whole(arguments))
    }

    /// Executes an operation on the copy here.
    fn execute(
        &self,
        way: Way,
        (operation, number): (u16, u32),
        arguments: &(impl Parts + ?Sized),
    ) -> Begun {
        let shared = &self.node.shared;
        let key = shared.calls.expect(number);
        let (arguments, resume) = (&*whole(arguments), Resume::Here(key, number));
        shared.execute(&self.entry, Local { way, operation, arguments, resume });
        Begun::Expected(key)
    }

    /// Has all copies execute an operation.
    fn broadcast(
        &self,
        (operation, number): (u16, u32),
        arguments: &(impl Parts + ?Sized),
    ) -> Result<Begun> {
        let Node { shared, order, .. } = &*self.node;
        let call = shared.calls.expect(number);
        let head = Invocation { operation, object: self.entry.id, call, number }.emit();
        if let Err(error) = order.broadcast(&Headed(&head, arguments)) {
            shared.calls.forget(call);
            return Err(error.into());
        }
        Ok(Begun::Expected(call))
    }

    /// Has the home execute an operation, when it has seen what this rank has.
    fn call(
        &self,
        home: Rank,
        (operation, number): (u16, u32),
        arguments: &(impl Parts + ?Sized),
    ) -> Result<Begun> {
        if self.entry.lost_with().is_some() {
            return Ok(Begun::Over(Err(Fault::Deleted)));
        }
        let Node { shared, client, .. } = &*self.node;
        let (object, call) = (self.entry.id, shared.position.seen());
        let head = Invocation { operation, object, call, number }.emit();
        let other = (number == 0).then(|| shared.watch.other());
        let call = client.call(home, &Headed(&head, arguments))?;
        // Until its end is known.
        std::mem::forget(other);
        Ok(Begun::Called(call, number, home))
    }

    /// Completion with the result of an invocation that a copy here answers.
    fn completion(&self, key: u64) -> Completion<Answer> {
        let shared = &self.node.shared;
        shared.calls.completion(key, &shared.engine)
    }

    /// A call with this number, which was counted if no process waits for it, until this is
    /// dropped.
    fn counted(&self, number: u32) -> Option<Other<'_>> {
        (number == 0).then(|| self.node.shared.watch.counted())
    }
}

/// An operation that has begun, and its result `O`. Dropping it gives up on the result; the
/// operation is executed all the same.
#[must_use = "nobody waits for what was begun"]
pub struct Pending<T, O = Vec<u8>> {
    rest: Rest<T>,
    read: fn(Vec<u8>) -> Result<O>,
}

/// The rest of an operation that has begun. Dropping it leaves that to a task.
struct Rest<T> {
    handle: Handle<T>,
    operation: u16,
    /// `None` once somebody else sees to it.
    state: Option<Begun>,
    /// [`spawn_end`], which a drop cannot name: it knows no bounds of `T`.
    end: fn(&Handle<T>, u16, Begun),
}

impl<T> Rest<T> {
    fn take(&mut self) -> Begun {
        self.state.take().unwrap_or_else(|| unreachable!("it is waited for once"))
    }
}

impl<T> Drop for Rest<T> {
    fn drop(&mut self) {
        if let Some(state) = self.state.take() {
            (self.end)(&self.handle, self.operation, state);
        }
    }
}

/// Has a task see to the end of an operation: until then it is under way, and if its object moves
/// before it is executed it starts again.
fn spawn_end<T: Executable>(handle: &Handle<T>, operation: u16, state: Begun) {
    if let Begun::Over(answer) = &state
        && !matches!(answer, Err(Fault::Moved(_)))
    {
        return;
    }
    let task = handle.clone();
    handle.node.shared.engine.spawn(async move {
        // Whoever gave it up wants no result.
        let _ = task.end(operation, state).await;
    });
}

/// An operation that has begun.
enum Begun {
    Over(Answer),
    /// A copy here answers, by this key.
    Expected(u64),
    /// At its home; with its number.
    Called(Call, u32, Rank),
}

impl<T> Pending<T> {
    /// Operation whose result `read` makes of its bytes.
    pub fn reading<O>(self, read: fn(Vec<u8>) -> Result<O>) -> Pending<T, O> {
        Pending { rest: self.rest, read }
    }
}

#[expect(private_bounds, reason = "objects of Rust, and `Dynamic`")]
impl<T: Executable, O> Pending<T, O> {
    /// Waits for the result; handlers run meanwhile.
    ///
    /// # Errors
    /// Those of [`Handle::invoke`].
    pub fn wait(mut self) -> Result<O> {
        let state = self.rest.take();
        (self.read)(self.rest.handle.wait(self.rest.operation, None, state)?)
    }

    /// Awaits the result. Dropping the future gives up more than dropping this: an operation whose
    /// object moves before it is executed is not executed then.
    ///
    /// # Errors
    /// Those of [`Handle::invoke`].
    pub async fn result(mut self) -> Result<O> {
        let state = self.rest.take();
        (self.read)(self.rest.handle.end(self.rest.operation, state).await?)
    }
}

/// A head, and pieces that follow it.
struct Headed<'a, P: ?Sized>(&'a [u8], &'a P);

impl<P: Parts + ?Sized> Parts for Headed<'_, P> {
    fn for_each(&self, visit: &mut dyn FnMut(&[u8])) {
        visit(self.0);
        self.1.for_each(visit);
    }
}

/// Pieces in one.
fn whole(parts: &(impl Parts + ?Sized)) -> Cow<'_, [u8]> {
    if let Some(whole) = parts.whole() {
        return Cow::Borrowed(whole);
    }
    let mut bytes = Vec::with_capacity(parts.total());
    parts.for_each(&mut |part| bytes.extend(part));
    Cow::Owned(bytes)
}
