//! The objects of one rank.

use crate::copy::{Copy, Fault, Overs, Statistics};
use crate::format::{Creation, Invocation, NAME_MAX, Ordered, Reply};
use crate::operation::{Effect, Executable, Object};
use crate::planted::{Bug, Planted};
use crate::{Dynamic, DynamicType, Error, Handle, Result};
use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use weft_endpoint::Rank;
use weft_messaging::rpc::{Client, Request, Responder, Rpc, Service};
use weft_messaging::{Completer, Completion, Engine, Order, OrderedMessage, Orders};

/// Name of the order and of the service.
const NAME: &str = "weft.objects";

/// Place of the copies of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placement {
    /// A copy at every rank.
    Replicated,
    /// One copy, at this rank.
    Single(Rank),
}

/// The types of which there may be objects. All ranks are given the same.
#[derive(Default)]
pub struct Types(BTreeMap<String, Arc<Kind>>);

/// A type, as a rank knows it.
pub(crate) struct Kind {
    name: String,
    /// Effects of its operations, by number.
    pub effects: Vec<Effect>,
    make: Maker,
}

/// Makes a copy from a state; `None` if it is none.
type Maker = Box<dyn Fn(&[u8]) -> Option<Arc<dyn AnyCopy>> + Send + Sync>;

impl Types {
    /// These types and `T`.
    #[must_use]
    pub fn with<T: Object>(mut self) -> Self {
        let effects = T::OPERATIONS.iter().map(|operation| operation.body.effect()).collect();
        self.insert(T::NAME.into(), effects, |state| Some(local(T::restore(state)?)));
        self
    }

    /// These types and one that is not Rust's.
    #[must_use]
    pub fn with_dynamic(mut self, of: DynamicType) -> Self {
        let (name, effects, of) = (of.name.clone(), of.effects.clone(), Arc::new(of));
        self.insert(name, effects, move |state| Some(local(Dynamic::restore(&of, state)?)));
        self
    }

    fn insert(
        &mut self,
        name: String,
        effects: Vec<Effect>,
        make: impl Fn(&[u8]) -> Option<Arc<dyn AnyCopy>> + Send + Sync + 'static,
    ) {
        let kind = Kind { name: name.clone(), effects, make: Box::new(make) };
        self.0.insert(name, Arc::new(kind));
    }

    /// The type of that name; one without operations, of which there are no copies here, if this
    /// rank was not given it.
    fn get(&self, name: &str) -> Arc<Kind> {
        let unknown = || {
            let (name, make) = (name.to_owned(), Box::new(|_: &[u8]| None));
            Arc::new(Kind { name, effects: Vec::new(), make })
        };
        self.0.get(name).cloned().unwrap_or_else(unknown)
    }
}

/// The objects of one rank; one of these a rank. All ranks make one, at the same place in the
/// sequence of their orders.
pub struct Objects(Arc<Inner>);

pub(crate) struct Inner {
    pub shared: Arc<Shared>,
    pub order: Order,
    pub client: Client,
    _service: Service,
}

/// State of handlers and of threads that invoke.
pub(crate) struct Shared {
    pub engine: Arc<Engine>,
    pub own: Rank,
    types: Types,
    /// Messages of the order that this rank has begun to execute: what its copies and its program
    /// may have seen.
    begun: AtomicU64,
    /// Messages of the order that this rank has executed.
    done: AtomicU64,
    /// Entries of [`Books::behind`], or one that is about to come.
    count_behind: AtomicUsize,
    books: Mutex<Books>,
    planted: Planted,
}

#[derive(Default)]
pub(crate) struct Books {
    /// By the number of their creation in the order.
    objects: BTreeMap<u64, Arc<Entry>>,
    names: BTreeMap<String, u64>,
    /// Threads that wait for an object of that name.
    finding: BTreeMap<String, Vec<Completer<Arc<Entry>>>>,
    /// Invocations of this rank that were broadcast and have not come back, by their numbers: they
    /// come back in this order, or nearly, since several threads may broadcast.
    calls: VecDeque<(u64, Completer<Answer>)>,
    next_call: u64,
    /// By the number of messages of the order that have to be executed first. Each is of a thread
    /// that waits, here or elsewhere, which bounds them.
    behind: BTreeMap<u64, Vec<Behind>>,
}

