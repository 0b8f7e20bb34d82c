//! Larger orders that lose many ranks, by seeds.

use super::judge;
use super::world::{Options, Step, World};
use weft_model::explore::Model;
use weft_model::random::Random;

/// A run until nothing can happen any more.
fn storm(options: Options, seed: u64) -> usize {
    let mut random = Random::new(seed);
    let mut world = World::new(&options);
    loop {
        let mut steps = options.steps(&world);
        // Losses and cuts are rare, or little would happen beside them.
        if !random.happens(20) {
            let is_usual = |step: &Step| {
                !matches!(step, Step::Crash(_) | Step::Cut(..) | Step::CutBroadcasts(..))
            };
            let usual: Vec<Step> = steps.iter().copied().filter(is_usual).collect();
            steps = if usual.is_empty() { steps } else { usual };
        }
        if world.due(options.messages).is_empty() {
            break;
        }
        world.take(*random.choose(&steps));
    }
    judge::check(&world);
    judge::v4_termination(&world);
    world.losses()
}

#[test]
fn larger_orders_go_on_by_any_seed() {
    let options = Options { members: 6, messages: 5, losses: 4, eager: false, planted: None };
    let losses: usize = (0..300).map(|seed| storm(options, seed)).sum();
    println!("{losses} ranks were lost");
    assert!(losses > 600);
}
