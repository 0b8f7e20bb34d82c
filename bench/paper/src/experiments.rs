//! The experiments, a file each.

pub mod broadcast;
pub mod events;
pub mod fetch_add;
pub mod inbox;
pub mod presets;
pub mod recovery;
pub mod unicast;

use crate::experiment::Experiment;

/// All experiments, in the order of the thesis.
pub fn all() -> Vec<Box<dyn Experiment>> {
    vec![
        Box::new(unicast::Unicast),
        Box::new(fetch_add::FetchAdd),
        Box::new(broadcast::Broadcast),
        Box::new(recovery::Recoveries),
        Box::new(presets::Presets),
        Box::new(events::latency::RingLatency),
        Box::new(events::throughput::RingThroughput),
        Box::new(events::flooding::Flooding),
        Box::new(events::jacobi::Jacobi),
    ]
}

#[cfg(test)]
mod tests;
