//! Execution of messages of the order, and of calls.

use crate::copy::{Fault, Overs, Way};
use crate::entry::{Change, Entry};
use crate::error::{Error, Waiting};
use crate::format::{
    Creation, End, Invocation, Ordered, Place, Reply, Why, emit_answer, emit_reads,
};
use crate::local::{Local, Resume};
use crate::placement::Site;
use crate::planted::Bug;
use crate::programs::Process;
use crate::shared::{Behind, Shared};
use std::sync::Arc;
use weft_endpoint::Rank;
use weft_messaging::OrderedMessage;
use weft_messaging::rpc::{Request, Responder};

/// Breach of a rank that sends a message about an object that does not exist.
const NO_OBJECT: &str = "it named an object that there never was";

impl Shared {
    /// A message of the order. `last` is the object of the last one. What cannot be read any more
    /// is of a rank that was lost.
    pub fn ordered(&self, mut message: OrderedMessage, last: &mut Option<Arc<Entry>>) {
        let (source, number) = (message.source(), message.number());
        self.position.begin(number);
        let all = message.remaining();
        match message.chunk() {
            Ok(bytes) if bytes.len() == all => self.receive(source, number, bytes, last),
            _ => {
                // Each piece is copied when it comes, as in Orca's run-time system (6.5.2).
                let bytes = message.read_pieces(|bytes| self.engine.packets().copied(bytes));
                drop(bytes.map(|bytes| self.receive(source, number, &bytes, last)));
            }
        }
        self.position.end(number, |behind| self.go_on(behind));
    }

