//! Teams that grow: by ranks that are started, and by those that come to the door.

use super::Weft;
use crate::Result;
use std::ops::RangeInclusive;
use weft_messaging::collective::Team;

impl Weft {
    /// The team of the members of `team`, in their order, and of `count` more ranks behind them,
    /// which the launcher starts as further processes of this program, with the same arguments. All
    /// members call it, and no other ranks; it blocks until all have and the processes are being
    /// started. They join later: operations of the new team wait for them.
    ///
    /// To such a rank the new team is [everyone](Self::everyone). It takes part in ports, calls,
    /// streams, shared variables, regions and operations of its teams; orders and objects,
    /// searches, events and multicast groups have the ranks that the job began with, as before. A
    /// job has at most as many ranks as `weft run --room` says, [`Self::room`], and a lost rank's
    /// place is not given to another.
    ///
    /// # Errors
    /// Those of all operations of a [`Team`]; no room for `count` ranks, of which none is started
    /// then ([`Error::room_left`](crate::Error::room_left)).
    pub fn grow(&self, team: &Team, count: usize) -> Result<Team> {
        let count = number(count);
        Ok(team.grow((count, count), |count| self.job.backend.spawn(count))?)
    }

    /// The team of the members of `team`, in their order, and behind them of ranks that have come
    /// by the job's door (`weft run --door`): as many of `count` as wait there, at least its first
    /// number, for whom it waits. So `0..=4` asks who is there, and `1..=1` waits for one. All
    /// members call it, with the same `count`, and no other ranks; it blocks until all have.
    ///
    /// Those who come are processes that [join](crate::join_at) by themselves, of any program that
    /// knows what this one expects; they are on a host of the job, if there is a place on it. To
    /// them, and to all others, it is as if this team had [grown](Self::grow) by them.
    ///
    /// # Errors
    /// Those of [`Self::grow`]; the job has no door.
    pub fn admit(&self, team: &Team, count: RangeInclusive<usize>) -> Result<Team> {
        let count = (number(*count.start()), number(*count.end()));
        Ok(team.grow(count, |most| self.job.backend.admit(most))?)
    }
}

/// A number of ranks, which is none that any job has if it is too large.
fn number(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}
