use super::plummer;
use crate::barnes::verify::{energy, momentum};
use weft_app_common::Vector;

#[test]
fn the_cluster_is_in_equilibrium_and_at_rest() {
    let bodies = plummer(1000, 3).expect("all apart");
    let centre = bodies.iter().fold(Vector::default(), |sum, body| sum + body.position * body.mass);
    assert!(centre.length() < 1e-12 && momentum(&bodies).length() < 1e-12);
    assert!((bodies.iter().map(|body| body.mass).sum::<f64>() - 1.0).abs() < 1e-12);
    // In these units all of the energy is -1/4, the kinetic 1/4 (the virial theorem), give or take
    // the fluctuation of 1000 bodies.
    let kinetic: f64 = bodies.iter().map(|body| 0.5 * body.mass * body.velocity.square()).sum();
    assert!((kinetic - 0.25).abs() < 0.03, "{kinetic}");
    let total = energy(&bodies, 0.0);
    assert!((total + 0.25).abs() < 0.03, "{total}");
    assert_eq!(bodies, plummer(1000, 3).expect("all apart"));
    assert_ne!(bodies, plummer(1000, 4).expect("all apart"));
}
