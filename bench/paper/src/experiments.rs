//! The experiments, a file each.

pub mod broadcast;
pub mod fetch_add;
pub mod inbox;
pub mod overheads;
pub mod panda;
pub mod presets;
pub mod recovery;
pub mod trees;
pub mod unicast;
pub mod windows;

use crate::experiment::Experiment;

/// All experiments, in the order of the thesis.
pub fn all() -> Vec<Box<dyn Experiment>> {
    vec![
        Box::new(unicast::Unicast),
        Box::new(overheads::Overheads),
        Box::new(fetch_add::FetchAdd),
        Box::new(broadcast::Broadcast),
        Box::new(recovery::Recoveries),
        Box::new(panda::Panda),
        Box::new(presets::Presets),
        Box::new(trees::Trees),
        Box::new(windows::Windows),
    ]
}

#[cfg(test)]
mod tests;
