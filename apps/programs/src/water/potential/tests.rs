use super::{ANGLE, Atoms, BOND, Space, within};
use weft_app_common::Vector;

/// A molecule at rest, its oxygen there.
fn molecule(oxygen: [f64; 3]) -> Atoms {
    let (sine, cosine) = (ANGLE / 2.0).sin_cos();
    let oxygen = Vector(oxygen);
    [
        oxygen,
        oxygen + Vector([sine, 0.0, cosine]) * BOND,
        oxygen + Vector([-sine, 0.0, cosine]) * BOND,
    ]
}

/// The slope of `energy` in all coordinates of `atoms`, negative: the forces.
fn slopes(atoms: &Atoms, energy: impl Fn(&Atoms) -> f64) -> Atoms {
    const NUDGE: f64 = 1e-6;
    std::array::from_fn(|atom| {
        Vector(std::array::from_fn(|axis| {
            let at = |by: f64| {
                let mut moved = *atoms;
                moved[atom].0[axis] += by;
                energy(&moved)
            };
            (at(-NUDGE) - at(NUDGE)) / (2.0 * NUDGE)
        }))
    })
}

fn assert_near(found: &Atoms, wanted: &Atoms, within: f64) {
    for (found, wanted) in found.iter().zip(wanted) {
        assert!((*found - *wanted).length() < within, "{found:?} instead of {wanted:?}");
    }
}

#[test]
fn a_molecule_at_rest_stays_and_one_that_is_bent_does_not() {
    let rest = molecule([0.3, 0.2, 0.1]);
    assert!(within(&rest).energy < 1e-20);
    assert_near(&within(&rest).forces[0], &Atoms::default(), 1e-6);
    let mut bent = rest;
    bent[1] += Vector([0.004, 0.01, -0.003]);
    let forces = within(&bent).forces[0];
    assert!(forces[1].length() > 100.0, "{forces:?}");
    assert_near(&forces, &slopes(&bent, |atoms| within(atoms).energy), 1e-3);
}

/// Near by, where the cut-off begins to be felt, and through a face of the space.
#[test]
fn forces_between_two_are_the_slope_of_their_energy() {
    let space = Space { side: 2.0, cutoff: 0.9 };
    for place in [[0.3, 0.1, 0.0], [0.6, 0.6, 0.1], [0.1, 0.2, 1.7]] {
        let (one, other) = (molecule([0.0; 3]), molecule(place));
        let pull = space.between(&one, &other).expect("near enough");
        let energy = |one: &Atoms, other: &Atoms| space.between(one, other).expect("near").energy;
        assert_near(&pull.forces[0], &slopes(&one, |moved| energy(moved, &other)), 1e-4);
        assert_near(&pull.forces[1], &slopes(&other, |moved| energy(&one, moved)), 1e-4);
        assert!(pull.forces[0][0].length() > 0.1, "{place:?}: {pull:?}");
        let sum = pull.forces.iter().flatten().fold(Vector::default(), |sum, &force| sum + force);
        assert!(sum.length() < 1e-9, "{sum:?}");
    }
    assert_eq!(space.between(&molecule([0.0; 3]), &molecule([0.9, 0.1, 0.0])), None);
    let last =
        space.between(&molecule([0.0; 3]), &molecule([0.8999, 0.0, 0.0])).expect("near enough");
    assert!(last.energy.abs() < 1e-6, "it ends gently: {last:?}");
}
