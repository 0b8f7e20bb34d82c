//! Driving a world to its end, by choices from outside.

use crate::deadlock::Deadlock;
use crate::step::Step;
use crate::world::World;
use std::collections::VecDeque;
use weft_model::random::Random;

/// Sends that the programs of all hosts still have before them, each in its own order.
#[derive(Clone, Debug)]
pub(crate) struct Programs {
    to_send: Vec<VecDeque<Step>>,
}

impl Programs {
    /// Each host's part of `sends`.
    pub fn new(ranks: u16, sends: &[Step]) -> Self {
        let mut to_send = vec![VecDeque::new(); usize::from(ranks)];
        for send in sends {
            assert!(send.is_a_program_s(), "'{send}' happens by itself");
            to_send[send.rank().index()].push_back(*send);
        }
        Programs { to_send }
    }

    /// The sends that are next, and possible in `world`.
    pub fn ready(&self, world: &World) -> impl Iterator<Item = Step> {
        let next = self.to_send.iter().filter_map(VecDeque::front).copied();
        next.filter(|send| world.is_possible(send))
    }

    /// `step` is taken, which may be one of these sends.
    pub fn took(&mut self, step: &Step) {
        if step.is_a_program_s() {
            self.to_send[step.rank().index()].pop_front();
        }
    }

    /// True if all is sent.
    pub fn are_done(&self) -> bool {
        self.to_send.iter().all(VecDeque::is_empty)
    }

    /// Number of sends that each host has left.
    pub fn left(&self) -> Vec<usize> {
        self.to_send.iter().map(VecDeque::len).collect()
    }
}

/// Takes steps until none is possible and all of `sends` is sent, and checks what is left then.
///
/// The sends of one host happen in the order given; `choose` is told how many steps are possible
/// and picks one. Each run ends, because every packet makes finitely many hops.
///
/// # Errors
/// [`Deadlock`] if packets wait for ever.
pub fn run(
    world: &mut World,
    sends: &[Step],
    mut choose: impl FnMut(usize) -> usize,
) -> Result<(), Deadlock> {
    let mut programs = Programs::new(world.options().settings.ranks, sends);
    loop {
        let mut possible = world.possible();
        possible.extend(programs.ready(world));
        if possible.is_empty() {
            break;
        }
        let step = possible[choose(possible.len())];
        programs.took(&step);
        world.take(step);
    }
    if let Some(deadlock) = world.deadlock() {
        return Err(deadlock);
    }
    assert!(programs.are_done(), "a host waits for a send buffer for ever");
    world.assert_quiescent();
    Ok(())
}

/// Chooses by these numbers, one a step, and then always the first.
pub fn in_order(numbers: &[u16]) -> impl FnMut(usize) -> usize {
    let mut numbers = numbers.iter();
    move |possible| numbers.next().map_or(0, |&number| usize::from(number) % possible)
}

/// Chooses by numbers that follow from a seed, for runs of any length.
pub fn seeded(seed: u64) -> impl FnMut(usize) -> usize {
    let mut random = Random::new(seed);
    move |possible| random.below(possible as u64) as usize
}
