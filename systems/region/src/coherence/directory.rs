//! Directory of a region at its home: who has copies, who asked for one.

use super::message::{Message, MessageKind, Version};
use super::planted::Rules;
use super::ranks::Ranks;
use super::router::Router;
use super::table::{DirectoryEvent as Event, DirectoryState as State, DirectoryStep as Step};
use super::{Actions, Breach};
use std::collections::VecDeque;
use weft_endpoint::Rank;

/// Usage pattern of a region. With any of them programs see the same memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Hint {
    /// Writers drop the copies of readers, who ask again: the protocol of CRL.
    #[default]
    Invalidate,
    /// Written by one node and read by many, over and over: who had a copy when a write began gets
    /// what was written when it ends.
    Update,
    /// Read and then written, by one node after another: who reads gets the only copy.
    Migratory,
}

/// Policy of a region's home, for all nodes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Policy {
    /// Expected usage.
    pub hint: Hint,
    /// An owner sends its copy straight to whoever asked for it, instead of by the home. The
    /// version of CRL in the thesis lacked that (7.3.2), and so do jobs that go on after losses:
    /// what a lost owner handed on, and what not, nobody could tell.
    pub three_party: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Policy { hint: Hint::default(), three_party: true }
    }
}

/// Message of a node to the home, mostly because it wants something.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Request {
    from: Rank,
    kind: MessageKind,
    version: Version,
}

/// The directory of one region.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Directory {
    home: Rank,
    policy: Policy,
    state: State,
    version: Version,
    /// Nodes that may have a copy of the home's bytes; some may have dropped theirs.
    readers: Ranks,
    owner: Option<Rank>,
    /// Readers that have not said that their copies are gone.
    pending: Ranks,
    /// Request that is being served.
    current: Option<Request>,
    /// Requests that wait: at most one of each node (I9).
    queue: VecDeque<Request>,
    /// Messages of the requester before the owner said that it has what it asked for: a copy that
    /// it gave back, another request.
    early: VecDeque<Request>,
    /// Those to whom the next write is to be sent.
    subscribers: Ranks,
}

impl Directory {
    pub(super) fn new(home: Rank, policy: Policy) -> Self {
        Directory {
            home,
            policy,
            state: State::Clean,
            version: Version::default(),
            readers: Ranks::default(),
            owner: None,
            pending: Ranks::default(),
            current: None,
            queue: VecDeque::new(),
            early: VecDeque::new(),
            subscribers: Ranks::default(),
        }
    }

    /// Its state.
    pub fn state(&self) -> State {
        self.state
    }

    /// The version of all valid copies.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The node that has the only copy.
    pub fn owner(&self) -> Option<Rank> {
        self.owner
    }

    /// The nodes that may have one of several copies.
    pub fn readers(&self) -> &Ranks {
        &self.readers
    }

    /// The node of which the request that is served waits: it has a copy still, or has yet to say
    /// that it took what it asked for.
    pub fn awaited(&self) -> Option<Rank> {
        self.current?;
        self.pending.iter().next().or(self.owner).filter(|rank| *rank != self.home)
    }

    /// The owner with which the region is lost.
    pub fn lost_with(&self) -> Option<Rank> {
        self.owner.filter(|_| self.state == State::Deleted)
    }

    /// The nodes whose requests are served or wait, in that order.
    pub fn requesters(&self) -> impl Iterator<Item = Rank> {
        self.current.iter().chain(&self.queue).map(|request| request.from)
    }

    pub(super) fn receive(
        &mut self,
        from: Rank,
        message: Message,
        rules: &Rules,
        router: &mut Router<'_, impl Actions>,
    ) -> Result<(), Breach> {
        let request = Request { from, kind: message.kind, version: message.version };
        if self.lost_with().is_some() && message.kind > MessageKind::Delete {
            // The end of an access to what is lost, or an answer to what was asked before.
            return Ok(());
        }
        if message.kind == MessageKind::Acknowledge && message.version.is_before(self.version) {
            // The node has said so already, by asking for another copy.
            return Ok(());
        }
        if self.is_early(from) {
            let held = self.fits(&request) && self.take(Event::Early, Some(request), rules, router);
            let unexpected = Err(Breach::Unexpected { kind: message.kind });
            return if held { Ok(()) } else { unexpected };
        }
        self.told(request, rules, router)?;
        while !self.is_busy()
            && let Some(request) = self.early.pop_front()
        {
            // What is no answer to what the requester got in the end was made up, and is dropped:
            // whose message brought it here is not to blame.
            let _ = self.told(request, rules, router);
        }
        self.serve_queue(rules, router);
        Ok(())
    }

