use std::time::Duration;

use crate::figures::median;

/// Number of times that both sides of a speed-up are measured; odd, for the median.
const ROUNDS: usize = 3;

/// Times of a computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// By all ranks together.
    pub parallel: Duration,
    /// By one rank alone, where and if that was measured.
    pub sequential: Option<Duration>,
}

/// Runs a computation by all ranks together, once; or for the speed-up by one rank alone and by all
/// together in turn, so that both meet the same machine, and keeps the medians. Returns what the
/// last run together came to. `sequential` gives `None` on a rank that only waits. Collective, like
/// what it calls.
pub fn measure<T, E>(
    speedup: bool,
    mut sequential: impl FnMut() -> Result<Option<Duration>, E>,
    mut parallel: impl FnMut() -> Result<(T, Duration), E>,
) -> Result<(T, Times), E> {
    if !speedup {
        let (outcome, parallel) = parallel()?;
        return Ok((outcome, Times { parallel, sequential: None }));
    }
    let (mut sequential_times, mut parallel_times) = (Vec::new(), Vec::new());
    for _ in 1..ROUNDS {
        sequential_times.extend(sequential()?);
        parallel_times.push(parallel()?.1);
    }
    sequential_times.extend(sequential()?);
    let (outcome, last) = parallel()?;
    parallel_times.push(last);
    let parallel = median(parallel_times).unwrap_or(last);
    Ok((outcome, Times { parallel, sequential: median(sequential_times) }))
}

#[cfg(test)]
mod tests;
