//! Teams that are parts of another one.
//!
//! A split is one all-gather in the team that is split, and nothing outside of it, so that ranks of
//! the job that are not members take no part. In it each member says its colour and key, and the
//! name that the part has if it becomes its leader: [`TeamId::SPLIT`] and a number that it has
//! given to no other team. All members of a part find the same leader, and so the same name.
//!
//! **Bounds** (I9). Nobody ends a split before all members have begun it. So a packet for a part
//! that a rank has not opened comes only while that rank is in the split, and there are as many
//! such parts as splits that it is in.

use super::operations::TeamId;
use super::team::{Team, nothing, opened};
use crate::Result;
use weft_collective::{Members, Operation};
use weft_endpoint::Rank;

/// Words that a member brings: 1 if it has a colour, the colour, the key, a name.
const WORDS: usize = 4;

impl Team {
    /// Splits this team: members of the same `colour` become a team, ordered by `key`, and by their
    /// order in this team if keys are equal. Returns the one that this rank is in, or `None` if it
    /// has no colour. All members of this team call it, and no other ranks; it blocks until all
    /// have.
    ///
    /// The parts have no multicast group and no shared memory of their own: what is multicast in
    /// other teams is a message for each member there.
    ///
    /// # Errors
    /// See [`Team`]; [`crate::Error::TooManySplits`] if more than 32 threads of this rank split
    /// teams at a time.
    pub fn split(&self, colour: Option<u32>, key: u32) -> Result<Option<Self>> {
        let operations = &self.shared.operations;
        let splitting = operations.split()?;
        let colours = [u32::from(colour.is_some()), colour.unwrap_or(0)];
        let mine = [colours[0], colours[1], key, splitting.name.count].to_vec();
        let (call, room) = ((Operation::Split, 0, WORDS), WORDS * self.size());
        let all = self.begin(call, (mine, Some(room)), nothing, |_, all, _| all)?.wait()?;
        if colour.is_none() {
            return Ok(None);
        }
        let (all, _) = all.as_deref().unwrap_or_default().as_chunks::<WORDS>();
        let mut part: Vec<(u32, usize, u32)> = (0..)
            .zip(all)
            .filter(|(_, said)| said[..2] == colours)
            .map(|(place, &[_, _, key, name])| (key, place, name))
            .collect();
        part.sort_unstable();
        let ranks: Vec<Rank> = part.iter().map(|&(_, place, _)| self.member(place)).collect();
        // This member is in it, and each member once.
        let members = Members::subset(&ranks, self.member(self.rank()), None);
        let Some((members, &(.., name))) = members.zip(part.first()) else { return Ok(None) };
        let id = TeamId { leader: ranks[0], count: name | TeamId::SPLIT };
        Ok(Some(opened(operations, operations.open_part(id, members)?)))
    }
}
