//! Replica of a region at a node: its calls, and what others demand of it.

use super::message::{Message, MessageKind, Version};
use super::planted::Rules;
use super::router::Router;
use super::table::{ReplicaEvent as Event, ReplicaState as State, ReplicaStep as Step};
use super::{Actions, Breach, Call, Misuse};
use weft_endpoint::Rank;

/// A node's copy of a region, or its absence.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Replica {
    state: State,
    /// Of the copy that is here, or that was here last.
    version: Version,
    readers: u32,
    waiting: Option<Call>,
    /// The home's latest demand, if it has to wait. The home makes one at a time, but one on a copy
    /// that is gone may come late.
    deferred: Option<Message>,
    /// The rank with which the region is lost.
    lost_with: Option<Rank>,
}

/// Cause for which a rule is followed.
#[derive(Clone, Copy)]
enum Cause {
    Call(Call),
    Message(Message),
}

impl Default for Replica {
    fn default() -> Self {
        Replica::since(Version::default())
    }
}

impl Replica {
    /// No copy, and none of the messages before `version` matter.
    pub(super) fn since(version: Version) -> Self {
        Replica {
            state: State::Invalid,
            version,
            readers: 0,
            waiting: None,
            deferred: None,
            lost_with: None,
        }
    }

    /// Its state.
    pub fn state(&self) -> State {
        self.state
    }

    /// The version of the copy, if one is here.
    pub fn version(&self) -> Option<Version> {
        self.holds().then_some(self.version)
    }

    /// Accesses to read that have begun and not ended.
    pub fn readers(&self) -> u32 {
        self.readers
    }

    /// The call that waits.
    pub fn waiting(&self) -> Option<Call> {
        self.waiting
    }

    /// The home's demand that waits for the copy to be free, or to come.
    pub fn deferred(&self) -> Option<Message> {
        self.deferred
    }

    /// The rank with which the region is lost, as far as this node knows.
    pub fn lost_with(&self) -> Option<Rank> {
        self.lost_with
    }

    /// True if there is nothing that would be missed if the node forgot the region.
    pub fn is_idle(&self) -> bool {
        matches!(self.state, State::Invalid | State::Deleted)
    }

    pub(super) fn expects_data(&self) -> bool {
        matches!(self.state, State::AwaitingShared | State::AwaitingExclusive | State::Invalid)
    }

    fn holds(&self) -> bool {
        use State::*;
        matches!(
            self.state,
            Shared | Reading | AwaitingUpgrade | Exclusive | ExclusiveReading | Writing
        )
    }

    /// Makes a call that is a hit, as [`Self::call`] would. False if it is none, or a demand waits
    /// for its end; nothing has changed then.
    #[inline]
    pub(super) fn hit(&mut self, call: Call, rules: &Rules) -> bool {
        if self.waiting.is_some() || self.deferred.is_some() {
            return false;
        }
        let Some(next) = rules.hit(self.state, self.event_of(call)) else { return false };
        self.state = next;
        match call {
            Call::StartRead => self.readers += 1,
            Call::EndRead => self.readers -= 1,
            _ => {}
        }
        true
    }

    #[inline]
    pub(super) fn call(
        &mut self,
        call: Call,
        rules: &Rules,
        router: &mut Router<'_, impl Actions>,
    ) -> Result<(), Misuse> {
        if self.waiting.is_some() {
            return Err(Misuse::Waiting);
        }
        let Some(rule) = rules.replica(self.state, self.event_of(call)) else {
            return Err(self.misuse(call));
        };
        self.state = rule.next;
        match rule.steps {
            [] => {}
            [Step::Grant] => self.grant(call, router),
            steps => self.miss(call, steps, rules, router),
        }
        if call == Call::EndRead {
            self.readers -= 1;
        }
        if self.deferred.is_some() && matches!(call, Call::EndRead | Call::EndWrite) {
            self.serve_deferred(rules, router);
        }
        Ok(())
    }

    // Apart from what hits take, and as fast.
    #[inline(never)]
    fn miss(
        &mut self,
        call: Call,
        steps: &[Step],
        rules: &Rules,
        router: &mut Router<'_, impl Actions>,
    ) {
        steps.iter().for_each(|step| self.step(*step, Cause::Call(call), rules, router));
    }

    #[inline]
    fn event_of(&self, call: Call) -> Event {
        match call {
            Call::StartRead => Event::StartRead,
            Call::EndRead if self.readers == 1 => Event::EndLastRead,
            Call::EndRead => Event::EndRead,
            Call::StartWrite => Event::StartWrite,
            Call::EndWrite => Event::EndWrite,
            Call::Prefetch => Event::Prefetch,
            Call::PrefetchWrite => Event::PrefetchWrite,
            Call::Flush => Event::Flush,
            Call::Delete => Event::Delete,
        }
    }

    #[cold]
    fn misuse(&self, call: Call) -> Misuse {
        match (self.state, call) {
            (_, Call::EndRead | Call::EndWrite) => Misuse::NotStarted,
            (State::Writing, _) => Misuse::Writing,
            (State::Reading | State::ExclusiveReading, _) => Misuse::Reading,
            _ => Misuse::Waiting,
        }
    }

