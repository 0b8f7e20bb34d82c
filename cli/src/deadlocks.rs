//! Options about ranks that wait for one another for ever.

use clap::Args;
use std::time::Duration;
use weft_launch::{OnDeadlock, progress_limit};

/// Limit of a wait, and what is done then.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Deadlocks {
    /// Seconds for which all ranks have to wait for one another before that is a deadlock; 0 never
    /// looks [default: 30]
    #[arg(long, value_name = "S", env = "WEFT_PROGRESS_LIMIT", value_parser = progress_limit)]
    #[arg(allow_negative_numbers = true)]
    pub progress_limit: Option<Duration>,
    /// Reaction to a deadlock: report says once who waits for whom, end says it and ends the job
    /// with status 35 [default: report]
    #[arg(long, value_name = "REACTION", env = "WEFT_ON_DEADLOCK")]
    pub on_deadlock: Option<OnDeadlock>,
}

impl Deadlocks {
    /// These, and of the others what these do not say.
    pub fn or(self, others: Self) -> Self {
        Deadlocks {
            progress_limit: self.progress_limit.or(others.progress_limit),
            on_deadlock: self.on_deadlock.or(others.on_deadlock),
        }
    }
}