/// Something that waits until this rank has executed what another one has.
enum Behind {
    /// An invocation by call, and its arguments.
    Invocation(Invocation, Vec<u8>, Responder),
    /// A thread whose call has returned.
    Returned(Completer<()>),
}

/// An object, as a rank knows it.
pub(crate) struct Entry {
    pub id: u64,
    pub name: String,
    pub kind: Arc<Kind>,
    pub placement: Placement,
    /// The copy here, if there is one.
    pub copy: Option<Arc<dyn AnyCopy>>,
}

/// Copy of a `T` at this rank.
pub(crate) type LocalCopy<T> = Mutex<Copy<T, Resume>>;

/// Copy, at this rank, of a type that is not known.
pub(crate) trait AnyCopy: Any + Send + Sync {
    /// Executes an operation; adds those that are over.
    fn invoke(&self, operation: u16, arguments: &[u8], resume: Resume, over: &mut Overs<Resume>);

    /// Its counters.
    fn statistics(&self) -> Statistics;
}

fn local<T: Executable>(instance: T) -> Arc<dyn AnyCopy> {
    let copy: LocalCopy<T> = Mutex::new(Copy::new(instance));
    Arc::new(copy)
}

impl<T: Executable> AnyCopy for LocalCopy<T> {
    fn invoke(&self, operation: u16, arguments: &[u8], resume: Resume, over: &mut Overs<Resume>) {
        lock(self).invoke(operation, arguments, resume, over);
    }

    fn statistics(&self) -> Statistics {
        lock(self).statistics
    }
}

pub(crate) type Answer = std::result::Result<Vec<u8>, Fault>;

/// Destination of the result of an invocation.
pub(crate) enum Resume {
    /// A thread or a task of this rank.
    Here(Completer<Answer>),
    /// The rank that called.
    Caller(Responder),
    /// Another rank, whose own copy has it.
    Elsewhere,
}

impl Objects {
    /// The objects of this rank, of which there are none yet.
    ///
    /// # Errors
    /// The name of the order is taken: there are some already.
    pub fn new(orders: &Orders, rpc: &Arc<Rpc>, types: Types) -> Result<Self> {
        let engine = Arc::clone(rpc.engine());
        let (own, books) = (engine.packets().rank(), Mutex::default());
        let [begun, done] = [0, 0].map(AtomicU64::new);
        let planted = Planted::default();
        let shared = Arc::new(Shared {
            engine,
            own,
            types,
            begun,
            done,
            count_behind: AtomicUsize::new(0),
            books,
            planted,
        });
        let [ordering, serving] = [(); 2].map(|()| Arc::clone(&shared));
        let order = orders.order(NAME, move |message| ordering.ordered(message))?;
        let service = Service::new(rpc, NAME, move |request| serving.called(request))?;
        let client = Client::new(rpc, NAME)?;
        Ok(Objects(Arc::new(Inner { shared, order, client, _service: service })))
    }

    /// Plants a bug in this rank's objects.
    #[cfg(feature = "planted")]
    pub fn plant(&self, bug: Bug) {
        self.0.shared.planted.plant(bug);
    }

    /// Creates an object, and returns once this rank has it. One rank creates it; others find it.
    ///
    /// # Errors
    /// [`Error::Taken`], [`Error::LongName`], [`Error::NoSuchRank`], [`Error::UnknownType`],
    /// [`Error::BadState`], or a lost rank.
    pub fn create<T: Object>(
        &self,
        name: &str,
        first: &T,
        placement: Placement,
    ) -> Result<Handle<T>> {
        self.create_kind(name, T::NAME, &first.capture(), placement).map(|entry| self.handle(entry))
    }

    /// Creates an object of a type that is not Rust's, with this state; otherwise like
    /// [`Objects::create`].
    ///
    /// # Errors
    /// Those of [`Objects::create`].
    pub fn create_dynamic(
        &self,
        name: &str,
        kind: &str,
        state: &[u8],
        placement: Placement,
    ) -> Result<Handle<Dynamic>> {
        self.create_kind(name, kind, state, placement).map(|entry| self.handle(entry))
    }

