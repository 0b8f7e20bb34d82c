//! The experiments, a file each.

pub mod broadcast;
pub mod fetch_add;
pub mod inbox;
pub mod presets;
pub mod pupa;
pub mod recovery;
pub mod unicast;

use crate::experiment::Experiment;

/// All experiments, in the order of the thesis and then of the other papers.
pub fn all() -> Vec<Box<dyn Experiment>> {
    vec![
        Box::new(unicast::Unicast),
        Box::new(fetch_add::FetchAdd),
        Box::new(broadcast::Broadcast),
        Box::new(recovery::Recoveries),
        Box::new(presets::Presets),
        Box::new(pupa::latency::Latency),
        Box::new(pupa::bandwidth::Bandwidth),
        Box::new(pupa::statistics::Programs),
    ]
}

#[cfg(test)]
mod tests;
