use super::verify;
use crate::barnes::body::Body;
use crate::barnes::force::Problem;
use crate::barnes::plummer::plummer;
use crate::barnes::solve::sequential;

fn moved(theta: f64) -> (Problem, Vec<Body>, Vec<Body>) {
    let problem = Problem { bodies: 400, theta, softening: 0.05, step: 0.025, steps: 2 };
    let begin = plummer(problem.bodies, 5).expect("all apart");
    let mut bodies = begin.clone();
    sequential(&problem, &mut bodies, |_| {}).expect("all apart");
    (problem, begin, bodies)
}

#[test]
fn an_angle_of_0_gives_the_sums_over_all_bodies() {
    let (problem, begin, bodies) = moved(0.0);
    let verdict = verify(&problem, &begin, &bodies, &bodies).expect("it is right");
    assert_eq!(verdict.sample, 256);
    assert!(verdict.error < 1e-13 && verdict.momentum < 1e-13, "{verdict:?}");
    assert!(verdict.energy < 1e-3, "{verdict:?}");
}

/// The error grows with the angle, and is what is expected of it.
#[test]
fn forces_are_as_wrong_as_the_angle_makes_them() {
    let errors = [0.3, 0.6, 1.2].map(|theta| {
        let (problem, begin, bodies) = moved(theta);
        verify(&problem, &begin, &bodies, &bodies).expect("it is right").error
    });
    assert!(errors[0] > 1e-6 && errors.is_sorted(), "{errors:?}");
}

#[test]
fn mistakes_are_found() {
    let (problem, begin, bodies) = moved(0.7);
    let fails = |change: fn(&mut Body), both: bool, says: &str| {
        let mut wrong = bodies.clone();
        wrong.iter_mut().for_each(change);
        let expected = if both { &wrong } else { &bodies };
        let error =
            verify(&problem, &begin, &wrong, expected).expect_err("it is wrong").to_string();
        assert!(error.contains(says), "{error}");
    };
    fails(|body| body.cost += 1, false, "body 0 is at");
    fails(|body| body.acceleration = body.acceleration * 1.1, true, "sums over all bodies");
    fails(|body| body.velocity = body.velocity * 1.1, true, "energy");
    fails(|body| body.velocity.0[0] += 0.05, true, "changed");
    fails(|body| body.acceleration.0[0] = f64::NAN, true, "sums over all bodies");
}
