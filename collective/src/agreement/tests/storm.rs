//! Large teams that lose many ranks, by seeds.

use super::judge;
use super::world::{Options, Step, World};
use weft_endpoint::Rank;
use weft_model::random::Random;

/// A run: the world, and all that will happen in some order.
struct Storm {
    options: Options,
    world: World,
    pending: Vec<Step>,
    random: Random,
}

impl Storm {
    fn new(options: Options, seed: u64) -> Self {
        let pending = (0..options.members).map(|rank| Step::Begin(Rank(rank))).collect();
        let world = World::new(&options);
        Storm { options, world, pending, random: Random::new(seed) }
    }

    fn run(&mut self) {
        // So that they fall into all agreements.
        let agreements = self.options.agreements as u64;
        let per_mille = 1000 * self.options.losses as u64 / (u64::from(self.options.members) * 2);
        while !self.pending.is_empty() {
            let may_crash = self.world.losses() < self.options.losses;
            if may_crash && self.random.happens(per_mille / agreements) {
                self.crash();
            }
            let next = self.random.below(self.pending.len() as u64) as usize;
            let step = self.pending.swap_remove(next);
            if self.is_possible(step) {
                self.take(step);
            }
        }
        judge::check(&self.world);
        judge::a3_termination(&self.world, self.options.agreements);
    }

    /// Crashes the coordinator, or any; of what it has under way to others the end may be lost.
    fn crash(&mut self) {
        let live: Vec<Rank> = self.world.live().map(|(rank, _)| rank).collect();
        let of = if self.random.happens(700) { live[0] } else { *self.random.choose(&live) };
        self.world.take(Step::Crash(of));
        for (_, wire) in self.world.wires.iter_mut().filter(|((from, _), _)| *from == of) {
            let kept = self.random.below(wire.len() as u64 + 1) as usize;
            wire.truncate(kept);
        }
        self.world.wires.retain(|_, wire| !wire.is_empty());
        let told = live.iter().filter(|&&rank| rank != of);
        self.pending.extend(told.map(|&at| Step::Notice { at, of }));
    }

    fn is_possible(&self, step: Step) -> bool {
        match step {
            Step::Begin(rank) | Step::Notice { at: rank, .. } => self.world.is_live(rank),
            Step::Deliver(from, to) => self.world.wires.contains_key(&(from, to)),
            Step::Crash(_) | Step::Cut(..) => false,
        }
    }

    fn take(&mut self, step: Step) {
        let (Step::Begin(at) | Step::Deliver(_, at) | Step::Notice { at, .. }) = step else {
            return;
        };
        let decided = |world: &World| world.members[at.index()].decisions.len();
        let before = decided(&self.world);
        self.pending.extend(self.world.take(step));
        let after = decided(&self.world);
        if after == before {
            return;
        }
        judge::a1_agreement(&self.world, before);
        judge::a2_validity(&self.world, &self.world.members[at.index()].decisions[before]);
        let is_shrunk = self.world.members[at.index()].shrunk.is_some();
        if !is_shrunk && (self.options.shrinks || after < self.options.agreements) {
            self.pending.push(Step::Begin(at));
        }
    }
}

#[test]
fn large_teams_agree_by_any_seed() {
    let options = Options { members: 64, agreements: 3, losses: 10, ..super::THREE };
    let mut losses = 0;
    for seed in 0..1000 {
        let mut storm = Storm::new(options, seed);
        storm.run();
        losses += storm.world.losses();
    }
    println!("{losses} ranks were lost");
    assert!(losses > 8_000);
}

#[test]
fn large_teams_shrink_by_any_seed() {
    let options = Options { members: 64, losses: 10, shrinks: true, ..super::THREE };
    let mut losses = 0;
    for seed in 0..300 {
        let mut storm = Storm::new(options, seed);
        storm.run();
        losses += storm.world.losses();
    }
    println!("{losses} ranks were lost");
    assert!(losses > 1_000);
}