    /// A node is lost: nobody waits for it, and if it had the only copy, the region is lost, too.
    /// Copies are not handed on behind the home's back ([`Policy::three_party`]), so whatever an
    /// owner passed on is here.
    pub(super) fn lose(
        &mut self,
        lost: Rank,
        rules: &Rules,
        router: &mut Router<'_, impl Actions>,
    ) {
        self.queue.retain(|request| request.from != lost);
        self.subscribers.remove(lost);
        self.readers.remove(lost);
        let last = self.pending.remove(lost) && self.pending.is_empty();
        if self.current.is_some_and(|request| request.from == lost) {
            self.take(Event::RequesterLost, None, rules, router);
        }
        if self.owner == Some(lost) {
            self.take(Event::OwnerLost, None, rules, router);
        }
        if last {
            self.take(self.all_acknowledged(), None, rules, router);
        }
        self.serve_queue(rules, router);
    }

    /// True if `from` was handed a copy, as far as the home can know.
    pub(super) fn is_early(&self, from: Rank) -> bool {
        let handed = self.state == State::Fetching && self.party(self.current) == from;
        handed && from != self.home
    }

    /// True if a requester that was handed what it asked for may say this next: give the only copy
    /// back, ask for something else.
    fn fits(&self, request: &Request) -> bool {
        let reads = self.current.is_some_and(|current| self.event_of(current) == Event::Read);
        match (reads, self.early.len()) {
            (false, 0) => {
                request.kind == MessageKind::Return && request.version == self.version.next()
            }
            (true, 0) | (false, 1) => request.kind <= MessageKind::Delete,
            _ => false,
        }
    }

    fn is_busy(&self) -> bool {
        matches!(self.state, State::Invalidating | State::Fetching)
    }

    fn told(
        &mut self,
        request: Request,
        rules: &Rules,
        router: &mut Router<'_, impl Actions>,
    ) -> Result<(), Breach> {
        let Request { from, kind, version } = request;
        let event = match kind {
            MessageKind::Read | MessageKind::Write | MessageKind::Upgrade | MessageKind::Delete => {
                return self.asked(request, rules, router);
            }
            MessageKind::Acknowledge => return self.acknowledged(from, version, rules, router),
            MessageKind::Return => Event::Returned,
            MessageKind::Keep => Event::Kept,
            MessageKind::HandShared => Event::HandedShared,
            MessageKind::HandExclusive => Event::HandedExclusive,
            _ => return Err(Breach::Unexpected { kind }),
        };
        let is_owners = self.owner == Some(from) && version == self.version;
        if is_owners && self.is_answer(kind) && self.take(event, None, rules, router) {
            Ok(())
        } else {
            Err(Breach::Unexpected { kind })
        }
    }

    /// True if the owner may say so, after what it was told last.
    fn is_answer(&self, kind: MessageKind) -> bool {
        let reads = self.current.is_none_or(|request| self.event_of(request) == Event::Read);
        match kind {
            MessageKind::Keep => reads,
            MessageKind::HandShared => reads && self.party(self.current) != self.home,
            MessageKind::HandExclusive => !reads && self.party(self.current) != self.home,
            _ => true,
        }
    }

    fn asked(
        &mut self,
        request: Request,
        rules: &Rules,
        router: &mut Router<'_, impl Actions>,
    ) -> Result<(), Breach> {
        let Request { from, kind, .. } = request;
        let twice = self.requesters().any(|waiting| waiting == from);
        if twice || self.owner == Some(from) {
            return Err(Breach::Unexpected { kind });
        }
        self.subscribers.remove(from);
        // Who asks for a copy has none any more.
        let gone = kind != MessageKind::Upgrade && self.readers.remove(from);
        let last = gone && self.pending.remove(from) && self.pending.is_empty();
        if !self.serve(request, rules, router) {
            return Err(Breach::Unexpected { kind });
        }
        if last {
            self.take(self.all_acknowledged(), None, rules, router);
        }
        Ok(())
    }

    fn all_acknowledged(&self) -> Event {
        self.current.map_or(Event::AcknowledgedInVain, |_| Event::AllAcknowledged)
    }

    fn acknowledged(
        &mut self,
        from: Rank,
        version: Version,
        rules: &Rules,
        router: &mut Router<'_, impl Actions>,
    ) -> Result<(), Breach> {
        let unexpected = Err(Breach::Unexpected { kind: MessageKind::Acknowledge });
        if version != self.version || !self.pending.remove(from) {
            return unexpected;
        }
        self.readers.remove(from);
        let last = self.pending.is_empty();
        let event = if last { self.all_acknowledged() } else { Event::Acknowledged };
        if self.take(event, None, rules, router) { Ok(()) } else { unexpected }
    }

    /// Serves what has waited, as long as nothing keeps it.
    fn serve_queue(&mut self, rules: &Rules, router: &mut Router<'_, impl Actions>) {
        while !self.is_busy() {
            let Some(request) = self.queue.pop_front() else { return };
            self.serve(request, rules, router);
        }
    }

