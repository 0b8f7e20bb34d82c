//! Teams after a loss, in a job that goes on.
#![allow(unsafe_code)] // For `no_mangle` only; tidy sees to that.

use super::{Members, Team, members};
use crate::handle::given;
use crate::memory::RankRoom;
use crate::status::{Failure, Status, call};
use std::mem::MaybeUninit;
use weft::Rank;

/// Room of C's for lost ranks, and for how many there are.
struct Lost<'a> {
    ranks: RankRoom<'a>,
    room: usize,
    count: &'a mut MaybeUninit<usize>,
}

impl<'a> Lost<'a> {
    fn new(
        ranks: RankRoom<'a>,
        room: usize,
        count: Option<&'a mut MaybeUninit<usize>>,
    ) -> Result<Self, Failure> {
        let count = given(count, "the pointer for the number of ranks")?;
        ranks.check(room, "the pointer to the ranks")?;
        Ok(Lost { ranks, room, count })
    }

    fn put(mut self, lost: &[Rank]) {
        self.ranks.fill(lost.iter().take(self.room).map(|rank| rank.0.into()));
        self.count.write(lost.len());
    }
}

/// Gives the team of the members that live, in their order in this one, which is to be freed as any
/// other. All that live call it, once they hear of a loss by an operation that has failed or by
/// weft_team_lost(); all of them get the same team, without those that any of them knows to be
/// lost. Others may be lost next, of which its operations tell. It may be called although nobody is
/// lost. WEFT_CALLS_DIFFER if others agree, or leave. Blocks until all that live have called it;
/// callbacks run meanwhile.
#[unsafe(no_mangle)]
pub extern "C" fn weft_team_shrink(
    team: Option<&Team>,
    shrunk: Option<&mut MaybeUninit<*mut Team>>,
) -> Status {
    call(|| {
        let out = given(shrunk, "the pointer for the result")?;
        let Members { team, engine } = members(team)?;
        out.write(Team::boxed(engine, team.shrink()?));
        Ok(())
    })
}

/// Agrees with all members that live about flags and about who is lost. All of them call it, and
/// get the same: agreed is their flags combined by bitwise and, those of a rank that was lost
/// meanwhile perhaps among them; count is how many members are lost, of which at most room come
/// to lost, in the order of ranks, as ranks of the job; lost may be null if room is 0. It is of
/// use where operations of the team fail already. WEFT_CALLS_DIFFER if others
/// shrink the team, or leave. Blocks until all that live have called it; callbacks run meanwhile.
#[unsafe(no_mangle)]
pub extern "C" fn weft_team_agree(
    team: Option<&Team>,
    flags: u32,
    agreed: Option<&mut MaybeUninit<u32>>,
    lost: RankRoom<'_>,
    room: usize,
    count: Option<&mut MaybeUninit<usize>>,
) -> Status {
    call(|| {
        let out = given(agreed, "the pointer for the result")?;
        let lost = Lost::new(lost, room, count)?;
        let decision = members(team)?.team.agree(flags)?;
        out.write(decision.flags);
        lost.put(&decision.lost);
        Ok(())
    })
}

/// Members that are lost, as far as this rank has heard; others may have heard of others. count is
/// how many there are, of which at most room come to lost, in the order of ranks, as ranks of the
/// job; lost may be null if room is 0. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_team_lost(
    team: Option<&Team>,
    lost: RankRoom<'_>,
    room: usize,
    count: Option<&mut MaybeUninit<usize>>,
) -> Status {
    call(|| {
        let lost = Lost::new(lost, room, count)?;
        lost.put(&members(team)?.team.lost());
        Ok(())
    })
}
