use super::{lattice, side};
use weft_app_common::Vector;

#[test]
fn molecules_begin_apart_at_rest_together_and_as_warm_as_they_should_be() {
    let molecules = lattice(500, 300.0, 2);
    assert_eq!(molecules, lattice(500, 300.0, 2));
    let total = molecules.iter().fold(Vector::default(), |sum, one| sum + one.momentum());
    assert!(total.length() < 1e-9, "{total:?}");
    // Nine freedoms of half a kT each.
    let kinetic: f64 = molecules.iter().map(|one| one.kinetic()).sum();
    let temperature = kinetic / (500.0 * 4.5 * super::BOLTZMANN);
    assert!((temperature - 300.0).abs() < 20.0, "{temperature}");
    // 500 molecules are in a cube of 8 x 8 x 8.
    assert!((side(500) - 8.0 * super::SPACING).abs() < 1e-12);
    assert!(molecules.iter().all(|one| one.places[0].reach() < side(500)));
}