    fn create_kind(
        &self,
        name: &str,
        kind: &str,
        state: &[u8],
        placement: Placement,
    ) -> Result<Arc<Entry>> {
        let Inner { shared, order, .. } = &*self.0;
        let ranks = shared.engine.packets().size();
        if let Some(long) = [name, kind].iter().map(|name| name.len()).find(|&l| l > NAME_MAX) {
            return Err(Error::LongName(long));
        }
        if let Placement::Single(home) = placement
            && home.index() >= ranks
        {
            return Err(Error::NoSuchRank(home, ranks));
        }
        match shared.types.0.get(kind) {
            None => return Err(Error::UnknownType(kind.into())),
            Some(known) if (known.make)(state).is_none() => {
                return Err(Error::BadState(name.into()));
            }
            Some(_) => {}
        }
        let creation = Creation { placement, name, kind, state };
        let head = creation.emit();
        let parts = [&head[..], name.as_bytes(), kind.as_bytes(), state];
        let id = order.broadcast_and_wait(&parts)?;
        let entry = shared.books().objects.get(&id).cloned();
        entry.ok_or_else(|| Error::Taken(name.into()))
    }

    /// The object of that name. Waits until some rank has created it; handlers run meanwhile.
    ///
    /// # Errors
    /// [`Error::OtherType`], or a lost rank.
    pub fn find<T: Object>(&self, name: &str) -> Result<Handle<T>> {
        self.find_kind(name, T::NAME).map(|entry| self.handle(entry))
    }

    /// The object of that name, of a type that is not Rust's; otherwise like [`Objects::find`].
    ///
    /// # Errors
    /// Those of [`Objects::find`].
    pub fn find_dynamic(&self, name: &str, kind: &str) -> Result<Handle<Dynamic>> {
        self.find_kind(name, kind).map(|entry| self.handle(entry))
    }

    fn find_kind(&self, name: &str, kind: &str) -> Result<Arc<Entry>> {
        let shared = &self.0.shared;
        let completion = {
            let mut books = shared.books();
            let known = books.names.get(name).and_then(|id| books.objects.get(id)).cloned();
            match known {
                Some(entry) => {
                    drop(books);
                    return of_kind(entry, kind);
                }
                None => {
                    let (completer, completion) = Completion::new(&shared.engine);
                    books.finding.entry(name.into()).or_default().push(completer);
                    completion
                }
            }
        };
        of_kind(completion.wait()?, kind)
    }

    fn handle<T: Executable>(&self, entry: Arc<Entry>) -> Handle<T> {
        Handle::new(Arc::clone(&self.0), entry)
    }
}

/// The object, if it is of this type.
fn of_kind(entry: Arc<Entry>, kind: &str) -> Result<Arc<Entry>> {
    if entry.kind.name == kind {
        return Ok(entry);
    }
    let (name, is, asked) = (entry.name.clone(), entry.kind.name.clone(), kind.into());
    Err(Error::OtherType { name, is, asked })
}

