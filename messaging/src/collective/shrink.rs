//! Teams after a loss: what members agree about that live, and the team that they are then.

use super::agreeing::EntryKind;
use super::operations::TeamId;
use super::reduction::And;
use super::team::{Team, opened};
use crate::{Error, Result};
use weft_collective::shrinking::{Shrinking, Shrunk};
use weft_collective::{LEAVING, Members};
use weft_endpoint::Rank;

/// Values that all members of a team have agreed about that live.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Agreed {
    /// The flags that they have brought, combined by AND. Those of a rank that was lost meanwhile
    /// may be among them.
    pub flags: u32,
    /// Members that are lost, in the order of their ranks.
    pub lost: Vec<Rank>,
}

impl Team {
    /// Agrees with all members that live about flags, which are combined by AND, and about who is
    /// lost. All of them call it, and get the same; it blocks until they have. Ranks may be lost
    /// meanwhile. What a job that goes on after a loss decides by: so it is of use where operations
    /// of the team fail already. In other jobs nobody is lost.
    ///
    /// # Errors
    /// [`Error::CallsDiffer`] if others shrink the team, or leave; in other jobs those of an
    /// operation.
    pub fn agree(&self, flags: u32) -> Result<Agreed> {
        if !goes_on(self) {
            let mut flags = [flags];
            self.all_reduce(&mut flags, And)?;
            return Ok(Agreed { flags: flags[0], lost: Vec::new() });
        }
        let decision = self.shared.operations.agree(self.shared.id, EntryKind::Agree, flags)?;
        Ok(Agreed { flags: decision.flags as u32, lost: decision.lost })
    }

    /// The team of the members that live, in their order in this one. All of them call it, once
    /// they hear of a loss by an operation that has failed or by [`Self::lost`]; it blocks until
    /// they have. All that live get the same team, without those that any of them knows to be lost;
    /// others may follow, of which its operations tell. It may be called although nobody is lost.
    ///
    /// Like a [part](Self::split) it has no multicast group and no shared memory of its own.
    ///
    /// # Errors
    /// [`Error::CallsDiffer`] if others agree, or leave; in a job that does not go on after a loss
    /// those of an operation.
    pub fn shrink(&self) -> Result<Self> {
        let operations = &self.shared.operations;
        if !goes_on(self) {
            let whole = self.split(Some(0), 0)?;
            return whole.ok_or(Error::Abandoned);
        }
        let (splitting, me) = (operations.split()?, self.member(self.rank()));
        let members = (0..self.size()).map(|number| self.member(number)).collect();
        let mut shrinking = Shrinking::new(members, me, splitting.name.count);
        loop {
            let flags = shrinking.flags();
            let decision = operations.agree(self.shared.id, EntryKind::Shrink, flags)?;
            let shrunk = shrinking.decided(decision.flags as u32, decision.lost);
            if let Some(Shrunk { members: left, name }) = shrunk {
                let members = Members::subset(&left, me, None).ok_or(Error::Abandoned)?;
                let id = TeamId { leader: left[0], count: name | TeamId::SPLIT };
                return Ok(opened(operations, operations.open_part(id, members)?));
            }
        }
    }

    /// Members that are lost, as far as this rank has heard, in the order of their ranks. Others
    /// may have heard of others: [`Self::agree`].
    pub fn lost(&self) -> Vec<Rank> {
        let losses = self.shared.operations.engine().packets().losses();
        let mut lost: Vec<Rank> = losses.all().iter().map(|loss| loss.rank).collect();
        lost.retain(|rank| self.shared.members.place(*rank).is_some());
        lost.sort_unstable();
        lost
    }
}

/// Waits for all members of a team that live to come to the end of the program.
pub(super) fn meet_to_leave(team: &Team) -> Result<()> {
    match goes_on(team) {
        true => team.shared.operations.agree(team.shared.id, EntryKind::Leave, 0).map(drop),
        false => team.shared.pass_barrier(LEAVING),
    }
}

fn goes_on(team: &Team) -> bool {
    team.shared.operations.engine().packets().losses().goes_on()
}
