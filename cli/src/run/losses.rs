//! The part of `weft run` that is about the loss of ranks.

use std::time::Duration;

use clap::Args;
use weft_launch::{JobSpec, OnLoss, time_in};

/// The longest silence, and the longest grace.
const LONGEST: Duration = Duration::from_secs(3600);

/// Silence that is a loss, and what a loss does.
#[derive(Args, Clone, Copy)]
pub struct Losses {
    /// Seconds after which a host counts as lost whose agent is not heard of, and a rank on another
    /// host for the ranks that it has exchanged packets with and that hear nothing more of it
    /// [default: 0.8]; more where machines stand still for long
    #[arg(long, value_name = "S", value_parser = silence, allow_negative_numbers = true)]
    pub silence: Option<Duration>,
    /// Seconds that ranks have to end by themselves once another is lost, such as to save what they
    /// have [default: 0.025]
    #[arg(long, value_name = "S", value_parser = grace, allow_negative_numbers = true)]
    grace: Option<Duration>,
    /// Reaction to the loss of a rank: end ends the job, continue tells the others, which go on;
    /// the job has failed then only if none of them ends well
    #[arg(long, value_name = "REACTION", env = "WEFT_ON_LOSS", default_value_t = OnLoss::End)]
    on_loss: OnLoss,
}

impl Losses {
    /// Has a job be so.
    pub fn apply_to(self, spec: &mut JobSpec) {
        spec.set_on_loss(self.on_loss);
        if let Some(grace) = self.grace {
            spec.set_grace(grace);
        }
        if let Some(silence) = self.silence {
            spec.set_silence(silence);
        }
    }
}

fn silence(text: &str) -> Result<Duration, String> {
    time_in(text, Duration::from_millis(500)..=LONGEST)
}

fn grace(text: &str) -> Result<Duration, String> {
    time_in(text, Duration::ZERO..=LONGEST)
}