impl Shared {
    pub fn books(&self) -> MutexGuard<'_, Books> {
        lock(&self.books)
    }

    /// Tells everybody whose operation is over.
    pub fn tell(&self, over: Overs<Resume>) {
        for (resume, answer) in over {
            match (resume, answer) {
                (Resume::Here(completer), answer) => completer.complete(Ok(answer)),
                // A caller that was lost needs no answer.
                (Resume::Caller(responder), Ok(result)) => {
                    let head = Reply { fault: None, seen: self.seen() }.emit();
                    drop(responder.reply(&[&head[..], &result]));
                }
                (Resume::Caller(responder), Err(fault)) => {
                    let head = Reply { fault: Some(fault), seen: self.seen() }.emit();
                    drop(responder.reply(&head));
                }
                (Resume::Elsewhere, _) => {}
            }
        }
    }

    /// Messages of the order that copies here may reflect.
    pub fn seen(&self) -> u64 {
        self.begun.load(Ordering::SeqCst)
    }

    /// Completes once this rank has executed so many messages of the order; `None` if it has.
    pub fn catch_up(&self, messages: u64) -> Option<Completion<()>> {
        if self.has_done(messages) || self.planted.has(Bug::EarlyReturn, 1) {
            return None;
        }
        let (completer, completion) = Completion::new(&self.engine);
        match self.put_behind(messages, Behind::Returned(completer)) {
            None => Some(completion),
            Some(_) => None,
        }
    }

    fn has_done(&self, messages: u64) -> bool {
        self.done.load(Ordering::SeqCst) >= messages
    }

    /// Keeps something until so many messages are executed; returns it if they are.
    fn put_behind(&self, messages: u64, behind: Behind) -> Option<Behind> {
        let mut books = self.books();
        // Either this sees that they are executed, or whoever executes them sees this.
        self.count_behind.fetch_add(1, Ordering::SeqCst);
        if self.has_done(messages) {
            self.count_behind.fetch_sub(1, Ordering::SeqCst);
            return Some(behind);
        }
        books.behind.entry(messages).or_default().push(behind);
        None
    }

    /// A message of the order. What cannot be read any more is of a rank that was lost.
    fn ordered(&self, mut message: OrderedMessage) {
        let (source, number) = (message.source(), message.number());
        self.begun.store(number + 1, Ordering::SeqCst);
        let all = message.remaining();
        match message.chunk() {
            Ok(bytes) if bytes.len() == all => self.execute(source, number, bytes),
            _ => drop(message.read_to_vec().map(|bytes| self.execute(source, number, &bytes))),
        }
        // Before the look at who is behind: who comes later sees it.
        self.done.store(number + 1, Ordering::SeqCst);
        while self.count_behind.load(Ordering::SeqCst) > 0 {
            let behind = self.books().next_behind(number + 1);
            let Some(behind) = behind else { return };
            self.count_behind.fetch_sub(behind.len(), Ordering::SeqCst);
            behind.into_iter().for_each(|behind| self.go_on(behind));
        }
    }

    /// Executes a message of the order.
    fn execute(&self, source: Rank, number: u64, bytes: &[u8]) {
        match Ordered::parse(bytes) {
            Some(Ordered::Create(creation)) => self.created(number, &creation),
            Some(Ordered::Invoke(invocation, arguments)) => {
                self.invoked(source, &invocation, arguments);
            }
            None => {}
        }
    }

    /// Goes on with what was behind.
    fn go_on(&self, behind: Behind) {
        match behind {
            Behind::Returned(completer) => completer.complete(Ok(())),
            Behind::Invocation(invocation, arguments, responder) => {
                self.serve(&invocation, &arguments, responder);
            }
        }
    }

    /// An invocation that all copies execute.
    fn invoked(&self, source: Rank, invocation: &Invocation, arguments: &[u8]) {
        let mut books = self.books();
        let Some(entry) = books.objects.get(&invocation.object).cloned() else { return };
        // Others count their calls by themselves.
        let is_own = source == self.own;
        let own = if is_own { books.take_call(invocation.call) } else { None };
        drop(books);
        if !is_own && self.planted.has(Bug::Skipped, 5) {
            return;
        }
        if self.planted.has(Bug::Twice, 5) {
            entry.execute(invocation.operation, arguments, Resume::Elsewhere, self);
        }
        let resume = own.map_or(Resume::Elsewhere, Resume::Here);
        entry.execute(invocation.operation, arguments, resume, self);
    }

    /// The object with this number comes into being, unless its name is taken.
    fn created(&self, id: u64, creation: &Creation<'_>) {
        let Creation { placement, name, kind, state } = *creation;
        let is_here = match placement {
            Placement::Replicated => true,
            Placement::Single(home) => home == self.own,
        };
        let kind = self.types.get(kind);
        let copy = if is_here { (kind.make)(state) } else { None };
        let name = name.to_owned();
        let entry = Arc::new(Entry { id, name, kind, placement, copy });
        let mut books = self.books();
        if books.names.contains_key(&entry.name) {
            return;
        }
        books.names.insert(entry.name.clone(), id);
        books.objects.insert(id, Arc::clone(&entry));
        let finding = books.finding.remove(&entry.name).unwrap_or_default();
        drop(books);
        for completer in finding {
            completer.complete(Ok(Arc::clone(&entry)));
        }
    }

    /// A call. It goes another way than the order, and may come before messages that its caller has
    /// executed, the creation of its object among them: then it waits for these.
    fn called(&self, request: Request) {
        let (responder, mut message) = request.into_parts();
        let all = message.remaining();
        match message.chunk() {
            Ok(bytes) if bytes.len() == all => self.call(responder, bytes),
            _ => drop(message.read_to_vec().map(|bytes| self.call(responder, &bytes))),
        }
    }

    fn call(&self, responder: Responder, bytes: &[u8]) {
        let Some((invocation, arguments)) = Invocation::parse(bytes) else {
            return drop(responder.fail("it is no invocation of an operation"));
        };
        if self.has_done(invocation.seen()) || self.planted.has(Bug::EarlyCall, 1) {
            return self.serve(&invocation, arguments, responder);
        }
        let behind = Behind::Invocation(invocation, arguments.to_vec(), responder);
        if let Some(behind) = self.put_behind(invocation.seen(), behind) {
            self.go_on(behind);
        }
    }

    /// Executes the operation of a call.
    fn serve(&self, invocation: &Invocation, arguments: &[u8], responder: Responder) {
        let entry = self.books().objects.get(&invocation.object).cloned();
        match entry {
            Some(entry) => {
                entry.execute(invocation.operation, arguments, Resume::Caller(responder), self);
            }
            None => drop(responder.fail("there is no such object")),
        }
    }
}