    fn receive(&self, source: Rank, number: u64, bytes: &[u8], last: &mut Option<Arc<Entry>>) {
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
                    None => self.invoked_late(source, number, &invocation),
                }
            }
            Ordered::Fork(fork, arguments) => {
                if self.programs.forked(number, &fork, arguments, self.own) {
                    self.start_processes();
                }
                if self.losses.contain(fork.on) {
                    self.lose_processes(fork.on);
                }
            }
            Ordered::End(end, text) => self.ended(source, &end, text),
            Ordered::Probe => self.probed(number),
            Ordered::Answer(probe, bytes) => self.answered(source, probe, bytes),
            Ordered::Place(place, why) => {
                if let Some(entry) = self.object(source, number, place.object) {
                    self.place(&entry, place, why);
                }
            }
            Ordered::Reads(object, reads) => {
                if let Some(entry) = self.object(source, number, object) {
                    entry.told_reads(source, reads);
                }
            }
            Ordered::Delete(object) => {
                *last = None;
                if self.object(source, number, object).is_some() {
                    self.delete(object, number);
                }
            }
            Ordered::State(place, state) => {
                if let Some(entry) = self.object(source, number, place.object) {
                    self.moved(&entry, self.living(place, source), state);
                }
            }
        }
    }

    /// The object of which `source` has sent message `number` of the order; `None` if it was
    /// deleted before. Who can name one has executed its creation.
    fn object(&self, source: Rank, number: u64, object: u64) -> Option<Arc<Entry>> {
        let entry = self.table.get(object);
        if entry.is_none() && object >= number {
            self.violated(source, NO_OBJECT);
        }
        entry
    }

    /// An invocation of an object that is no more.
    fn invoked_late(&self, source: Rank, number: u64, invocation: &Invocation) {
        if invocation.object >= number {
            self.violated(source, NO_OBJECT);
        } else if source == self.own {
            self.calls.complete(invocation.call, Err(Fault::Deleted));
        }
    }

    /// The object is no more. Whoever waits at the copy here hears of it.
    fn delete(&self, object: u64, number: u64) {
        let mut over = Overs::new();
        if let Some(entry) = self.table.remove(object) {
            entry.delete(number, &mut over);
        }
        self.tell(over);
    }

    /// Goes on with what was behind.
    fn go_on(&self, behind: Behind) {
        match behind {
            Behind::Returned(completer, _) => completer.complete(Ok(())),
            Behind::Invocation(invocation, arguments, caller) => {
                self.serve(&invocation, &arguments, caller);
            }
        }
    }

    /// Makes `last` the object with this number, if there is one: mostly it is already.
    fn look_up(&self, object: u64, last: &mut Option<Arc<Entry>>) {
        if last.as_ref().is_none_or(|last| last.id != object) {
            *last = self.table.get(object);
        }
    }

    /// An invocation that all copies execute.
    fn invoked(&self, entry: &Entry, source: Rank, invocation: &Invocation, arguments: &[u8]) {
        let is_own = source == self.own;
        let (way, operation) = (Way::Ordered, invocation.operation);
        if entry.site() != Site::Replicated {
            if self.planted.has(Bug::MovedTwice, 1) {
                let (way, resume) = (Way::Home, Resume::Elsewhere);
                self.execute(entry, Local { way, operation, arguments, resume });
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
            self.execute(entry, Local { way, operation, arguments, resume });
        }
        self.execute(entry, Local { way, operation, arguments, resume });
        let (better, reads) = entry.count_write(source, &self.observer);
        self.ask_for(entry, better);
        if let Some(reads) = reads {
            self.broadcast_soon(emit_reads(entry.id, reads));
        }
    }

    /// Asks for a better place, if there is one.
    fn ask_for(&self, entry: &Entry, better: Option<Site>) {
        if let Some(site) = better {
            let place = Place { object: entry.id, site };
            self.broadcast_soon(place.emit(Why::Statistics).to_vec());
        }
    }

    /// The object with this number comes into being, unless its name is taken.
    fn created(&self, manager: Rank, id: u64, creation: &Creation<'_>) {
        let Creation { site, is_automatic, is_named, name, kind, state } = *creation;
        let kind = self.kinds.get_or_unknown(kind);
        let entry = Arc::new(Entry::new(id, name, kind, manager, (site, is_automatic)));
        self.settle(&entry, site, Some(state));
        if let (Some(copy), Some(_)) = (&entry.copy, self.programs.failure()) {
            copy.set_ending(Some(Fault::Ended), &mut Overs::new());
        }
        if let Site::Single(home) = site
            && self.losses.contain(home)
        {
            self.lose_object(&entry, home);
        }
        self.table.add(entry, is_named);
    }

    /// The place that an object moves to; that of the rank that sends its state, if the other is
    /// lost.
    fn living(&self, place: Place, source: Rank) -> Place {
        match place.site {
            Site::Single(home) if self.losses.contain(home) => {
                Place { site: Site::Single(source), ..place }
            }
            _ => place,
        }
    }

    /// The object is there from here on. Everybody whose operation was kept here starts it again.
    fn settle(&self, entry: &Entry, site: Site, state: Option<&[u8]>) {
        let mut over = Overs::new();
        entry.settle(site, state, (self.own, &self.planted), &mut over);
        self.tell(over);
    }

    /// An object is to be elsewhere.
    fn place(&self, entry: &Entry, place: Place, why: Why) {
        if let Site::Single(home) = place.site
            && self.losses.contain(home)
        {
            return;
        }
        match entry.change(place.site, why) {
            Change::Settle => self.settle(entry, place.site, None),
            Change::Send(home) if home == self.own => {
                let state = entry.freeze(&self.planted);
                let head = place.emit_state(state.is_some());
                self.broadcast_soon([&head[..], &state.unwrap_or_default()].concat());
            }
            Change::Send(_) | Change::None => {}
        }
    }

    /// The state of an object that moves has come, or the object stays.
    fn moved(&self, entry: &Entry, place: Place, state: Option<&[u8]>) {
        if state.is_some() {
            self.settle(entry, place.site, state);
        }
        if let Some((site, why)) = entry.moved() {
            self.place(entry, Place { site, ..place }, why);
        }
    }

    /// A process of `source` has ended, of this error if it has failed.
    fn ended(&self, source: Rank, end: &End, text: &[u8]) {
        let Some(Process { name, rank, .. }) = self.programs.ended(source, end.process) else {
            return self.violated(source, "it ended a process that is not its, or does not live");
        };
        if end.has_failed {
            let what = String::from_utf8_lossy(text).into_owned();
            self.fail(Error::Process { name, rank, what });
        }
        if self.programs.end_program() {
            self.set_ending(None);
        }
    }

    /// A question whether all processes wait.
    fn probed(&self, number: u64) {
        self.watch.ask(number);
        let mut blocked = Vec::new();
        for copy in self.table.all().iter().filter_map(|entry| entry.copy.as_ref()) {
            copy.blocked(self.own, &mut blocked);
        }
        let answer = self.watch.answer(self.calls.has_others(), blocked);
        self.broadcast_soon(emit_answer(number, &answer));
    }

    /// An answer to that.
    fn answered(&self, source: Rank, number: u64, bytes: &[u8]) {
        let ranks = self.engine.packets().size() - self.losses.count();
        match self.watch.answered(source, number, bytes, ranks, || self.programs.live()) {
            Ok(None) => {}
            Ok(Some(waiting)) => {
                let described = waiting.into_iter().map(|(process, on)| {
                    let entry = self.table.get(on.object);
                    let named =
                        entry.map(|entry| (entry.name.clone(), entry.kind.operation(on.operation)));
                    let (object, operation) = named.unwrap_or_default();
                    Waiting { process: process.name, rank: process.rank, object, operation }
                });
                self.fail(Error::Deadlock(described.collect()));
            }
            Err(_) => self.violated(source, "its answer about waiting processes cannot be read"),
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
            _ => {
                let bytes = message.read_pieces(|bytes| self.engine.packets().copied(bytes));
                drop(bytes.map(|bytes| self.call(caller, &bytes)));
            }
        }
    }

    fn call(&self, caller: (Responder, Rank), bytes: &[u8]) {
        let Some((invocation, arguments)) = Invocation::parse(bytes) else {
            return drop(caller.0.fail("it is no invocation of an operation"));
        };
        if self.position.has_done(invocation.seen()) || self.planted.has(Bug::EarlyCall, 1) {
            return self.serve(&invocation, arguments, caller);
        }
        let behind = Behind::Invocation(invocation, arguments.to_vec(), caller);
        if let Some(behind) = self.position.wait(invocation.seen(), behind) {
            self.go_on(behind);
        }
    }

    /// Executes the operation of a call.
    fn serve(&self, invocation: &Invocation, arguments: &[u8], caller: (Responder, Rank)) {
        let (responder, rank) = caller;
        let Some(entry) = self.table.get(invocation.object) else {
            let seen = self.position.seen();
            let reply = Reply { fault: Some(Fault::Deleted), seen };
            // As of messages of the order: what was not created yet never was.
            return drop(match invocation.object < seen {
                true => responder.reply(&reply.emit()),
                false => responder.fail("there is no such object"),
            });
        };
        let operation = invocation.operation;
        let resume = Resume::Caller(responder, rank, invocation.number);
        self.execute(&entry, Local { way: Way::Home, operation, arguments, resume });
        let better = entry.count_call(rank, operation, &self.observer);
        self.ask_for(&entry, better);
    }
}
