use super::Checks;
use crate::fft::complex::Complex;
use crate::fft::plan::Plan;
use crate::fft::sequential::sequential;

/// Error that is found in a transform of 256 points that was spoiled.
fn wrong(spoil: impl Fn(&mut [Complex])) -> Option<String> {
    let plan = Plan::new(16, 5);
    let mut output = sequential(&plan, |_| ());
    spoil(&mut output);
    Checks::of(&plan, &output).wrong()
}

#[test]
fn a_transform_is_right_and_exact() {
    assert_eq!(wrong(|_| ()), None);
    let plan = Plan::new(128, 9);
    let checks = Checks::of(&plan, &sequential(&plan, |_| ()));
    assert!(checks.definition < 1e-6 && checks.energy < 1e-6, "{checks:?}");
    assert!(checks.inverse > 0.0, "in single precision nothing comes back as it was: {checks:?}");
}

#[test]
fn what_is_no_transform_is_found() {
    assert!(wrong(|output| output.swap(0, 1)).is_some());
    assert!(wrong(|output| output.reverse()).is_some());
    let energy = wrong(|output| output.iter_mut().for_each(|value| value[0] *= 1.001));
    assert!(energy.is_some_and(|what| what.starts_with("an output") || what.contains("energy")));
    let one = wrong(|output| output[77] = [f32::NAN, 0.0]);
    assert!(one.is_some_and(|what| what.contains("NaN")));
}
