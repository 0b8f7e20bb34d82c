//! The rules, and mistakes in them: a test of the tests.
//!
//! Only builds with the feature `planted` can break a rule; without it the table is all there is.

use super::table::{
    self, DirectoryEvent, DirectoryState, DirectoryStep, ReplicaEvent, ReplicaState, ReplicaStep,
    Rule,
};

/// One rule that is not as the table has it; `None` makes the event one that cannot be.
#[cfg(feature = "planted")]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Planted {
    /// Of replicas.
    Replica(ReplicaState, ReplicaEvent, Option<Rule<ReplicaState, ReplicaStep>>),
    /// Of directories.
    Directory(DirectoryState, DirectoryEvent, Option<Rule<DirectoryState, DirectoryStep>>),
}

/// The table, with one rule replaced if somebody planted a mistake.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Rules {
    #[cfg(feature = "planted")]
    planted: Option<Planted>,
}

impl Rules {
    /// The table but for one rule.
    #[cfg(feature = "planted")]
    pub(super) fn with(planted: Planted) -> Self {
        Rules { planted: Some(planted) }
    }

    #[inline]
    pub(super) fn replica(
        &self,
        state: ReplicaState,
        event: ReplicaEvent,
    ) -> Option<Rule<ReplicaState, ReplicaStep>> {
        #[cfg(feature = "planted")]
        if let Some(Planted::Replica(at, on, rule)) = self.planted
            && (at, on) == (state, event)
        {
            return rule;
        }
        table::replica(state, event)
    }

    /// State after a call, if its rule asks nothing of others and waits for nothing.
    #[inline]
    pub(super) fn hit(&self, state: ReplicaState, event: ReplicaEvent) -> Option<ReplicaState> {
        #[cfg(feature = "planted")]
        if self.planted.is_some() {
            let rule = self.replica(state, event)?;
            return matches!(rule.steps, [] | [ReplicaStep::Grant]).then_some(rule.next);
        }
        table::hit(state, event)
    }

    pub(super) fn directory(
        &self,
        state: DirectoryState,
        event: DirectoryEvent,
    ) -> Option<Rule<DirectoryState, DirectoryStep>> {
        #[cfg(feature = "planted")]
        if let Some(Planted::Directory(at, on, rule)) = self.planted
            && (at, on) == (state, event)
        {
            return rule;
        }
        table::directory(state, event)
    }
}
