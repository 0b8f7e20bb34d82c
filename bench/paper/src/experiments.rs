//! The experiments, a file each.

pub mod broadcast;
pub mod events;
pub mod fetch_add;
pub mod forwarding;
pub mod inbox;
pub mod layers;
pub mod misses;
pub mod objects;
pub mod overheads;
pub mod panda;
pub mod presets;
pub mod pupa;
pub mod recovery;
pub mod sender;
pub mod sequencers;
pub mod trees;
pub mod unicast;
pub mod windows;

use crate::experiment::Experiment;

/// All experiments, in the order of the thesis and then of the other papers.
pub fn all() -> Vec<Box<dyn Experiment>> {
    vec![
        Box::new(unicast::Unicast),
        Box::new(overheads::Overheads),
        Box::new(fetch_add::FetchAdd),
        Box::new(broadcast::Broadcast),
        Box::new(recovery::Recoveries),
        Box::new(panda::Panda),
        Box::new(sequencers::Sequencers),
        Box::new(layers::Layers),
        Box::new(misses::Misses),
        Box::new(objects::Objects),
        Box::new(presets::Presets),
        Box::new(trees::Trees),
        Box::new(windows::Windows),
        Box::new(forwarding::Forwarding),
        Box::new(pupa::latency::Latency),
        Box::new(pupa::bandwidth::Bandwidth),
        Box::new(pupa::statistics::Programs),
        Box::new(events::latency::TABLE),
        Box::new(events::throughput::TABLE),
        Box::new(events::flooding::TABLE),
        Box::new(events::jacobi::TABLE),
        Box::new(events::traffic::TABLE),
        Box::new(sender::SendPath),
    ]
}

#[cfg(test)]
mod tests;
