use super::verify;
use crate::water::molecule::{Molecule, lattice, side};
use crate::water::potential::Space;
use crate::water::solve::{Outcome, Problem, sequential};

fn moved() -> (Problem, Vec<Molecule>, Outcome) {
    let space = Space { side: side(64), cutoff: side(64) / 2.0 };
    let problem = Problem { molecules: 64, space, step: 0.0002, steps: 20 };
    let begin = lattice(64, 300.0, 1);
    let outcome = sequential(&problem, &begin, |_| {});
    (problem, begin, outcome)
}

/// Halving the step brings a quarter of the drift: what leap-frog promises, if forces are the slope
/// of the energy.
#[test]
fn the_energy_drifts_with_the_square_of_the_step() {
    let drift = |step: f64, steps: usize| {
        let (problem, begin, _) = moved();
        let problem = Problem { step, steps, ..problem };
        let outcome = sequential(&problem, &begin, |_| {});
        verify(&problem, &begin, &outcome, &outcome).expect("it is right").energy
    };
    let (long, short) = (drift(0.0004, 10), drift(0.0002, 20));
    assert!((2.0..8.0).contains(&(long / short)), "{long} and {short}");
}

#[test]
fn mistakes_are_found() {
    let (problem, begin, outcome) = moved();
    verify(&problem, &begin, &outcome, &outcome).expect("it is right");
    let fails = |change: fn(&mut Outcome), both: bool, says: &str| {
        let mut wrong = outcome.clone();
        change(&mut wrong);
        let expected = if both { &wrong } else { &outcome };
        let error =
            verify(&problem, &begin, &wrong, expected).expect_err("it is wrong").to_string();
        assert!(error.contains(says), "{error}");
    };
    fails(|outcome| outcome.molecules[3].places[1].0[0] += 1e-6, false, "an atom is elsewhere");
    fails(|outcome| outcome.molecules[3].places[1].0[0] = f64::NAN, false, "an atom is elsewhere");
    fails(|outcome| outcome.forces[0][2].0[1] += 1.0, true, "slope of the energy");
    fails(|outcome| outcome.potential[1] += 10.0, true, "energy changed");
    let faster = |outcome: &mut Outcome| outcome.molecules[0].velocities[0].0[0] += 1e-3;
    fails(faster, true, "momentum changed");
}