    pub(super) fn receive(
        &mut self,
        message: Message,
        rules: &Rules,
        router: &mut Router<'_, impl Actions>,
    ) -> Result<(), Breach> {
        let Message { kind, version, .. } = message;
        let unexpected = Err(Breach::Unexpected { kind });
        let (event, is_answer) = match kind {
            MessageKind::DataShared => (Event::DataShared, true),
            MessageKind::DataExclusive => (Event::DataExclusive, true),
            MessageKind::Upgraded => (Event::Upgraded, true),
            MessageKind::Gone => (Event::Gone, false),
            MessageKind::Lost => (Event::Lost, false),
            MessageKind::Update => (Event::Update, false),
            MessageKind::Invalidate => (Event::Invalidate, false),
            MessageKind::FetchShared => (Event::FetchShared, false),
            MessageKind::FetchExclusive => (Event::FetchExclusive, false),
            _ => return unexpected,
        };
        if is_answer && version.is_before(self.version) {
            return unexpected;
        }
        if kind == MessageKind::Lost {
            self.lost_with = Some(message.party);
        }
        if !self.is_late(&message) && !self.take(event, Cause::Message(message), rules, router) {
            return unexpected;
        }
        if is_answer {
            // The demands that waited were for a copy that was here before, or about this one.
            self.deferred = self.deferred.filter(|demand| demand.version == version);
        }
        self.serve_deferred(rules, router);
        Ok(())
    }

    /// True if a message is about a copy that was here before this one, or was overtaken by a later
    /// one.
    fn is_late(&self, message: &Message) -> bool {
        match message.kind {
            MessageKind::Update => !self.version.is_before(message.version),
            MessageKind::Gone | MessageKind::Lost => false,
            _ => self.holds() && message.version.is_before(self.version),
        }
    }

    /// Meets a demand that waited, if it need not wait any more.
    fn serve_deferred(&mut self, rules: &Rules, router: &mut Router<'_, impl Actions>) {
        if matches!(self.state, State::AwaitingShared | State::AwaitingExclusive) {
            return;
        }
        let Some(demand) = self.deferred.take() else { return };
        let event = match demand.kind {
            MessageKind::Invalidate => Event::Invalidate,
            MessageKind::FetchShared => Event::FetchShared,
            MessageKind::Lost => Event::Lost,
            _ => Event::FetchExclusive,
        };
        if !self.is_late(&demand) {
            self.take(event, Cause::Message(demand), rules, router);
        }
    }

    /// Follows the rule for `event`, if there is one.
    #[inline]
    fn take(
        &mut self,
        event: Event,
        cause: Cause,
        rules: &Rules,
        router: &mut Router<'_, impl Actions>,
    ) -> bool {
        let Some(rule) = rules.replica(self.state, event) else { return false };
        self.state = rule.next;
        for step in rule.steps {
            self.step(*step, cause, rules, router);
        }
        true
    }

    #[inline]
    fn step(
        &mut self,
        step: Step,
        cause: Cause,
        rules: &Rules,
        router: &mut Router<'_, impl Actions>,
    ) {
        match (step, cause) {
            (Step::Grant, Cause::Call(call)) => self.grant(call, router),
            (Step::Wait, Cause::Call(call)) => self.waiting = Some(call),
            (Step::Refuse, Cause::Call(call)) => router.refuse(call),
            (Step::AskRead, _) => router.tell_home(MessageKind::Read, self.version),
            (Step::AskWrite, _) => router.tell_home(MessageKind::Write, self.version),
            (Step::AskUpgrade, _) => router.tell_home(MessageKind::Upgrade, self.version),
            (Step::AskDelete, _) => router.tell_home(MessageKind::Delete, self.version),
            (Step::Return, _) => router.tell_home(MessageKind::Return, self.version),
            (_, Cause::Message(message)) => self.answer(step, message, rules, router),
            (_, Cause::Call(_)) => {}
        }
    }

    #[inline]
    fn grant(&mut self, call: Call, router: &mut Router<'_, impl Actions>) {
        self.readers += u32::from(call == Call::StartRead);
        router.grant(call);
    }

    /// The steps that only a message causes.
    fn answer(
        &mut self,
        step: Step,
        message: Message,
        rules: &Rules,
        router: &mut Router<'_, impl Actions>,
    ) {
        match step {
            Step::Place => {
                self.version = message.version;
                router.place();
            }
            Step::Adopt => self.version = message.version,
            Step::Retry => {
                if let Some(call) = self.waiting.take() {
                    self.take(self.event_of(call), Cause::Call(call), rules, router);
                }
            }
            Step::Grant => {
                if let Some(call) = self.waiting.take() {
                    self.grant(call, router);
                }
            }
            Step::Acknowledge => {
                // What others wrote before this, and what this has overtaken, is too old then.
                if self.version.is_before(message.version) {
                    self.version = message.version;
                }
                router.tell_home(MessageKind::Acknowledge, message.version);
            }
            Step::Defer => {
                // One on a copy that was here before may come after one on the copy to come.
                let kept = self.deferred.filter(|kept| message.version.is_before(kept.version));
                self.deferred = Some(kept.unwrap_or(message));
            }
            Step::PassShared => self.pass_shared(message.party, router),
            Step::PassExclusive => self.pass_exclusive(message.party, router),
            _ => {}
        }
    }

    fn pass_shared(&self, party: Rank, router: &mut Router<'_, impl Actions>) {
        if party == router.home() {
            return router.tell_home(MessageKind::Keep, self.version);
        }
        router.send(party, MessageKind::DataShared, self.version);
        router.tell_home(MessageKind::HandShared, self.version);
    }

    fn pass_exclusive(&self, party: Rank, router: &mut Router<'_, impl Actions>) {
        if party == router.home() {
            return router.tell_home(MessageKind::Return, self.version);
        }
        router.send(party, MessageKind::DataExclusive, self.version.next());
        router.tell_home(MessageKind::HandExclusive, self.version);
    }
}
