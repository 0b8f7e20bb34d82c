//! Ranks that come from elsewhere, by the job's door.
//!
//! `weft run -n 2 --room 4 --door door -- weft-example door` begins with two ranks, and waits for
//! two more: `WEFT_DOOR=door weft-example door` in another terminal is one of them. A rank that
//! comes runs this function from its beginning, and to it `everyone` is the team that it came to.

use weft::prelude::*;

/// Lets in whoever comes until the job is full.
///
/// # Errors
/// A lost rank; the job has no door.
pub fn door(weft: Weft) -> weft::Result<()> {
    let mut team = weft.everyone().clone();
    while team.size() < weft.room() {
        if weft.rank() == 0 {
            println!("{} of {} ranks", team.size(), weft.room());
        }
        team = weft.admit(&team, 1..=weft.room() - team.size())?;
    }
    let mut ranks = team.all_gather(&[weft.rank().0])?;
    ranks.sort_unstable();
    println!("rank {} has met ranks {ranks:?}", weft.rank());
    Ok(())
}
