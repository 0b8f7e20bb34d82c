//! State of a rank that handlers and threads share: its copies, and what waits at them.

use crate::Error;
use crate::calls::Calls;
use crate::copy::{Copy, Fault, Over, Overs, Role, Statistics, Way};
use crate::deadlock::Watch;
use crate::format::{Creation, Invocation, Ordered, Reply};
use crate::objects::Inner;
use crate::operation::Executable;
use crate::placement::Moving;
use crate::planted::{Bug, Planted};
use crate::processes::Processes;
use crate::types::{Kind, Types};
use crate::usage::{Site, Usage, WINDOW};
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use weft_endpoint::Rank;
use weft_messaging::rpc::{Request, Responder};
use weft_messaging::{Completer, Completion, Engine, OrderedMessage};

/// Breach of who sends a message about an object that does not exist.
const NO_OBJECT: &str = "it named an object that there is not";

/// State of handlers and of threads that invoke.
pub(crate) struct Shared {
    pub engine: Arc<Engine>,
    pub own: Rank,
    pub types: Types,
    pub processes: Processes,
    pub watch: Watch,
    pub calls: Calls,
    /// Operations after which a placement is thought over.
    pub window: AtomicU64,
    /// All of this rank's objects, for handlers.
    pub inner: OnceLock<Weak<Inner>>,
    /// Messages of the order that this rank has begun to execute: what its copies and its program
    /// may have seen.
    begun: AtomicU64,
    /// Messages of the order that this rank has executed.
    done: AtomicU64,
    /// Entries of [`Books::behind`], or one that is about to come.
    count_behind: AtomicUsize,
    books: Mutex<Books>,
    pub planted: Planted,
}

#[derive(Default)]
pub(crate) struct Books {
    /// By the number of their creation in the order.
    pub objects: BTreeMap<u64, Arc<Entry>>,
    pub names: BTreeMap<String, u64>,
    /// Threads that wait for an object of that name.
    pub finding: BTreeMap<String, Vec<Completer<Arc<Entry>>>>,
    /// By the number of messages of the order that have to be executed first. Each is of a thread
    /// that waits, here or elsewhere, which bounds them.
    behind: BTreeMap<u64, Vec<Behind>>,
    /// Messages with states that could not be sent yet.
    pub unsent: Vec<Vec<u8>>,
}

/// Something that waits until this rank has executed what another one has.
enum Behind {
    /// An invocation by call, and its arguments.
    Invocation(Invocation, Vec<u8>, (Responder, Rank)),
    /// A thread whose call has returned.
    Returned(Completer<()>),
}

/// An object, as a rank knows it.
pub(crate) struct Entry {
    pub id: u64,
    pub name: String,
    pub kind: Arc<Kind>,
    /// Number of its site, as of the order here.
    pub site: AtomicU16,
    /// The rank that created it, which thinks over its placement while it is replicated.
    pub manager: Rank,
    /// True if its placement follows from its usage.
    pub is_automatic: AtomicBool,
    pub usage: Mutex<Usage>,
    pub moving: Mutex<Moving>,
    /// The copy here, or the place for one; `None` if this rank does not know the type.
    pub copy: Option<Arc<dyn AnyCopy>>,
}

/// Copy of a `T` at this rank, or the place for one.
pub(crate) type LocalCopy<T> = Mutex<Copy<T, Resume>>;

/// Copy, at this rank, of a type that is not known, or the place for one.
pub(crate) trait AnyCopy: Any + Send + Sync {
    /// Executes an operation; adds those that are over.
    fn invoke(&self, invocation: Local<'_>, over: &mut Overs<Resume>);

    /// State of the only copy, which is frozen from here on: see [`Copy::freeze`].
    fn freeze(&self, accepts: &dyn Fn(&[u8]) -> bool, is_late: bool) -> Option<Vec<u8>>;

    /// The copy has this role from here on, with the instance of another one if that is given: see
    /// [`Copy::settle`].
    fn settle(&self, role: Role, fresh: Fresh, over: &mut Overs<Resume>);

    /// Ends all that is blocked, and what would be, by this fault from here on, or no longer; adds
    /// those that are over.
    fn set_ending(&self, ending: Option<Fault>, over: &mut Overs<Resume>);

    /// Adds the numbers of invocations of processes that are blocked here, with their ranks: each
    /// at one of its copies.
    fn blocked(&self, own: Rank, numbers: &mut Vec<(u16, u32)>);

    /// Its counters, and its role.
    fn statistics(&self) -> (Statistics, Role);
}

/// Instance of a copy that settles.
pub(crate) enum Fresh {
    /// The one that it has.
    Kept,
    /// The one of this copy, which may be of any type; none if that could not be made.
    Of(Option<Arc<dyn AnyCopy>>),
}

/// Invocation at a copy.
pub(crate) struct Local<'a> {
    pub way: Way,
    pub operation: u16,
    pub arguments: &'a [u8],
    pub resume: Resume,
}

