use std::time::Duration;

use weft_region::Error;

use super::RegionRank;
use crate::measure::{Times, measure};
use crate::stretch::{MEASURED, Stretch};
use crate::traffic::Traffic;

/// Result of solving a problem on all ranks, and perhaps on rank 0 alone as well.
pub struct Measured<W, T> {
    /// Result of one rank alone: at rank 0, if it was asked.
    pub whole: Option<W>,
    /// Result of this rank together with the others.
    pub part: T,
    /// Times of the computation.
    pub times: Times,
    /// Time at which its last run by all ranks began.
    pub began: Duration,
    /// Traffic of each rank meanwhile, at rank 0; nothing elsewhere.
    pub traffic: Vec<Traffic>,
}

impl RegionRank {
    /// Runs `part` on all ranks between two barriers, which count. Collective.
    ///
    /// # Errors
    /// Those of `part`, a peer's breach, a lost rank.
    pub fn stretch<T, E: From<Error>>(
        &self,
        part: impl FnOnce() -> Result<T, E>,
    ) -> Result<Stretch<T>, E> {
        self.barrier()?;
        let _span = self.packets.trace().span(MEASURED);
        let (before, began) = (self.traffic(), self.now());
        let value = part()?;
        self.barrier()?;
        let (time, traffic) = (self.now() - began, self.traffic().since(before));
        Ok(Stretch { value, began, time, traffic })
    }

    /// Solves a problem `parallel` on all ranks and, if it is to be checked or its speed-up
    /// measured, `sequential` at rank 0, where the others wait; for the speed-up three times in
    /// turn (see [`measure`]). Collective.
    ///
    /// # Errors
    /// Those of `parallel`, a peer's breach, a lost rank.
    pub fn measure<W, T, E: From<Error>>(
        &self,
        (checked, speedup): (bool, bool),
        sequential: impl Fn() -> W,
        mut parallel: impl FnMut() -> Result<Stretch<T>, E>,
    ) -> Result<Measured<W, T>, E> {
        let (mut whole, mut traffic, mut began) = (None, Traffic::default(), Duration::ZERO);
        let mut first = || {
            let mut time = None;
            if self.rank() == 0 {
                let start = self.now();
                whole = Some(sequential());
                time = Some(self.now() - start);
            }
            self.barrier()?;
            Ok::<_, E>(time)
        };
        let speedup = speedup && self.size() > 1;
        if checked && !speedup {
            first()?;
        }
        let (part, times) = measure(speedup, first, || {
            let stretch = parallel()?;
            (traffic, began) = (stretch.traffic, stretch.began);
            Ok::<_, E>((stretch.value, stretch.time))
        })?;
        let traffic = self.gather_traffic(traffic)?.unwrap_or_default();
        Ok(Measured { whole, part, times, began, traffic })
    }
}
