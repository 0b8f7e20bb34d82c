//! Waiting by looking again and again.

use anyhow::{Result, bail};
use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

/// Looks between which the core is offered to others.
const LOOKS: u32 = 1000;
/// Longest wait for the other end. That of the job is shorter, and says more.
const PATIENCE: Duration = Duration::from_secs(60);
/// Longest time between two looks that counts as waiting: in a longer one this process stood still,
/// and so may have the other.
const LOOKING: Duration = Duration::from_millis(100);

/// Calls `look` until it finds something.
pub fn spin<T>(what: &str, mut look: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    let (mut last, mut waited) = (Instant::now(), Duration::ZERO);
    loop {
        for _ in 0..LOOKS {
            if let Some(found) = look()? {
                return Ok(found);
            }
            std::hint::spin_loop();
        }
        let now = Instant::now();
        waited += (now - last).min(LOOKING);
        last = now;
        if waited > PATIENCE {
            bail!("{what}: nothing from the other end for {} s", PATIENCE.as_secs());
        }
        std::thread::yield_now();
    }
}

/// Result of a call that does not block; `None` if it would have had to.
pub fn ready<T>(done: io::Result<T>) -> Result<Option<T>> {
    match done {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