pub(crate) fn local<T: Executable>(instance: Option<T>) -> Arc<dyn AnyCopy> {
    let copy: LocalCopy<T> = Mutex::new(Copy::new(instance, Role::Absent));
    Arc::new(copy)
}

impl<T: Executable> AnyCopy for LocalCopy<T> {
    fn invoke(&self, invocation: Local<'_>, over: &mut Overs<Resume>) {
        let Local { way, operation, arguments, resume } = invocation;
        lock(self).invoke(way, operation, arguments, resume, over);
    }

    fn freeze(&self, accepts: &dyn Fn(&[u8]) -> bool, is_late: bool) -> Option<Vec<u8>> {
        lock(self).freeze(accepts, is_late)
    }

    fn settle(&self, role: Role, fresh: Fresh, over: &mut Overs<Resume>) {
        let fresh = match fresh {
            Fresh::Kept => None,
            Fresh::Of(copy) => Some(copy.and_then(|copy| {
                let copy = (copy as Arc<dyn Any + Send + Sync>).downcast::<Self>().ok()?;
                lock(&copy).take_instance()
            })),
        };
        lock(self).settle(role, fresh, over);
    }

    fn set_ending(&self, ending: Option<Fault>, over: &mut Overs<Resume>) {
        lock(self).set_ending(ending, over);
    }

    fn blocked(&self, own: Rank, numbers: &mut Vec<(u16, u32)>) {
        let copy = lock(self);
        // What is at a frozen copy has not been tried.
        if copy.role() == Role::Frozen {
            return;
        }
        let invocations = copy.blocked().map(|resume| match resume {
            Resume::Here(_, number) => (own.0, *number),
            Resume::Caller(_, rank, number) => (rank.0, *number),
            Resume::Elsewhere => (own.0, 0),
        });
        numbers.extend(invocations.filter(|(_, number)| *number != 0));
    }

    fn statistics(&self) -> (Statistics, Role) {
        let copy = lock(self);
        (copy.statistics, copy.role())
    }
}

/// Destination of the result of an invocation.
pub(crate) enum Resume {
    /// An invocation of this rank, with this key among [`Shared::calls`]; and its number, 0 if no
    /// process waits for it.
    Here(u64, u32),
    /// The rank that called; and the number there.
    Caller(Responder, Rank, u32),
    /// Another rank, whose own copy has it.
    Elsewhere,
}

impl Shared {
    /// State without objects.
    pub fn new(engine: &Arc<Engine>, types: Types) -> Self {
        let [begun, done] = [0, 0].map(AtomicU64::new);
        Shared {
            engine: Arc::clone(engine),
            own: engine.packets().rank(),
            types,
            processes: Processes::default(),
            watch: Watch::default(),
            calls: Calls::default(),
            window: AtomicU64::new(WINDOW),
            inner: OnceLock::new(),
            begun,
            done,
            count_behind: AtomicUsize::new(0),
            books: Mutex::default(),
            planted: Planted::default(),
        }
    }

