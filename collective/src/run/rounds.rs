//! Rounds of parts of varied lengths, which become steps as they begin.

use super::{OperationMemory, RunningOperation};
use crate::schedule::{Area, Extent, Rounds, ScheduleStep, Varied};
use crate::signature::Signature;

impl<K> RunningOperation<K> {
    /// Replaces the first step by the first rounds of all parts.
    #[cold]
    pub(super) fn announce(&mut self, memory: &impl OperationMemory, rounds: Rounds) {
        let Signature { operation, root, .. } = self.header.signature;
        let members = (self.members.me(), self.members.size());
        let varied = Varied::new((operation, root.into()), members, rounds);
        let steps = varied.first(|member| memory.part(member));
        self.varied = Some(Box::new(varied));
        self.replace_first(steps);
    }

    /// Replaces the first step by the next round of parts, if there is one.
    #[cold]
    pub(super) fn resume(&mut self, memory: &impl OperationMemory) {
        let next = self.varied.as_mut().map(|varied| varied.next(|member| memory.part(member)));
        self.replace_first(next.unwrap_or_default());
    }

    /// The bytes of a part in Result, if there is room for it.
    pub(super) fn placed(&self, memory: &impl OperationMemory, span: Extent) -> Extent {
        let room = match span.area {
            Area::Block(from) if self.varied.is_some() => memory.room(from),
            _ => None,
        };
        match room {
            Some(room) => Extent { area: Area::Result, at: room.start + span.at, ..span },
            None => span,
        }
    }

    fn replace_first(&mut self, steps: Vec<ScheduleStep>) {
        self.steps.pop_front();
        steps.into_iter().rev().for_each(|step| self.steps.push_front(step));
    }
}
