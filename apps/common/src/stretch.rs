use std::time::Duration;

use weft::prelude::Weft;

use crate::traffic::Traffic;

/// Span around what an application measures, in a trace of it.
pub const MEASURED: &str = "measured";

/// A measured stretch of a rank's run.
#[derive(Debug, Clone, Copy)]
pub struct Stretch<T> {
    /// Result of the stretch.
    pub value: T,
    /// Time at which it began.
    pub began: Duration,
    /// Duration.
    pub time: Duration,
    /// Traffic of this rank meanwhile.
    pub traffic: Traffic,
}

impl<T> Stretch<T> {
    /// The stretch with another result.
    pub fn of<U>(self, value: U) -> Stretch<U> {
        Stretch { value, began: self.began, time: self.time, traffic: self.traffic }
    }
}

/// Runs `part` on all ranks between two barriers, of which the second one counts. Collective.
///
/// # Errors
/// Those of `part`, a lost rank.
pub fn stretch<T, E: From<weft::Error>>(
    weft: &Weft,
    part: impl FnOnce() -> Result<T, E>,
) -> Result<Stretch<T>, E> {
    let before = Traffic::so_far(weft.packets());
    weft.barrier()?;
    let _span = weft.span(MEASURED);
    let began = weft.now();
    let value = part()?;
    weft.barrier()?;
    let (time, after) = (weft.now() - began, Traffic::so_far(weft.packets()));
    Ok(Stretch { value, began, time, traffic: after.since(before) })
}