    pub fn books(&self) -> MutexGuard<'_, Books> {
        lock(&self.books)
    }

    /// Tells everybody whose operation is over.
    pub fn tell(&self, mut over: Overs<Resume>) {
        if over.len() > 1 {
            return over.into_iter().for_each(|over| self.tell_one(over));
        }
        if let Some(over) = over.pop() {
            self.tell_one(over);
        }
    }

    fn tell_one(&self, (resume, answer): Over<Resume>) {
        let (responder, answer) = match resume {
            Resume::Here(key, _) => return self.calls.complete(key, answer),
            Resume::Caller(responder, ..) => (responder, answer),
            Resume::Elsewhere => return,
        };
        let seen = self.seen();
        // A caller that was lost needs no answer.
        drop(match answer {
            Ok(result) => responder.reply(&[&Reply { fault: None, seen }.emit()[..], &result]),
            Err(fault) => {
                let reply = Reply { fault: Some(fault), seen };
                let arguments = match &reply.fault {
                    Some(Fault::Moved(arguments)) => &arguments[..],
                    _ => &[],
                };
                responder.reply(&[&reply.emit()[..], arguments])
            }
        });
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

    /// A message of the order. `last` is the object of the last one. What cannot be read any more
    /// is of a rank that was lost.
    pub fn ordered(&self, mut message: OrderedMessage, last: &mut Option<Arc<Entry>>) {
        let (source, number) = (message.source(), message.number());
        // Who has seen what this does to a copy has entered the copy's lock after it.
        self.begun.store(number + 1, Ordering::Release);
        let all = message.remaining();
        match message.chunk() {
            Ok(bytes) if bytes.len() == all => self.execute(source, number, bytes, last),
            _ => {
                let bytes = message.read_to_vec();
                drop(bytes.map(|bytes| self.execute(source, number, &bytes, last)));
            }
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
    fn execute(&self, source: Rank, number: u64, bytes: &[u8], last: &mut Option<Arc<Entry>>) {
        let Some(message) = Ordered::parse(bytes) else {
            return self.violated(source, "it broadcast what is no message of objects");
        };
        if !message.names_ranks_of(self.engine.packets().size()) {
            return self.violated(source, "it named a rank that there is not");
        }
        match message {
            Ordered::Create(creation) => self.created(source, number, &creation),
            Ordered::Invoke(invocation, arguments) => {
                self.look_up(invocation.object, last);
                match last {
                    Some(entry) => self.invoked(entry, source, &invocation, arguments),
                    None => self.violated(source, NO_OBJECT),
                }
            }
            Ordered::Fork(fork, arguments) => self.forked(number, &fork, arguments),
            Ordered::End(end, text) => self.ended(source, &end, text),
            Ordered::Probe => self.probed(number),
            Ordered::Answer(probe, bytes) => self.answered(source, probe, bytes),
            Ordered::Place(place, why) => {
                if let Some(entry) = self.object(source, place.object) {
                    self.place(&entry, place, why);
                }
            }
            Ordered::Reads(object, reads) => {
                if let Some(entry) = self.object(source, object) {
                    self.told_reads(&entry, source, reads);
                }
            }
            Ordered::State(place, state) => {
                if let Some(entry) = self.object(source, place.object) {
                    self.moved(&entry, place, state);
                }
            }
        }
    }

    /// The object with this number, of which `source` has sent a message. None is ever removed, and
    /// who can name one has executed its creation.
    fn object(&self, source: Rank, number: u64) -> Option<Arc<Entry>> {
        let entry = self.books().objects.get(&number).cloned();
        if entry.is_none() {
            self.violated(source, NO_OBJECT);
        }
        entry
    }

    /// Names a peer that has sent what no rank sends: this one cannot go on.
    pub fn violated(&self, from: Rank, what: &'static str) {
        self.engine.name_violation(from, "shared objects", what);
    }

    /// Ends all that is blocked here, and what will be, by this fault, or no longer.
    pub fn set_ending(&self, ending: Option<Fault>) {
        let objects: Vec<_> = self.books().objects.values().cloned().collect();
        for copy in objects.iter().filter_map(|entry| entry.copy.as_ref()) {
            let mut over = Overs::new();
            copy.set_ending(ending.clone(), &mut over);
            self.tell(over);
        }
    }

    /// Goes on with what was behind.
    fn go_on(&self, behind: Behind) {
        match behind {
            Behind::Returned(completer) => completer.complete(Ok(())),
            Behind::Invocation(invocation, arguments, caller) => {
                self.serve(&invocation, &arguments, caller);
            }
        }
    }

    /// Makes `last` the object with this number, if there is one: mostly it is already.
    fn look_up(&self, object: u64, last: &mut Option<Arc<Entry>>) {
        if last.as_ref().is_none_or(|last| last.id != object) {
            *last = self.books().objects.get(&object).cloned();
        }
    }

    /// An invocation that all copies execute.
    fn invoked(&self, entry: &Entry, source: Rank, invocation: &Invocation, arguments: &[u8]) {
        let is_own = source == self.own;
        let (way, operation) = (Way::Ordered, invocation.operation);
        if entry.site() != Site::Replicated {
            if self.planted.has(Bug::MovedTwice, 1) {
                let (way, resume) = (Way::Home, Resume::Elsewhere);
                entry.execute(Local { way, operation, arguments, resume }, self);
            }
            // All say so: the message came after the change.
            if is_own {
                self.calls.complete(invocation.call, Err(Fault::Moved(arguments.into())));
            }
            return;
        }
        // Others have keys of their own.
        let resume = match is_own {
            true => Resume::Here(invocation.call, invocation.number),
            false => Resume::Elsewhere,
        };
        if !is_own && self.planted.has(Bug::Skipped, 5) {
            return;
        }
        if self.planted.has(Bug::Twice, 5) {
            let resume = Resume::Elsewhere;
            entry.execute(Local { way, operation, arguments, resume }, self);
        }
        entry.execute(Local { way, operation, arguments, resume }, self);
        self.count_write(entry, source);
    }

    /// The object with this number comes into being, unless its name is taken.
    fn created(&self, manager: Rank, id: u64, creation: &Creation<'_>) {
        let Creation { site, is_automatic, is_named, name, kind, state } = *creation;
        let kind = self.types.get(kind);
        let copy = (kind.make)(None);
        let name = name.to_owned();
        let (usage, moving) = (Mutex::default(), Mutex::default());
        let (at, is_automatic) = (AtomicU16::new(site.number()), AtomicBool::new(is_automatic));
        let entry = Entry { id, name, kind, site: at, manager, is_automatic, usage, moving, copy };
        let entry = Arc::new(entry);
        entry.settle(site, Some(state), self);
        if let (Some(copy), Some(_)) = (&entry.copy, self.failure()) {
            copy.set_ending(Some(Fault::Ended), &mut Overs::new());
        }
        let mut books = self.books();
        if !is_named {
            books.objects.insert(id, entry);
            return;
        }
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
    pub fn called(&self, request: Request) {
        let source = request.source();
        let (responder, mut message) = request.into_parts();
        let caller = (responder, source);
        let all = message.remaining();
        match message.chunk() {
            Ok(bytes) if bytes.len() == all => self.call(caller, bytes),
            _ => drop(message.read_to_vec().map(|bytes| self.call(caller, &bytes))),
        }
    }

    fn call(&self, caller: (Responder, Rank), bytes: &[u8]) {
        let Some((invocation, arguments)) = Invocation::parse(bytes) else {
            return drop(caller.0.fail("it is no invocation of an operation"));
        };
        if self.has_done(invocation.seen()) || self.planted.has(Bug::EarlyCall, 1) {
            return self.serve(&invocation, arguments, caller);
        }
        let behind = Behind::Invocation(invocation, arguments.to_vec(), caller);
        if let Some(behind) = self.put_behind(invocation.seen(), behind) {
            self.go_on(behind);
        }
    }

    /// Executes the operation of a call.
    fn serve(&self, invocation: &Invocation, arguments: &[u8], caller: (Responder, Rank)) {
        let (responder, rank) = caller;
        let entry = self.books().objects.get(&invocation.object).cloned();
        match entry {
            Some(entry) => {
                let operation = invocation.operation;
                let resume = Resume::Caller(responder, rank, invocation.number);
                let way = Way::Home;
                entry.execute(Local { way, operation, arguments, resume }, self);
                self.count_call(&entry, rank, operation);
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
            let line = entry.copy.as_ref().and_then(|copy| entry.described(copy.statistics()));
            line.into_iter().for_each(|line| self.engine.add_report(line));
        }
    }
}

impl Books {
    /// The first of those that waited for so many messages, or fewer.
    fn next_behind(&mut self, done: u64) -> Option<Vec<Behind>> {
        let first = self.behind.first_entry().filter(|first| *first.key() <= done);
        first.map(|first| first.remove())
    }
}

impl Entry {
    /// Executes an operation on the copy here, and tells everybody whose operation is over.
    pub fn execute(&self, invocation: Local<'_>, at: &Shared) {
        let mut over = Overs::new();
        match &self.copy {
            Some(copy) => copy.invoke(invocation, &mut over),
            None => over.push((invocation.resume, Err(Fault::NoCopy))),
        }
        at.tell(over);
    }

    /// A line for people about the copy here, whose counters these are. None if there is no copy,
    /// and never was.
    fn described(&self, (counters, role): (Statistics, Role)) -> Option<String> {
        let Statistics { reads, writes, blocked, evaluated } = counters;
        let place = match role {
            Role::Replica => "replicated",
            Role::Only | Role::Frozen => "one copy, here",
            Role::Absent if counters == Statistics::default() => return None,
            Role::Absent => "not here any more",
        };
        let moved = match lock(&self.moving).moves {
            0 => String::new(),
            1 => ", moved once".into(),
            moves => format!(", moved {moves} times"),
        };
        Some(format!(
            "object '{}' ({}, {place}): {reads} reads, {writes} writes, {blocked} waited for \
             guards, evaluated again {evaluated} times{moved}",
            self.name, self.kind.name
        ))
    }

    pub fn fault(&self, fault: Fault, operation: u16, at: &Shared) -> Error {
        let (name, kind) = (self.name.clone(), self.kind.name.clone());
        match fault {
            Fault::NoSuchOperation => Error::NoSuchOperation { name, kind, operation },
            Fault::Malformed => Error::Malformed { name, kind, operation },
            Fault::Broken => Error::Broken(name),
            Fault::NoCopy => Error::NoCopy(name),
            Fault::Ended => at.ending(),
            // It is started again instead.
            Fault::Moved(_) => unreachable!("an operation whose object has moved is not over"),
        }
    }
}

/// A panic in an operation is caught before it gets here.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