    fn serve(
        &mut self,
        request: Request,
        rules: &Rules,
        router: &mut Router<'_, impl Actions>,
    ) -> bool {
        let event = self.event_of(request);
        self.take(event, Some(request), rules, router)
    }

    fn event_of(&self, Request { from, kind, .. }: Request) -> Event {
        let reads = kind == MessageKind::Read && self.policy.hint != Hint::Migratory;
        if reads {
            Event::Read
        } else if self.readers.iter().any(|reader| reader != from) {
            Event::Contended
        } else if kind == MessageKind::Delete {
            Event::Delete
        } else if kind == MessageKind::Upgrade && self.readers.contains(from) {
            Event::Upgrade
        } else {
            Event::Write
        }
    }

    /// Follows the rule for `event`, if there is one.
    fn take(
        &mut self,
        event: Event,
        request: Option<Request>,
        rules: &Rules,
        router: &mut Router<'_, impl Actions>,
    ) -> bool {
        let Some(rule) = rules.directory(self.state, event) else { return false };
        self.state = rule.next;
        for step in rule.steps {
            self.step(*step, request.or(self.current), rules, router);
        }
        true
    }

    fn step(
        &mut self,
        step: Step,
        request: Option<Request>,
        rules: &Rules,
        router: &mut Router<'_, impl Actions>,
    ) {
        match (step, request) {
            (Step::Admit, Some(Request { from, .. })) => {
                self.readers.insert(from);
            }
            (Step::Transfer, Some(Request { from, .. })) => {
                self.readers.clear();
                self.owner = Some(from);
                self.version = self.version.next();
            }
            (Step::SendShared, Some(to)) => {
                router.send(to.from, MessageKind::DataShared, self.version)
            }
            (Step::SendExclusive, Some(to)) => {
                self.grant(to, MessageKind::DataExclusive, rules, router)
            }
            (Step::SendUpgrade, Some(to)) => self.grant(to, MessageKind::Upgraded, rules, router),
            (Step::SendGone, Some(to)) => match self.lost_with() {
                None => router.send(to.from, MessageKind::Gone, self.version),
                Some(lost) => {
                    router.send_about(to.from, MessageKind::Lost, self.version, lost);
                }
            },
            (Step::Begin, _) => self.current = request,
            (Step::Queue, _) => self.queue.extend(request),
            (Step::Hold, _) => self.early.extend(request),
            (Step::InvalidateReaders, Some(Request { from, .. })) => self.invalidate(from, router),
            (Step::FetchShared, _) => self.fetch(MessageKind::FetchShared, request, router),
            (Step::FetchExclusive, _) => self.fetch(MessageKind::FetchExclusive, request, router),
            (Step::Demote, _) => self.readers.extend(self.owner.take()),
            (Step::Reclaim, _) => {
                self.owner = None;
                self.version = self.version.next();
            }
            (Step::Update, _) => self.update(router),
            (Step::Place, _) => router.place(),
            (Step::Finish, _) => self.current = None,
            (Step::Resume, _) => {
                if let Some(request) = self.current.take() {
                    self.serve(request, rules, router);
                }
            }
            // Only requests are answered.
            (_, None) => {}
        }
    }

    fn grant(
        &mut self,
        to: Request,
        kind: MessageKind,
        rules: &Rules,
        router: &mut Router<'_, impl Actions>,
    ) {
        router.send(to.from, kind, self.version);
        if self.policy.hint == Hint::Update && !self.subscribers.is_empty() {
            self.take(Event::Recall, None, rules, router);
        }
    }

    fn invalidate(&mut self, requester: Rank, router: &mut Router<'_, impl Actions>) {
        self.pending.clone_from(&self.readers);
        self.pending.remove(requester);
        if self.policy.hint == Hint::Update {
            self.subscribers.extend(self.pending.iter());
        }
        router.multicast(self.pending.iter().collect(), MessageKind::Invalidate, self.version);
    }

    fn fetch(
        &self,
        kind: MessageKind,
        request: Option<Request>,
        router: &mut Router<'_, impl Actions>,
    ) {
        if let Some(owner) = self.owner {
            router.send_about(owner, kind, self.version, self.party(request));
        }
    }

    /// Rank to which the owner is to send its copy, to serve `request`.
    fn party(&self, request: Option<Request>) -> Rank {
        let wants_copy = request.filter(|request| request.kind != MessageKind::Delete);
        wants_copy.filter(|_| self.policy.three_party).map_or(self.home, |to| to.from)
    }

    /// Sends what was written to those who had copies before; they are readers from here on.
    fn update(&mut self, router: &mut Router<'_, impl Actions>) {
        let to = std::mem::take(&mut self.subscribers);
        self.readers.extend(to.iter());
        router.multicast(to.iter().collect(), MessageKind::Update, self.version);
    }
}
