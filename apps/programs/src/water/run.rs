use weft_app_common::{Measured, Progress, RegionRank, Times, Traffic, agree, print, thousands};

use crate::water::error::Error;
use crate::water::molecule::{Molecule, lattice};
use crate::water::options::Options;
use crate::water::shared::{SharedWater, atoms, words};
use crate::water::solve::{Outcome, parallel, sequential};
use crate::water::verify::{Verdict, verify};

/// Result of a run, at rank 0.
#[derive(Debug, Clone)]
pub struct Solved {
    /// Times of the run.
    pub times: Times,
    /// Traffic of each rank meanwhile.
    pub traffic: Vec<Traffic>,
    /// The energies of a molecule in the end, on the average: in motion, and in all; in kJ/mol.
    energies: [f64; 2],
    /// Verdict of the checks, if they were asked for.
    verdict: Option<Verdict>,
}

/// Moves the molecules, checks and reports. Collective: every rank of the job calls it with the
/// same options. Rank 0 prints the report, and returns the error if a check fails.
///
/// # Errors
/// [`enum@Error`].
pub fn run(shared: &RegionRank, options: &Options) -> Result<(), Error> {
    let Some(solved) = solve(shared, options)? else { return Ok(()) };
    let checks = solved.verdict.map_or("not verified (--verify)".to_owned(), |verdict| {
        format!(
            "verified against one rank\n\
             places off by {:.1e} nm, forces on {} molecules by {:.1e} from the slope of the energy, \
             energy by {:.1e}, momentum by {:.1e}",
            verdict.apart, verdict.sample, verdict.slope, verdict.energy, verdict.momentum
        )
    });
    let [motion, all] = solved.energies;
    let lines = format!(
        "{} molecules   {} steps of {} fs   {motion:.2} kJ/mol in motion, {all:.2} in all   {checks}",
        thousands(options.molecules.into()),
        options.steps,
        options.step
    );
    Ok(print(&lines, solved.times, &solved.traffic)?)
}

/// Does what [`run`] does, but prints nothing. Rank 0 gets what came of it.
///
/// # Errors
/// [`enum@Error`]; at rank 0 that of a check.
pub fn solve(shared: &RegionRank, options: &Options) -> Result<Option<Solved>, Error> {
    let problem = agree(shared, options.problem())?;
    let begin = lattice(problem.molecules, options.temperature, options.seed);
    shared.regions().set_data(options.coherence.data())?;
    let water = SharedWater::new(shared, problem.molecules, options.coherence)?;
    let Measured { whole, part, times, traffic, .. } = shared.measure(
        (options.verify, options.speedup),
        || sequential(&problem, &begin, |operations| shared.work(operations)),
        || {
            let progress = Progress::new(shared.rank(), problem.steps, "water");
            shared.stretch(|| parallel(&water, &problem, &begin, |step| progress.set(step)))
        },
    )?;
    let Some(outcome) = gather(shared, part)? else { return Ok(None) };
    let verdict = match whole {
        Some(whole) if options.verify => Some(verify(&problem, &begin, &outcome, &whole)?),
        _ => None,
    };
    let each = |energy: f64| energy / problem.molecules as f64;
    let motion: f64 = outcome.molecules.iter().map(Molecule::kinetic).sum();
    let energies = [each(motion), each(motion + outcome.potential[1])];
    Ok(Some(Solved { times, traffic, energies, verdict }))
}

/// Outcome of all ranks, at rank 0.
fn gather(shared: &RegionRank, mine: Outcome) -> Result<Option<Outcome>, Error> {
    let molecule = |one: &Molecule| [words(&one.places), words(&one.velocities)];
    let molecules: Vec<_> = mine.molecules.iter().map(molecule).collect();
    let forces: Vec<_> = mine.forces.iter().map(words).collect();
    let molecules = shared.gather(&molecules)?;
    let forces = shared.gather(&forces)?;
    let potential = shared.gather(&[mine.potential])?;
    let (Some(molecules), Some(forces), Some(potential)) = (molecules, forces, potential) else {
        return Ok(None);
    };
    let molecule = |[places, velocities]: [[f64; 9]; 2]| Molecule {
        places: atoms(&places),
        velocities: atoms(&velocities),
    };
    let sum = |sum: [f64; 2], part: [f64; 2]| [sum[0] + part[0], sum[1] + part[1]];
    Ok(Some(Outcome {
        molecules: molecules.concat().into_iter().map(molecule).collect(),
        forces: forces.concat().iter().map(atoms).collect(),
        potential: potential.concat().into_iter().fold([0.0; 2], sum),
    }))
}
