//! Steps in time, by all ranks together and by one alone.

use weft_app_common::Blocks;
use weft_region::Result;

use crate::water::molecule::Molecule;
use crate::water::potential::{Atoms, Space, within};
use crate::water::shared::{SharedWater, atoms, words};

/// Operations, in the sense of `Packets::work`, for what two molecules do to each other: 1,000
/// cycles of the thesis's processors, nine roots and nine divisions among them. Assumed: the thesis
/// has no Water.
const PAIR: usize = 250;
/// For two that are too far apart.
const FAR: usize = 10;
/// For what a molecule does to itself, and to move it.
const WITHIN: usize = 150;

/// Problem to compute, the same on every rank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Problem {
    /// Number of molecules.
    pub molecules: usize,
    /// Space that they are in.
    pub space: Space,
    /// The length of a step in time.
    pub step: f64,
    /// Steps.
    pub steps: usize,
}

/// Outcome of the computation.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The molecules: all, or those of a rank.
    pub molecules: Vec<Molecule>,
    /// The last forces on them.
    pub forces: Vec<Atoms>,
    /// Potential energy in the beginning and in the end: all, or what was found by a rank.
    pub potential: [f64; 2],
}

impl Problem {
    /// True if the pair of `one` and the molecule `apart` places after it is computed with `one`:
    /// each has its pairs with the half of all that follows it, so that each pair is computed once
    /// and all molecules have as many.
    fn pairs_with(&self, one: usize, apart: usize) -> bool {
        let twice = 2 * apart;
        apart > 0 && (twice < self.molecules || twice == self.molecules && one < apart)
    }

    /// The molecules whose pairs with `one` are computed with it.
    fn partners(&self, one: usize) -> impl Iterator<Item = usize> + use<'_> {
        let apart = (1..=self.molecules / 2).filter(move |&apart| self.pairs_with(one, apart));
        apart.map(move |apart| (one + apart) % self.molecules)
    }

    /// Moves a molecule on, once the forces at `step` are known.
    fn advance(&self, molecule: &mut Molecule, forces: &Atoms, step: usize) {
        let halves = u8::from(step > 0) + u8::from(step < self.steps);
        molecule.kick(forces, f64::from(halves) * 0.5 * self.step);
        if step < self.steps {
            molecule.drift(self.step);
        }
    }

    /// Records the potential energy of `step`, if it is the first or the last.
    fn kept(&self, potential: &mut [f64; 2], step: usize, energy: f64) {
        if step == 0 {
            potential[0] = energy;
        }
        if step == self.steps {
            potential[1] = energy;
        }
    }
}

/// Moves all molecules by one rank. `work` hears of the operations.
pub fn sequential(problem: &Problem, begin: &[Molecule], mut work: impl FnMut(usize)) -> Outcome {
    let (mut molecules, mut potential) = (begin.to_vec(), [0.0; 2]);
    let mut forces = vec![Atoms::default(); molecules.len()];
    for step in 0..=problem.steps {
        let mut energy = 0.0;
        forces.fill(Atoms::default());
        for one in 0..molecules.len() {
            let own = within(&molecules[one].places);
            energy += own.energy;
            add(&mut forces[one], &own.forces[0]);
            work(WITHIN);
            for other in problem.partners(one) {
                let pull = problem.space.between(&molecules[one].places, &molecules[other].places);
                work(if pull.is_some() { PAIR } else { FAR });
                let Some(pull) = pull else { continue };
                energy += pull.energy;
                add(&mut forces[one], &pull.forces[0]);
                add(&mut forces[other], &pull.forces[1]);
            }
        }
        problem.kept(&mut potential, step, energy);
        for (molecule, forces) in molecules.iter_mut().zip(&forces) {
            problem.advance(molecule, forces, step);
        }
    }
    Outcome { molecules, forces, potential }
}

