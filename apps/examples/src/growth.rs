//! Ranks that come later: the team doubles until the job is full.
//!
//! `weft run -n 2 --room 8 -- weft-example growth` begins with two ranks. A rank that comes runs
//! this function from its beginning, and to it `everyone` is the team that has grown by it: so all
//! members are at the same step of the loop.

use weft::collective::Sum;
use weft::prelude::*;

/// Doubles the team until the job is full; the members of each team add up what they are.
///
/// # Errors
/// A lost rank.
pub fn growth(weft: Weft) -> weft::Result<()> {
    let mut team = weft.everyone().clone();
    loop {
        let mut sums = [1, u64::from(weft.rank().0)];
        team.all_reduce(&mut sums, Sum)?;
        let (members, room) = (team.size(), weft.room());
        let ranks: u64 = (0..members).map(|member| u64::from(team.member(member).0)).sum();
        assert_eq!(sums, [members as u64, ranks], "each member is counted once");
        if weft.rank() == 0 {
            println!("{members} of {room} ranks");
        }
        if members == room {
            return Ok(());
        }
        team = weft.grow(&team, members.min(room - members))?;
    }
}
