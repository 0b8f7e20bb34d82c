//! Teams that grow by ranks that come later.
#![allow(unsafe_code)] // For `no_mangle` only; tidy sees to that.

use super::{Members, Team, members};
use crate::handle::given;
use crate::job::{Job, state};
use crate::status::{Failure, Status, call};
use std::mem::MaybeUninit;

/// Gives the team of the members of this one, in their order, and of count more ranks behind them,
/// which the launcher starts as further processes of this program, with the same arguments; it is
/// to be freed as any other. All members call it, with the same count; it blocks until all have and
/// the processes are being started; callbacks run meanwhile. They join later: operations of the new
/// team wait for them, and to them it is what weft_team_all() gives. WEFT_JOB_FULL, at all members,
/// if there is no room for so many (weft run --room); if left is not null it is set to how many
/// there is room for then.
#[unsafe(no_mangle)]
pub extern "C" fn weft_team_grow(
    job: Option<&Job>,
    team: Option<&Team>,
    count: u32,
    grown: Option<&mut MaybeUninit<*mut Team>>,
    left: Option<&mut MaybeUninit<u32>>,
) -> Status {
    enlarge((job, team), (grown, left), |weft, team| weft.grow(team, count as usize))
}

/// Gives the team of the members of this one, in their order, and behind them of ranks that have
/// come by the job's door (weft run --door): as many of most as wait there, and at least so many of
/// them as least says, for which it waits. So 0 and 4 ask who is there, and 1 and 1 wait for one.
/// All members call it, with the same numbers; else it does what weft_team_grow() does.
/// WEFT_INVALID, at all members, if the job has no door, or least is more than most.
#[unsafe(no_mangle)]
pub extern "C" fn weft_team_admit(
    job: Option<&Job>,
    team: Option<&Team>,
    least: u32,
    most: u32,
    grown: Option<&mut MaybeUninit<*mut Team>>,
    left: Option<&mut MaybeUninit<u32>>,
) -> Status {
    if least > most {
        return call(|| Err(Failure::invalid(format!("at least {least} are more than {most}"))));
    }
    let count = least as usize..=most as usize;
    enlarge((job, team), (grown, left), |weft, team| weft.admit(team, count))
}

fn enlarge(
    (job, team): (Option<&Job>, Option<&Team>),
    (grown, left): (Option<&mut MaybeUninit<*mut Team>>, Option<&mut MaybeUninit<u32>>),
    by: impl FnOnce(&weft::Weft, &weft::collective::Team) -> weft::Result<weft::collective::Team>,
) -> Status {
    call(|| {
        let out = given(grown, "the pointer for the result")?;
        let (weft, Members { team, engine }) = (state(job)?.messages()?, members(team)?);
        let room = |error: weft::Error| {
            let room = error.room_left().map(|room| room as u32);
            left.zip(room).map(|(left, room)| left.write(room));
            Failure::from(error)
        };
        let grown = by(weft, team).map_err(room)?;
        out.write(Team::boxed(engine, grown));
        Ok(())
    })
}
