//! The launcher's time.

use std::time::{Duration, Instant};

/// Time since the job began, without the time that the launcher was stopped.
#[derive(Debug)]
pub(crate) struct Clock {
    began: Instant,
    paused: Duration,
}

impl Clock {
    pub fn start() -> Self {
        Clock { began: Instant::now(), paused: Duration::ZERO }
    }

    /// A clock that was started this long ago.
    #[cfg(test)]
    pub fn started_before(time: Duration) -> Self {
        Clock { began: Instant::now() - time, paused: Duration::ZERO }
    }

    pub fn now(&self) -> Duration {
        self.began.elapsed().saturating_sub(self.paused)
    }

    pub fn pause(&mut self, pause: impl FnOnce()) {
        let before = Instant::now();
        pause();
        self.paused += before.elapsed();
    }
}