impl Drop for Shared {
    /// Reports the copies here.
    fn drop(&mut self) {
        if !self.engine.wants_reports() {
            return;
        }
        for entry in self.books().objects.values() {
            if let Some(copy) = &entry.copy {
                self.engine.add_report(entry.described(copy.statistics()));
            }
        }
    }
}

impl Books {
    /// The first of those that waited for so many messages, or fewer.
    fn next_behind(&mut self, done: u64) -> Option<Vec<Behind>> {
        let first = self.behind.first_entry().filter(|first| *first.key() <= done);
        first.map(|first| first.remove())
    }

    /// Number of a call whose answer is for `completer`.
    pub fn expect_call(&mut self, completer: Completer<Answer>) -> u64 {
        self.next_call += 1;
        self.calls.push_back((self.next_call, completer));
        self.next_call
    }

    /// Takes the call of this number out.
    pub fn take_call(&mut self, number: u64) -> Option<Completer<Answer>> {
        let place = self.calls.iter().position(|(call, _)| *call == number)?;
        self.calls.remove(place).map(|(_, completer)| completer)
    }
}

impl Entry {
    /// Executes an operation on the copy here, and tells everybody whose operation is over.
    pub fn execute(&self, operation: u16, arguments: &[u8], resume: Resume, at: &Shared) {
        let mut over = Overs::new();
        match &self.copy {
            Some(copy) => copy.invoke(operation, arguments, resume, &mut over),
            None => over.push((resume, Err(Fault::NoCopy))),
        }
        at.tell(over);
    }

    /// A line for people about the copy here, whose counters these are.
    fn described(&self, counters: Statistics) -> String {
        let Statistics { reads, writes, blocked, evaluated } = counters;
        let place = match self.placement {
            Placement::Replicated => "replicated",
            Placement::Single(_) => "one copy, here",
        };
        format!(
            "object '{}' ({}, {place}): {reads} reads, {writes} writes, {blocked} waited for \
             guards, evaluated again {evaluated} times",
            self.name, self.kind.name
        )
    }

    pub fn fault(&self, fault: Fault, operation: u16) -> Error {
        let (name, kind) = (self.name.clone(), self.kind.name.clone());
        match fault {
            Fault::NoSuchOperation => Error::NoSuchOperation { name, kind, operation },
            Fault::Malformed => Error::Malformed { name, kind, operation },
            Fault::Broken => Error::Broken(name),
            Fault::NoCopy => Error::NoCopy(name),
        }
    }
}

/// A panic in an operation is caught before it gets here.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
