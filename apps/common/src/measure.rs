use std::time::Duration;

use crate::figures::median;

/// Number of times that both sides of a speed-up are measured; odd, for the median.
const ROUNDS: usize = 3;

/// Times of a computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// By all ranks together.
    pub together: Duration,
    /// By one rank alone, where and if that was measured.
    pub alone: Option<Duration>,
}

/// Runs a computation by all ranks together, once; or for the speed-up by one rank alone and by all
/// together in turn, so that both meet the same machine, and keeps the medians. Returns what the
/// last run together came to. `alone` gives `None` on a rank that only waits. Collective, like what
/// it calls.
pub fn measure<T, E>(
    speedup: bool,
    mut alone: impl FnMut() -> Result<Option<Duration>, E>,
    mut together: impl FnMut() -> Result<(T, Duration), E>,
) -> Result<(T, Times), E> {
    if !speedup {
        let (outcome, together) = together()?;
        return Ok((outcome, Times { together, alone: None }));
    }
    let (mut alone_times, mut together_times) = (Vec::new(), Vec::new());
    for _ in 1..ROUNDS {
        alone_times.extend(alone()?);
        together_times.push(together()?.1);
    }
    alone_times.extend(alone()?);
    let (outcome, last) = together()?;
    together_times.push(last);
    let together = median(together_times).unwrap_or(last);
    Ok((outcome, Times { together, alone: median(alone_times) }))
}

#[cfg(test)]
mod tests;