/// Moves this rank's block of the molecules, which begin as in `begin`. Collective: every rank
/// calls it with the same problem. `progress` hears how many steps are done.
///
/// # Errors
/// A peer's breach, a lost rank.
pub fn parallel(
    water: &SharedWater<'_>,
    problem: &Problem,
    begin: &[Molecule],
    mut progress: impl FnMut(usize),
) -> Result<Outcome> {
    let shared = water.shared;
    let mine = Blocks::new(problem.molecules, shared.size()).of(shared.rank());
    let mut molecules = begin[mine.clone()].to_vec();
    let mut outcome = Outcome { molecules: Vec::new(), forces: Vec::new(), potential: [0.0; 2] };
    for step in 0..=problem.steps {
        for (molecule, number) in molecules.iter().zip(mine.clone()) {
            water.places[number].write()?[0] = words(&molecule.places);
        }
        shared.barrier()?;
        let mut round = Round::new(problem, mine.start, &molecules);
        round.interact(water)?;
        round.hand_in(water)?;
        shared.barrier()?;
        problem.kept(&mut outcome.potential, step, round.energy);
        outcome.forces.clear();
        for (molecule, number) in molecules.iter_mut().zip(mine.clone()) {
            // Taken, and cleared for the next step.
            let forces = atoms(&std::mem::replace(&mut water.forces[number].write()?[0], [0.0; 9]));
            problem.advance(molecule, &forces, step);
            outcome.forces.push(forces);
        }
        progress(step);
    }
    shared.barrier()?;
    outcome.molecules = molecules;
    Ok(outcome)
}

/// One computation of the forces by one rank.
struct Round<'a> {
    problem: &'a Problem,
    /// The first of the rank's molecules.
    first: usize,
    molecules: &'a [Molecule],
    /// Forces by how far a molecule comes after the rank's first one, if there are any.
    forces: Vec<Option<Atoms>>,
    energy: f64,
}

impl<'a> Round<'a> {
    fn new(problem: &'a Problem, first: usize, molecules: &'a [Molecule]) -> Self {
        let forces = vec![None; problem.molecules];
        Round { problem, first, molecules, forces, energy: 0.0 }
    }

    /// Computes the forces of all pairs that begin with one of the rank's molecules.
    fn interact(&mut self, water: &SharedWater<'_>) -> Result<()> {
        // Those that come after the last one only, at most half of all.
        let reach = (self.molecules.len() + self.problem.molecules / 2).min(self.problem.molecules);
        for further in 0..if self.molecules.is_empty() { 0 } else { reach } {
            if let Some(ahead) = water.place_ahead(further, reach) {
                water.places[self.number(ahead)].prefetch()?;
            }
            let operations = match self.molecules.get(further) {
                Some(own) => {
                    let pull = within(&own.places);
                    self.energy += pull.energy;
                    self.pull(further, &pull.forces[0]);
                    WITHIN + self.pairs(further, &own.places)
                }
                None => {
                    let places = atoms(&water.places[self.number(further)].read()?[0]);
                    self.pairs(further, &places)
                }
            };
            water.shared.work(operations);
        }
        Ok(())
    }

    /// The pairs of the rank's molecules with that which is `further` than the first. Returns the
    /// operations.
    fn pairs(&mut self, further: usize, places: &Atoms) -> usize {
        let count = self.problem.molecules;
        let mut operations = 0;
        for one in 0..self.molecules.len() {
            let apart = (further + count - one) % count;
            if !self.problem.pairs_with(self.first + one, apart) {
                continue;
            }
            let pull = self.problem.space.between(&self.molecules[one].places, places);
            operations += if pull.is_some() { PAIR } else { FAR };
            let Some(pull) = pull else { continue };
            self.energy += pull.energy;
            self.pull(one, &pull.forces[0]);
            self.pull(further, &pull.forces[1]);
        }
        operations
    }

    /// Adds what was found to the shared forces.
    fn hand_in(&self, water: &SharedWater<'_>) -> Result<()> {
        let found = |(further, forces): (usize, &Option<Atoms>)| {
            forces.as_ref().map(|forces| (self.number(further), *forces))
        };
        let found: Vec<_> = self.forces.iter().enumerate().filter_map(found).collect();
        for (at, (number, forces)) in found.iter().enumerate() {
            if let Some(ahead) = water.forces_ahead(at, found.len()) {
                water.forces[found[ahead].0].prefetch()?;
            }
            let mut there = water.forces[*number].write()?;
            let mut sum = atoms(&there[0]);
            add(&mut sum, forces);
            there[0] = words(&sum);
        }
        Ok(())
    }

    fn pull(&mut self, further: usize, forces: &Atoms) {
        add(self.forces[further].get_or_insert_default(), forces);
    }

    fn number(&self, further: usize) -> usize {
        (self.first + further) % self.problem.molecules
    }
}

fn add(sum: &mut Atoms, forces: &Atoms) {
    for (sum, &force) in sum.iter_mut().zip(forces) {
        *sum += force;
    }
}

#[cfg(test)]
mod tests;
